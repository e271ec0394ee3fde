//! How does a call learn of its end, and when does its clock stand still?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolspan_core::call::Preparing;
use toolspan_core::execute::within;
use toolspan_core::guard::Limits;
use toolspan_core::{
    BoxFuture, CallOptions, CallRequest, Context, ErrorKind, Observation, Outcome, RegisteredTool,
    Result, ToolExecutor, ValidCall,
};

use super::house::{House, interruptible, nothing, pass, undeclared, worker};
use crate::support::{definition, tool_of};

const HOUR: Duration = Duration::from_secs(3_600);

/// A tool that never answers, and counts how often it was interrupted.
fn endless(has_begun: bool) -> (RegisteredTool, Arc<AtomicUsize>) {
    interruptible("endless", nothing, move |_, context| {
        if has_begun {
            context.note_sent();
        }
        Box::pin(std::future::pending())
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_short_interrupts_its_tool_once() {
    let house = House::of(8);
    let (tool, interrupts) = endless(true);
    let options = CallOptions::default().with_timeout(Duration::from_secs(5));
    let error = house.call(&tool, json!({}), options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(interrupts.load(Ordering::Relaxed), 1);

    let cancel = CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let (ended, ()) = tokio::join!(house.call(&tool, json!({}), options), async {
        cancel.cancel();
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(interrupts.load(Ordering::Relaxed), 2);

    let mut dropped = Box::pin(house.call(&tool, json!({}), CallOptions::default()));
    assert!(futures_util::poll!(&mut dropped).is_pending());
    drop(dropped);
    assert_eq!(interrupts.load(Ordering::Relaxed), 3);
    assert!(house.is_idle());
}

/// Never answers, and panics when it is interrupted.
struct Touchy {
    calm: bool,
}

impl ToolExecutor for Touchy {
    fn call<'a>(
        &'a self,
        _: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        context.note_sent();
        Box::pin(std::future::pending())
    }

    fn interrupt(&self) {
        assert!(self.calm, "on purpose");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_when_it_is_interrupted_changes_nothing_for_its_call() {
    let house = House::of(1);
    let tool = tool_of(
        definition("touchy", json!({})),
        Arc::new(Touchy { calm: false }),
    );
    let options = CallOptions::default().with_timeout(Duration::from_secs(5));
    let error = house.call(&tool, json!({}), options).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::Unknown)
    );
    assert!(house.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_had_not_begun_interrupts_nothing() {
    let house = House::of(8);
    let (tool, interrupts) = endless(false);
    let options = CallOptions::default().with_timeout(Duration::from_secs(5));
    assert!(house.call(&tool, json!({}), options).await.is_err());
    assert_eq!(interrupts.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn work_in_a_task_of_its_own_learns_that_nobody_waits_any_more() {
    let house = House::of(8);
    let (tells, told) = oneshot::channel();
    let tells = std::sync::Mutex::new(Some(tells));
    let tool = worker("work", nothing, move |_, context| {
        let (over, tells) = (context.over(), tells.lock().unwrap().take());
        tokio::spawn(async move {
            over.cancelled().await;
            tells.expect("called once").send(())
        });
        context.note_sent();
        Box::pin(std::future::pending())
    });
    let mut call = Box::pin(house.call(&tool, json!({}), CallOptions::default()));
    assert!(futures_util::poll!(&mut call).is_pending());
    drop(call);
    told.await.expect("the work was told");
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_a_call_stands_still_while_a_person_is_asked() {
    let house = House::of(8);
    let tool = worker("work", undeclared, |_, _| {
        Box::pin(async { Ok(Observation::text_of("done")) })
    });
    let context = house.context(CallOptions::default());
    let call = house.checked(&tool, json!({})).unwrap();
    let asked = async {
        context.asking(pass(HOUR)).await;
        house.run(&tool, &call, &context).await
    };
    assert_eq!(within(asked, &context).await.unwrap().text(), "done");
    // Ten minutes are the call's own, whatever was asked before.
    let began = Instant::now();
    let error = within(std::future::pending::<Result<(), _>>(), &context)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(began.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn the_callers_own_timeout_holds_while_a_person_is_asked() {
    let house = House::of(8);
    let options = CallOptions::default().with_timeout(Duration::from_secs(30));
    let context = house.context(options);
    let asked = async {
        context.asking(pass(HOUR)).await;
        Ok(())
    };
    let error = within(asked, &context).await.unwrap_err();
    assert_eq!(
        error.message(),
        "no answer within 30s, the caller's timeout"
    );
}

#[tokio::test]
async fn a_tool_reads_the_state_of_its_conversation_by_its_type() {
    let house = House::of(8);
    let tool = worker("work", nothing, |_, context| {
        let (words, number) = (context.state::<String>(), context.state::<u8>());
        Box::pin(async move { Ok(Observation::text_of(format!("{words:?} {number:?}"))) })
    });
    let options = CallOptions::default().with_state(Arc::new("plan".to_owned()));
    let seen = house.call(&tool, json!({}), options).await.unwrap();
    assert_eq!(seen.text(), r#"Some("plan") None"#);
    let seen = house.call(&tool, json!({}), CallOptions::default()).await;
    assert_eq!(seen.unwrap().text(), "None None");
}

#[tokio::test]
async fn a_result_tells_what_was_repaired_in_its_call_and_nothing_for_a_valid_one() {
    let house = House::of(8);
    let tool = worker("work", nothing, |_, _| {
        Box::pin(async { Ok(Observation::default()) })
    });
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = tool_of(definition("work", schema), tool.executor);
    for (arguments, pointers) in [(json!({"n": "5"}), vec!["/n"]), (json!({"n": 5}), vec![])] {
        let call = CallRequest::new("work", arguments)
            .prepare(&tool, &Limits::default(), &Preparing::default())
            .unwrap();
        let context = house.context(CallOptions::default());
        let seen = house.run(&tool, &call, &context).await.unwrap();
        let repaired = seen.repairs.iter().map(|repair| repair.pointer.as_str());
        assert_eq!(repaired.collect::<Vec<_>>(), pointers);
    }
}
