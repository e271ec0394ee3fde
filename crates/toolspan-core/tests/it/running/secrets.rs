//! How do secrets come into calls, and what keeps them out of everything that is shown?

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolspan_core::execute::{
    InterceptedCall, Interceptor, Next, Progress, SecretAccess, Secrets, intercepted,
};
use toolspan_core::guard::{Limits, Secret};
use toolspan_core::{
    BoxFuture, CallOptions, Error, ErrorKind, Observation, Phase, RegisteredTool, Result,
    ToolExecutor,
};

use super::house::{House, nothing, worker};
use crate::support::{definition, tool_of};

const TOKEN: &str = "hunter2-hunter2";

/// What a tool or an interceptor saw, in order.
type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, what: &str) {
    let mut log = log.lock().expect("no test panics with it");
    log.push(what.to_owned());
}

fn source(values: &[(&str, &str)]) -> Arc<Secrets> {
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
    Arc::new(Secrets::new(values.collect::<HashMap<_, _>>()))
}

/// A house whose toolbox may have `TOKEN` and `SHORT`, in arguments too where that is said.
fn house(in_arguments: bool) -> House {
    let secrets = source(&[("TOKEN", TOKEN), ("SHORT", "x"), ("OTHER", "other-secret")]);
    let access = SecretAccess::new(&secrets, ["TOKEN", "SHORT", "MISSING"]);
    let access = match in_arguments {
        true => access.in_arguments(),
        false => access,
    };
    House::with_secrets(2, Some(Arc::new(access)))
}

/// A tool that takes texts and notes what it was given.
fn noting() -> (RegisteredTool, Log) {
    let given = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&given);
    let tool = worker("note", nothing, move |call, _| {
        note(&notes, call.arguments_text());
        assert_eq!(
            call.arguments_text(),
            Value::from(call.arguments().clone()).to_string()
        );
        Box::pin(async { Ok(Observation::text_of("noted")) })
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "key": {"type": "string", "maxLength": 20},
            "script": {"type": "string"},
            "headers": {"type": "array", "items": {"type": "string"}},
        },
    });
    (tool_of(definition("note", schema), tool.executor), given)
}

async fn sent(house: &House, arguments: Value) -> Result<String> {
    let (tool, given) = noting();
    house.call(&tool, arguments, CallOptions::default()).await?;
    let given = given.lock().expect("no test panics with it").concat();
    Ok(given)
}

#[tokio::test]
async fn a_whole_reference_becomes_the_secret_where_the_toolbox_may_have_it() {
    let arguments = json!({"key": {"$secret": "TOKEN"}, "headers": ["a", {"$secret": "SHORT"}]});
    let given = sent(&house(true), arguments).await.unwrap();
    assert_eq!(given, r#"{"key":"hunter2-hunter2","headers":["a","x"]}"#);
}

#[tokio::test]
async fn no_text_is_ever_rewritten_whatever_it_looks_like() {
    let script = "export A=${TOKEN:-y} B=$TOKEN C={\"$secret\": \"TOKEN\"} D=${secret:TOKEN}";
    for in_arguments in [true, false] {
        let given = sent(&house(in_arguments), json!({"script": script})).await;
        assert_eq!(given.unwrap(), json!({"script": script}).to_string());
    }
}

#[tokio::test]
async fn references_stay_as_they_are_unless_the_toolbox_wants_them_replaced() {
    let open = worker("open", nothing, |call, _| {
        Box::pin(async { Ok(Observation::text_of(call.arguments_text())) })
    });
    let arguments = json!({"key": {"$secret": "TOKEN"}});
    let seen = house(false)
        .call(&open, arguments.clone(), CallOptions::default())
        .await;
    assert_eq!(seen.unwrap().text(), arguments.to_string());
    // A text is wanted here, and an object is none.
    let error = sent(&house(false), arguments).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn an_object_that_is_more_than_a_reference_is_none() {
    let open = worker("open", nothing, |call, _| {
        Box::pin(async { Ok(Observation::text_of(call.arguments_text())) })
    });
    for other in [
        json!({"$secret": "TOKEN", "and": 1}),
        json!({"$secret": 5}),
        json!({"$secret": {"name": "TOKEN"}}),
    ] {
        let arguments = json!({"key": other});
        let seen = house(true)
            .call(&open, arguments.clone(), CallOptions::default())
            .await;
        assert_eq!(seen.unwrap().text(), arguments.to_string());
    }
}

#[tokio::test]
async fn a_toolbox_gets_no_secret_that_it_was_not_allowed() {
    let error = sent(&house(true), json!({"key": {"$secret": "OTHER"}}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PolicyDenied);
    assert_eq!(
        error.message(),
        r#"the toolbox may not have the secret "OTHER""#
    );
    let error = sent(&house(true), json!({"key": {"$secret": "MISSING"}}))
        .await
        .unwrap_err();
    assert_eq!(error.message(), r#"there is no secret "MISSING""#);
}

#[tokio::test]
async fn a_tool_asks_for_its_secrets_by_name_and_what_it_tells_of_them_is_hidden() {
    let tells = worker("tells", nothing, |_, context| {
        let (token, other) = (context.secret("TOKEN"), context.secret("OTHER"));
        Box::pin(async move {
            assert_eq!(other.unwrap_err().kind(), ErrorKind::PolicyDenied);
            let token = token?;
            Ok(Observation::structured_of(
                json!({token.reveal(): [token.reveal()]}),
            ))
        })
    });
    let seen = house(false)
        .call(&tells, json!({}), CallOptions::default())
        .await
        .unwrap();
    assert_eq!(seen.structured, Some(json!({"[redacted]": ["[redacted]"]})));
    assert_eq!(seen.text(), r#"{"[redacted]":["[redacted]"]}"#);
    let outside = worker("outside", nothing, |_, context| {
        let asked = context.secret("TOKEN").map(|_| Observation::default());
        Box::pin(async { asked })
    });
    let error = House::of(1)
        .call(&outside, json!({}), CallOptions::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PolicyDenied);
}

#[tokio::test]
async fn what_one_toolbox_was_given_is_hidden_in_the_results_of_every_other() {
    let secrets = source(&[("TOKEN", TOKEN)]);
    let one = SecretAccess::new(&secrets, ["TOKEN"]);
    let other = SecretAccess::new(&secrets, [""; 0]);
    one.secret("TOKEN").unwrap();
    let house = House::with_secrets(2, Some(Arc::new(other)));
    let says = worker("says", nothing, |_, _| {
        Box::pin(async { Ok(Observation::text_of(format!("it was {TOKEN}"))) })
    });
    let seen = house.call(&says, json!({}), CallOptions::default()).await;
    assert_eq!(seen.unwrap().text(), "it was [redacted]");
}

#[tokio::test]
async fn an_error_holds_no_secret_in_any_of_its_texts() {
    let fails = worker("fails", nothing, |_, context| {
        let token = context.secret("TOKEN");
        Box::pin(async move {
            let token = token?.reveal().to_owned();
            Err(
                Error::new(ErrorKind::RemoteError, Phase::Call, format!("bad {token}"))
                    .with_hint(format!("not {token}"))
                    .with_stderr(token.clone())
                    .with_suggestions(vec![token]),
            )
        })
    });
    let error = house(false)
        .call(&fails, json!({}), CallOptions::default())
        .await
        .unwrap_err();
    assert_eq!(error.message(), "bad [redacted]");
    let told = format!(
        "{error:?} {error} {} {:?} {:?}",
        error.to_json(),
        error.stderr(),
        error.suggestions()
    );
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn a_panic_of_a_tool_tells_no_secret() {
    let panics = worker("panics", nothing, |_, context| {
        let token = context.secret("TOKEN").unwrap();
        Box::pin(async move { panic!("cannot use {}", token.reveal()) })
    });
    let error = house(false)
        .call(&panics, json!({}), CallOptions::default())
        .await
        .unwrap_err();
    assert_eq!(error.message(), "the tool panicked: cannot use [redacted]");
}

#[tokio::test]
async fn everyone_but_the_executor_sees_references() {
    let house = house(true);
    let (tool, given) = noting();
    let call = house
        .checked(&tool, json!({"key": {"$secret": "TOKEN"}}))
        .unwrap();
    let shown = format!("{call:?} {} {}", call.summary(), call.arguments_text());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(call.arguments_text(), r#"{"key":{"$secret":"TOKEN"}}"#);
    assert_eq!(
        Value::from(call.arguments().clone()),
        json!({"key": {"$secret": "TOKEN"}})
    );
    house
        .run(&tool, &call, &house.context(CallOptions::default()))
        .await
        .unwrap();
    assert_eq!(*given.lock().unwrap(), [r#"{"key":"hunter2-hunter2"}"#]);
}

/// A tool that prints the call it is given, as a log would.
struct Printing(Log);

impl ToolExecutor for Printing {
    fn call<'a>(
        &'a self,
        call: &'a toolspan_core::ValidCall,
        context: &'a toolspan_core::Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        note(&self.0, &format!("{call:?} {} {context:?}", call.summary()));
        Box::pin(async { Ok(Observation::default()) })
    }
}

#[tokio::test]
async fn not_even_the_executors_own_log_shows_what_was_put_in_place() {
    let printed = Log::default();
    let schema = json!({"type": "object"});
    let tool = tool_of(
        definition("print", schema),
        Arc::new(Printing(Arc::clone(&printed))),
    );
    let arguments = json!({"a": {"$secret": "TOKEN"}, "b": {"$secret": "SHORT"}});
    house(true)
        .call(&tool, arguments, CallOptions::default())
        .await
        .unwrap();
    let shown = r#"print(a: {"$secret":"TOKEN"}, b: {"$secret":"SHORT"})"#;
    assert!(
        printed.lock().unwrap().concat().contains(shown),
        "{printed:?}"
    );
    assert!(!printed.lock().unwrap().concat().contains("hunter2"));
}

#[tokio::test]
async fn arguments_that_break_the_schema_with_the_secret_in_place_do_not_tell_it() {
    let secrets = source(&[("LONG", "a-secret-that-is-too-long"), ("SHORT", "x")]);
    let access = SecretAccess::new(&secrets, ["LONG", "SHORT"]).in_arguments();
    let house = House::with_secrets(2, Some(Arc::new(access)));
    let error = sent(&house, json!({"key": {"$secret": "LONG"}}))
        .await
        .unwrap_err();
    assert_eq!(
        error.message(),
        r#"the arguments do not match the tool's schema: "/key": expected at most 20 characters"#
    );
    let told = format!("{error:?} {:?} {:?}", error.violations(), error.hint());
    assert!(!told.contains("too-long"), "{told}");
    let error = sent(&house, json!({"headers": {"$secret": "SHORT"}}))
        .await
        .unwrap_err();
    let told = format!("{error} {:?}", error.violations());
    assert!(!told.contains("\"x\""), "{told}");
}

struct Watching(Log);

impl Interceptor for Watching {
    fn name(&self) -> &str {
        "watching"
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let again = json!({"key": {"$secret": "TOKEN"}, "script": "added"});
            let call = call.with_arguments(again)?;
            note(&self.0, &format!("{call:?}"));
            let seen = next.run(call).await?;
            note(&self.0, &seen.text());
            Ok(seen)
        })
    }
}

#[tokio::test]
async fn interceptors_see_and_give_references_and_see_no_secret_in_results() {
    let (house, limits, log) = (
        house(true),
        Limits::default(),
        Arc::new(Mutex::new(Vec::new())),
    );
    let tool = worker("echo", nothing, |call, _| {
        Box::pin(async { Ok(Observation::text_of(call.arguments_text())) })
    });
    let context = house.context(CallOptions::default());
    let call = house
        .checked(&tool, json!({"key": {"$secret": "TOKEN"}}))
        .unwrap();
    let call = InterceptedCall::new(&tool, call, &context, &limits);
    let watching: [Arc<dyn Interceptor>; 1] = [Arc::new(Watching(Arc::clone(&log)))];
    let end = |call: InterceptedCall<'_>| {
        let (house, tool, context) = (&house, &tool, &context);
        let call = call.into_call();
        async move { house.run(tool, &call, context).await }
    };
    let seen = intercepted(&watching, call, end).await.unwrap();
    assert_eq!(seen.text(), r#"{"key":"[redacted]","script":"added"}"#);
    let log = log.lock().unwrap().join("\n");
    assert!(!log.contains("hunter2") && log.contains("$secret"), "{log}");
}

/// An interceptor that asks for the secret of the toolbox and does this with it.
struct Telling(fn(String) -> Result<Observation>);

impl Interceptor for Telling {
    fn name(&self) -> &str {
        "telling"
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        _: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let token = call.context().secret("TOKEN")?;
            (self.0)(token.reveal().to_owned())
        })
    }
}

#[tokio::test]
async fn what_an_interceptor_tells_of_a_secret_is_hidden_too() {
    let (house, limits) = (house(false), Limits::default());
    let (tool, _) = noting();
    let answers = |token| Ok(Observation::text_of(token));
    let refuses = |token| Err(Error::new(ErrorKind::PolicyDenied, Phase::Decide, token));
    let panics = |token: String| panic!("{token}");
    for (tells, told) in [
        (answers as fn(String) -> _, "[redacted]"),
        (refuses, "[redacted]"),
        (panics, "the interceptor telling panicked: [redacted]"),
    ] {
        let context = house.context(CallOptions::default());
        let call = house.checked(&tool, json!({})).unwrap();
        let call = InterceptedCall::new(&tool, call, &context, &limits);
        let telling: [Arc<dyn Interceptor>; 1] = [Arc::new(Telling(tells))];
        let end = |_: InterceptedCall<'_>| async { Ok(Observation::default()) };
        let ended = intercepted(&telling, call, end).await;
        let ended = ended
            .map(|seen| seen.text())
            .unwrap_or_else(|error| error.message().to_owned());
        assert_eq!(ended, told);
    }
}

#[tokio::test]
async fn progress_tells_no_secret() {
    let reports = worker("reports", nothing, |_, context| {
        let token = context.secret("TOKEN").unwrap();
        let message = format!("signed in with {}", token.reveal());
        context.report(Progress::new(1.0, None).with_message(message));
        Box::pin(async { Ok(Observation::default()) })
    });
    let log = Log::default();
    let heard = Arc::clone(&log);
    let options = CallOptions::default().with_progress(move |progress| {
        note(&heard, &progress.message.unwrap_or_default());
    });
    house(false)
        .call(&reports, json!({}), options)
        .await
        .unwrap();
    assert_eq!(*log.lock().unwrap(), ["signed in with [redacted]"]);
}

#[tokio::test]
async fn a_secret_of_one_letter_destroys_no_text() {
    let house = house(false);
    let says = worker("says", nothing, |_, context| {
        let short = context.secret("SHORT");
        Box::pin(async move { short.map(|_| Observation::text_of("an extra box of xylophones")) })
    });
    let seen = house.call(&says, json!({}), CallOptions::default()).await;
    assert_eq!(seen.unwrap().text(), "an extra box of xylophones");
}

#[test]
fn of_a_secret_that_begins_like_another_nothing_is_left() {
    let secrets = source(&[
        ("A", "abcd-1234"),
        ("B", "abcd-1234-and-more"),
        ("C", "more-5678"),
    ]);
    let access = SecretAccess::new(&secrets, ["A", "B", "C"]);
    for name in ["A", "B", "C"] {
        access.secret(name).unwrap();
    }
    let text = "<abcd-1234-and-more> <abcd-1234> <abcd-1234-and-more-5678>";
    assert_eq!(
        access.redactor().redact(text),
        "<[redacted]> <[redacted]> <[redacted]>"
    );
}

#[test]
fn what_is_remembered_is_bounded_and_a_value_that_changed_is_hidden_in_both_forms() {
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let secrets = Arc::new(Secrets::new(move |name: &str| {
        let turn = counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Secret::new(format!("{name}-value-{turn:04}")))
    }));
    let access = SecretAccess::new(&secrets, ["KEY"]);
    for _ in 0..300 {
        access.secret("KEY").unwrap();
    }
    let redactor = access.redactor();
    for turn in [298, 299] {
        assert_eq!(
            redactor.redact(&format!("KEY-value-{turn:04}")),
            "[redacted]"
        );
    }
    assert_eq!(redactor.redact("KEY-value-0000"), "KEY-value-0000");
    assert_eq!(
        format!("{secrets:?} {access:?}"),
        "Secrets(…) SecretAccess { secrets: Secrets(…), allowed: {\"KEY\"}, in_arguments: false }"
    );
}

proptest! {
    /// Whatever the arguments are, without a whole reference in them they are sent as they came.
    #[test]
    fn arguments_without_a_reference_are_sent_as_they_came(
        texts in proptest::collection::vec("[$a-zA-Z{}:\"\\-_ ]{0,24}", 0..4),
        keys in proptest::collection::vec("[$secrta]{1,7}", 0..4),
    ) {
        prop_assume!(!keys.iter().any(|key| key == "$secret"));
        let mut arguments = serde_json::Map::new();
        for (key, text) in keys.into_iter().zip(texts) {
            arguments.insert(key.clone(), json!([text, {key: text}]));
        }
        let (house, arguments) = (house(true), Value::from(arguments));
        let tool = worker("open", nothing, |_, _| Box::pin(async { Ok(Observation::default()) }));
        let call = house.checked(&tool, arguments.clone()).unwrap();
        prop_assert_eq!(Value::from(call.arguments().clone()), arguments);
    }
}
