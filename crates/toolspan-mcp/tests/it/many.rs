//! Do thousands of calls each get their own answer, and does nothing grow?

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Observation};
use toolspan_testkit::{Census, Fault, History};

use crate::support::case::Case;
use crate::support::{Peer, Tools, connect_within};

/// A small deterministic shuffle: the same order in every run.
fn shuffled<T>(mut items: Vec<T>) -> Vec<T> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for last in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(last, usize::try_from(state % (last as u64 + 1)).unwrap());
    }
    items
}

async fn call(tools: &Tools, history: &History) -> toolspan_core::Result<Observation> {
    let call = history.invoke();
    let result = tools.echo_with(&call.nonce(), Default::default()).await;
    history.outcome(call, result.as_ref().map(Observation::text));
    result
}

/// Takes this many calls and answers them in another order.
async fn answer_shuffled(peer: &mut Peer, count: usize) {
    let mut calls: Vec<Value> = Vec::new();
    while calls.len() < count {
        calls.push(peer.expect("tools/call").await);
    }
    for call in shuffled(calls) {
        peer.echo(&call).await;
    }
}

// R53: all calls arrive before any is answered, so they are multiplexed, not queued.
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_at_once_each_get_their_own_reply_in_any_order() {
    let mut limits = Limits::default();
    (limits.max_in_flight, limits.in_flight_total) = (1_000, 1_000);
    let (tools, _server, mut peer) = connect_within(limits, Timeouts::default()).await;
    let history = History::new();
    let calls = futures_util::future::join_all((0..1_000).map(|_| call(&tools, &history)));
    let (results, ()) = tokio::join!(calls, answer_shuffled(&mut peer, 1_000));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(history.assert_sound().replies, 1_000);
    assert_eq!(tools.toolbox.waiting(), 0);
}

// R53
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_within_the_default_bounds_have_512_places_and_the_rest_fail_at_once() {
    let (tools, _server, mut peer) = connect_within(Limits::default(), Timeouts::default()).await;
    let history = History::new();
    let calls = futures_util::future::join_all((0..1_000).map(|_| call(&tools, &history)));
    let serve = async {
        answer_shuffled(&mut peer, 256).await;
        answer_shuffled(&mut peer, 256).await;
    };
    let (results, ()) = tokio::join!(calls, serve);
    let tally = history.assert_sound();
    assert_eq!((tally.replies, tally.failures), (512, 488));
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.kind(), ErrorKind::Overloaded);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_on_many_threads_each_get_their_own_reply_from_a_process() {
    let case = std::sync::Arc::new(Case::started(Fault::honest()).await);
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let case = std::sync::Arc::clone(&case);
            tokio::spawn(async move {
                for _ in 0..100 {
                    case.call().await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let case = std::sync::Arc::into_inner(case).expect("the tasks are over");
    assert_eq!(case.history.assert_sound().replies, 1_600);
    case.finish().await;
}

// I1 under crashes: the server dies in every 20th call or so, on its own schedule.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn callers_on_many_threads_have_one_end_each_while_the_server_dies_and_comes_back() {
    let case =
        std::sync::Arc::new(Case::started(Fault::named("kill_self_on_call").on_call(40)).await);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let case = std::sync::Arc::clone(&case);
            tokio::spawn(async move {
                for _ in 0..40 {
                    let _ = case.call().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let case = std::sync::Arc::into_inner(case).expect("the tasks are over");
    let tally = case.history.assert_sound();
    assert_eq!(tally.replies + tally.failures, 320);
    assert!(tally.failures >= 5, "{tally:?}");
    case.finish().await;
}

#[tokio::test]
async fn ten_thousand_calls_leave_no_trace() {
    let case = Case::started(Fault::null_server()).await;
    let snapshot = case.tools.snapshot();
    let tool = snapshot.tools()[0].name.to_string();
    let run = async |count: usize| {
        for _ in 0..count {
            let arguments = json!({"text": "x"});
            let call = case.tools.run(&tool, arguments, Default::default()).await;
            call.unwrap();
        }
    };
    run(1_000).await;
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let (before, tasks_before) = (Census::take(), tasks());
    run(9_000).await;
    assert_eq!(tasks(), tasks_before);
    assert_eq!(case.tools.toolbox.waiting(), 0);
    assert!(before.leftover().is_empty(), "{}", before.leftover());
    before.assert_memory_grew_at_most(4 << 20);
    case.finish().await;
}

// R17 of the promise "at most 2 s", in a build without optimisation on a busy machine: ten times.
#[tokio::test]
async fn a_flood_before_the_reply_does_not_hold_it_up() {
    let case = Case::started(Fault::named("flood_notifications")).await;
    let before = Census::take();
    let began = Instant::now();
    case.call().await.unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    // The test itself keeps the 100,000 texts it heard.
    before.assert_memory_grew_at_most(48 << 20);
    case.finish().await;
}
