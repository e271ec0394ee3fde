//! Do calls keep their promises through the host: limits, many at once, many in a row?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolspan::guard::Secret;
use toolspan::tool::tool_fn;
use toolspan::{CallOptions, ErrorKind, Host, Outcome, Phase, ToolFailure};
use toolspan_testkit::{Barrier, Census, Fault, History, kill};

use crate::support::{SOON, one, shown};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl toolspan::Action for Nothing {}

#[tokio::test]
async fn ten_thousand_calls_leave_no_trace() {
    let before = Census::take();
    let host = one(Fault::null_server()).connect().await.unwrap();
    let call = |host: Host| async move {
        host.call("box__echo", json!({"text": "x"})).await.unwrap();
    };
    for _ in 0..2_000 {
        call(host.clone()).await;
    }
    let warm = Census::take();
    for _ in 0..10_000 {
        call(host.clone()).await;
    }
    warm.assert_memory_grew_at_most(4 << 20);
    assert_eq!(Census::take().descriptors(), warm.descriptors());
    assert_eq!(Census::take().threads(), warm.threads());
    assert_eq!(host.in_flight(), 0);
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(tasks <= 4, "{tasks} tasks are alive");
    host.close().await;
    before.assert_nothing_left_async().await;
}

#[tokio::test]
async fn a_thousand_calls_at_once_each_get_their_own_answer() {
    let history = History::new();
    let host = one(Fault::honest()).connect().await.unwrap();
    // 256 in flight and 256 waiting by default: the rest would be turned away.
    let calls = (0..500).map(|_| {
        let number = history.invoke();
        let (host, history) = (&host, &history);
        async move {
            let answer = host
                .call("box__echo", json!({"text": number.nonce()}))
                .await;
            history.outcome(number, answer.map(|seen| seen.text()));
        }
    });
    join_all(calls).await;
    assert_eq!(history.assert_sound().replies, 500);
    host.close().await;
}

#[tokio::test]
async fn one_call_too_many_is_turned_away_and_the_others_are_not() {
    let config = json!({"mcpServers": {"box": Fault::named("never_answer_call").config_entry()},
                        "limits": {"max_in_flight": 2, "queue": 1}});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    let cancel = CancellationToken::new();
    let call = || {
        let options = CallOptions::default().with_cancel(cancel.clone());
        host.call_with("box__echo", json!({"text": "x"}), options)
    };
    let last = async {
        let error = call().await.unwrap_err();
        cancel.cancel();
        error
    };
    let (a, b, c, error) = tokio::join!(biased; call(), call(), call(), last);
    assert_eq!(
        (error.kind(), error.outcome()),
        (ErrorKind::Overloaded, Outcome::NotSent)
    );
    let kinds = [a, b, c].map(|ended| ended.unwrap_err().outcome());
    assert_eq!(
        kinds,
        [Outcome::Unknown, Outcome::Unknown, Outcome::NotSent]
    );
    host.close().await;
}

#[tokio::test]
async fn a_killed_server_fails_the_waiting_call_at_once_and_serves_the_next() {
    let barrier = Barrier::new();
    let steps = [
        json!("handshake"),
        json!({"expect": "tools/call"}),
        barrier.hold_step(),
    ];
    let fault = Fault::script(steps);
    let host = one(fault).connect().await.unwrap();
    let server = toolspan_testkit::children_of(std::process::id())
        .into_iter()
        .find(|process| process.name.starts_with("toolspan-faul"))
        .unwrap();
    let waiting = host.call("box__echo", json!({"text": "x"}));
    let killed = async {
        tokio::task::spawn_blocking(move || barrier.await_reached(SOON))
            .await
            .unwrap();
        kill(server.pid);
        Instant::now()
    };
    let (ended, killed) = tokio::join!(waiting, killed);
    assert!(
        killed.elapsed() < Duration::from_millis(100),
        "{:?}",
        killed.elapsed()
    );
    insta::assert_snapshot!(shown(&ended.unwrap_err()));
    host.close().await;
}

#[tokio::test]
async fn a_callers_timeout_also_bounds_the_start_of_the_server() {
    let host = one(Fault::named("never_answer_initialize"))
        .start()
        .unwrap();
    let options = CallOptions::default().with_timeout(Duration::from_millis(300));
    let error = host
        .call_with("box__echo", json!({"text": "x"}), options)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Timeout, Phase::Connect)
    );
    assert_eq!(error.outcome(), Outcome::NotSent);
    host.close().await;
}

#[tokio::test]
async fn a_models_call_always_ends_as_something_it_can_read() {
    let host = one(Fault::named("kill_self_on_call"))
        .tool(tool_fn("sorry", "Fails", |_: Nothing| async {
            Err::<String, _>(ToolFailure::new("not today"))
        }))
        .tool(tool_fn("bomb", "Panics", |_: Nothing| async {
            if true {
                panic!("boom");
            }
            Ok::<String, ToolFailure>(String::new())
        }))
        .connect()
        .await
        .unwrap();
    let mut answers = Vec::new();
    for call in [
        json!({"function": {"name": "sorry", "arguments": "{}"}}),
        json!({"function": {"name": "bomb", "arguments": ""}}),
        json!({"function": {"name": "box__echo", "arguments": "{\"text\": \"x\"}"}}),
        json!({"function": {"name": "box__echo", "arguments": "[1]"}}),
        json!({"function": {"name": "box__ecco", "arguments": "{}"}}),
        json!({"function": {"name": "box__echo", "arguments": "{"}}),
        json!([]),
    ] {
        let seen = host.run(&call).await;
        assert!(seen.is_error);
        answers.push(seen.text());
    }
    insta::assert_snapshot!(answers.join("\n---\n"));
    host.close().await;
}

#[tokio::test]
async fn progress_reaches_the_caller_before_the_answer() {
    let host = one(Fault::named("progress_then_reply"))
        .connect()
        .await
        .unwrap();
    let reports = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reports);
    let options = CallOptions::default().with_progress(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    host.call_with("box__echo", json!({"text": "x"}), options)
        .await
        .unwrap();
    let reports = reports.load(Ordering::Relaxed);
    assert!((1..=3).contains(&reports), "{reports} reports");
    host.close().await;
}

#[tokio::test]
async fn a_closed_host_refuses_calls_and_closes_again_in_peace() {
    let host = one(Fault::honest()).connect().await.unwrap();
    host.close().await;
    host.close().await;
    for name in ["box__echo", "box__other", "other"] {
        let error = host.call(name, json!({})).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Closed, Outcome::NotSent),
            "{name}"
        );
    }
    assert_eq!(host.status()[0].state.as_str(), "closed");
}

#[tokio::test]
async fn a_model_is_given_what_the_config_allows_and_the_observation_keeps_the_whole() {
    let config = json!({"mcpServers": {"box": Fault::honest().config_entry()},
                        "limits": {"output_chars": 100}});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    let long = "0123456789".repeat(100);
    let seen = host.call("box__echo", json!({"text": long})).await.unwrap();
    assert_eq!(seen.text().len(), 1_000);
    let parts = host.to_llm_content(&seen);
    let [toolspan::observation::LlmContent::Text(text)] = parts.as_slice() else {
        panic!("one text: {parts:?}")
    };
    assert!(text.contains(" of 1000 characters left out"), "{text}");
    assert!(text.chars().count() <= 100, "{text}");
    host.close().await;
}

#[tokio::test]
async fn a_toolbox_may_have_a_bound_of_its_own_for_what_a_model_is_given() {
    let entry = Fault::honest().config_entry();
    let mut own = entry.clone();
    own["limits"] = json!({"output_chars": 200});
    let config = json!({"mcpServers": {"own": own, "other": entry},
                        "limits": {"output_chars": 100}});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    let long = "0123456789".repeat(100);
    for (name, own, most) in [("own", Some(200), 200), ("other", None, 100)] {
        let model_call = json!({"name": format!("{name}__echo"), "arguments": {"text": long}});
        let seen = host.run(&model_call).await;
        assert_eq!((seen.text().len(), seen.output_chars), (1_000, own));
        let parts = host.to_llm_content(&seen);
        let [toolspan::observation::LlmContent::Text(text)] = parts.as_slice() else {
            panic!("one text: {parts:?}")
        };
        assert!(text.contains(" of 1000 characters left out"), "{text}");
        assert!((most - 2..=most).contains(&text.chars().count()), "{text}");
    }
    host.close().await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Said {
    text: String,
    #[serde(default)]
    count: u32,
}

impl toolspan::Action for Said {}

fn saying() -> toolspan::HostBuilder {
    let say = |said: Said| async move {
        Ok::<_, ToolFailure>(format!("{} {}", said.text.len(), said.count))
    };
    Host::builder().tool(tool_fn("say", "Says how long it is", say))
}

#[tokio::test]
async fn a_model_may_send_what_the_limits_of_the_host_allow_and_no_more() {
    let of_model = |length: usize| {
        let arguments = json!({"text": "x".repeat(length)}).to_string();
        json!({"name": "say", "arguments": arguments})
    };
    for (limit, length, expected) in [
        (2_000_000, 1_500_000, "1500000 0"),
        (100, 80, "80 0"),
        (100, 120, "limits.arguments_bytes (100)"),
    ] {
        let written = json!({"limits": {"arguments_bytes": limit}});
        let host = saying().config_value(written).connect().await.unwrap();
        let seen = host.run(&of_model(length)).await;
        assert!(seen.text().contains(expected), "{}", seen.text());
        let seen = host.run_batch(&[of_model(length)]).await;
        assert!(seen[0].text().contains(expected), "{}", seen[0].text());
        host.close().await;
    }
}

#[tokio::test]
async fn arguments_that_are_refused_are_told_without_the_secrets_that_were_given_out() {
    let host = saying()
        .secrets(|_: &str| Some(Secret::new("very-secret-value")))
        .allow_secrets("native", ["TOKEN"])
        .secrets_in_arguments("native")
        .connect()
        .await
        .unwrap();
    let given = json!({"text": {"$secret": "TOKEN"}});
    assert_eq!(host.call("say", given).await.unwrap().text(), "17 0");
    let wrong = json!({"text": "x", "count": "is very-secret-value"});
    let error = host.call("say", wrong.clone()).await.unwrap_err();
    let seen = host.run(&json!({"name": "say", "arguments": wrong})).await;
    let told = format!("{error} {} {}", error.to_json(), seen.text());
    assert!(told.contains("is [redacted]"), "{told}");
    assert!(!told.contains("very-secret"), "{told}");
    host.close().await;
}
