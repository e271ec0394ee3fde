//! Which calls wait for each other, and how does such a wait end?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::Resources;
use toolspan_core::tool::{Action, ToolFailure, native, tool_fn};
use toolspan_core::{
    BoxFuture, CallOptions, Context, ErrorKind, Observation, Outcome, Phase, Progress,
    RegisteredTool, Result, ToolExecutor, ValidCall,
};

use super::house::{House, named_keys, nothing, pass, undeclared, worker};

const MINUTE: Duration = Duration::from_secs(60);

/// A tool whose calls take this long, with a sign of life every 20 seconds.
fn slow(name: &str, minutes: u32, resources: super::house::Declare) -> RegisteredTool {
    worker(name, resources, move |_, context| {
        Box::pin(async move {
            context.note_sent();
            for _ in 0..minutes * 3 {
                pass(MINUTE / 3).await;
                context.report(Progress::new(1.0, None));
            }
            Ok(Observation::text_of("done"))
        })
    })
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_tool_that_declares_nothing_run_one_after_the_other() {
    let (house, tool) = (House::of(8), slow("counter", 1, undeclared));
    let began = Instant::now();
    let calls = (0..3).map(|_| house.call(&tool, json!({}), CallOptions::default()));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(began.elapsed(), 3 * MINUTE);
    assert!(house.is_idle());
}

/// Says what its calls need once a minute has passed: the keys that they name.
struct Later(Arc<dyn ToolExecutor>);

impl ToolExecutor for Later {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        self.0.call(call, context)
    }

    fn resources_later<'a>(&'a self, call: &'a ValidCall) -> Option<BoxFuture<'a, Resources>> {
        Some(Box::pin(async move {
            pass(MINUTE / 4).await;
            named_keys(call)
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_executor_says_later_of_its_resources_counts_as_what_it_says_at_once() {
    let (house, mut tool) = (House::of(8), slow("edit", 1, nothing));
    tool.executor = Arc::new(Later(tool.executor));
    let began = Instant::now();
    let call = |key: &str| house.call(&tool, json!({"keys": [key]}), CallOptions::default());
    let ended = join_all([call("a"), call("b"), call("a")]).await;
    assert!(ended.iter().all(Result::is_ok));
    assert_eq!(began.elapsed(), MINUTE / 4 + 2 * MINUTE);
    assert!(house.is_idle());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Action for Nothing {}

#[tokio::test(start_paused = true)]
async fn a_closure_runs_alone_unless_it_says_that_it_needs_not() {
    let wait = || {
        tool_fn("wait", "Waits", |_: Nothing| async {
            pass(MINUTE).await;
            Ok::<_, ToolFailure>("done".to_owned())
        })
    };
    let shared = wait().with_resources(Resources::of(["file:a"]));
    for (tool, minutes) in [(wait(), 3), (shared, 3), (wait().parallel(), 1)] {
        let made = native(tool).unwrap();
        let mut tool = slow("wait", 1, nothing);
        (tool.definition, tool.executor) = (made.definition, made.executor);
        let (house, began) = (House::of(8), Instant::now());
        let calls = (0..3).map(|_| house.call(&tool, json!({}), CallOptions::default()));
        assert!(join_all(calls).await.iter().all(Result::is_ok));
        assert_eq!(began.elapsed(), minutes * MINUTE);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_two_tools_that_declare_nothing_run_at_the_same_time() {
    let house = House::of(8);
    let (one, other) = (slow("one", 1, undeclared), slow("other", 1, undeclared));
    let began = Instant::now();
    let options = CallOptions::default;
    let (one, other) = tokio::join!(
        house.call(&one, json!({}), options()),
        house.call(&other, json!({}), options()),
    );
    assert!(one.is_ok() && other.is_ok());
    assert_eq!(began.elapsed(), MINUTE);
}

#[tokio::test(start_paused = true)]
async fn calls_that_need_nothing_for_themselves_run_at_the_same_time() {
    let (house, tool) = (House::of(8), slow("search", 5, nothing));
    let began = Instant::now();
    let calls = (0..8).map(|_| house.call(&tool, json!({}), CallOptions::default()));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(began.elapsed(), 5 * MINUTE);
}

#[tokio::test(start_paused = true)]
async fn one_file_is_for_one_call_at_a_time_and_other_files_are_not_waited_for() {
    let house = House::of(8);
    let (edit, view) = (slow("edit", 1, named_keys), slow("view", 1, named_keys));
    let began = Instant::now();
    let files = [
        (&edit, "file:/a"),
        (&edit, "file:/b"),
        (&view, "file:/a"),
        (&view, "file:/c"),
    ];
    let calls = files.map(|(tool, file)| {
        let call = house.call(tool, json!({"keys": [file, file]}), CallOptions::default());
        async move {
            call.await.unwrap();
            began.elapsed()
        }
    });
    // The third one waits for the first: another tool, the same file.
    assert_eq!(join_all(calls).await, [MINUTE, MINUTE, 2 * MINUTE, MINUTE]);
    assert!(house.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_long_one_as_long_as_it_may_take_itself() {
    let (house, tool) = (House::of(8), slow("build", 4, undeclared));
    let began = Instant::now();
    let options = CallOptions::default;
    let (first, second) = tokio::join!(
        house.call(&tool, json!({}), options()),
        house.call(&tool, json!({}), options()),
    );
    // Four minutes in the queue are no silence of the tool (timeouts.idle is one minute).
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(began.elapsed(), 8 * MINUTE);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_at_the_calls_own_deadline_and_names_the_resource() {
    let (house, tool) = (House::of(8), slow("edit", 2, named_keys));
    let keys = json!({"keys": ["file:/free", "file:/taken"]});
    let first = house.call(
        &tool,
        json!({"keys": ["file:/taken"]}),
        CallOptions::default(),
    );
    let options = CallOptions::default().with_timeout(Duration::from_secs(7));
    let began = Instant::now();
    let second = async {
        let error = house.call(&tool, keys, options).await.unwrap_err();
        (error, began.elapsed())
    };
    let (first, (error, waited)) = tokio::join!(biased; first, second);
    assert!(first.is_ok());
    assert_eq!(waited, Duration::from_secs(7));
    assert_eq!(
        (error.kind(), error.phase(), error.outcome()),
        (ErrorKind::Timeout, Phase::Send, Outcome::NotSent)
    );
    insta::assert_snapshot!(format!("{error}\nhint: {}", error.hint().unwrap_or_default()), @r"
    no turn at file:/taken within 7s: other calls use it
    hint: make fewer such calls at once, or give a longer timeout
    ");
    assert!(house.is_idle());
}

#[tokio::test(start_paused = true)]
async fn who_came_first_runs_first_and_one_that_is_cancelled_lets_the_next_one_through() {
    let house = House::of(8);
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let tool = worker("note", undeclared, move |call, _| {
        let which = call.arguments().get("which").cloned();
        let seen = Arc::clone(&seen);
        Box::pin(async move {
            pass(MINUTE / 2).await;
            seen.lock().unwrap().push(which.unwrap_or_default());
            Ok(Observation::default())
        })
    });
    let cancel = CancellationToken::new();
    let calls = (0..5).map(|which| {
        let options = match which {
            2 => CallOptions::default().with_cancel(cancel.clone()),
            _ => CallOptions::default(),
        };
        house.call(&tool, json!({"which": which}), options)
    });
    let cancels = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(join_all(calls), cancels);
    let kinds: Vec<Option<ErrorKind>> = ended
        .iter()
        .map(|end| end.as_ref().err().map(toolspan_core::Error::kind))
        .collect();
    assert_eq!(kinds, [None, None, Some(ErrorKind::Cancelled), None, None]);
    assert_eq!(*order.lock().unwrap(), [0, 1, 3, 4]);
    assert!(house.is_idle());
}

#[tokio::test]
async fn a_panic_or_a_fault_in_what_is_declared_gives_every_resource_back() {
    let house = House::of(1);
    let panics = worker("edit", named_keys, |_, _| {
        Box::pin(async { panic!("on purpose") })
    });
    let declares = worker(
        "edit",
        |_| panic!("not even declared"),
        |_, _| Box::pin(async { Ok(Observation::default()) }),
    );
    for tool in [panics, declares] {
        let call = house.call(&tool, json!({"keys": ["a"]}), CallOptions::default());
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Internal);
        assert!(house.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gets_no_turn_before_it_is_dropped_leaves_nothing_behind() {
    let (house, tool) = (House::of(8), slow("edit", 1, undeclared));
    {
        let mut calls: Vec<_> = (0..4)
            .map(|_| Box::pin(house.call(&tool, json!({}), CallOptions::default())))
            .collect();
        for call in &mut calls {
            assert!(futures_util::poll!(call).is_pending());
        }
        assert_eq!(house.locks.in_use(), 1);
    }
    assert!(house.is_idle());
}

#[tokio::test(start_paused = true)]
async fn calls_with_a_thousand_resources_each_come_to_their_turn_in_order() {
    let house = House::of(64);
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let tool = worker("edit", named_keys, move |call, _| {
        let place = call.arguments().get("place").cloned();
        seen.lock().unwrap().extend(place);
        Box::pin(async {
            tokio::task::yield_now().await;
            Ok(Observation::default())
        })
    });
    // Each call has one resource in common with the next one, and 999 with nobody or with all others.
    let calls = (0..64_u32).map(|place| {
        let own = (0..999).map(|key| format!("{}:{key}", place % 2));
        let keys: Vec<String> = own.chain([format!("pair:{}", place / 2)]).collect();
        let arguments = json!({"keys": keys, "place": place});
        house.call(&tool, arguments, CallOptions::default())
    });
    for ended in join_all(calls).await {
        assert!(ended.is_ok(), "{ended:?}");
    }
    let order = order.lock().unwrap().clone();
    let of_half = |half: u32| -> Vec<u64> {
        let places = order.iter().filter_map(serde_json::Value::as_u64);
        places
            .filter(|place| place % 2 == u64::from(half))
            .collect()
    };
    for half in 0..2 {
        let places: Vec<u64> = (u64::from(half)..64).step_by(2).collect();
        assert_eq!(of_half(half), places);
    }
    assert!(house.is_idle());
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_for_one_that_never_ends_end_at_their_own_limits() {
    let house = House::of(8);
    let stuck = worker("edit", named_keys, |call, context| {
        context.note_sent();
        let is_stuck = call.arguments().contains_key("stuck");
        Box::pin(async move {
            match is_stuck {
                true => std::future::pending().await,
                false => Ok(Observation::text_of("edited")),
            }
        })
    });
    let seconds = |seconds| CallOptions::default().with_timeout(Duration::from_secs(seconds));
    let call = |arguments, seconds_left| house.call(&stuck, arguments, seconds(seconds_left));
    let (held, first, last, patient, free) = tokio::join!(
        call(json!({"keys": ["a"], "stuck": true}), 100),
        call(json!({"keys": ["a"]}), 5),
        call(json!({"keys": ["b", "a"]}), 7),
        call(json!({"keys": ["a", "b"]}), 200),
        call(json!({"keys": ["c"]}), 1),
    );
    assert_eq!(
        held.unwrap_err().message(),
        "no answer within 100s, the caller's timeout"
    );
    for (ended, limit) in [(first, "5s"), (last, "7s")] {
        let error = ended.unwrap_err();
        let message = format!("no turn at a within {limit}: other calls use it");
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Timeout, &*message)
        );
    }
    assert_eq!(patient.unwrap().text(), "edited");
    assert_eq!(free.unwrap().text(), "edited");
    assert!(house.is_idle());
}

/// Calls with these keys, each of which takes so many turns, all begun at once.
async fn cross(calls: Vec<(Vec<u8>, usize)>) {
    let house = House::of(calls.len());
    let inside: Arc<[AtomicUsize; 4]> = Arc::default();
    let seen = Arc::clone(&inside);
    let tool = worker("edit", named_keys, move |call, _| {
        let keys = call.arguments().get("which").cloned().unwrap_or_default();
        let keys: Vec<usize> = serde_json::from_value(keys).expect("whole numbers");
        let turns = call
            .arguments()
            .get("turns")
            .and_then(serde_json::Value::as_u64);
        let seen = Arc::clone(&seen);
        Box::pin(async move {
            for key in keys.iter().filter_map(|key| seen.get(*key)) {
                assert_eq!(key.fetch_add(1, Ordering::Relaxed), 0, "two at once");
            }
            for _ in 0..turns.unwrap_or_default() {
                tokio::task::yield_now().await;
            }
            for key in keys.iter().filter_map(|key| seen.get(*key)) {
                key.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(Observation::default())
        })
    });
    let calls = calls.into_iter().map(|(which, turns)| {
        let mut which = which;
        let keys: Vec<String> = which.iter().map(|key| format!("key:{key}")).collect();
        which.sort_unstable();
        which.dedup();
        let arguments = json!({"keys": keys, "which": which, "turns": turns});
        house.call(&tool, arguments, CallOptions::default())
    });
    for ended in join_all(calls).await {
        assert!(ended.is_ok(), "{ended:?}");
    }
    assert!(house.is_idle());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The clock is the tests': a deadlock would end as a timeout after ten minutes of it, at once.
    #[test]
    fn calls_whose_resources_cross_all_come_to_their_turn(
        calls in proptest::collection::vec(
            (proptest::collection::vec(0..4_u8, 0..5), 0..4_usize), 1..12,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(cross(calls));
    }
}
