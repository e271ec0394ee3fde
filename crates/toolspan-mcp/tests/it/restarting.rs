//! When a server dies: who starts it again, how often, and after which pause?

use std::time::Duration;

use tokio::time::Instant;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome, ToolBox};

use crate::support::{Tools, connect, memory, pass};

/// Waits until the toolbox knows that its server is gone.
async fn noticed(tools: &Tools) {
    while tools.toolbox.state().as_str() == "ready" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_call_starts_a_dead_server_again_at_once() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    noticed(&tools).await;
    let began = Instant::now();
    let serve = async {
        let mut peer = server.ready().await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
        peer
    };
    let (text, _peer) = tokio::join!(tools.echo("again"), serve);
    assert_eq!(text.unwrap(), "again");
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(tools.toolbox.state().as_str(), "ready");
    assert_eq!(tools.notes(), ["restarted 1 times"]);
    assert_eq!(
        tools.heard.states(),
        ["connecting", "ready", "degraded", "connecting", "ready"]
    );
}

#[tokio::test(start_paused = true)]
async fn ids_go_on_over_a_restart_and_a_late_reply_finds_no_call() {
    let (tools, mut server, mut peer) = connect().await;
    let (failed, old) = tokio::join!(tools.echo("old"), async {
        let call = peer.expect("tools/call").await;
        drop(peer);
        call
    });
    let failed = failed.unwrap_err();
    assert_eq!(
        (failed.kind(), failed.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );
    let serve = async {
        let mut peer = server.ready().await;
        let call = peer.expect("tools/call").await;
        assert!(call["id"].as_u64() > old["id"].as_u64());
        // The new server answers what the old one was asked.
        peer.echo(&old).await;
        peer.echo(&call).await;
        peer
    };
    let (text, _peer) = tokio::join!(tools.echo("new"), serve);
    assert_eq!(text.unwrap(), "new");
    assert!(
        tools
            .notes()
            .contains(&"replies that came late or twice, and were ignored: 1".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn concurrent_callers_share_one_start() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let play = async {
        let mut peer = server.ready().await;
        for _ in 0..20 {
            peer.list().await;
        }
        peer
    };
    let listings = futures_util::future::join_all((0..20).map(|_| tools.discover()));
    let (listings, peer) = tokio::join!(listings, play);
    assert!(listings.iter().all(Result::is_ok));
    drop(peer);
    noticed(&tools).await;
    let serve = async {
        let mut peer = server.ready().await;
        for _ in 0..20 {
            let call = peer.expect("tools/call").await;
            peer.echo(&call).await;
        }
        peer
    };
    let calls = futures_util::future::join_all((0..20).map(|_| tools.echo("x")));
    let (calls, _peer) = tokio::join!(calls, serve);
    assert!(calls.iter().all(Result::is_ok));
    assert_eq!(server.started(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_again_and_again_is_given_more_time_up_to_a_cap() {
    let (tools, mut server, peer) = connect().await;
    drop(peer);
    let mut pauses = Vec::new();
    for _ in 0..30 {
        noticed(&tools).await;
        let began = Instant::now();
        let die = async {
            let mut peer = server.ready().await;
            let pause = began.elapsed();
            peer.expect("tools/call").await;
            pause
        };
        // A long limit: the call waits for the pause, too.
        let (result, pause) = tokio::join!(tools.echo_within("x", Duration::from_secs(100)), die);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Closed);
        pauses.push(pause);
    }
    assert_eq!(pauses[0], Duration::ZERO, "the first restart comes at once");
    let mut ceiling = Duration::from_millis(250);
    for (nth, pause) in pauses[1..].iter().enumerate() {
        // The timer of a paused clock is exact to a millisecond.
        assert!(
            *pause <= ceiling + Duration::from_millis(1),
            "pause {nth}: {pause:?} of {ceiling:?}"
        );
        ceiling = (ceiling * 2).min(Duration::from_secs(30));
    }
    let longest = pauses.iter().max().unwrap();
    assert!(*longest > Duration::from_secs(5), "it grows: {pauses:?}");

    // One good call, and the next death is the first one again.
    let serve = async {
        let mut peer = server.ready().await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo_within("good", Duration::from_secs(100)), serve);
    text.unwrap();
    noticed(&tools).await;
    let began = Instant::now();
    let serve = async {
        let mut peer = server.ready().await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
        peer
    };
    let (text, _peer) = tokio::join!(tools.echo("again"), serve);
    text.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_is_not_tried_again_before_its_pause_is_over() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let mut starts = 0;
    for nth in 1..=12_u32 {
        let (result, peer) = tokio::join!(tools.discover(), server.accept());
        drop(peer);
        // The peer is dropped behind the join: the handshake ends then.
        let error = result.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Startup | ErrorKind::Timeout),
            "{error:?}"
        );
        starts += 1;
        assert_eq!(server.started(), starts, "start {nth}");
        // Until the pause is over, which is drawn by chance, the same error comes at once.
        let failed_at = Instant::now();
        loop {
            let began = Instant::now();
            let again = tokio::select! {
                biased;
                again = tools.discover() => again.unwrap_err(),
                () = pass(Duration::from_millis(1)) => break,
            };
            assert_eq!(again.message(), error.message());
            assert_eq!(began.elapsed(), Duration::ZERO);
            assert!(failed_at.elapsed() <= Duration::from_secs(30), "the cap");
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        // That try began a start; it waits for its server and fails like the others.
        let peer = server.accept().await;
        drop(peer);
        starts += 1;
        while tools.toolbox.state().as_str() == "connecting" {
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!(tools.toolbox.state().as_str(), "failed");
        tokio::time::advance(Duration::from_secs(30)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn failed_starts_are_forgotten_after_a_good_call() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    for _ in 0..8 {
        let (result, ()) = tokio::join!(tools.discover(), async { drop(server.accept().await) });
        let _ = result.unwrap_err();
        tokio::time::advance(Duration::from_secs(30)).await;
    }
    let serve = async {
        let mut peer = server.ready().await;
        peer.list().await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
    };
    let calls = async {
        tools.discover().await.unwrap();
        tools.echo("good").await.unwrap();
    };
    tokio::join!(calls, serve);
    // The first restart comes at once; the pause behind it is the shortest again.
    for ceiling in [0, 250] {
        noticed(&tools).await;
        let began = Instant::now();
        let die = async {
            let mut peer = server.ready().await;
            peer.expect("tools/call").await;
            began.elapsed()
        };
        let (result, pause) = tokio::join!(tools.echo("x"), die);
        let _ = result.unwrap_err();
        assert!(pause <= Duration::from_millis(ceiling + 1), "{pause:?}");
    }
}

// A runtime that is shut down takes its tasks with it: the next runtime starts anew.
#[test]
fn a_toolbox_outlives_the_runtime_that_started_it() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (first, second) = (runtime(), runtime());
    let (tools, mut server, peer) = first.block_on(connect());
    let waiting = {
        let mut call = Box::pin(tools.echo("waits"));
        first.block_on(async {
            assert!(futures_util::poll!(call.as_mut()).is_pending());
        });
        call
    };
    drop(first);
    let error = second.block_on(waiting).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed, "{error:?}");
    drop(peer);
    let serve = async {
        let mut peer = server.ready().await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
        peer
    };
    let (text, _peer) = second.block_on(async { tokio::join!(tools.echo("again"), serve) });
    assert_eq!(text.unwrap(), "again");
}

#[test]
fn a_start_that_lost_its_runtime_is_begun_anew() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let (first, second) = (runtime(), runtime());
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let mut listing = Box::pin(tools.discover());
    let peer = first.block_on(async {
        assert!(futures_util::poll!(listing.as_mut()).is_pending());
        server.accept().await
    });
    drop(first);
    let error = second.block_on(listing).unwrap_err();
    assert_eq!(
        error.message(),
        "the start was cut short: the runtime it ran on was shut down"
    );
    drop(peer);
    let serve = async {
        let mut peer = server.ready().await;
        peer.list().await;
        peer
    };
    let (listed, _peer) = second.block_on(async { tokio::join!(tools.discover(), serve) });
    listed.unwrap();
}

#[test]
fn a_call_outside_a_runtime_is_refused_with_the_way_out() {
    let (tools, server) = memory(Limits::default(), Timeouts::default());
    let mut listing = Box::pin(tools.discover());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(result) = listing.as_mut().poll(&mut context) else {
        panic!("it cannot wait")
    };
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(server.started(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_finds_its_server_dead_is_asked_of_one_new_server() {
    let (tools, mut server, mut peer) = connect().await;
    let serve = async {
        peer.expect("tools/list").await;
        drop(peer);
        let mut peer = server.ready().await;
        peer.list().await;
        peer
    };
    let (listed, mut peer) = tokio::join!(tools.discover(), serve);
    assert_eq!(listed.unwrap().tools.len(), 1);
    assert_eq!(server.started(), 2);

    let serve = async {
        peer.expect("tools/list").await;
        drop(peer);
        let mut peer = server.ready().await;
        peer.expect("tools/list").await;
    };
    let (listed, ()) = tokio::join!(tools.discover(), serve);
    let error = listed.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::NotSent)
    );
    assert_eq!(server.started(), 3);
}
