//! What does a tool that calls tools in turn have to wait for?

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolspan_core::{CallOptions, Context, ErrorKind, Observation, RegisteredTool, Result};

use super::house::{House, named_keys, nothing, undeclared, worker};

/// A tool that calls itself so many times, in its own task or in one of its own.
fn recursive(house: &Arc<House>, in_own_task: bool) -> RegisteredTool {
    let itself: Arc<OnceLock<RegisteredTool>> = Arc::default();
    let (house, known) = (Arc::clone(house), Arc::clone(&itself));
    let tool = worker("dive", undeclared, move |call, context: &Context| {
        let depth = call
            .arguments()
            .get("depth")
            .and_then(|depth| depth.as_u64());
        let depth = depth.unwrap_or_default();
        let (house, tool) = (Arc::clone(&house), known.get().expect("set below").clone());
        Box::pin(async move {
            let Some(deeper) = depth.checked_sub(1) else {
                return Ok(Observation::text_of("the ground"));
            };
            let options = match in_own_task {
                true => context.nested(),
                false => CallOptions::default(),
            };
            let call = async move { house.call(&tool, json!({"depth": deeper}), options).await };
            match in_own_task {
                true => tokio::spawn(call).await.expect("no panic"),
                false => call.await,
            }
        })
    });
    itself.set(tool.clone()).expect("set once");
    tool
}

#[tokio::test]
async fn a_tool_that_calls_itself_waits_neither_for_its_own_place_nor_for_its_own_turn() {
    for in_own_task in [false, true] {
        let house = House::of(1);
        let tool = recursive(&house, in_own_task);
        let options = CallOptions::default().with_timeout(Duration::from_secs(60));
        let seen = house
            .call(&tool, json!({"depth": 5}), options)
            .await
            .unwrap();
        assert_eq!(seen.text(), "the ground");
        assert!(house.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_from_elsewhere_waits_until_the_call_within_has_ended_too() {
    let house = House::of(8);
    let (inside, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (entered, left) = (Arc::clone(&inside), Arc::clone(&leave));
    let inner = worker("inner", named_keys, move |_, _| {
        let (entered, left) = (Arc::clone(&entered), Arc::clone(&left));
        Box::pin(async move {
            entered.notify_one();
            left.notified().await;
            Ok(Observation::text_of("inner"))
        })
    });
    let (tasks, known) = (Arc::new(std::sync::Mutex::new(None)), Arc::clone(&house));
    let started = Arc::clone(&tasks);
    let outer = worker("outer", named_keys, move |_, context: &Context| {
        let (house, inner) = (Arc::clone(&known), inner.clone());
        let mut options = context.nested();
        options.cancel = None;
        let task = async move { house.call(&inner, json!({"keys": ["a"]}), options).await };
        *started.lock().unwrap() = Some(tokio::spawn(task));
        let inside = Arc::clone(&inside);
        Box::pin(async move {
            inside.notified().await;
            Ok(Observation::text_of("outer"))
        })
    });
    let keys = || json!({"keys": ["a"]});
    let seen = house.call(&outer, keys(), CallOptions::default()).await;
    assert_eq!(seen.unwrap().text(), "outer");
    // The outer call has its answer, and the inner one still works on what both have.
    let third = worker("third", named_keys, |_, _| {
        Box::pin(async { Ok(Observation::text_of("third")) })
    });
    let short = CallOptions::default().with_timeout(Duration::from_secs(1));
    let error = house.call(&third, keys(), short).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    leave.notify_one();
    let task = tasks.lock().unwrap().take().expect("started");
    assert_eq!(task.await.unwrap().unwrap().text(), "inner");
    let seen = house.call(&third, keys(), CallOptions::default()).await;
    assert_eq!(seen.unwrap().text(), "third");
    assert!(house.is_idle());
}

#[tokio::test]
async fn calls_within_a_call_end_with_it_and_have_its_state() {
    let house = House::of(8);
    let inner = worker("inner", nothing, |_, context| {
        Box::pin(async move {
            assert_eq!(
                context.state::<String>().as_deref().map(String::as_str),
                Some("shared")
            );
            context.note_sent();
            std::future::pending().await
        })
    });
    let (entered, seen) = (
        Arc::new(Notify::new()),
        Arc::new(std::sync::Mutex::new(None)),
    );
    let (enters, known, sees) = (Arc::clone(&entered), Arc::clone(&house), Arc::clone(&seen));
    let outer = worker("outer", nothing, move |_, context: &Context| {
        let (house, inner) = (Arc::clone(&known), inner.clone());
        let options = context.nested();
        let task = async move { house.call(&inner, json!({}), options).await };
        *sees.lock().unwrap() = Some(tokio::spawn(task));
        let enters = Arc::clone(&enters);
        Box::pin(async move {
            context.note_sent();
            enters.notify_one();
            std::future::pending().await
        })
    });
    let cancel = CancellationToken::new();
    let options = CallOptions::default()
        .with_cancel(cancel.clone())
        .with_state(Arc::new("shared".to_owned()));
    let (ended, ()) = tokio::join!(house.call(&outer, json!({}), options), async {
        entered.notified().await;
        cancel.cancel();
    });
    assert_eq!(kind(&ended), Some(ErrorKind::Cancelled));
    let task = seen.lock().unwrap().take().expect("started");
    assert_eq!(kind(&task.await.unwrap()), Some(ErrorKind::Cancelled));
    assert!(house.is_idle());
}

fn kind(ended: &Result<Observation>) -> Option<ErrorKind> {
    ended.as_ref().err().map(toolspan_core::Error::kind)
}

#[tokio::test]
async fn options_of_a_call_that_has_ended_open_no_door_any_more() {
    let house = House::of(8);
    let kept = Arc::new(std::sync::Mutex::new(None));
    let keeps = Arc::clone(&kept);
    let first = worker("first", named_keys, move |_, context: &Context| {
        *keeps.lock().unwrap() = Some(context.nested());
        Box::pin(async { Ok(Observation::default()) })
    });
    let keys = || json!({"keys": ["a"]});
    house
        .call(&first, keys(), CallOptions::default())
        .await
        .unwrap();
    assert!(house.is_idle());
    let options = kept.lock().unwrap().take().expect("kept");
    let error = house.call(&first, keys(), options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}
