//! What does a client do when its session ends, is refused, or is none?

use futures_util::future::join_all;
use serde_json::json;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome, ToolBox};

use crate::support::http::{
    HttpPeer, Incoming, SESSION, connected, greeted, remote, remote_within, server_at,
};
use crate::support::peer::hello;
use crate::support::told;

/// Answers a call: with 404 in session 1, with its text in session 2.
async fn lost_or_echoed(call: Incoming) {
    match call.session() {
        1 => call.status("404 Not Found").await,
        _ => call.echo().await,
    }
}

// R30
#[tokio::test]
async fn fifty_calls_that_find_the_session_gone_share_one_new_session_and_all_get_their_results() {
    const CALLS: usize = 50;
    let (tools, mut peer) = connected().await;
    let texts: Vec<String> = (0..CALLS).map(|number| format!("call {number}")).collect();
    let calls = join_all(texts.iter().map(|text| tools.echo(text)));
    let serve = async {
        let mut held = Vec::new();
        while held.len() < CALLS {
            held.push(peer.expect("tools/call").await);
        }
        for call in held {
            call.status("404 Not Found").await;
        }
        // Anything but one handshake and then the calls fails here.
        peer.shake_hands(2).await;
        for _ in 0..CALLS {
            let call = peer.expect("tools/call").await;
            assert_eq!(call.session(), 2);
            call.echo().await;
        }
    };
    let (results, ()) = tokio::join!(calls, serve);
    let results: Vec<String> = results.into_iter().map(Result::unwrap).collect();
    assert_eq!(results, texts);
    assert_eq!(tools.heard.states(), ["connecting", "ready"]);
    assert_eq!(
        tools.notes(),
        ["sessions begun anew, as the server no longer knew the one before: 1"]
    );
}

#[tokio::test]
async fn a_call_that_is_answered_404_late_uses_the_session_that_another_one_began() {
    let (tools, mut peer) = connected().await;
    let calls = async { tokio::join!(tools.echo("first"), tools.echo("late")) };
    let serve = async {
        let mut held = [
            peer.expect("tools/call").await,
            peer.expect("tools/call").await,
        ];
        held.sort_by_key(|call| call.body["params"]["arguments"]["text"].to_string());
        let [first, late] = held;
        first.status("404 Not Found").await;
        peer.shake_hands(2).await;
        lost_or_echoed(peer.expect("tools/call").await).await;
        late.status("404 Not Found").await;
        lost_or_echoed(peer.expect("tools/call").await).await;
    };
    let ((first, late), ()) = tokio::join!(calls, serve);
    assert_eq!(
        (first.unwrap(), late.unwrap()),
        ("first".to_owned(), "late".to_owned())
    );
}

#[tokio::test]
async fn a_session_that_is_gone_again_at_once_closes_the_call_and_no_other_is_tried() {
    let (tools, mut peer) = connected().await;
    let serve = async {
        peer.expect("tools/call")
            .await
            .status("404 Not Found")
            .await;
        peer.shake_hands(2).await;
        peer.expect("tools/call")
            .await
            .status("404 Not Found")
            .await;
    };
    let (result, ()) = tokio::join!(tools.echo("lost"), serve);
    let error = result.unwrap_err();
    assert_eq!(error.http_status(), Some(404));
    // I5
    let serve = async {
        peer.expect("tools/call")
            .await
            .status("404 Not Found")
            .await;
        peer.shake_hands(3).await;
        peer.expect("tools/call").await.echo().await;
    };
    let (next, ()) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(next.unwrap(), "next");
    insta::assert_snapshot!(told(&error));
}

#[tokio::test]
async fn a_new_session_that_cannot_be_had_fails_all_who_wait_for_it_with_one_reason() {
    let (tools, mut peer) = connected().await;
    let calls = join_all((0..10).map(|_| tools.echo("lost")));
    let serve = async {
        let mut held = Vec::new();
        while held.len() < 10 {
            held.push(peer.expect("tools/call").await);
        }
        for call in held {
            call.status("404 Not Found").await;
        }
        let initialize = peer.expect("initialize").await;
        initialize.status("500 Internal Server Error").await;
    };
    let (results, ()) = tokio::join!(calls, serve);
    let mut errors: Vec<_> = results
        .into_iter()
        .map(|result| told(&result.unwrap_err()))
        .collect();
    errors.dedup();
    assert_eq!(errors.len(), 1, "{errors:?}");
    // The next call tries anew (I5).
    let serve = async {
        peer.expect("tools/call")
            .await
            .status("404 Not Found")
            .await;
        peer.shake_hands(2).await;
        peer.expect("tools/call").await.echo().await;
    };
    let (next, ()) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(next.unwrap(), "next");
    insta::assert_snapshot!(errors[0]);
}

#[tokio::test]
async fn a_server_of_an_older_sdk_says_400_of_a_session_that_it_does_not_know() {
    let (tools, mut peer) = connected().await;
    let serve = async {
        let body = json!({"jsonrpc": "2.0", "id": null,
            "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}});
        let json = "content-type: application/json\r\n";
        let call = peer.expect("tools/call").await;
        call.respond("400 Bad Request", json, &body.to_string())
            .await;
        peer.shake_hands(2).await;
        peer.expect("tools/call").await.echo().await;
    };
    let (text, ()) = tokio::join!(tools.echo("hello"), serve);
    assert_eq!(text.unwrap(), "hello");
}

#[tokio::test]
async fn a_404_of_a_server_without_sessions_is_an_error_and_no_reason_to_begin_anew() {
    let mut peer = HttpPeer::new().await;
    let tools = remote(server_at(&peer.url));
    let play = async {
        peer.expect("initialize")
            .await
            .reply(hello("2025-11-25"))
            .await;
        let initialized = peer.expect("notifications/initialized").await;
        assert_eq!(initialized.header("mcp-session-id"), None);
        initialized.status("202 Accepted").await;
        peer.list().await;
    };
    tokio::join!(tools.discover(), play).0.unwrap();
    let serve = async {
        let call = peer.expect("tools/call").await;
        call.respond(
            "404 Not Found",
            "content-type: text/plain\r\n",
            "no such page",
        )
        .await;
    };
    let (result, ()) = tokio::join!(tools.echo("lost"), serve);
    let error = result.unwrap_err();
    // Without a session there is nothing to say goodbye to.
    tools.toolbox.close().await;
    insta::assert_snapshot!(told(&error));
}

// H8
#[tokio::test]
async fn a_name_of_a_session_that_no_header_should_carry_is_refused() {
    let long = "x".repeat(10 << 10);
    let mut told_all = Vec::new();
    for (what, header) in [
        ("10 KiB", format!("mcp-session-id: {long}\r\n")),
        ("empty", "mcp-session-id: \r\n".to_owned()),
        ("a blank in it", "mcp-session-id: one two\r\n".to_owned()),
        ("not ASCII", "mcp-session-id: s\u{e9}ance\r\n".to_owned()),
        ("a tab in it", "mcp-session-id: one\ttwo\r\n".to_owned()),
        (
            "two of them",
            "mcp-session-id: one\r\nmcp-session-id: two\r\n".to_owned(),
        ),
    ] {
        let mut peer = HttpPeer::new().await;
        let tools = remote(server_at(&peer.url));
        let play = async {
            let initialize = peer.expect("initialize").await;
            initialize.reply_with(&header, hello("2025-11-25")).await;
        };
        let (discovered, ()) = tokio::join!(tools.discover(), play);
        told_all.push(format!("--- {what}\n{}", told(&discovered.unwrap_err())));
    }
    insta::assert_snapshot!(told_all.join("\n"));
}

#[tokio::test]
async fn a_name_that_changes_within_the_session_is_not_followed() {
    let (tools, mut peer) = connected().await;
    for _ in 0..2 {
        let serve = async {
            let call = peer.expect("tools/call").await;
            assert_eq!(call.session(), 1);
            let echoed = call.echoed()["result"].clone();
            call.reply_with("mcp-session-id: another\r\n", echoed).await;
        };
        let (text, ()) = tokio::join!(tools.echo("hello"), serve);
        assert_eq!(text.unwrap(), "hello");
    }
}

#[tokio::test]
async fn a_start_over_http_fails_with_a_reason_and_the_next_one_may_work() {
    let mut told_all = Vec::new();
    for (what, status, body) in [
        ("401", "401 Unauthorized", ""),
        ("404", "404 Not Found", "<html>nothing here</html>"),
        ("500", "500 Internal Server Error", ""),
        ("a page", "200 OK", "<html>hello</html>"),
    ] {
        let mut peer = HttpPeer::new().await;
        let tools = remote(server_at(&peer.url));
        let play = async {
            let initialize = peer.expect("initialize").await;
            initialize
                .respond(status, "content-type: text/html\r\n", body)
                .await;
        };
        let (discovered, ()) = tokio::join!(tools.discover(), play);
        told_all.push(format!("--- {what}\n{}", told(&discovered.unwrap_err())));
        let port = peer.url.port().unwrap().to_string();
        for step in tools.toolbox.diagnosis().steps {
            let said = step
                .result
                .unwrap_or_else(|error| format!("failed: {error}"));
            told_all.push(format!("{}: {said}", step.what).replace(&port, "PORT"));
        }
        assert_eq!(tools.toolbox.state().as_str(), "failed");
        drop(tools);
    }
    insta::assert_snapshot!(told_all.join("\n"));
}

#[tokio::test]
async fn a_server_that_takes_no_notice_of_the_handshake_is_refused() {
    let mut peer = HttpPeer::new().await;
    let tools = remote(server_at(&peer.url));
    let play = async {
        peer.greet(1).await;
        let initialized = peer.expect("notifications/initialized").await;
        initialized.status("400 Bad Request").await;
    };
    let (discovered, ()) = tokio::join!(tools.discover(), play);
    insta::assert_snapshot!(told(&discovered.unwrap_err()));
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_given_up_at_the_limit() {
    let mut peer = HttpPeer::new().await;
    let mut timeouts = Timeouts::default();
    timeouts.connect = std::time::Duration::from_millis(100);
    let tools = remote_within(server_at(&peer.url), Limits::default(), timeouts);
    let play = async {
        let initialize = peer.expect("initialize").await;
        initialize.gone().await;
    };
    let (discovered, ()) = tokio::join!(tools.discover(), play);
    insta::assert_snapshot!(told(&discovered.unwrap_err()));
}

// R54
#[tokio::test]
async fn a_close_while_a_new_session_is_begun_ends_all_who_wait_for_it() {
    let (tools, mut peer) = connected().await;
    let calls = async { tokio::join!(tools.echo("one"), tools.echo("two")) };
    let serve = async {
        for _ in 0..2 {
            peer.expect("tools/call")
                .await
                .status("404 Not Found")
                .await;
        }
        let initialize = peer.expect("initialize").await;
        let farewell = async {
            let farewell = peer.next_post().await;
            assert_eq!(farewell.method, "DELETE");
            assert_eq!(
                farewell.header("mcp-session-id"),
                Some(&*format!("{SESSION}-1"))
            );
            farewell.status("404 Not Found").await;
        };
        tokio::join!(tools.toolbox.close(), farewell);
        initialize.gone().await;
    };
    let ((one, two), ()) = tokio::join!(calls, serve);
    for result in [one, two] {
        let error = result.unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Closed, Outcome::NotSent)
        );
    }
}

#[tokio::test]
async fn closing_waits_for_no_server_that_does_not_say_goodbye() {
    let peer = HttpPeer::new().await;
    let mut timeouts = Timeouts::default();
    timeouts.close = std::time::Duration::from_millis(100);
    let tools = remote_within(server_at(&peer.url), Limits::default(), timeouts);
    let (tools, mut peer) = greeted(tools, peer).await;
    let hold = async {
        let farewell = peer.next_post().await;
        assert_eq!(farewell.method, "DELETE");
        farewell.gone().await;
    };
    tokio::join!(tools.toolbox.close(), hold);
    assert_eq!(tools.toolbox.state().as_str(), "closed");
}

#[tokio::test]
async fn dropping_a_toolbox_needs_no_runtime() {
    let (tools, _peer) = connected().await;
    std::thread::spawn(move || drop(tools)).join().unwrap();
}
