//! What becomes of a call whose HTTP response is anything but a good reply?

use std::time::Duration;

use serde_json::json;
use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Redactor, Timeouts};
use toolspan_core::{Error, ErrorKind, Outcome, ToolBox};
use toolspan_mcp::McpServer;

use crate::support::http::{HttpPeer, Incoming, connected, connected_within, greeted, server_at};
use crate::support::tools::{KEY, Tools};
use crate::support::{told, transport_to};

/// One call that the peer answers in its own way, and then one that works (I5).
async fn fails_then_works<F: Future<Output = ()>>(
    tools: &Tools,
    peer: &mut HttpPeer,
    answer: impl FnOnce(Incoming) -> F,
) -> Error {
    let serve = async { answer(peer.expect("tools/call").await).await };
    let (result, ()) = tokio::join!(tools.echo("lost"), serve);
    let error = result.expect_err("the answer is none");
    works(tools, peer).await;
    error
}

async fn works(tools: &Tools, peer: &mut HttpPeer) {
    let serve = async { peer.expect("tools/call").await.echo().await };
    let (text, ()) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(text.unwrap(), "next");
    assert_eq!(tools.toolbox.waiting(), 0);
}

/// Plays each response to a call of its own; gives the errors, each under its name.
async fn told_of(cases: &[(&str, &str, &str, &str)]) -> String {
    let (tools, mut peer) = connected().await;
    let mut told_all = Vec::new();
    for (name, status, headers, body) in cases {
        let error = fails_then_works(&tools, &mut peer, |call| async move {
            let id = call.body["id"].to_string();
            call.respond(status, headers, &body.replace("ID", &id))
                .await;
        });
        let error = error.await;
        assert_eq!(tools.toolbox.state().as_str(), "ready");
        let status = error
            .http_status()
            .map(|status| format!("status: {status}\n"));
        let shown = told(&error) + &status.unwrap_or_default();
        told_all.push(format!("--- {name}\n{}", without_ids(&shown)));
    }
    told_all.join("\n")
}

/// A text without the number of the request.
fn without_ids(text: &str) -> String {
    let mut text = text.to_owned();
    for id in (3..200).rev() {
        text = text
            .replace(&format!(" {id})"), " N)")
            .replace(&format!(":{id}}}"), ":N}");
    }
    text
}

const JSON: &str = "content-type: application/json\r\n";
const HTML: &str = "content-type: text/html; charset=utf-8\r\n";
const PAGE: &str = "<!doctype html>\n<title>Sign in</title>\n<h1>Please sign in</h1>";

// R42, H1
#[tokio::test]
async fn an_answer_of_status_200_that_is_no_reply_fails_its_own_call_at_once() {
    let reply = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}"#;
    let two = format!("{reply}{reply}");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{}{}}}"#,
        "[".repeat(70),
        "]".repeat(70)
    );
    let cases = [
        ("a page", "200 OK", HTML, PAGE),
        ("a page that says it is JSON", "200 OK", JSON, PAGE),
        ("an empty body", "200 OK", JSON, ""),
        ("nothing at all", "200 OK", "", ""),
        ("no kind", "200 OK", "", "hello"),
        ("202", "202 Accepted", "", ""),
        ("204", "204 No Content", "", ""),
        ("two documents", "200 OK", JSON, two.as_str()),
        (
            "the reply to another call",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ),
        (
            "a reply without an id",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        ),
        (
            "an error without an id",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#,
        ),
        (
            "a notification",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
        ),
        (
            "half a document",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"2.0","id":ID,"resu"#,
        ),
        (
            "both",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1}}"#,
        ),
        (
            "another protocol",
            "200 OK",
            JSON,
            r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
        ),
        ("too deep", "200 OK", JSON, deep.as_str()),
        ("a text", "200 OK", JSON, "\"hello\""),
        ("an empty batch", "200 OK", JSON, "[]"),
        (
            "a stream of events that is none",
            "200 OK",
            "content-type: text/event-stream\r\n",
            "<html>\n\n",
        ),
        (
            "an event that is no message",
            "200 OK",
            "content-type: text/event-stream\r\n",
            "data: hello\n\n",
        ),
        (
            "an event with another reply",
            "200 OK",
            "content-type: text/event-stream\r\n",
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
        ),
    ];
    insta::assert_snapshot!(told_of(&cases).await);
}

#[tokio::test]
async fn an_answer_of_another_status_is_told_with_what_it_means() {
    let remote = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad request"}}"#;
    let cases = [
        (
            "400 with an error of the protocol",
            "400 Bad Request",
            JSON,
            remote,
        ),
        (
            "400 with text",
            "400 Bad Request",
            "content-type: text/plain\r\n",
            "no",
        ),
        (
            "401",
            "401 Unauthorized",
            "www-authenticate: Bearer\r\n",
            "",
        ),
        ("401 with a page", "401 Unauthorized", HTML, PAGE),
        (
            "401 with an error of the protocol",
            "401 Unauthorized",
            JSON,
            remote,
        ),
        (
            "403",
            "403 Forbidden",
            JSON,
            r#"{"error":"insufficient_scope"}"#,
        ),
        ("405", "405 Method Not Allowed", "allow: GET\r\n", ""),
        ("410", "410 Gone", "", ""),
        ("429", "429 Too Many Requests", "", "slow down"),
        (
            "429 and a day",
            "429 Too Many Requests",
            "retry-after: 99999\r\n",
            "",
        ),
        (
            "429 and nonsense",
            "429 Too Many Requests",
            "retry-after: abc\r\n",
            "",
        ),
        (
            "500",
            "500 Internal Server Error",
            "",
            "Traceback (most recent call last):\n  x",
        ),
        (
            "500 with an error of the protocol",
            "500 Internal Server Error",
            JSON,
            remote,
        ),
        ("501", "501 Not Implemented", "", ""),
        (
            "502",
            "502 Bad Gateway",
            HTML,
            "<html><h1>502 Bad Gateway</h1><hr>proxy</html>",
        ),
        ("503", "503 Service Unavailable", "", ""),
        (
            "503 and a minute",
            "503 Service Unavailable",
            "retry-after: 60\r\n",
            "",
        ),
        ("504", "504 Gateway Timeout", "", ""),
        ("599", "599 Odd", "", ""),
    ];
    insta::assert_snapshot!(told_of(&cases).await);
}

// H16: 99999 and `abc` are above; this is a date in the past, by the server's own clock.
#[tokio::test]
async fn a_server_that_asks_for_a_moment_gets_the_call_once_more() {
    let (tools, mut peer) = connected().await;
    let in_the_past = "date: Mon, 30 Nov 2026 12:00:00 GMT\r\n\
                       retry-after: Mon, 30 Nov 2026 11:59:00 GMT\r\n";
    for (status, headers) in [
        ("429 Too Many Requests", "retry-after: 0\r\n"),
        ("429 Too Many Requests", in_the_past),
        ("503 Service Unavailable", "retry-after: 0\r\n"),
    ] {
        let serve = async {
            let call = peer.expect("tools/call").await;
            let first = call.body.clone();
            call.respond(status, headers, "").await;
            let again = peer.expect("tools/call").await;
            assert_eq!(again.body, first);
            again.echo().await;
        };
        let (text, ()) = tokio::join!(tools.echo("patient"), serve);
        assert_eq!(text.unwrap(), "patient");

        let serve = async {
            for _ in 0..2 {
                peer.expect("tools/call")
                    .await
                    .respond(status, headers, "")
                    .await;
            }
        };
        let (result, ()) = tokio::join!(tools.echo("once only"), serve);
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overloaded);
        assert_eq!(error.retry_after(), Some(Duration::ZERO));
        works(&tools, &mut peer).await;
    }
}

#[tokio::test]
async fn a_wait_that_the_call_has_no_time_for_is_not_begun() {
    let (tools, mut peer) = connected().await;
    let options = CallOptions::default().with_timeout(Duration::from_secs(20));
    let serve = async {
        let call = peer.expect("tools/call").await;
        call.respond("429 Too Many Requests", "retry-after: 25\r\n", "")
            .await;
    };
    let (result, ()) = tokio::join!(tools.echo_with("hurried", options), serve);
    let error = result.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(25)));
    works(&tools, &mut peer).await;
    insta::assert_snapshot!(told(&error));
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_the_server_has_refused_it_was_not_sent() {
    let (tools, mut peer) = connected().await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let serve = async {
        let call = peer.expect("tools/call").await;
        call.respond("429 Too Many Requests", "retry-after: 20\r\n", "")
            .await;
        // The refusal is read before the connection is used again.
        let serve = async { peer.expect("tools/call").await.echo().await };
        let (text, ()) = tokio::join!(tools.echo("beside"), serve);
        assert_eq!(text.unwrap(), "beside");
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(tools.echo_with("cancelled", options), serve);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::NotSent)
    );
    // The next message is a call: no notice was sent of the one that the server does not have.
    works(&tools, &mut peer).await;
}

// R07, R08
#[tokio::test]
async fn a_body_over_the_limit_fails_its_call_as_soon_as_that_is_known() {
    let mut limits = Limits::default();
    limits.message_bytes = 64 << 10;
    let (tools, mut peer) = connected_within(limits, Timeouts::default()).await;
    let announced = fails_then_works(&tools, &mut peer, |call| async {
        // Only the head comes.
        let mut held = call;
        held.send_part(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 268435456\r\n\r\n").await;
        held.gone().await;
    })
    .await;
    let chunked = fails_then_works(&tools, &mut peer, |call| async {
        let mut held = call;
        held.send_part(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n").await;
        held.send_part(b"FFFFFFF\r\n").await;
        held.send_part(&vec![b' '; 65 << 10]).await;
        held.gone().await;
    })
    .await;
    let event = fails_then_works(&tools, &mut peer, |call| async {
        let mut events = call.stream().await;
        events
            .send_raw(&format!("data: {}", "x".repeat(65 << 10)))
            .await;
        events.gone().await;
    })
    .await;
    insta::assert_snapshot!(
        [announced, chunked, event]
            .map(|error| told(&error))
            .join("\n")
    );
}

// R33, R32: nothing to take the stream up again by.
#[tokio::test]
async fn an_answer_that_breaks_off_fails_its_call_at_once() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
    let stream =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let cuts = [
        ("before the status", ""),
        ("in the status line", "HTTP/1.1 20"),
        ("in the headers", "HTTP/1.1 200 OK\r\ncontent-ty"),
        ("behind the headers", head),
        ("in the body", &format!("{head}{{\"jsonrpc\"")),
        ("behind the headers of a stream", stream),
        ("in a chunk of a stream", &format!("{stream}40\r\ndata: {{")),
        (
            "between the chunks of a stream",
            &format!("{stream}8\r\ndata: {{\n\r\n"),
        ),
        (
            "behind a comment of a stream",
            &format!("{stream}3\r\n:x\n\r\n"),
        ),
        ("at the end of a stream", &format!("{stream}0\r\n\r\n")),
        ("what is no HTTP", "SSH-2.0-OpenSSH_9.9\r\n"),
    ];
    let (tools, mut peer) = connected().await;
    let mut told_all = Vec::new();
    for (name, bytes) in cuts {
        for reset in [false, true] {
            let error = fails_then_works(&tools, &mut peer, |call| async move {
                match reset {
                    true => call.reset_after(bytes.as_bytes()).await,
                    false => call.raw(bytes.as_bytes()).await,
                }
            })
            .await;
            assert_eq!(
                (error.kind(), error.outcome()),
                (ErrorKind::Closed, Outcome::Unknown),
                "{name}"
            );
            if !reset {
                let port = peer.url.port().unwrap().to_string();
                let message = error.message().replace(&port, "PORT");
                told_all.push(format!("{name}: {message}"));
            }
        }
    }
    let states = tools.heard.states();
    assert_eq!(states[..4], ["connecting", "ready", "degraded", "ready"]);
    insta::assert_snapshot!(told_all.join("\n"));
}

#[tokio::test]
async fn a_server_that_is_away_degrades_the_toolbox_until_it_is_back() {
    let (tools, peer) = connected().await;
    let address = peer.end().await;
    for _ in 0..2 {
        let error = tools.echo("away").await.unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Connect, Outcome::NotSent)
        );
        assert_eq!(tools.toolbox.state().as_str(), "degraded");
    }
    let error = tools.discover().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect);
    // It comes back and knows nothing of the session.
    let mut peer = HttpPeer::at(&address).await;
    let serve = async {
        let lost = peer.expect("tools/call").await;
        assert_eq!(lost.session(), 1);
        lost.status("404 Not Found").await;
        peer.shake_hands(2).await;
        let call = peer.expect("tools/call").await;
        assert_eq!(call.session(), 2);
        call.echo().await;
    };
    let (text, ()) = tokio::join!(tools.echo("back"), serve);
    assert_eq!(text.unwrap(), "back");
    assert_eq!(tools.toolbox.state().as_str(), "ready");
    assert_eq!(
        tools.heard.states(),
        ["connecting", "ready", "degraded", "ready"]
    );
}

#[tokio::test]
async fn no_secret_that_a_server_repeats_is_shown() {
    let peer = HttpPeer::new().await;
    let mut url = peer.url.clone();
    url.set_query(Some("api_key=secret-of-the-query"));
    let mut headers = http::HeaderMap::new();
    headers.insert(
        "authorization",
        "Bearer secret-of-the-config".parse().unwrap(),
    );
    let redactor = Redactor::new(["secret-of-the-config", "secret-of-the-query"]).hiding_urls();
    let server = McpServer::new(KEY, transport_to(server_at(&url).with_headers(headers)));
    let tools = Tools::of(server.with_redactor(redactor));
    let (tools, mut peer) = greeted(tools, peer).await;
    let options = || CallOptions::default().with_headers([("x-key", "secret-of-the-call")]);
    // Each stands where the excerpt is cut.
    let padding = "x".repeat(185);
    let mut told_all = Vec::new();
    for secret in [
        "secret-of-the-config",
        "secret-of-the-query",
        "secret-of-the-call",
        "session-of-the-peer-1",
    ] {
        for status in ["200 OK", "401 Unauthorized", "500 Internal Server Error"] {
            for json in [false, true] {
                let body = match json {
                    false => format!("{padding} {secret} http://me:pass-word@host/?token={secret}"),
                    true => json!({"jsonrpc": "2.0", "id": null,
                        "error": {"code": 1, "message": format!("{padding} {secret}")}})
                    .to_string(),
                };
                let serve = async {
                    let call = peer.expect("tools/call").await;
                    call.respond(status, JSON, &body).await;
                };
                let call = tools.echo_with("x", options());
                let (result, ()) = tokio::join!(call, serve);
                told_all.push(told(&result.unwrap_err()));
            }
        }
    }
    told_all.push(format!("{:?}", tools.toolbox.diagnosis()));
    let shown = told_all.join("\n");
    for part in ["secret-of", "session-of", "pass-word", "me:"] {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
    assert!(shown.contains("[redacted]"));
}

// R38, H3
#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_once_and_no_other_one() {
    let (tools, mut peer) = connected().await;
    let elsewhere = HttpPeer::new().await;
    let serve = async {
        let call = peer.expect("tools/call").await;
        let first = call.body.clone();
        let to = "location: /moved\r\n";
        call.respond("307 Temporary Redirect", to, "").await;
        let moved = peer.expect("tools/call").await;
        assert_eq!((moved.path.as_str(), &moved.body), ("/moved", &first));
        assert_eq!(moved.session(), 1);
        moved.echo().await;
    };
    let (text, ()) = tokio::join!(tools.echo("moved"), serve);
    assert_eq!(text.unwrap(), "moved");
    let ports = [&elsewhere, &peer].map(|peer| peer.url.port().unwrap().to_string());
    let mut told_all = Vec::new();
    for (status, to) in [
        ("307 Temporary Redirect", elsewhere.url.as_str()),
        (
            "308 Permanent Redirect",
            "https://evil.test/mcp?token=stolen",
        ),
        ("302 Found", "/moved"),
        ("307 Temporary Redirect", ""),
    ] {
        let error = fails_then_works(&tools, &mut peer, |call| async move {
            call.respond(status, &format!("location: {to}\r\n"), "")
                .await;
        });
        let shown = told(&error.await).replace(&ports[0], "OTHER");
        told_all.push(shown.replace(&ports[1], "OURS"));
    }
    assert_eq!(elsewhere.accepted(), 0);
    insta::assert_snapshot!(told_all.join("\n"));
}
