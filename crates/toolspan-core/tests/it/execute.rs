//! How does a call end: by its result, a limit, its caller or a panic?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::{self, Gate, Gates};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{
    BoxFuture, CallOptions, CallRequest, Context, ErrorKind, Observation, Outcome, Phase, Progress,
    RegisteredTool, Result, ToolExecutor, ValidCall,
};

use crate::support::{self, tool_of};

/// An executor made of a closure over the context.
struct Work<F>(F);

impl<F> ToolExecutor for Work<F>
where
    F: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<Observation>> + Send + Sync + 'static,
{
    fn call<'a>(
        &'a self,
        _call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        (self.0)(context)
    }
}

fn executor<F>(work: F) -> Arc<dyn ToolExecutor>
where
    F: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<Observation>> + Send + Sync + 'static,
{
    Arc::new(Work(work))
}

fn tool<F>(work: F) -> RegisteredTool
where
    F: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<Observation>> + Send + Sync + 'static,
{
    tool_of(
        support::definition("work", json!({"type": "object"})),
        executor(work),
    )
}

fn gate(size: usize, queue: usize) -> Gate {
    Gate::new(size, queue, "limits.max_in_flight")
}

async fn run(tool: &RegisteredTool, options: CallOptions) -> Result<Observation> {
    let (toolbox, host) = (gate(8, 8), gate(8, 8));
    let call = CallRequest::new("work", json!({})).validate(tool, &Limits::default())?;
    let context = Context::new(options, &Timeouts::default());
    execute::run(
        tool,
        &call,
        &context,
        Gates {
            toolbox: &toolbox,
            host: &host,
        },
    )
    .await
    .map(|observation| *observation)
}

#[tokio::test(start_paused = true)]
async fn a_silent_tool_ends_at_the_idle_limit_to_the_instant() {
    let silent = tool(|context| {
        Box::pin(async move {
            context.note_sent();
            std::future::pending().await
        })
    });
    let began = Instant::now();
    let error = run(&silent, CallOptions::default()).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(
        (error.phase(), error.outcome()),
        (Phase::Call, Outcome::Unknown)
    );
    assert_eq!(error.message(), "no sign of life for 60s (timeouts.idle)");
    assert_eq!(
        (error.toolbox(), error.tool()),
        (Some("box"), Some("box__work"))
    );
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_idle_limit_anew_and_never_the_total() {
    let busy = tool(|context| {
        Box::pin(async move {
            context.note_sent();
            let mut tick = tokio::time::interval(Duration::from_secs(50));
            loop {
                tick.tick().await;
                context.report(Progress::new(1.0, None));
            }
        })
    });
    let reports = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reports);
    let options = CallOptions::default().with_progress(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let began = Instant::now();
    let error = run(&busy, options).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(600));
    assert_eq!(error.message(), "no answer within 600s (timeouts.total)");
    // At 0 s, 50 s, …, and at 600 s itself: work that is ready at the deadline still runs.
    assert_eq!(reports.load(Ordering::Relaxed), 13);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_not_sent_says_so() {
    let stuck = tool(|_| Box::pin(std::future::pending()));
    let options = CallOptions::default().with_timeout(Duration::from_secs(5));
    let began = Instant::now();
    let error = run(&stuck, options).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(
        (error.phase(), error.outcome()),
        (Phase::Send, Outcome::NotSent)
    );
    assert_eq!(error.message(), "no answer within 5s, the caller's timeout");
}

#[tokio::test(start_paused = true)]
async fn a_result_at_the_instant_of_the_deadline_wins() {
    let punctual = tool(|_| {
        Box::pin(async {
            let never = std::future::pending::<()>();
            let _ = tokio::time::timeout(Duration::from_secs(5), never).await;
            Ok(Observation::text_of("in time"))
        })
    });
    let options = CallOptions::default().with_timeout(Duration::from_secs(5));
    assert_eq!(run(&punctual, options).await.unwrap().text(), "in time");
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let waiting = tool(|context| {
        Box::pin(async move {
            context.note_sent();
            std::future::pending().await
        })
    });
    let cancel = CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let (ended, ()) = tokio::join!(run(&waiting, options), async { cancel.cancel() });
    let error = ended.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::Unknown)
    );
}

// R58
#[tokio::test]
async fn a_panic_becomes_an_error_and_nothing_else_is_hurt() {
    let panics = tool(|_| Box::pin(async { panic!("index 7 of 3") }));
    let error = run(&panics, CallOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(error.message(), "the tool panicked: index 7 of 3");
    assert_eq!(error.outcome(), Outcome::Unknown);
}

// R58
#[tokio::test]
async fn a_panic_while_a_lock_is_held_leaves_the_host_usable() {
    let lock = Arc::new(std::sync::Mutex::new(0));
    let held = Arc::clone(&lock);
    let panics = tool(move |_| {
        let held = Arc::clone(&held);
        Box::pin(async move {
            let _guard = held.lock();
            panic!("with the lock");
        })
    });
    assert_eq!(
        run(&panics, CallOptions::default())
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Internal
    );
    assert!(lock.is_poisoned());
    let works = tool(|_| Box::pin(async { Ok(Observation::text_of("fine")) }));
    assert_eq!(
        run(&works, CallOptions::default()).await.unwrap().text(),
        "fine"
    );
}

#[tokio::test]
async fn a_full_gate_lets_some_wait_and_turns_the_rest_away() {
    let release = Arc::new(Notify::new());
    let arrived = Arc::new(Notify::new());
    let (inside, open) = (Arc::clone(&arrived), Arc::clone(&release));
    let held = tool(move |_| {
        let (inside, open) = (Arc::clone(&inside), Arc::clone(&open));
        Box::pin(async move {
            inside.notify_one();
            open.notified().await;
            Ok(Observation::default())
        })
    });
    let (toolbox, host) = (gate(1, 1), gate(8, 8));
    let gates = Gates {
        toolbox: &toolbox,
        host: &host,
    };
    let call = CallRequest::new("work", json!({}))
        .validate(&held, &Limits::default())
        .unwrap();
    let contexts: Vec<Context> = (0..3)
        .map(|_| Context::new(CallOptions::default(), &Timeouts::default()))
        .collect();
    let first = execute::run(&held, &call, &contexts[0], gates);
    let second = execute::run(&held, &call, &contexts[1], gates);
    let rest = async {
        arrived.notified().await;
        assert_eq!(toolbox.in_flight(), 1);
        // The second one has its seat now: this is polled after it.
        let error = execute::run(&held, &call, &contexts[2], gates)
            .await
            .unwrap_err();
        release.notify_one();
        arrived.notified().await;
        release.notify_one();
        error
    };
    let (first, second, error) = tokio::join!(biased; first, second, rest);
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(error.kind(), ErrorKind::Overloaded);
    assert_eq!(error.outcome(), Outcome::NotSent);
    insta::assert_snapshot!(format!("{error}\nhint: {}", error.hint().unwrap_or_default()), @r"
    1 calls are in flight (limits.max_in_flight) and 1 more wait (limits.queue)
    hint: wait for a call to end, or raise limits.max_in_flight
    ");
    assert_eq!((toolbox.in_flight(), host.in_flight()), (0, 0));
}

#[tokio::test]
async fn a_result_that_breaks_its_own_schema_is_kept_and_marked() {
    let mut definition = support::definition("work", json!({"type": "object"}));
    let output = json!({"type": "object", "required": ["sum"]});
    definition.output = Some(Arc::new(
        toolspan_core::schema::Schema::for_output(output).unwrap(),
    ));
    let work =
        executor(|_| Box::pin(async { Ok(Observation::structured_of(json!({"total": 3}))) }));
    let seen = run(&tool_of(definition, work), CallOptions::default())
        .await
        .unwrap();
    assert_eq!(seen.structured, Some(json!({"total": 3})));
    assert_eq!(
        seen.schema_violation.as_deref(),
        Some("expected required property `sum`, found an object with `total`")
    );
}

// R58
#[tokio::test]
async fn a_panic_before_there_is_a_future_becomes_an_error_too() {
    let panics = tool(|_| panic!("no future"));
    let error = run(&panics, CallOptions::default()).await.unwrap_err();
    assert_eq!(error.message(), "the tool panicked: no future");
}

// R58
#[tokio::test]
async fn a_panic_of_the_callers_progress_sink_costs_nothing_but_the_report() {
    let reports = tool(|context| {
        Box::pin(async move {
            context.report(Progress::new(1.0, None));
            Ok(Observation::text_of("done"))
        })
    });
    let options = CallOptions::default().with_progress(|_| panic!("in the sink"));
    assert_eq!(run(&reports, options).await.unwrap().text(), "done");
}

#[tokio::test]
async fn any_timeout_can_be_told_and_none_at_all_sends_nothing() {
    let works = tool(|context| {
        Box::pin(async move {
            context.note_sent();
            tokio::task::yield_now().await;
            Ok(Observation::text_of("done"))
        })
    });
    let thirty_years = Duration::from_secs(30 * 365 * 24 * 3_600);
    for timeout in [
        Duration::MAX,
        Duration::from_secs(u64::MAX >> 1),
        Duration::from_secs((1 << 63) - (1 << 31)),
        thirty_years,
    ] {
        let options = CallOptions::default().with_timeout(timeout);
        assert_eq!(run(&works, options).await.unwrap().text(), "done");
    }
    let options = CallOptions::default().with_timeout(Duration::ZERO);
    let error = run(&works, options).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::NotSent)
    );
}

#[tokio::test]
async fn a_call_cancelled_before_it_begins_never_reaches_the_tool() {
    let unreached = tool(|_| panic!("it was called"));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = run(&unreached, CallOptions::default().with_cancel(cancel))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::NotSent)
    );
}

#[test]
fn outside_a_runtime_a_call_is_refused_and_not_begun() {
    let unreached = tool(|_| panic!("it was called"));
    let error = futures_util::FutureExt::now_or_never(run(&unreached, CallOptions::default()))
        .unwrap()
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Usage, Outcome::NotSent)
    );
}

#[tokio::test]
async fn a_call_checked_for_one_tool_is_never_run_by_another() {
    let (mine, other) = (tool(|_| panic!("it was called")), support::echo("x"));
    let other = tool_of((*other.definition).clone(), other.executor);
    let call = CallRequest::new("x", json!({}))
        .validate(&other, &Limits::default())
        .unwrap();
    let gate = gate(1, 1);
    let gates = Gates {
        toolbox: &gate,
        host: &gate,
    };
    let context = Context::new(CallOptions::default(), &Timeouts::default());
    let error = execute::run(&mine, &call, &context, gates)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(error.message(), "the call was checked for box__x");
}

#[tokio::test]
async fn a_gate_of_no_places_has_one_and_counts_it() {
    let none = Arc::new(gate(0, 0));
    let counted = Arc::clone(&none);
    let counts = tool(move |_| {
        let seen = counted.in_flight();
        Box::pin(async move { Ok(Observation::text_of(seen.to_string())) })
    });
    let call = CallRequest::new("work", json!({}))
        .validate(&counts, &Limits::default())
        .unwrap();
    let host = gate(8, 8);
    let gates = Gates {
        toolbox: &none,
        host: &host,
    };
    let context = Context::new(CallOptions::default(), &Timeouts::default());
    let seen = execute::run(&counts, &call, &context, gates).await.unwrap();
    assert_eq!((seen.text(), none.in_flight()), ("1".to_owned(), 0));
}

#[tokio::test]
async fn a_call_dropped_at_any_point_gives_its_places_back() {
    let waits = tool(|_| Box::pin(std::future::pending()));
    let (toolbox, host) = (gate(2, 2), gate(1, 2));
    let gates = Gates {
        toolbox: &toolbox,
        host: &host,
    };
    let call = CallRequest::new("work", json!({}))
        .validate(&waits, &Limits::default())
        .unwrap();
    let contexts: Vec<Context> = (0..3)
        .map(|_| Context::new(CallOptions::default(), &Timeouts::default()))
        .collect();
    // One runs, one holds a place of its toolbox and waits for the host's, one waits for both.
    let mut calls: Vec<_> = contexts
        .iter()
        .map(|context| Box::pin(execute::run(&waits, &call, context, gates)))
        .collect();
    for call in &mut calls {
        assert!(futures_util::FutureExt::now_or_never(call).is_none());
    }
    assert_eq!((toolbox.in_flight(), host.in_flight()), (2, 1));
    drop(calls);
    assert_eq!((toolbox.in_flight(), host.in_flight()), (0, 0));
    let echo = tool(|_| Box::pin(async { Ok(Observation::default()) }));
    let call = CallRequest::new("work", json!({}))
        .validate(&echo, &Limits::default())
        .unwrap();
    assert!(
        execute::run(&echo, &call, &contexts[0], gates)
            .await
            .is_ok()
    );
}
