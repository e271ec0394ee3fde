//! How are calls made over streamable HTTP, and what else comes with their replies?

use futures_util::future::join_all;
use serde_json::json;
use toolspan_core::execute::CallOptions;
use toolspan_core::{ErrorKind, Outcome, ToolBox};

use crate::support::http::{HttpPeer, connected, remote, server_at};
use crate::support::told;

#[tokio::test]
async fn every_request_carries_what_the_protocol_asks_for() {
    let mut peer = HttpPeer::new().await;
    let mut headers = http::HeaderMap::new();
    headers.insert("authorization", "Bearer of-the-config".parse().unwrap());
    headers.insert("x-tenant", "of-the-config".parse().unwrap());
    let tools = remote(server_at(&peer.url).with_headers(headers));
    let play = async {
        let initialize = peer.expect("initialize").await;
        assert_eq!(
            initialize.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert_eq!(initialize.header("content-type"), Some("application/json"));
        assert_eq!(initialize.header("mcp-protocol-version"), None);
        assert_eq!(
            initialize.header("authorization"),
            Some("Bearer of-the-config")
        );
        let session = "mcp-session-id: one\r\n";
        let hello = crate::support::peer::hello("2025-06-18");
        initialize.reply_with(session, hello).await;
        let mut requests = Vec::new();
        for _ in 0..3 {
            let request = peer.next().await;
            assert_eq!(request.header("mcp-session-id"), Some("one"));
            assert_eq!(request.header("mcp-protocol-version"), Some("2025-06-18"));
            assert_eq!(request.header("x-tenant"), Some("of-the-config"));
            let what = format!("{} {}", request.method, request.body["method"]);
            match request.body["method"].as_str() {
                Some("tools/list") => {
                    let tool = crate::support::peer::echo_tool();
                    request.reply(json!({"tools": [tool]})).await;
                }
                Some(_) => request.status("202 Accepted").await,
                None => {
                    assert_eq!(request.header("accept"), Some("text/event-stream"));
                    request.status("405 Method Not Allowed").await;
                }
            }
            requests.push(what);
        }
        requests
    };
    let (discovered, mut requests) = tokio::join!(tools.discover(), play);
    assert_eq!(discovered.unwrap().tools.len(), 1);
    // The stream is asked for beside the list.
    assert_eq!(requests.remove(0), "POST \"notifications/initialized\"");
    requests.sort();
    assert_eq!(requests, ["GET null", "POST \"tools/list\""]);

    let options = CallOptions::default().with_headers([("X-Tenant", "of-the-call")]);
    let serve = async {
        let call = peer.expect("tools/call").await;
        assert_eq!(call.header("x-tenant"), Some("of-the-call"));
        assert_eq!(call.header("authorization"), Some("Bearer of-the-config"));
        call.echo().await;
    };
    let (observation, ()) = tokio::join!(tools.echo_with("hello", options), serve);
    assert_eq!(observation.unwrap().text(), "hello");
    assert_eq!(tools.toolbox.kind(), "mcp/http");
}

#[tokio::test]
async fn headers_of_the_protocol_cannot_be_set_for_a_call() {
    let (tools, _peer) = connected().await;
    let mut told_all = Vec::new();
    for (name, value) in [
        ("Host", "elsewhere"),
        ("Mcp-Session-Id", "stolen"),
        ("content-length", "0"),
        ("not a name", "x"),
        ("X-Secret", "line\r\nbreak"),
    ] {
        let options = CallOptions::default().with_headers([(name, value)]);
        let error = tools.echo_with("hello", options).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Usage, Outcome::NotSent)
        );
        told_all.push(told(&error));
    }
    assert_eq!(tools.toolbox.waiting(), 0);
    insta::assert_snapshot!(told_all.join("\n"));
}

#[tokio::test]
async fn sixty_four_calls_are_all_under_way_at_once_and_answered_in_any_order() {
    const CALLS: usize = 64;
    let (tools, mut peer) = connected().await;
    let texts: Vec<String> = (0..CALLS).map(|number| format!("call {number}")).collect();
    let calls = join_all(texts.iter().map(|text| tools.echo(text)));
    let serve = async {
        // None is answered before all are here.
        let mut held = Vec::new();
        while held.len() < CALLS {
            held.push(peer.expect("tools/call").await);
        }
        for call in held.into_iter().rev() {
            call.echo().await;
        }
    };
    let (results, ()) = tokio::join!(calls, serve);
    let results: Vec<String> = results.into_iter().map(Result::unwrap).collect();
    assert_eq!(results, texts);
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_document_and_after_a_stream() {
    let (tools, mut peer) = connected().await;
    for number in 0..6 {
        let serve = async {
            let call = peer.expect("tools/call").await;
            if number % 2 == 0 {
                return call.echo().await;
            }
            let echoed = call.echoed();
            let mut events = call.stream().await;
            events.send(&echoed).await;
            events.end().await;
        };
        let (text, ()) = tokio::join!(tools.echo("hello"), serve);
        assert_eq!(text.unwrap(), "hello");
    }
    // One for the calls, and at most one more for the stream that was asked for at the start.
    assert!(peer.accepted() <= 2, "{}", peer.accepted());
}

#[tokio::test]
async fn a_stream_brings_progress_logs_and_requests_before_the_reply() {
    let (tools, mut peer) = connected().await;
    let (seen, mut progress) = tokio::sync::mpsc::unbounded_channel();
    let options = CallOptions::default().with_progress(move |progress| {
        seen.send(progress.progress).unwrap();
    });
    let serve = async {
        let call = peer.expect("tools/call").await;
        let echoed = call.echoed();
        let token = call.body["params"]["_meta"]["progressToken"].clone();
        let mut events = call.stream().await;
        events.send_raw(": a comment\n\nid: 1\ndata:\n\n").await;
        let note = |method: &str, params: serde_json::Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
        events
            .send(&note(
                "notifications/progress",
                json!({"progressToken": token, "progress": 0.5}),
            ))
            .await;
        assert_eq!(progress.recv().await, Some(0.5));
        events
            .send(&note(
                "notifications/message",
                json!({"level": "info", "data": "from the stream"}),
            ))
            .await;
        events
            .send(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
            .await;
        let answer = peer.next_post().await;
        assert_eq!(
            answer.body,
            json!({"jsonrpc": "2.0", "id": "p", "result": {}})
        );
        assert_eq!(answer.session(), 1);
        answer.status("202 Accepted").await;
        events.send(&echoed).await;
        events.end().await;
    };
    let (observation, ()) = tokio::join!(tools.echo_with("hello", options), serve);
    assert_eq!(observation.unwrap().text(), "hello");
    assert_eq!(tools.heard.logged(), ["from the stream"]);
}

#[tokio::test]
async fn closing_ends_the_calls_and_the_session() {
    let (tools, mut peer) = connected().await;
    let call = tools.echo("held");
    let close = async {
        let held = peer.expect("tools/call").await;
        let close = tools.toolbox.close();
        let farewell = async {
            let farewell = peer.next_post().await;
            assert_eq!(
                (farewell.method.as_str(), farewell.session()),
                ("DELETE", 1)
            );
            farewell.status("405 Method Not Allowed").await;
        };
        tokio::join!(close, farewell);
        held.gone().await;
    };
    let (result, ()) = tokio::join!(call, close);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );
    let next = tools.echo("after").await.unwrap_err();
    assert_eq!(
        (next.kind(), next.outcome()),
        (ErrorKind::Closed, Outcome::NotSent)
    );
    assert_eq!(tools.toolbox.waiting(), 0);
}
