//! When a toolbox is closed or dropped, in whatever state: does everyone who waits hear of it, and
//! is nothing left?

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{Error, ErrorKind, Outcome, ToolBox};

use crate::support::{connect, memory, told};

fn is_closed(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error:?}");
    assert_eq!(error.message(), "the toolbox was closed");
}

// R54
#[tokio::test(start_paused = true)]
async fn a_toolbox_closed_before_its_start_never_starts() {
    let (tools, server) = memory(Limits::default(), Timeouts::default());
    tools.toolbox.close().await;
    tools.toolbox.close().await;
    is_closed(&tools.discover().await.unwrap_err());
    assert_eq!(server.started(), 0);
    assert_eq!(tools.toolbox.state().as_str(), "closed");
}

// R54
#[tokio::test(start_paused = true)]
async fn a_close_during_the_start_ends_all_who_wait_for_it() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let began = Instant::now();
    let play = async {
        let mut peer = server.accept().await;
        peer.expect("initialize").await;
        tools.toolbox.close().await;
        assert_eq!(peer.next().await, None, "the server's input ends");
    };
    let (first, second, ()) = tokio::join!(tools.discover(), tools.discover(), play);
    for error in [first.unwrap_err(), second.unwrap_err()] {
        is_closed(&error);
        assert_eq!(error.outcome(), Outcome::NotSent);
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    is_closed(&tools.discover().await.unwrap_err());
}

// R54
#[tokio::test(start_paused = true)]
async fn a_close_during_calls_ends_them_all_and_the_next_one_fails_at_once() {
    let (tools, _server, mut peer) = connect().await;
    let calls = futures_util::future::join_all((0..20).map(|_| tools.echo("hang")));
    let close = async {
        for _ in 0..20 {
            peer.expect("tools/call").await;
        }
        tokio::join!(tools.toolbox.close(), tools.toolbox.close());
        tools.toolbox.close().await;
        assert_eq!(peer.next().await, None);
    };
    let began = Instant::now();
    let (results, ()) = tokio::join!(calls, close);
    assert_eq!(began.elapsed(), Duration::ZERO);
    for result in results {
        let error = result.unwrap_err();
        is_closed(&error);
        assert_eq!(error.outcome(), Outcome::Unknown);
    }
    assert_eq!(tools.toolbox.waiting(), 0);
    let next = tools.echo("next").await.unwrap_err();
    is_closed(&next);
    insta::assert_snapshot!(told(&next));
}

// R54
#[tokio::test(start_paused = true)]
async fn a_close_while_the_server_is_down_or_its_start_failed_is_quiet() {
    let (tools, _server, peer) = connect().await;
    drop(peer);
    while tools.toolbox.state().as_str() == "ready" {
        tokio::task::yield_now().await;
    }
    assert_eq!(tools.toolbox.state().as_str(), "degraded");
    tools.toolbox.close().await;
    is_closed(&tools.echo("x").await.unwrap_err());

    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let (result, peer) = tokio::join!(tools.discover(), server.accept());
    drop(peer);
    let _ = result.unwrap_err();
}

// R54
#[tokio::test(start_paused = true)]
async fn a_close_during_a_restart_ends_the_call_that_waits_for_it() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    while tools.toolbox.pid().is_some() || tools.toolbox.state().as_str() == "ready" {
        tokio::task::yield_now().await;
    }
    let close = async {
        let mut peer = server.accept().await;
        peer.expect("initialize").await;
        tools.toolbox.close().await;
    };
    let (result, ()) = tokio::join!(tools.echo("waits"), close);
    let error = result.unwrap_err();
    is_closed(&error);
    assert_eq!(error.outcome(), Outcome::NotSent);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_toolbox_ends_the_calls_that_still_wait() {
    let (tools, _server, mut peer) = connect().await;
    let snapshot = tools.snapshot();
    let tool = snapshot.resolve("echo").unwrap();
    let request = toolspan_core::CallRequest::new("echo", json!({"text": "hang"}));
    let call = request.validate(tool, &tools.limits).unwrap();
    let context = toolspan_core::Context::new(Default::default(), &tools.timeouts);
    let mut running = tool.executor.call(&call, &context);
    assert!(futures_util::poll!(running.as_mut()).is_pending());
    peer.expect("tools/call").await;
    drop(tools);
    let error = running.await.unwrap_err();
    is_closed(&error);
    assert_eq!(peer.next().await, None, "the server's input ends");
    let late = tool.executor.call(&call, &context).await.unwrap_err();
    assert_eq!(late.message(), "the toolbox was dropped");
}
