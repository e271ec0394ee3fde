//! What becomes of streams of events that are cut, quiet, resumed, repeated or none at all?

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::services::Event;
use toolspan_core::{ErrorKind, Outcome, ToolBox};
use toolspan_io::http::{HttpClient, HttpSettings, Resolve, Resolving};
use toolspan_mcp::transport::{RemoteKind, RemoteServer};

use crate::support::clock::StillClock;
use crate::support::http::{
    Events, HttpPeer, connected, greeted, remote, remote_within, server_at,
};
use crate::support::{Tools, told};

/// How many events the stream of a call has; the last one is the reply.
const EVENTS: usize = 10;

/// A toolbox over a peer that opens streams, and the stream of what it sends unasked.
async fn listening() -> (Tools, HttpPeer, Events) {
    let peer = HttpPeer::with_streams().await;
    let tools = remote(server_at(&peer.url));
    let (tools, mut peer) = greeted(tools, peer).await;
    let events = peer.next_get().await.stream().await;
    (tools, peer, events)
}

fn note(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// A log message that tells which event brought it.
fn log(number: usize) -> Value {
    note(
        "notifications/message",
        json!({"level": "info", "data": number.to_string()}),
    )
}

/// Sends the events from one to another of a call's stream.
async fn send(events: &mut Events, numbers: std::ops::RangeInclusive<usize>, reply: &Value) {
    for number in numbers {
        let message = if number == EVENTS {
            reply
        } else {
            &log(number)
        };
        events.send_as(&number.to_string(), message).await;
    }
}

// R31
#[tokio::test]
async fn a_stream_that_is_cut_after_any_of_its_events_is_taken_up_where_it_was_cut() {
    let clock = StillClock::new();
    let (tools, mut peer, _unasked) = listening().await;
    for cut in 1..EVENTS {
        for in_order in [true, false] {
            let before = tools.heard.logged().len();
            let serve = async {
                let call = peer.expect("tools/call").await;
                let reply = call.echoed();
                let mut events = call.stream().await;
                events.send_raw("retry: 700\n\n").await;
                send(&mut events, 1..=cut, &reply).await;
                match in_order {
                    true => events.end().await,
                    false => drop(events),
                }
                let (again, waited) = clock.pass_until(peer.next_get()).await;
                assert!(waited >= Duration::from_millis(700), "{waited:?}");
                assert_eq!(again.header("last-event-id"), Some(&*cut.to_string()));
                assert_eq!(again.session(), 1);
                let mut events = again.stream().await;
                // The server repeats what it is not sure of.
                send(&mut events, cut.saturating_sub(1).max(1)..=EVENTS, &reply).await;
                events.end().await;
            };
            let (text, ()) = tokio::join!(tools.echo("hello"), serve);
            assert_eq!(text.unwrap(), "hello");
            let logged = tools.heard.logged();
            let expected: Vec<String> = (1..EVENTS).map(|number| number.to_string()).collect();
            assert_eq!(logged[before..], expected, "cut after {cut}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_after_every_event_brings_its_reply_in_the_end() {
    let clock = StillClock::new();
    let (tools, mut peer, _unasked) = listening().await;
    let serve = async {
        let call = peer.expect("tools/call").await;
        let reply = call.echoed();
        let mut events = call.stream().await;
        for number in 1..EVENTS {
            send(&mut events, number..=number, &reply).await;
            drop(events);
            let (again, waited) = clock.pass_until(peer.next_get()).await;
            // Without a word of the server it is a second.
            assert!(waited >= Duration::from_secs(1), "{waited:?}");
            assert_eq!(again.header("last-event-id"), Some(&*number.to_string()));
            events = again.stream().await;
        }
        send(&mut events, EVENTS..=EVENTS, &reply).await;
    };
    let (text, ()) = tokio::join!(tools.echo("hello"), serve);
    assert_eq!(text.unwrap(), "hello");
    assert_eq!(
        tools.notes(),
        ["streams that were cut before the reply and taken up again: 9"]
    );
}

#[tokio::test]
async fn a_stream_is_asked_for_again_five_times_and_no_more() {
    let clock = StillClock::new();
    let (tools, mut peer, _unasked) = listening().await;
    let serve = async {
        let mut events = peer.expect("tools/call").await.stream().await;
        // A wait below the least is that.
        events.send_raw("retry: 0\nid: only\ndata:\n\n").await;
        drop(events);
        for number in 0..5 {
            let (again, waited) = clock.pass_until(peer.next_get()).await;
            assert!(waited >= Duration::from_millis(100), "{waited:?}");
            match number {
                0 => again.status("503 Service Unavailable").await,
                1 => again.raw(b"").await,
                2 => {
                    again
                        .stream()
                        .await
                        .send_raw("id: only\ndata: {}\n\n")
                        .await
                }
                _ => again.stream().await.end().await,
            }
        }
    };
    let (result, ()) = tokio::join!(tools.echo("lost"), serve);
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );
    insta::assert_snapshot!(told(&error));
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_again_is_lost_at_once() {
    let clock = StillClock::new();
    let (tools, mut peer, _unasked) = listening().await;
    let mut told_all = Vec::new();
    for status in ["405 Method Not Allowed", "404 Not Found", "200 OK"] {
        let serve = async {
            let mut events = peer.expect("tools/call").await.stream().await;
            events.send_raw("id: 1\ndata:\n\n").await;
            events.end().await;
            let (again, _) = clock.pass_until(peer.next_get()).await;
            again.status(status).await;
        };
        let (result, ()) = tokio::join!(tools.echo("lost"), serve);
        told_all.push(told(&result.unwrap_err()));
    }
    insta::assert_snapshot!(told_all.join("\n"));
}

// R43
#[tokio::test]
async fn a_reply_comes_out_of_a_stream_in_any_form_the_standard_allows() {
    let (tools, mut peer) = connected().await;
    for shape in [
        "data: REPLY\n\n",
        "data:REPLY\r\n\r\n",
        "\u{feff}data: REPLY\r\r",
        ": comment\n:\nevent: message\nid: a\u{0}b\nretry: x\nunknown: field\ndata: REPLY\n\n",
        "event: ping\ndata: not for us\n\ndata: REPLY\n\n",
        "data\ndata: REPLY\ndata\n\n",
        "id\n\ndata: HEAD\ndata: TAIL\n\n",
    ] {
        let serve = async {
            let call = peer.expect("tools/call").await;
            let reply = call.echoed().to_string();
            // Between two members, where JSON has room for a line end.
            let split = reply.find(",\"").unwrap() + 1;
            let text = shape
                .replace("REPLY", &reply)
                .replace("HEAD", &reply[..split])
                .replace("TAIL", &reply[split..]);
            let mut events = call.stream().await;
            // In pieces of three bytes.
            for piece in text.as_bytes().chunks(3) {
                events.send_bytes(piece).await;
            }
            events.end().await;
        };
        let (text, ()) = tokio::join!(tools.echo("hello"), serve);
        assert_eq!(text.unwrap(), "hello", "{shape:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_ends_its_stream_and_the_server_is_told() {
    let (tools, mut peer) = connected().await;
    for by_timeout in [false, true] {
        let cancel = tokio_util::sync::CancellationToken::new();
        let options = match by_timeout {
            true => CallOptions::default().with_timeout(Duration::from_millis(100)),
            false => CallOptions::default().with_cancel(cancel.clone()),
        };
        let serve = async {
            let call = peer.expect("tools/call").await;
            let id = call.body["id"].clone();
            let events = call.stream().await;
            cancel.cancel();
            events.gone().await;
            let told = peer.expect("notifications/cancelled").await;
            assert_eq!(told.body["params"]["requestId"], id);
            assert_eq!(told.session(), 1);
            told.status("202 Accepted").await;
        };
        let (result, ()) = tokio::join!(tools.echo_with("given up", options), serve);
        let error = result.unwrap_err();
        let kind = if by_timeout {
            ErrorKind::Timeout
        } else {
            ErrorKind::Cancelled
        };
        assert_eq!((error.kind(), error.outcome()), (kind, Outcome::Unknown));
        assert_eq!(tools.toolbox.waiting(), 0);
    }
}

#[tokio::test]
async fn closing_lets_the_server_know_first_that_a_call_is_given_up() {
    let (tools, mut peer) = connected().await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let end = async {
        let error = tools.echo_with("given up", options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        tools.toolbox.close().await;
    };
    let serve = async {
        let call = peer.expect("tools/call").await;
        let id = call.body["id"].clone();
        let _events = call.stream().await;
        cancel.cancel();
        let told = peer.expect("notifications/cancelled").await;
        assert_eq!(told.body["params"]["requestId"], id);
        told.status("202 Accepted").await;
        let farewell = peer.next_post().await;
        assert_eq!(farewell.method, "DELETE");
        farewell.status("200 OK").await;
    };
    tokio::join!(end, serve);
}

/// Looks every name up as this machine, one look-up for each permit.
struct Held(Arc<Semaphore>);

impl Resolve for Held {
    fn resolve(&self, _host: &str) -> Resolving {
        let permits = Arc::clone(&self.0);
        Box::pin(async move {
            permits.acquire_owned().await.unwrap().forget();
            Ok(vec![std::net::Ipv4Addr::LOCALHOST.into()])
        })
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_before_it_has_a_connection_was_not_sent() {
    let peer = HttpPeer::new().await;
    let lookups = Arc::new(Semaphore::new(2));
    let mut url = peer.url.clone();
    url.set_host(Some("peer.test")).unwrap();
    let settings = HttpSettings::new(url.clone()).with_resolver(Arc::new(Held(lookups.clone())));
    let client = HttpClient::new(settings).unwrap();
    let server = RemoteServer::new(url, client).with_kind(RemoteKind::StreamableHttp);
    let (tools, mut peer) = greeted(remote(server), peer).await;
    // Both connections are taken, and there is no third one.
    let holding = join_all([tools.echo("one"), tools.echo("two")]);
    let serve = async {
        let held = [
            peer.expect("tools/call").await,
            peer.expect("tools/call").await,
        ];
        let limit = Duration::from_millis(100);
        let options = CallOptions::default().with_timeout(limit);
        let error = tools.echo_with("never sent", options).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Timeout, Outcome::NotSent)
        );
        lookups.add_permits(8);
        for call in held {
            call.echo().await;
        }
    };
    let (results, ()) = tokio::join!(holding, serve);
    assert!(results.iter().all(Result::is_ok));
    // The server hears nothing of the call, and of no notice of it.
    let serve = async { peer.expect("tools/call").await.echo().await };
    let (text, ()) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(text.unwrap(), "next");
}

#[tokio::test]
async fn what_the_server_sends_unasked_is_heard_and_its_requests_are_answered() {
    let (tools, mut peer, mut events) = listening().await;
    events.send(&log(7)).await;
    events
        .send(&note("notifications/tools/list_changed", json!({})))
        .await;
    // A reply belongs to no such stream, and a message that is none is skipped.
    events
        .send(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
        .await;
    events.send_raw("data: hello\n\n").await;
    events
        .send(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
        .await;
    let answer = peer.next_post().await;
    assert_eq!(
        answer.body,
        json!({"jsonrpc": "2.0", "id": "p", "result": {}})
    );
    answer.status("202 Accepted").await;
    assert_eq!(tools.heard.logged(), ["7"]);
    assert_eq!(
        tools
            .heard
            .count(|event| matches!(event, Event::ToolsChanged)),
        1
    );
    insta::assert_snapshot!(tools.notes().join("\n"));
}

#[tokio::test]
async fn at_most_eight_answers_are_under_way_and_calls_go_on_beside_them() {
    const REQUESTS: usize = 20;
    let (tools, mut peer, mut events) = listening().await;
    for number in 0..REQUESTS {
        let ping = json!({"jsonrpc": "2.0", "id": number, "method": "ping"});
        events.send(&ping).await;
    }
    events.send(&log(1)).await;
    let mut held = Vec::new();
    while held.len() < 8 {
        held.push(peer.next_post().await);
    }
    let serve = async { peer.expect("tools/call").await.echo().await };
    let (text, ()) = tokio::join!(tools.echo("beside"), serve);
    assert_eq!(text.unwrap(), "beside");
    assert_eq!(tools.heard.logged(), ["1"]);
    insta::assert_snapshot!(tools.notes().join("\n"));
}

#[tokio::test]
async fn the_stream_of_the_server_is_taken_up_again_when_it_is_cut_or_quiet() {
    let clock = StillClock::new();
    let (tools, mut peer, mut events) = listening().await;
    events.send_raw("retry: 2000\n\n").await;
    events.send_as("first", &log(1)).await;
    events.end().await;
    let (again, waited) = clock.pass_until(peer.next_get()).await;
    assert!(waited >= Duration::from_secs(2), "{waited:?}");
    assert_eq!(again.header("last-event-id"), Some("first"));
    let quiet = again.stream().await;
    let (again, waited) = clock.pass_until(peer.next_get()).await;
    assert!(waited >= Duration::from_secs(300), "{waited:?}");
    quiet.gone().await;
    let mut events = again.stream().await;
    events.send_as("first", &log(1)).await;
    events.send_as("second", &log(2)).await;
    let heard = async {
        while tools.heard.logged().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    heard.await;
    assert_eq!(tools.heard.logged(), ["1", "2"]);
}

#[tokio::test]
async fn a_stream_of_the_server_that_fails_five_times_is_given_up_and_costs_no_call() {
    let clock = StillClock::new();
    let (tools, mut peer, events) = listening().await;
    events.end().await;
    for number in 0..4 {
        let (again, _) = clock.pass_until(peer.next_get()).await;
        match number % 2 {
            0 => again.status("500 Internal Server Error").await,
            _ => again.raw(b"").await,
        }
        let serve = async { peer.expect("tools/call").await.echo().await };
        let (text, ()) = tokio::join!(tools.echo("beside"), serve);
        assert_eq!(text.unwrap(), "beside");
    }
    let given_up = async {
        while tools.notes().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    given_up.await;
    let port = peer.url.port().unwrap().to_string();
    insta::assert_snapshot!(tools.notes().join("\n").replace(&port, "PORT"));
    assert_eq!(tools.toolbox.state().as_str(), "ready");
}

#[tokio::test]
async fn a_new_session_has_a_stream_of_its_own() {
    let (tools, mut peer, events) = listening().await;
    let serve = async {
        peer.expect("tools/call")
            .await
            .status("404 Not Found")
            .await;
        peer.shake_hands(2).await;
        let again = peer.next_get().await;
        assert_eq!(again.session(), 2);
        assert_eq!(again.header("last-event-id"), None);
        peer.expect("tools/call").await.echo().await;
        events.gone().await;
        again
    };
    let (text, _again) = tokio::join!(tools.echo("hello"), serve);
    assert_eq!(text.unwrap(), "hello");
}

#[tokio::test]
async fn a_call_on_a_stream_is_held_to_its_own_limits() {
    let clock = StillClock::new();
    let peer = HttpPeer::new().await;
    let mut timeouts = Timeouts::default();
    timeouts.idle = Duration::from_secs(20);
    let tools = remote_within(server_at(&peer.url), Limits::default(), timeouts);
    let (tools, mut peer) = greeted(tools, peer).await;
    let serve = async {
        let mut events = peer.expect("tools/call").await.stream().await;
        // Bytes that say nothing are no sign of life.
        events.send_raw(": still here\n\n").await;
        events
    };
    let call = async { tokio::join!(tools.echo("hung"), serve) };
    let ((result, events), waited) = clock.pass_until(call).await;
    assert!(waited >= Duration::from_secs(20), "{waited:?}");
    events.gone().await;
    insta::assert_snapshot!(told(&result.unwrap_err()));
}

#[tokio::test]
async fn calls_whose_streams_all_stay_open_after_the_reply_do_not_wait_for_their_ends() {
    let (tools, mut peer) = connected().await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let calls = join_all((0..10).map(|_| tools.echo("hello")));
        let serve = async {
            for _ in 0..10 {
                let call = peer.expect("tools/call").await;
                let reply = call.echoed();
                let mut events = call.stream().await;
                events.send(&reply).await;
                open.push(events);
            }
        };
        let (results, ()) = tokio::join!(calls, serve);
        assert!(results.iter().all(Result::is_ok));
    }
    assert_eq!(tools.toolbox.waiting(), 0);
}
