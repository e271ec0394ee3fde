//! How is a server worked with that speaks HTTP with SSE, and how is it found?

use std::time::Duration;

use serde_json::{Value, json};
use toolspan_core::{ErrorKind, Outcome, ToolBox};
use toolspan_mcp::transport::RemoteKind;

use crate::support::clock::StillClock;
use crate::support::http::{Events, HttpPeer, Incoming, remote, server_at};
use crate::support::peer::{echo_tool, hello};
use crate::support::{Tools, told};

/// Where the peer wants messages.
const ENDPOINT: &str = "event: endpoint\ndata: /messages?session=1\n\n";

/// A toolbox over a peer of this kind.
async fn unconnected(kind: RemoteKind) -> (Tools, HttpPeer) {
    let peer = HttpPeer::with_streams().await;
    (remote(server_at(&peer.url).with_kind(kind)), peer)
}

/// Takes a message, which must have this method.
async fn take(peer: &mut HttpPeer, method: &str) -> Incoming {
    let request = peer.expect(method).await;
    assert_eq!(request.path, "/messages?session=1");
    request
}

/// Answers a request on the stream, as such a server does.
async fn answer(events: &mut Events, request: Incoming, result: Value) {
    let message = request.message(result);
    request.status("202 Accepted").await;
    events.send(&message).await;
}

/// Plays a start from its GET on; gives the stream.
async fn play_start(peer: &mut HttpPeer) -> Events {
    let get = peer.next_get().await;
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    let mut events = get.stream().await;
    events.send_raw(ENDPOINT).await;
    play_handshake(peer, &mut events).await;
    events
}

async fn play_handshake(peer: &mut HttpPeer, events: &mut Events) {
    let initialize = take(peer, "initialize").await;
    answer(events, initialize, hello("2024-11-05")).await;
    take(peer, "notifications/initialized")
        .await
        .status("202 Accepted")
        .await;
}

async fn play_list(peer: &mut HttpPeer, events: &mut Events) {
    let list = take(peer, "tools/list").await;
    answer(events, list, json!({"tools": [echo_tool()]})).await;
}

async fn connected() -> (Tools, HttpPeer, Events) {
    let (tools, mut peer) = unconnected(RemoteKind::Sse).await;
    let play = async {
        let mut events = play_start(&mut peer).await;
        play_list(&mut peer, &mut events).await;
        events
    };
    let (discovered, events) = tokio::join!(tools.discover(), play);
    discovered.unwrap();
    (tools, peer, events)
}

async fn echo(peer: &mut HttpPeer, events: &mut Events) {
    let call = take(peer, "tools/call").await;
    let echoed = call.echoed()["result"].clone();
    answer(events, call, echoed).await;
}

/// Ends the stream, and waits until the toolbox has heard of it.
async fn end(tools: &Tools, events: Events) {
    events.end().await;
    while tools.toolbox.state().as_str() == "ready" {
        tokio::task::yield_now().await;
    }
}

/// The steps of the last start.
fn steps(tools: &Tools, peer: &HttpPeer) -> String {
    let port = peer.url.port().unwrap().to_string();
    let steps = tools.toolbox.diagnosis().steps;
    let step = |step: &toolspan_core::toolbox::Step| {
        let said = match &step.result {
            Ok(said) => said.clone(),
            Err(error) => format!("failed: {error}"),
        };
        format!("{}: {said}", step.what).replace(&port, "PORT")
    };
    steps.iter().map(step).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn messages_are_posted_and_come_back_on_the_stream_in_any_order() {
    let (tools, mut peer, mut events) = connected().await;
    let calls = async { tokio::join!(tools.echo("one"), tools.echo("two"), tools.echo("three")) };
    let serve = async {
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(take(&mut peer, "tools/call").await);
        }
        // The replies come before the POSTs are answered.
        for call in held.iter().rev() {
            events.send(&call.echoed()).await;
        }
        events
            .send(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
            .await;
        let pong = peer.next_post().await;
        assert_eq!(
            pong.body,
            json!({"jsonrpc": "2.0", "id": "p", "result": {}})
        );
        for request in held.into_iter().chain([pong]) {
            request.status("200 OK").await;
        }
    };
    let ((one, two, three), ()) = tokio::join!(calls, serve);
    assert_eq!(
        [one.unwrap(), two.unwrap(), three.unwrap()],
        ["one", "two", "three"]
    );
    assert_eq!(tools.toolbox.kind(), "mcp/sse");
    insta::assert_snapshot!(steps(&tools, &peer));
}

// H7
#[tokio::test]
async fn a_second_endpoint_moves_no_message() {
    let (tools, mut peer, mut events) = connected().await;
    let elsewhere = HttpPeer::new().await;
    events
        .send_raw("event: endpoint\ndata: /elsewhere\n\n")
        .await;
    events
        .send_raw(&format!("event: endpoint\ndata: {}\n\n", elsewhere.url))
        .await;
    let (text, ()) = tokio::join!(tools.echo("hello"), echo(&mut peer, &mut events));
    assert_eq!(text.unwrap(), "hello");
    assert_eq!(elsewhere.accepted(), 0);
}

// H6
#[tokio::test]
async fn an_endpoint_of_another_origin_ends_the_start_and_nothing_is_sent_there() {
    let elsewhere = HttpPeer::new().await;
    let (tools, mut peer) = unconnected(RemoteKind::Sse).await;
    let play = async {
        let mut events = peer.next_get().await.stream().await;
        events
            .send_raw(&format!("event: endpoint\ndata: {}\n\n", elsewhere.url))
            .await;
        events.gone().await;
    };
    let (discovered, ()) = tokio::join!(tools.discover(), play);
    assert_eq!(elsewhere.accepted(), 0);
    let ports = [&elsewhere, &peer].map(|peer| peer.url.port().unwrap().to_string());
    let shown = told(&discovered.unwrap_err());
    insta::assert_snapshot!(shown.replace(&ports[0], "OTHER").replace(&ports[1], "OURS"));
}

#[tokio::test]
async fn a_post_that_is_refused_fails_its_own_call_alone() {
    let (tools, mut peer, mut events) = connected().await;
    let calls = async { tokio::join!(tools.echo("refused"), tools.echo("taken")) };
    let serve = async {
        let mut held = [
            take(&mut peer, "tools/call").await,
            take(&mut peer, "tools/call").await,
        ];
        held.sort_by_key(|call| call.body["params"]["arguments"]["text"].to_string());
        let [refused, taken] = held;
        refused
            .respond("400 Bad Request", "", "Could not parse message")
            .await;
        let echoed = taken.echoed()["result"].clone();
        answer(&mut events, taken, echoed).await;
    };
    let ((refused, taken), ()) = tokio::join!(calls, serve);
    assert_eq!(taken.unwrap(), "taken");
    insta::assert_snapshot!(told(&refused.unwrap_err()));
}

#[tokio::test]
async fn the_end_of_the_stream_ends_the_calls_and_the_next_one_starts_anew() {
    let (tools, mut peer, events) = connected().await;
    let serve = async {
        take(&mut peer, "tools/call")
            .await
            .status("202 Accepted")
            .await;
        events.end().await;
    };
    let (result, ()) = tokio::join!(tools.echo("lost"), serve);
    let error = result.unwrap_err();
    assert_eq!(tools.toolbox.state().as_str(), "degraded");
    let serve = async {
        let mut events = play_start(&mut peer).await;
        echo(&mut peer, &mut events).await;
        events
    };
    let (text, _events) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(text.unwrap(), "next");
    assert_eq!(
        tools.heard.states(),
        ["connecting", "ready", "degraded", "connecting", "ready"]
    );
    insta::assert_snapshot!(told(&error));
}

#[tokio::test]
async fn a_call_that_is_given_up_is_told_and_closing_ends_the_stream() {
    let (tools, mut peer, events) = connected().await;
    let serve = async {
        let call = take(&mut peer, "tools/call").await;
        let id = call.body["id"].clone();
        call.status("202 Accepted").await;
        let cancelled = take(&mut peer, "notifications/cancelled").await;
        assert_eq!(cancelled.body["params"]["requestId"], id);
        cancelled.status("202 Accepted").await;
    };
    let call = tools.echo_within("given up", Duration::from_millis(100));
    let (result, ()) = tokio::join!(call, serve);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::Unknown)
    );
    tokio::join!(tools.toolbox.close(), events.gone());
    assert_eq!(tools.toolbox.state().as_str(), "closed");
}

#[tokio::test]
async fn a_stream_that_is_quiet_ends_when_no_call_waits_on_it() {
    let clock = StillClock::new();
    let (tools, mut peer, events) = connected().await;
    let ((), quiet) = clock.pass_until(events.gone()).await;
    assert!(quiet >= Duration::from_secs(300), "{quiet:?}");
    let serve = async {
        let mut events = play_start(&mut peer).await;
        echo(&mut peer, &mut events).await;
        events
    };
    let (text, _events) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(text.unwrap(), "next");
}

#[tokio::test]
async fn a_start_that_gives_no_endpoint_fails_with_what_came() {
    let mut told_all = Vec::new();
    for (what, status, headers, body) in [
        ("405", "405 Method Not Allowed", "allow: POST\r\n", ""),
        ("404", "404 Not Found", "", ""),
        ("401", "401 Unauthorized", "", ""),
        (
            "a page",
            "200 OK",
            "content-type: text/html\r\n",
            "<html>hello</html>",
        ),
        (
            "an end",
            "200 OK",
            "content-type: text/event-stream\r\n",
            "event: other\ndata: x\n\n",
        ),
        (
            "nonsense",
            "200 OK",
            "content-type: text/event-stream\r\n",
            "event: endpoint\ndata: http://[\n\n",
        ),
    ] {
        let (tools, mut peer) = unconnected(RemoteKind::Sse).await;
        let play = async { peer.next_get().await.respond(status, headers, body).await };
        let (discovered, ()) = tokio::join!(tools.discover(), play);
        told_all.push(format!("--- {what}\n{}", told(&discovered.unwrap_err())));
    }
    insta::assert_snapshot!(told_all.join("\n"));
}

#[tokio::test]
async fn a_server_that_refuses_streamable_http_is_asked_for_a_stream() {
    for status in ["400 Bad Request", "404 Not Found", "405 Method Not Allowed"] {
        let (tools, mut peer) = unconnected(RemoteKind::Auto).await;
        let play = async {
            peer.expect("initialize").await.status(status).await;
            let mut events = play_start(&mut peer).await;
            play_list(&mut peer, &mut events).await;
            events
        };
        let (discovered, mut events) = tokio::join!(tools.discover(), play);
        assert_eq!(discovered.unwrap().tools.len(), 1);
        assert_eq!(tools.toolbox.kind(), "mcp/sse");
        let (text, ()) = tokio::join!(tools.echo("hello"), echo(&mut peer, &mut events));
        assert_eq!(text.unwrap(), "hello");
        if status.starts_with("404") {
            insta::assert_snapshot!(steps(&tools, &peer));
        }
    }
}

#[tokio::test]
async fn what_worked_is_remembered_and_tried_anew_when_it_stops_to_work() {
    let (tools, mut peer) = unconnected(RemoteKind::Auto).await;
    let play = async {
        peer.expect("initialize")
            .await
            .status("405 Method Not Allowed")
            .await;
        let mut events = play_start(&mut peer).await;
        play_list(&mut peer, &mut events).await;
        events
    };
    let (discovered, events) = tokio::join!(tools.discover(), play);
    discovered.unwrap();
    // A restart asks for the stream first.
    end(&tools, events).await;
    let serve = async {
        let mut events = play_start(&mut peer).await;
        echo(&mut peer, &mut events).await;
        events
    };
    let (text, events) = tokio::join!(tools.echo("again"), serve);
    assert_eq!(text.unwrap(), "again");
    // The server learned the other protocol.
    end(&tools, events).await;
    let serve = async {
        peer.next_get().await.status("405 Method Not Allowed").await;
        peer.shake_hands(1).await;
        peer.expect("tools/call").await.echo().await;
    };
    let (text, ()) = tokio::join!(tools.echo("anew"), serve);
    assert_eq!(text.unwrap(), "anew");
    assert_eq!(tools.toolbox.kind(), "mcp/http");
}

#[tokio::test]
async fn no_stream_is_asked_for_after_a_refusal_of_credentials_or_without_an_answer() {
    for (status, kind) in [
        ("401 Unauthorized", ErrorKind::Auth),
        ("403 Forbidden", ErrorKind::Auth),
        ("500 Internal Server Error", ErrorKind::Connect),
    ] {
        let (tools, mut peer) = unconnected(RemoteKind::Auto).await;
        // A GET would be no `initialize`, and a second request none that is answered.
        let play = async { peer.next().await.status(status).await };
        let (discovered, ()) = tokio::join!(tools.discover(), play);
        assert_eq!(discovered.unwrap_err().kind(), kind);
    }
}

#[tokio::test]
async fn no_stream_is_asked_for_when_the_refusal_came_after_the_handshake_had_begun() {
    let (tools, mut peer) = unconnected(RemoteKind::Auto).await;
    // A GET is held, and would leave the start without an end.
    let play = async {
        peer.greet(1).await;
        let initialized = peer.expect("notifications/initialized").await;
        initialized.status("400 Bad Request").await;
    };
    let (discovered, ()) = tokio::join!(tools.discover(), play);
    assert_eq!(discovered.unwrap_err().http_status(), Some(400));
}

#[tokio::test]
async fn a_server_that_speaks_neither_is_told_both_refusals() {
    let (tools, mut peer) = unconnected(RemoteKind::Auto).await;
    let play = async {
        let json = "content-type: application/json\r\n";
        let body =
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such method"}}"#;
        peer.expect("initialize")
            .await
            .respond("400 Bad Request", json, body)
            .await;
        peer.next_get().await.status("405 Method Not Allowed").await;
    };
    let (discovered, ()) = tokio::join!(tools.discover(), play);
    let error = discovered.unwrap_err();
    insta::assert_snapshot!(format!("{}\n{}", told(&error), steps(&tools, &peer)));
}
