//! Which limit ends what, at which instant? The clock is paused: every instant is exact.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome, Phase, ToolBox};

use crate::support::peer::text_result;
use crate::support::{Peer, Tools, connect, connect_within, memory, pass_until, told};

/// The next message is the one cancel notice of this call.
async fn expect_cancel(peer: &mut Peer, call: &serde_json::Value) {
    let cancel = peer.expect("notifications/cancelled").await;
    assert_eq!(cancel["params"]["requestId"], call["id"]);
    assert!(cancel.get("id").is_none(), "a notification");
}

/// An honest call in between: had the server been told twice, this would meet the second notice.
async fn next_call_works(tools: &Tools, peer: &mut Peer, last_id: &serde_json::Value) {
    let serve = async {
        let call = peer.expect("tools/call").await;
        assert!(
            call["id"].as_u64() > last_id.as_u64(),
            "an id never comes again"
        );
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo("next"), serve);
    assert_eq!(text.unwrap(), "next");
    assert_eq!(tools.toolbox.waiting(), 0);
}

// R03
#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up_after_60_seconds() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let began = Instant::now();
    let silent = async {
        let mut peer = server.accept().await;
        peer.expect("initialize").await;
        // `initialize` must not be cancelled; the end of input is all that follows.
        assert_eq!(peer.next().await, None);
    };
    let (result, ()) = tokio::join!(tools.discover(), silent);
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    insta::assert_snapshot!(told(&result.unwrap_err()));
}

// R05
#[tokio::test(start_paused = true)]
async fn a_listing_ends_after_30_seconds_however_far_it_came() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let mut listed = None;
    let play = async {
        let mut peer = server.accept().await;
        peer.shake_hands().await;
        let first = peer.expect("tools/list").await;
        tokio::time::advance(Duration::from_secs(20)).await;
        peer.answer(&first, json!({"tools": [], "nextCursor": "more"}))
            .await;
        let second = peer.expect("tools/list").await;
        assert_eq!(second["params"]["cursor"], "more");
        listed = Some(Instant::now());
        expect_cancel(&mut peer, &second).await;
    };
    let (result, ()) = tokio::join!(tools.discover(), play);
    assert_eq!(listed.unwrap().elapsed(), Duration::from_secs(10));
    insta::assert_snapshot!(told(&result.unwrap_err()));
}

// R05
#[tokio::test(start_paused = true)]
async fn a_call_without_a_sign_of_life_ends_at_the_idle_limit_and_the_server_is_told_once() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let (error, call) = tokio::join!(tools.echo("hang"), peer.expect("tools/call"));
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    let error = error.unwrap_err();
    assert_eq!(tools.toolbox.waiting(), 0, "the slot is free");
    expect_cancel(&mut peer, &call).await;
    next_call_works(&tools, &mut peer, &call["id"]).await;
    insta::assert_snapshot!(told(&error));
}

// R57: an hour passes for the limits and none on the system's clock, so that one moves no limit.
#[tokio::test(start_paused = true)]
async fn no_limit_is_counted_on_the_clock_of_the_system() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "the clock under test")]
    let on_the_wall = std::time::SystemTime::now();
    let own = Duration::from_secs(3_600);
    for limit in [None, Some(own)] {
        let mut options = CallOptions::default();
        options.timeout = limit;
        let call = tools.echo_with("hang", options);
        let (result, call) = tokio::join!(call, peer.expect("tools/call"));
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Timeout);
        expect_cancel(&mut peer, &call).await;
    }
    assert_eq!(began.elapsed(), tools.timeouts.idle + own);
    let on_the_wall = on_the_wall.elapsed().unwrap_or_default();
    assert!(on_the_wall < Duration::from_secs(60), "{on_the_wall:?}");
}

// R09: bytes are no sign of life; only progress is.
#[tokio::test(start_paused = true)]
async fn an_answer_that_drips_does_not_hold_off_the_limit_and_the_next_call_works() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let drip = async {
        let call = peer.expect("tools/call").await;
        let answer =
            json!({"jsonrpc": "2.0", "id": call["id"], "result": text_result(&json!("x"))});
        for (second, byte) in (1..).zip(format!("{answer}\n").bytes()) {
            peer.send_raw(&[byte]).await;
            pass_until(began + Duration::from_secs(1) * second).await;
        }
        assert!(
            began.elapsed() > Duration::from_secs(60),
            "it was still dripping"
        );
        call
    };
    let call = async {
        let error = tools.echo("slow").await.unwrap_err();
        assert_eq!(began.elapsed(), Duration::from_secs(60));
        error
    };
    let (error, call) = tokio::join!(call, drip);
    assert_eq!(error.message(), "no sign of life for 60s (timeouts.idle)");
    expect_cancel(&mut peer, &call).await;
    next_call_works(&tools, &mut peer, &call["id"]).await;
    assert_eq!(
        tools.notes(),
        ["replies that came late or twice, and were ignored: 1"]
    );
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_idle_limit_anew_but_never_the_total_one() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let play = async {
        let call = peer.expect("tools/call").await;
        for round in 0..20 {
            pass_until(began + Duration::from_secs(50) * (round + 1)).await;
            if tools.toolbox.waiting() == 0 {
                return round;
            }
            peer.progress(&call, f64::from(round)).await;
        }
        20
    };
    let (error, rounds) = tokio::join!(
        async {
            let error = tools.echo("slow").await.unwrap_err();
            assert_eq!(began.elapsed(), Duration::from_secs(600));
            error
        },
        play
    );
    assert_eq!(
        rounds, 12,
        "the last sign of life came long after the idle limit"
    );
    insta::assert_snapshot!(told(&error));
}

#[tokio::test(start_paused = true)]
async fn progress_that_stops_leaves_one_idle_limit_more() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let play = async {
        let call = peer.expect("tools/call").await;
        tokio::time::advance(Duration::from_secs(59)).await;
        peer.progress(&call, 1.0).await;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        // J21: none of these is progress of this call.
        for params in [
            json!({"progressToken": 999, "progress": 1}),
            json!({"progressToken": null, "progress": 1}),
            json!({"progressToken": call["id"], "progress": "much"}),
            json!({"progressToken": call["id"]}),
            json!([]),
        ] {
            tokio::time::advance(Duration::from_secs(1)).await;
            let method = "notifications/progress";
            peer.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
                .await;
        }
        peer.send_raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3,\"progress\":1e999}}\n").await;
        std::future::pending::<()>().await;
    };
    let error = tokio::select! {
        result = tools.echo("slow") => result.unwrap_err(),
        () = play => unreachable!("it is pending"),
    };
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(began.elapsed(), Duration::from_secs(59 + 60));
}

#[tokio::test(start_paused = true)]
async fn the_callers_timeout_holds_whatever_progress_says() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let play = async {
        let call = peer.expect("tools/call").await;
        for round in 0..4 {
            pass_until(began + Duration::from_secs(2) * (round + 1)).await;
            peer.progress(&call, f64::from(round)).await;
        }
        expect_cancel(&mut peer, &call).await;
    };
    let call = async {
        let error = tools
            .echo_within("slow", Duration::from_secs(7))
            .await
            .unwrap_err();
        assert_eq!(began.elapsed(), Duration::from_secs(7));
        error
    };
    let (error, ()) = tokio::join!(call, play);
    insta::assert_snapshot!(told(&error));
}

// R51
#[tokio::test(start_paused = true)]
async fn a_reply_at_the_very_instant_of_the_limit_wins_when_it_is_there_first() {
    let (tools, _server, mut peer) = connect().await;
    let limit = Duration::from_secs(5);
    let began = Instant::now();
    let call = tools.echo_within("close", limit);
    let mut call = std::pin::pin!(call);
    assert!(futures_util::poll!(call.as_mut()).is_pending());
    let request = peer.expect("tools/call").await;
    peer.echo(&request).await;
    // The reader takes the reply while the caller is not polled; then the limit passes.
    while tools.toolbox.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(limit).await;
    assert_eq!(began.elapsed(), limit);
    assert_eq!(call.await.unwrap(), "close");
    next_call_works(&tools, &mut peer, &request["id"]).await;
}

// R51
#[tokio::test(start_paused = true)]
async fn a_limit_that_passes_first_wins_and_the_reply_is_late() {
    let (tools, _server, mut peer) = connect().await;
    let limit = Duration::from_secs(5);
    let (result, request) =
        tokio::join!(tools.echo_within("close", limit), peer.expect("tools/call"));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Timeout);
    peer.echo(&request).await;
    expect_cancel(&mut peer, &request).await;
    next_call_works(&tools, &mut peer, &request["id"]).await;
    assert_eq!(
        tools.notes(),
        ["replies that came late or twice, and were ignored: 1"]
    );
}

#[tokio::test(start_paused = true)]
async fn limits_beyond_any_clock_are_no_limits() {
    let mut timeouts = Timeouts::default();
    for limit in [
        &mut timeouts.connect,
        &mut timeouts.list,
        &mut timeouts.idle,
        &mut timeouts.total,
        &mut timeouts.close,
    ] {
        *limit = Duration::MAX;
    }
    let (tools, _server, mut peer) = connect_within(Limits::default(), timeouts).await;
    let serve = async {
        for _ in 0..2 {
            let call = peer.expect("tools/call").await;
            peer.echo(&call).await;
        }
    };
    let calls = async {
        tools.echo("default").await.unwrap();
        tools.echo_within("own", Duration::MAX).await.unwrap();
    };
    tokio::join!(calls, serve);
    tools.toolbox.close().await;
}

// R53
#[tokio::test(start_paused = true)]
async fn a_full_toolbox_lets_calls_wait_in_order_and_turns_the_rest_away() {
    let mut limits = Limits::default();
    (limits.max_in_flight, limits.queue) = (2, 2);
    let (tools, _server, mut peer) = connect_within(limits, Timeouts::default()).await;
    let calls = futures_util::future::join_all(
        ["a", "b", "c", "d", "e"].map(|text| tools.echo_with(text, CallOptions::default())),
    );
    let serve = async {
        let mut order = Vec::new();
        for _ in 0..4 {
            let call = peer.expect("tools/call").await;
            order.push(
                call["params"]["arguments"]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            );
            peer.echo(&call).await;
        }
        order
    };
    let (results, order) = tokio::join!(calls, serve);
    assert_eq!(order, ["a", "b", "c", "d"]);
    let turned_away = results[4].as_ref().unwrap_err();
    assert!(results[..4].iter().all(Result::is_ok));
    insta::assert_snapshot!(told(turned_away));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_place_was_not_sent() {
    let mut limits = Limits::default();
    limits.max_in_flight = 1;
    let (tools, _server, mut peer) = connect_within(limits, Timeouts::default()).await;
    let waiting = tools.echo_within("waits", Duration::from_secs(1));
    let (_, waiting, call) = tokio::join!(tools.echo("runs"), waiting, peer.expect("tools/call"));
    let error = waiting.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase(), error.outcome()),
        (ErrorKind::Timeout, Phase::Send, Outcome::NotSent)
    );
    expect_cancel(&mut peer, &call).await;
}
