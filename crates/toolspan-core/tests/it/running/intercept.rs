//! What may interceptors do with a call, and what can they not break?

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolspan_core::execute::{InterceptedCall, Interceptor, Next, intercepted};
use toolspan_core::guard::Limits;
use toolspan_core::{
    BoxFuture, CallOptions, CallRequest, ErrorKind, Injection, Observation, Outcome, Preparing,
    RegisteredTool, Result,
};

use super::house::{House, nothing, worker};
use crate::support::{definition, tool_of};

type Around =
    for<'a> fn(&'a Log, InterceptedCall<'a>, Next<'a>) -> BoxFuture<'a, Result<Observation>>;

/// What happened, in order.
type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, what: String) {
    log.lock().expect("no test panics with it").push(what);
}

struct Given {
    name: &'static str,
    log: Log,
    around: Around,
}

impl Interceptor for Given {
    fn name(&self) -> &str {
        self.name
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        note(&self.log, format!("{} before", self.name));
        Box::pin(async move {
            let ended = (self.around)(&self.log, call, next).await;
            note(&self.log, format!("{} after", self.name));
            ended
        })
    }
}

/// A tool that takes a whole number and gives it back, and notes that it ran.
fn number(log: &Log) -> RegisteredTool {
    let log = Arc::clone(log);
    let tool = worker("number", nothing, move |call, context| {
        note(&log, format!("ran {}", call.arguments_text()));
        context.note_sent();
        Box::pin(async { Ok(Observation::text_of(call.arguments_text())) })
    });
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": false,
    });
    tool_of(definition("number", schema), tool.executor)
}

/// Sends a call with `n` = 1 through these, and gives its end and what happened.
async fn through(arounds: &[(&'static str, Around)]) -> (Result<Observation>, Vec<String>) {
    let log = Log::default();
    let interceptors: Vec<Arc<dyn Interceptor>> = arounds
        .iter()
        .map(|(name, around)| {
            let given = Given {
                name,
                log: Arc::clone(&log),
                around: *around,
            };
            Arc::new(given) as Arc<dyn Interceptor>
        })
        .collect();
    let (house, tool, limits) = (House::of(2), number(&log), Limits::default());
    let options = CallOptions::default().with_timeout(Duration::from_secs(5));
    let context = house.context(options);
    let call = house
        .checked(&tool, json!({"n": 1}))
        .expect("valid arguments");
    let call = InterceptedCall::new(&tool, call, &context, &limits);
    let end = |call: InterceptedCall<'_>| {
        let (house, tool, context) = (&house, &tool, &context);
        let call = call.into_call();
        async move { house.run(tool, &call, context).await }
    };
    let ended = intercepted(&interceptors, call, end).await;
    let happened = log.lock().expect("no test panics with it").clone();
    (ended, happened)
}

#[tokio::test]
async fn without_interceptors_a_call_just_runs() {
    let (ended, log) = through(&[]).await;
    assert_eq!(ended.unwrap().text(), r#"{"n":1}"#);
    assert_eq!(log, [r#"ran {"n":1}"#]);
}

#[tokio::test]
async fn the_first_one_is_outermost_and_each_sees_call_and_result() {
    let sees: Around = |log, call, next| {
        Box::pin(async move {
            let seen = format!(
                "{} {}",
                call.tool().name,
                Value::from(call.arguments().clone())
            );
            let ended = next.run(call).await?;
            log.lock()
                .unwrap()
                .push(format!("{seen} -> {}", ended.text()));
            Ok(ended.with_content(toolspan_core::Content::text("seen")))
        })
    };
    let (ended, log) = through(&[("one", sees), ("two", sees)]).await;
    assert_eq!(ended.unwrap().text(), "{\"n\":1}\nseen\nseen");
    insta::assert_snapshot!(log.join("\n"), @r#"
    one before
    two before
    ran {"n":1}
    box__number {"n":1} -> {"n":1}
    two after
    box__number {"n":1} -> {"n":1}
    seen
    one after
    "#);
}

#[tokio::test]
async fn changed_arguments_are_what_is_sent_once_they_are_checked() {
    let (ended, log) = through(&[("double", |_, call, next| {
        Box::pin(async move { next.run(call.with_arguments(json!({"n": 2}))?).await })
    })])
    .await;
    assert_eq!(ended.unwrap().text(), r#"{"n":2}"#);
    assert_eq!(log, ["double before", r#"ran {"n":2}"#, "double after"]);
}

#[tokio::test]
async fn a_changed_call_keeps_its_id_its_repairs_and_what_the_model_said_of_it() {
    let (house, limits) = (House::of(1), Limits::default());
    let tool = number(&Log::default());
    let said = json!({
        "id": "call_1", "name": &*tool.name,
        "arguments": {"n": "1", "security_risk": "LOW", "summary": "counts"},
    });
    let both = Preparing::of_model(Injection::new(true, true));
    let call = CallRequest::from_model(&said).unwrap();
    let call = call.prepare(&tool, &limits, &both).unwrap();
    let repairs = call.repairs().to_vec();
    assert_eq!(repairs.len(), 1);
    let context = house.context(CallOptions::default());
    let call = InterceptedCall::new(&tool, call, &context, &limits);
    let changed = call.with_arguments(json!({"n": 2})).unwrap().into_call();
    assert_eq!(changed.arguments_text(), r#"{"n":2}"#);
    assert_eq!(
        (changed.id(), changed.risk_word(), changed.model_summary()),
        (Some("call_1"), Some("LOW"), Some("counts"))
    );
    let seen = house.run(&tool, &changed, &context).await.unwrap();
    assert_eq!(seen.repairs, repairs);
}

#[tokio::test]
async fn changed_arguments_that_break_the_schema_never_reach_the_tool() {
    let (ended, log) = through(&[("breaks", |_, call, next| {
        Box::pin(async move { next.run(call.with_arguments(json!({"n": "two"}))?).await })
    })])
    .await;
    let error = ended.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert_eq!(error.tool(), Some("box__number"));
    assert_eq!(log, ["breaks before", "breaks after"]);
}

#[tokio::test]
async fn one_that_answers_keeps_the_call_from_those_behind_it_and_from_the_tool() {
    let (ended, log) = through(&[
        ("cache", |_, _, _| {
            Box::pin(async { Ok(Observation::text_of("known already")) })
        }),
        ("behind", |_, call, next| next.run(call)),
    ])
    .await;
    assert_eq!(ended.unwrap().text(), "known already");
    assert_eq!(log, ["cache before", "cache after"]);
}

#[tokio::test]
async fn one_that_refuses_says_why() {
    let (ended, _) = through(&[("curfew", |_, call, _| {
        Box::pin(async move { Err(call.refused("not at night")) })
    })])
    .await;
    let error = ended.unwrap_err();
    assert_eq!(
        (error.kind(), error.message(), error.outcome()),
        (ErrorKind::PolicyDenied, "not at night", Outcome::NotSent)
    );
    assert_eq!(error.toolbox(), Some("box"));
}

#[tokio::test]
async fn a_panic_is_the_end_of_its_own_call_and_names_the_interceptor() {
    let before: Around = |_, _, _| panic!("before");
    let within: Around = |_, _, _| Box::pin(async { panic!("within") });
    let after: Around = |_, call, next| {
        Box::pin(async move {
            next.run(call).await?;
            panic!("after")
        })
    };
    for (around, words, outcome) in [
        (before, "before", Outcome::NotSent),
        (within, "within", Outcome::NotSent),
        (after, "after", Outcome::Unknown),
    ] {
        let (ended, _) = through(&[("faulty", around)]).await;
        let error = ended.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert_eq!(
            error.message(),
            format!("the interceptor faulty panicked: {words}")
        );
        assert_eq!(
            (error.outcome(), error.tool()),
            (outcome, Some("box__number"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_never_ends_ends_with_the_call() {
    let (ended, log) = through(&[("stuck", |_, _, _| Box::pin(std::future::pending()))]).await;
    let error = ended.unwrap_err();
    assert_eq!(error.message(), "no answer within 5s, the caller's timeout");
    assert_eq!(error.tool(), Some("box__number"));
    assert_eq!(log, ["stuck before"]);
}
