//! When a caller goes away, at whatever point: is the slot free, and does the server hear of it
//! exactly when it must?

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome, Phase, ToolBox};
use toolspan_testkit::{Polled, poll_n_then_drop};

use crate::support::{Peer, Tools, connect, connect_within, pass, told};

fn cancelled_by(token: &CancellationToken) -> CallOptions {
    CallOptions::default().with_cancel(token.clone())
}

/// Everything that comes until an honest call, which is answered.
async fn until_next_call(tools: &Tools, peer: &mut Peer) -> Vec<Value> {
    let serve = async {
        let mut before = Vec::new();
        loop {
            let message = peer.next().await.expect("the connection lives");
            if message["params"]["arguments"]["text"] == "next" {
                peer.echo(&message).await;
                return before;
            }
            before.push(message);
        }
    };
    let (text, before) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(text.unwrap(), "next");
    assert_eq!(tools.toolbox.waiting(), 0);
    before
}

// R50: before send.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_before_it_begins_may_still_not_be_sent() {
    let mut limits = Limits::default();
    limits.max_in_flight = 1;
    let (tools, _server, mut peer) = connect_within(limits, Timeouts::default()).await;
    let token = CancellationToken::new();
    let first = tools.echo("first");
    let waits = tools.echo_with("waits", cancelled_by(&token));
    let play = async {
        let call = peer.expect("tools/call").await;
        token.cancel();
        tokio::task::yield_now().await;
        peer.echo(&call).await;
    };
    let (first, waits, ()) = tokio::join!(first, waits, play);
    first.unwrap();
    let error = waits.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::NotSent)
    );
    assert_eq!(
        until_next_call(&tools, &mut peer).await,
        Vec::<Value>::new()
    );
}

// R50: in flight.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_in_flight_tells_the_server_once() {
    let (tools, _server, mut peer) = connect().await;
    let token = CancellationToken::new();
    let play = async {
        let call = peer.expect("tools/call").await;
        token.cancel();
        token.cancel();
        call
    };
    let (result, call) = tokio::join!(tools.echo_with("hang", cancelled_by(&token)), play);
    let error = result.unwrap_err();
    let before = until_next_call(&tools, &mut peer).await;
    assert_eq!(before.len(), 1, "{before:?}");
    assert_eq!(before[0]["method"], "notifications/cancelled");
    assert_eq!(before[0]["params"]["requestId"], call["id"]);
    // J13: its answer comes all the same.
    peer.echo(&call).await;
    assert_eq!(
        until_next_call(&tools, &mut peer).await,
        Vec::<Value>::new()
    );
    assert_eq!(
        tools.notes(),
        ["replies that came late or twice, and were ignored: 1"]
    );
    insta::assert_snapshot!(told(&error));
}

// R50: after the reply.
#[tokio::test(start_paused = true)]
async fn a_cancel_after_the_reply_changes_nothing() {
    let (tools, _server, mut peer) = connect().await;
    let token = CancellationToken::new();
    let mut call = std::pin::pin!(tools.echo_with("done", cancelled_by(&token)));
    assert!(futures_util::poll!(call.as_mut()).is_pending());
    let request = peer.expect("tools/call").await;
    peer.echo(&request).await;
    while tools.toolbox.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    token.cancel();
    assert_eq!(call.await.unwrap().text(), "done");
    assert_eq!(
        until_next_call(&tools, &mut peer).await,
        Vec::<Value>::new()
    );
}

// R50: two states before a single poll.
#[tokio::test(start_paused = true)]
async fn a_token_that_is_cancelled_already_sends_nothing_that_is_not_taken_back() {
    let (tools, _server, mut peer) = connect().await;
    let token = CancellationToken::new();
    token.cancel();
    let error = tools
        .echo_with("never", cancelled_by(&token))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let methods: Vec<_> = until_next_call(&tools, &mut peer)
        .await
        .iter()
        .map(|message| message["method"].as_str().unwrap().to_owned())
        .collect();
    // Either the server never saw the call, or it saw the call and its end.
    assert!(
        methods.is_empty() || methods == ["tools/call", "notifications/cancelled"],
        "{methods:?}"
    );
}

// R50: queued behind a frame that the server does not read.
#[tokio::test(start_paused = true)]
async fn a_frame_that_was_not_begun_never_reaches_the_server() {
    let (tools, _server, mut peer) = connect().await;
    let large = "x".repeat(200 << 10);
    let token = CancellationToken::new();
    let large = tools.echo(&large);
    let queued = tools.echo_with("queued", cancelled_by(&token));
    let queued_too = tools.echo_within("queued too", Duration::from_secs(1));
    let all = async { tokio::join!(large, queued, queued_too) };
    let mut all = std::pin::pin!(all);
    assert!(futures_util::poll!(all.as_mut()).is_pending());
    token.cancel();
    // The paused clock runs on once everybody waits: the second limit passes.
    let read = async {
        pass(Duration::from_secs(2)).await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
    };
    let ((large, cancelled, timed_out), ()) = tokio::join!(all, read);
    assert_eq!(large.unwrap().len(), 200 << 10);
    for error in [cancelled.unwrap_err(), timed_out.unwrap_err()] {
        assert_eq!(error.outcome(), Outcome::NotSent, "{error:?}");
        assert_eq!(error.phase(), Phase::Send, "{error:?}");
    }
    assert_eq!(
        until_next_call(&tools, &mut peer).await,
        Vec::<Value>::new()
    );
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_was_begun_is_finished_and_its_cancel_notice_follows() {
    let (tools, _server, mut peer) = connect().await;
    let large = "x".repeat(200 << 10);
    let error = tools
        .echo_within(&large, Duration::from_secs(1))
        .await
        .unwrap_err();
    assert_eq!(
        (error.phase(), error.outcome()),
        (Phase::Send, Outcome::Unknown)
    );
    let call = peer.expect("tools/call").await;
    assert_eq!(
        call["params"]["arguments"]["text"].as_str().unwrap().len(),
        200 << 10
    );
    let cancel = peer.expect("notifications/cancelled").await;
    assert_eq!(cancel["params"]["requestId"], call["id"]);
    assert_eq!(
        until_next_call(&tools, &mut peer).await,
        Vec::<Value>::new()
    );
}

// R52
#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_point_leaves_nothing_and_the_next_one_works() {
    let (tools, _server, mut peer) = connect().await;
    let mut seen = Vec::new();
    for n in 0..100 {
        let request = async {
            // Progress and the reply come one by one, so that the call is polled often.
            let call = peer.expect("tools/call").await;
            for step in 0..3 {
                peer.progress(&call, f64::from(step)).await;
                tokio::task::yield_now().await;
            }
            peer.echo(&call).await;
        };
        let call = tools.echo_with("drop", CallOptions::default());
        let polled = tokio::select! {
            biased;
            polled = poll_n_then_drop(n, call) => polled,
            () = async { request.await; std::future::pending().await } => unreachable!(),
        };
        assert_eq!(tools.toolbox.waiting(), 0, "after {n} polls");
        if let Polled::Ready { value, .. } = polled {
            assert_eq!(value.unwrap().text(), "drop");
            assert!(n >= 3, "progress woke the call {n} times");
            return;
        }
        seen.push(until_next_call(&tools, &mut peer).await);
        let cancels = seen.last().unwrap().iter();
        let cancels = cancels
            .filter(|message| message["method"] == "notifications/cancelled")
            .count();
        assert_eq!(cancels, usize::from(n > 0), "after {n} polls: {seen:?}");
    }
    panic!("the call was never ready");
}

// R52
#[tokio::test(start_paused = true)]
async fn a_start_dropped_at_any_await_point_goes_on_for_the_next_caller() {
    for n in 0..100 {
        let (tools, mut server) = crate::support::memory(Limits::default(), Timeouts::default());
        let play = async {
            let mut peer = server.accept().await;
            peer.shake_hands().await;
            // A listing that was given up is cancelled; the one that counts is answered.
            while let Some(message) = peer.next().await {
                if message["method"] == "tools/list" {
                    peer.answer(&message, json!({"tools": []})).await;
                }
            }
        };
        let listings = async {
            let polled = poll_n_then_drop(n, tools.toolbox.discover()).await;
            let again = tools.discover().await;
            assert_eq!(tools.toolbox.waiting(), 0);
            again.unwrap();
            tools.toolbox.close().await;
            polled.is_ready()
        };
        let (is_ready, ()) = tokio::join!(listings, play);
        assert_eq!(server.started(), 1, "one start, whoever waits for it");
        if is_ready {
            assert!(n > 1);
            return;
        }
    }
    panic!("the listing was never ready");
}
