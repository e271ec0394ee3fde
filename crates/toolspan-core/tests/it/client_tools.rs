//! What becomes of a call that the client executes, and of one that it does not?

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::within;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::tool::{ClientCalls, ClientToolSpec, ClientTools};
use toolspan_core::{
    CallOptions, CallRequest, Context, ErrorKind, Observation, Outcome, Phase, Result,
    ToolAnnotations, ToolboxTool,
};

use crate::support::{answer, tool_of};

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 3, "pattern": "\\?$"},
            "kind": {"enum": ["open", "closed"]},
        },
        "required": ["question"],
        "additionalProperties": false,
    })
}

fn spec() -> ClientToolSpec {
    ClientToolSpec::new("ask_user", "Asks the user", parameters())
}

fn asking() -> (ToolboxTool, ClientCalls) {
    let (tools, calls) = ClientTools::new();
    (tools.declare(spec()).expect("a usable tool"), calls)
}

fn question() -> Value {
    json!({"question": "Really?"})
}

/// A call as a host makes it, with its time limits.
async fn called(tool: &ToolboxTool, options: CallOptions) -> Result<Observation> {
    let registered = tool_of((*tool.definition).clone(), Arc::clone(&tool.executor));
    let request = CallRequest::new("ask_user", question());
    let call = request.validate(&registered, &Limits::default())?;
    let context = Context::new(options, &Timeouts::default());
    within(registered.executor.call(&call, &context), &context).await
}

#[tokio::test]
async fn a_call_is_handed_out_and_its_answer_is_the_observation() {
    let (tool, calls) = asking();
    let client = async {
        let call = calls.next().await.expect("a call");
        assert_eq!(call.tool(), "box__ask_user");
        let arguments = Value::Object(call.arguments().clone());
        assert_eq!(arguments, json!({"question": "Really?", "kind": "closed"}));
        assert!(!call.is_over());
        call.answer(Observation::text_of("yes"))
    };
    let arguments = json!({"question": "Really?", "kind": "closed"});
    let (seen, was_waited_for) = tokio::join!(answer(&tool, arguments), client);
    assert_eq!(seen.unwrap().text(), "yes");
    assert!(was_waited_for);
}

#[tokio::test]
async fn calls_come_in_order_each_once_and_with_an_id_of_its_own() {
    let (tool, calls) = asking();
    let client = async {
        let (first, second) = (calls.next().await.unwrap(), calls.next().await.unwrap());
        assert_ne!(first.id(), second.id());
        assert!(calls.try_next().is_none());
        second.answer(Observation::text_of("second"));
        first.answer(Observation::text_of("first"));
    };
    let (first, second, ()) =
        tokio::join!(answer(&tool, question()), answer(&tool, question()), client);
    assert_eq!(
        (first.unwrap().text(), second.unwrap().text()),
        ("first".into(), "second".into())
    );
}

#[tokio::test]
async fn arguments_are_checked_before_the_client_sees_them() {
    let (tool, calls) = asking();
    for wrong in [
        json!({"question": "No"}),
        json!({}),
        json!({"question": "Yes?", "x": 1}),
    ] {
        let error = answer(&tool, wrong).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    }
    assert!(calls.try_next().is_none());
}

#[test]
fn its_schema_reaches_a_model_as_it_was_declared() {
    let (tools, _calls) = ClientTools::new();
    let spec = spec().with_annotations(ToolAnnotations::read_only());
    let tool = tools.declare(spec.clone()).unwrap();
    assert_eq!(*tool.definition.input.raw(), parameters());
    assert!(tool.definition.hints().is_read_only());
    let json = serde_json::to_value(&spec).unwrap();
    assert_eq!(
        serde_json::from_value::<ClientToolSpec>(json).unwrap(),
        spec
    );
}

#[test]
fn one_name_has_one_schema() {
    let (tools, _calls) = ClientTools::new();
    let first = tools.declare(spec()).unwrap();
    let again = tools.clone().declare(spec()).unwrap();
    assert!(Arc::ptr_eq(&first.definition, &again.definition));
    let reworded = ClientToolSpec::new("ask_user", "Asks", parameters());
    let reworded = tools.declare(reworded).unwrap();
    assert_eq!(reworded.definition.description, "Asks");
    assert!(Arc::ptr_eq(&first.executor, &reworded.executor));
    let other = ClientToolSpec::new("ask_user", "Asks the user", json!({"type": "object"}));
    let error = tools.declare(other).unwrap_err();
    assert_eq!(
        (error.kind(), error.tool()),
        (ErrorKind::Usage, Some("ask_user"))
    );
    assert_eq!(
        error.message(),
        "the client declared a tool of this name with another schema"
    );
    // Another host has another client.
    let (tools, _calls) = ClientTools::new();
    let other = ClientToolSpec::new("ask_user", "", json!({"type": "object"}));
    assert!(tools.declare(other).is_ok());
}

#[test]
fn what_is_no_schema_of_an_object_is_refused() {
    let (tools, _calls) = ClientTools::new();
    for parameters in [
        json!({"type": "string"}),
        json!(null),
        json!({"type": "object", "properties": 5}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}}),
    ] {
        let error = tools
            .declare(ClientToolSpec::new("x", "", parameters))
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.tool()),
            (ErrorKind::SchemaRejected, Some("x"))
        );
    }
    let blank = ClientToolSpec::new(" ", "", parameters());
    assert_eq!(tools.declare(blank).unwrap_err().kind(), ErrorKind::Usage);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_no_client_takes_ends_at_its_time_limit_and_is_taken_back() {
    let (tool, calls) = asking();
    let error = called(&tool, CallOptions::default()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::NotSent)
    );
    assert_eq!(error.message(), "no client took the call within 600s");
    assert!(calls.next().now_or_never().is_none() && calls.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_took_the_call_has_its_time_and_no_more() {
    let (tools, calls) = ClientTools::new();
    let tools = tools.with_timeout(Duration::from_secs(700));
    let tool = tools.declare(spec()).unwrap();
    let started = tokio::time::Instant::now();
    let client = async {
        let mut call = calls.next().await.unwrap();
        call.over().await;
        assert!(call.is_over());
        call.answer(Observation::text_of("too late"))
    };
    let (ended, was_waited_for) = tokio::join!(called(&tool, CallOptions::default()), client);
    let error = ended.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Timeout, Outcome::Unknown)
    );
    assert_eq!(error.message(), "the client gave no answer within 700s");
    assert!(!was_waited_for);
    // Longer than timeouts.idle and timeouts.total: a client may ask a person.
    assert_eq!(started.elapsed().as_secs(), 700);
}

#[tokio::test(start_paused = true)]
async fn the_callers_own_timeout_holds() {
    let (tool, calls) = asking();
    let options = || CallOptions::default().with_timeout(Duration::from_secs(5));
    let error = called(&tool, options()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome(), error.phase()),
        (ErrorKind::Timeout, Outcome::NotSent, Phase::Send)
    );
    let client = async {
        let mut call = calls.next().await.unwrap();
        call.over().await;
    };
    let (ended, ()) = tokio::join!(called(&tool, options()), client);
    let error = ended.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome(), error.phase()),
        (ErrorKind::Timeout, Outcome::Unknown, Phase::Call)
    );
}

#[tokio::test]
async fn a_call_that_the_client_drops_is_a_failure_that_the_model_can_read() {
    let (tool, calls) = asking();
    let client = async { drop(calls.next().await) };
    let (seen, ()) = tokio::join!(answer(&tool, question()), client);
    let seen = seen.unwrap();
    assert!(seen.is_error);
    assert_eq!(
        seen.text(),
        "the client that executes this tool gave no answer"
    );
}

#[tokio::test]
async fn a_cancelled_call_is_over_for_its_client_or_never_reaches_it() {
    let (tool, calls) = asking();
    let cancel = CancellationToken::new();
    let options = || CallOptions::default().with_cancel(cancel.clone());
    let client = async {
        let mut call = calls.next().await.unwrap();
        cancel.cancel();
        call.over().await;
    };
    let (ended, ()) = tokio::join!(called(&tool, options()), client);
    let error = ended.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::Unknown)
    );
    let error = called(&tool, options()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Cancelled, Outcome::NotSent)
    );
    assert!(calls.try_next().is_none());
}

#[tokio::test]
async fn without_a_client_a_call_fails_at_once() {
    let (tool, calls) = asking();
    let ends = async {
        tokio::task::yield_now().await;
        drop(calls);
    };
    let (waiting, ()) = tokio::join!(answer(&tool, question()), ends);
    for ended in [waiting, answer(&tool, question()).await] {
        let error = ended.unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Closed, Outcome::NotSent)
        );
    }
}

#[tokio::test]
async fn more_calls_than_may_wait_are_turned_away() {
    let (tool, calls) = asking();
    let mut waiting: Vec<_> = (0..256)
        .map(|_| Box::pin(answer(&tool, question())))
        .collect();
    for call in &mut waiting {
        assert!(call.now_or_never().is_none());
    }
    let error = answer(&tool, question()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Overloaded, Outcome::NotSent)
    );
    // Those whose caller went away make room when the client looks for its next call.
    drop(waiting);
    assert!(calls.try_next().is_none());
    assert!(answer(&tool, question()).now_or_never().is_none());
}

#[tokio::test]
async fn closing_all_tools_or_the_whole_ends_the_client_and_what_waits_for_it() {
    let (tools, calls) = ClientTools::new();
    let first = tools.declare(spec()).unwrap();
    let other = ClientToolSpec::new("other", "", json!({"type": "object"}));
    let second = tools.declare(other).unwrap();
    first.executor.close().await;
    first.executor.close().await;
    let error = answer(&first, question()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    // The other one still has a client.
    let client = async {
        calls
            .next()
            .await
            .unwrap()
            .answer(Observation::text_of("here"))
    };
    let (seen, _) = tokio::join!(answer(&second, json!({})), client);
    assert_eq!(seen.unwrap().text(), "here");
    let closes = async {
        let call = calls.next().await.unwrap();
        second.executor.close().await;
        assert!(calls.next().await.is_none());
        call
    };
    let (ended, _call) = tokio::join!(answer(&second, json!({})), closes);
    let error = ended.unwrap_err();
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );

    let (tools, calls) = ClientTools::new();
    tools.declare(spec()).unwrap();
    tools.close();
    assert!(calls.next().await.is_none() && calls.try_next().is_none());
}

#[tokio::test]
async fn several_threads_may_take_calls_and_a_wait_that_is_given_up_loses_none() {
    let (tool, calls) = asking();
    assert!(calls.next().now_or_never().is_none());
    let client = || async {
        calls
            .next()
            .await
            .unwrap()
            .answer(Observation::text_of("ok"))
    };
    let (first, second, ..) = tokio::join!(
        answer(&tool, question()),
        answer(&tool, question()),
        client(),
        client()
    );
    assert!(first.is_ok() && second.is_ok());
}
