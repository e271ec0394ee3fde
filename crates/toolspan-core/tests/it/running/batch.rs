//! How do the calls of one answer of a model run together?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::{Batch, FINISH};
use toolspan_core::{BoxFuture, CallOptions, Context, ErrorKind, Observation, Outcome, Result};

use super::house::{House, nothing, pass, worker};

const SECOND: Duration = Duration::from_secs(1);

fn texts(results: &[Result<Observation>]) -> Vec<String> {
    let text = |result: &Result<Observation>| match result {
        Ok(observation) => observation.text(),
        Err(error) => error.kind().to_string(),
    };
    results.iter().map(text).collect()
}

/// Takes so many seconds, and gives their number.
async fn seconds(seconds: u32) -> Result<Observation> {
    pass(SECOND * seconds).await;
    Ok(Observation::text_of(seconds.to_string()))
}

fn never(_: &u32) -> bool {
    false
}

#[test]
fn a_batch_of_no_call_at_a_time_is_refused() {
    let error = Batch::new(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[tokio::test(start_paused = true)]
async fn results_come_in_the_order_of_the_calls_whatever_ends_first() {
    let began = Instant::now();
    let results = Batch::new(8)
        .unwrap()
        .run(vec![3, 1, 2], never, seconds)
        .await;
    assert_eq!(texts(&results), ["3", "1", "2"]);
    assert_eq!(began.elapsed(), 3 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_place_is_free_as_soon_as_any_call_ends() {
    let began = Instant::now();
    // Beside the long first one, the others run one after the other.
    let results = Batch::new(2)
        .unwrap()
        .run(vec![9, 3, 3, 3], never, seconds)
        .await;
    assert_eq!(texts(&results), ["9", "3", "3", "3"]);
    assert_eq!(began.elapsed(), 9 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn one_call_at_a_time_runs_them_in_their_order() {
    let began = Instant::now();
    Batch::new(1)
        .unwrap()
        .run(vec![3, 1, 2], never, seconds)
        .await;
    assert_eq!(began.elapsed(), 6 * SECOND);
}

#[tokio::test]
async fn what_comes_after_finish_is_never_asked_about_nor_run_and_says_so() {
    let seen = std::sync::Mutex::new(Vec::new());
    let names = vec!["look", FINISH, "delete", FINISH];
    let run = |name: &'static str| {
        seen.lock().unwrap().push(name);
        async move { Ok(Observation::text_of(name)) }
    };
    let batch = Batch::new(4).unwrap();
    let results = batch.run(names, |name| *name == FINISH, run).await;
    assert_eq!(
        texts(&results),
        ["look", "finish", "cancelled", "cancelled"]
    );
    assert_eq!(*seen.lock().unwrap(), ["look", "finish"]);
    let error = results[2].as_ref().unwrap_err();
    assert_eq!(error.outcome(), Outcome::NotSent);
    assert_eq!(
        error.message(),
        "the call was not run: it came after a call that ends the work"
    );
}

#[tokio::test]
async fn an_error_or_a_panic_of_one_call_leaves_the_others_alone() {
    let run = |which: u32| async move {
        match which {
            1 => panic!("on purpose"),
            2 => Err(toolspan_core::Error::new(
                ErrorKind::PolicyDenied,
                toolspan_core::Phase::Validate,
                "no",
            )),
            _ => Ok(Observation::text_of(which.to_string())),
        }
    };
    for concurrency in [1, 4] {
        let batch = Batch::new(concurrency).unwrap();
        let results = batch.run(vec![0, 1, 2, 3], never, run).await;
        assert_eq!(texts(&results), ["0", "internal", "policy_denied", "3"]);
    }
}

#[tokio::test]
async fn a_batch_that_is_cancelled_before_it_begins_has_a_result_for_each_call() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let batch = Batch::new(2).unwrap().with_cancel(cancel);
    let results = batch
        .run(vec![1; 5], never, |_| async { panic!("it was run") })
        .await;
    assert_eq!(texts(&results), ["cancelled"; 5]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_cancelled_on_its_way_keeps_what_it_has() {
    let house = House::of(8);
    let tool = worker("work", nothing, |call, context| {
        let time = call
            .arguments()
            .get("seconds")
            .and_then(serde_json::Value::as_u64);
        Box::pin(async move {
            context.note_sent();
            seconds(u32::try_from(time.unwrap_or_default()).unwrap()).await
        })
    });
    let cancel = CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let run = |seconds: u32| house.call(&tool, json!({"seconds": seconds}), options.clone());
    let batch = Batch::new(2).unwrap().with_cancel(cancel.clone());
    let cancels = async {
        pass(3 * SECOND).await;
        cancel.cancel();
    };
    let (results, ()) = tokio::join!(batch.run(vec![1, 9, 9, 1], never, run), cancels);
    assert_eq!(
        texts(&results),
        ["1", "cancelled", "cancelled", "cancelled"]
    );
    let outcomes = results.iter().filter_map(|result| result.as_ref().err());
    let outcomes: Vec<Outcome> = outcomes.map(toolspan_core::Error::outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Unknown, Outcome::Unknown, Outcome::NotSent]
    );
    assert!(house.is_idle());
}

#[tokio::test]
async fn batches_within_batches_never_wait_for_each_other() {
    let house = House::of(1);
    let (known, runs) = (Arc::clone(&house), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&runs);
    let leaf = worker("leaf", nothing, move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Observation::default()) })
    });
    let branch = worker("branch", nothing, move |_, _: &Context| {
        let (house, leaf) = (Arc::clone(&known), leaf.clone());
        Box::pin(async move {
            let run = |_| house.call(&leaf, json!({}), CallOptions::default());
            let results = Batch::new(1)?.run(vec![0; 3], never, run).await;
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            Ok(Observation::default())
        }) as BoxFuture<'_, _>
    });
    let run = |_| house.call(&branch, json!({}), CallOptions::default());
    let results = Batch::new(1).unwrap().run(vec![0; 3], never, run).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(runs.load(Ordering::Relaxed), 9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn never_more_calls_run_than_are_allowed_and_each_has_its_result(
        calls in proptest::collection::vec(1..6_u32, 0..20),
        concurrency in 1..6_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = |time: u32| {
            let (now, most) = (&now, &most);
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                let result = seconds(time).await;
                now.fetch_sub(1, Ordering::Relaxed);
                result
            }
        };
        let batch = Batch::new(concurrency).unwrap();
        let results = runtime.block_on(batch.run(calls.clone(), never, run));
        let expected: Vec<String> = calls.iter().map(u32::to_string).collect();
        prop_assert_eq!(texts(&results), expected);
        prop_assert_eq!(most.load(Ordering::Relaxed), concurrency.min(calls.len()));
    }
}
