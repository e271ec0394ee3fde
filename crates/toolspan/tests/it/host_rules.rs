//! Is every call repaired, decided, asked about and looked at on its way through the host?

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolspan::config::{Environment, Resolved};
use toolspan::execute::{InterceptedCall, Interceptor, Next};
use toolspan::guard::Secret;
use toolspan::policy::{Answer, Approver, Level, Question, SecurityRisk, Trust, Verdict};
use toolspan::schema::Schema;
use toolspan::tool::{ClientToolSpec, ClientTools, tool_fn};
use toolspan::toolbox::{Diagnosis, Step, ToolBoxState};
use toolspan::{
    BoxFuture, CallOptions, CancellationToken, Context, Discovery, Error, ErrorKind, Host,
    HostBuilder, Observation, Outcome, Phase, RegisteredTool, Result, ToolBox, ToolDefinition,
    ToolExecutor, ToolFailure, ToolboxTool, ValidCall,
};
use toolspan_testkit::{Fault, wait_until_async};

use crate::support::{SOON, config};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
    #[serde(default)]
    count: u32,
}

impl toolspan::Action for Text {}

/// A tool of this name that counts its calls, with nothing said of what it does.
fn counted(name: &str, calls: &Arc<AtomicUsize>) -> HostBuilder {
    let calls = Arc::clone(calls);
    let tool = tool_fn(name, "Says it again", move |text: Text| {
        calls.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, ToolFailure>(format!("{} {}", text.text, text.count)) }
    });
    Host::builder().tool(tool)
}

/// Answers every question so, and keeps them.
struct Answers(Answer, Mutex<Vec<Question>>);

impl Answers {
    fn new(answer: Answer) -> Arc<Self> {
        Arc::new(Self(answer, Mutex::default()))
    }

    fn asked(&self) -> Vec<Question> {
        self.1.lock().unwrap().clone()
    }
}

impl Approver for Answers {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.1.lock().unwrap().push(question.clone());
        Box::pin(std::future::ready(self.0.clone()))
    }
}

/// Never answers.
struct Silent;

impl Approver for Silent {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_denied_tool_never_runs_and_the_rule_is_named_in_error_and_observation() {
    let calls = Arc::new(AtomicUsize::new(0));
    let host = counted("drop_table", &calls)
        .config_value(json!({"policy": {"deny": ["drop_*"]}}))
        .approver(Answers::new(Answer::Once))
        .connect()
        .await
        .unwrap();
    let error = host
        .call("drop_table", json!({"text": "a"}))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.phase(), error.outcome()),
        (ErrorKind::PolicyDenied, Phase::Decide, Outcome::NotSent)
    );
    assert_eq!(error.tool(), Some("drop_table"));
    let seen = host
        .run(&json!({"name": "drop_table", "input": {"text": "a"}}))
        .await;
    let decision = seen.decision.as_ref().unwrap();
    assert!(
        seen.is_error && decision.rule.contains("drop_*"),
        "{decision:?}"
    );
    assert_eq!(
        (decision.level, decision.verdict),
        (Level::Refuse, Verdict::Refuse)
    );
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    host.close().await;
}

#[tokio::test]
async fn without_an_approver_a_risky_call_is_refused_and_with_one_it_is_asked_once_for_the_session()
{
    let calls = Arc::new(AtomicUsize::new(0));
    let policy = json!({"policy": {"confirm": "risky", "confirm_unknown": false}});
    let alone = counted("change", &calls)
        .config_value(policy.clone())
        .connect()
        .await
        .unwrap();
    let error = alone
        .call("change", json!({"text": "a"}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ApprovalRequired);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    alone.close().await;

    let answers = Answers::new(Answer::Session);
    let asked = counted("change", &calls)
        .config_value(policy)
        .approver(Arc::clone(&answers) as _)
        .connect()
        .await
        .unwrap();
    for _ in 0..3 {
        let seen = asked.call("change", json!({"text": "a"})).await.unwrap();
        assert_eq!(
            seen.decision.unwrap().approved_by.as_deref(),
            Some("session")
        );
    }
    assert_eq!(answers.asked().len(), 1);
    assert_eq!(asked.approvals().list().len(), 1);
    asked.approvals().clear();
    asked.call("change", json!({"text": "a"})).await.unwrap();
    assert_eq!(
        (answers.asked().len(), calls.load(Ordering::SeqCst)),
        (2, 4)
    );
    asked.close().await;
}

#[tokio::test]
async fn a_person_sees_the_arguments_that_are_sent_and_where_the_tool_comes_from() {
    let answers = Answers::new(Answer::Refuse("not today".to_owned()));
    let mut written = config([("box", Fault::honest(), json!({}))]);
    written["policy"] = json!({"confirm": "always"});
    let host = Host::builder()
        .config_value(written)
        .approver(Arc::clone(&answers) as _)
        .connect()
        .await
        .unwrap();
    let error = host
        .call("box__echo", json!({"text": "a"}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PolicyDenied);
    assert!(error.message().contains("not today"), "{error}");
    let [question] = &answers.asked()[..] else {
        panic!("one question")
    };
    assert_eq!(question.arguments, r#"{"text":"a"}"#);
    assert!(
        question.origin.as_ref().unwrap().contains("faults"),
        "{question:?}"
    );
    host.close().await;
}

/// Moves a file, and shows that as its author likes.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Move {
    from: String,
}

impl toolspan::Action for Move {
    fn visualize(&self) -> Option<toolspan::Styled> {
        Some(format!("moves {}\nwhy: it is harmless", self.from).into())
    }
}

#[tokio::test]
async fn a_person_sees_what_the_author_of_a_tool_shows_of_the_call_and_no_line_of_it_as_our_own() {
    let answers = Answers::new(Answer::Once);
    let host = Host::builder()
        .config_value(json!({"policy": {"confirm": "always"}}))
        .approver(Arc::clone(&answers) as _)
        .tool(tool_fn("move", "Moves", |_: Move| async {
            Ok::<_, ToolFailure>("moved".to_owned())
        }))
        .connect()
        .await
        .unwrap();
    host.call("move", json!({"from": "a\u{1b}[2J"}))
        .await
        .unwrap();
    let text = answers.asked()[0].text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.contains(&"shown as: moves a"), "{text}");
    assert!(lines.contains(&"          why: it is harmless"), "{text}");
    let whys = lines.iter().filter(|line| line.starts_with("why: "));
    assert_eq!(whys.count(), 1, "{text}");
    host.close().await;
}

#[tokio::test]
async fn a_hidden_argument_is_in_no_schema_no_error_and_no_question() {
    let shaped = json!({"tools": {"shape": {"echo": {"hidden": {"text": "hunter2-hunter2"}}}}});
    let mut written = config([("box", Fault::honest(), shaped)]);
    written["policy"] = json!({"confirm": "always"});
    let answers = Answers::new(Answer::Refuse("no".to_owned()));
    let host = Host::builder()
        .config_value(written)
        .approver(Arc::clone(&answers) as _)
        .connect()
        .await
        .unwrap();
    let tool = host.find("box__echo").await.unwrap();
    let refused = host.call("box__echo", json!({})).await.unwrap_err();
    let wrong = host
        .call("box__echo", json!({"text": 5}))
        .await
        .unwrap_err();
    let told = host
        .run(&json!({"name": "box__echo", "arguments": {"text": "a"}}))
        .await;
    let seen = format!(
        "{:?} {} {refused:?} {wrong:?} {:?} {:?} {}",
        host.snapshot(),
        tool.definition.input.raw(),
        told,
        answers.asked(),
        answers.asked()[0].text(),
    );
    assert!(!seen.contains("hunter2"), "{seen}");
    host.close().await;
}

#[tokio::test]
async fn the_trust_of_a_toolbox_is_the_one_of_its_entry_and_the_users_hints_win() {
    let mut written = config([
        ("known", Fault::honest(), json!({"trust": "annotations"})),
        ("strange", Fault::honest(), json!({})),
    ]);
    written["policy"] = json!({"annotations": {"strange.echo": {"readOnlyHint": true}}});
    let host = Host::builder()
        .config_value(written)
        .connect()
        .await
        .unwrap();
    let policy = host.policy();
    assert_eq!(policy.trust_of("known"), Trust::Annotations);
    assert_eq!(policy.trust_of("strange"), Trust::Untrusted);
    let reads = |tool: &RegisteredTool| host.effective_annotations(tool).is_read_only();
    assert!(reads(&host.find("strange__echo").await.unwrap()));
    assert!(!reads(&host.find("known__echo").await.unwrap()));
    host.close().await;
}

#[tokio::test]
async fn a_call_that_waits_for_an_answer_ends_with_its_caller_and_with_the_host() {
    let calls = Arc::new(AtomicUsize::new(0));
    let host = counted("change", &calls)
        .config_value(json!({"policy": {"confirm": "always"}}))
        .approver(Arc::new(Silent))
        .connect()
        .await
        .unwrap();
    let options = CallOptions::default().with_timeout(std::time::Duration::from_millis(20));
    let late = host
        .call_with("change", json!({"text": "a"}), options)
        .await
        .unwrap_err();
    assert_eq!(
        (late.kind(), late.phase()),
        (ErrorKind::Timeout, Phase::Decide)
    );
    let cancel = CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let (ended, ()) = tokio::join!(
        host.call_with("change", json!({"text": "a"}), options),
        async { cancel.cancel() }
    );
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
    let waiting = host.call("change", json!({"text": "a"}));
    let (ended, ()) = tokio::join!(tokio::time::timeout(SOON, waiting), host.close());
    assert_eq!(ended.unwrap().unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_the_model_says_of_the_risk_is_taken_out_and_counts() {
    let calls = Arc::new(AtomicUsize::new(0));
    let answers = Answers::new(Answer::Once);
    let host = counted("change", &calls)
        .config_value(json!({"policy": {"confirm": "risky", "mode": "trusted",
            "annotations": {"change": {"readOnlyHint": false, "destructiveHint": false}}}}))
        .approver(Arc::clone(&answers) as _)
        .connect()
        .await
        .unwrap();
    let model =
        |risk: &str| json!({"name": "change", "arguments": {"security_risk": risk, "text": "a"}});
    let low = host.run(&model("LOW")).await;
    assert_eq!(
        (low.text().as_str(), low.decision.unwrap().risk),
        ("a 0", SecurityRisk::Low)
    );
    assert_eq!(answers.asked().len(), 0);
    let high = host.run(&model("HIGH")).await;
    assert_eq!(high.decision.unwrap().risk, SecurityRisk::High);
    assert_eq!(answers.asked().len(), 1);
    host.close().await;
}

#[tokio::test]
async fn a_changed_config_changes_the_rules_of_a_running_host() {
    let calls = Arc::new(AtomicUsize::new(0));
    let host = counted("change", &calls).connect().await.unwrap();
    host.call("change", json!({"text": "a"})).await.unwrap();
    let denied = json!({"policy": {"deny": ["change"]}, "repair": false});
    let denied = Resolved::from_value(&denied, &Environment::capture()).unwrap();
    host.reload(denied).await.unwrap();
    let error = host.call("change", json!({"text": "a"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PolicyDenied);
    let error = host
        .call("change", json!({"text": "a", "count": "5"}))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    host.close().await;
}

#[tokio::test]
async fn arguments_are_repaired_at_every_door_and_the_result_says_so() {
    let calls = Arc::new(AtomicUsize::new(0));
    let host = counted("change", &calls).connect().await.unwrap();
    let odd = json!({"text": "a", "count": "5"});
    let seen = host.call("change", odd.clone()).await.unwrap();
    assert_eq!((seen.text().as_str(), seen.repairs.len()), ("a 5", 1));
    let seen = host
        .run(&json!({"name": "change", "arguments": odd.to_string()}))
        .await;
    assert_eq!((seen.text().as_str(), seen.repairs.len()), ("a 5", 1));
    let seen = host.call("change", json!({"text": "5"})).await.unwrap();
    assert!(seen.repairs.is_empty());
    host.close().await;
    let strict = counted("change", &calls)
        .repair(false)
        .connect()
        .await
        .unwrap();
    let error = strict.call("change", odd).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    strict.close().await;
}

/// Writes down what it sees, and changes the text.
struct Upper(Arc<Mutex<Vec<Value>>>);

impl Interceptor for Upper {
    fn name(&self) -> &str {
        "upper"
    }

    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let mut arguments = call.arguments().clone();
            self.0.lock().unwrap().push(arguments.clone().into());
            arguments.insert("text".to_owned(), "CHANGED".into());
            next.run(call.with_arguments(arguments.into())?).await
        })
    }
}

#[tokio::test]
async fn what_an_interceptor_made_of_a_call_is_what_is_asked_about_and_sent() {
    let (calls, seen) = (Arc::new(AtomicUsize::new(0)), Arc::default());
    let answers = Answers::new(Answer::Once);
    let host = counted("change", &calls)
        .config_value(json!({"policy": {"confirm": "always"}}))
        .approver(Arc::clone(&answers) as _)
        .interceptor(Upper(Arc::clone(&seen)))
        .connect()
        .await
        .unwrap();
    let model = json!({"name": "change", "arguments": {"text": "a", "security_risk": "HIGH"}});
    let result = host.run(&model).await;
    assert_eq!(result.text(), "CHANGED 0");
    assert_eq!(*seen.lock().unwrap(), [json!({"text": "a"})]);
    let [question] = &answers.asked()[..] else {
        panic!("one question")
    };
    assert!(question.arguments.contains("CHANGED"), "{question:?}");
    assert_eq!(question.risk, SecurityRisk::High, "the model's word holds");
    host.close().await;
}

#[tokio::test]
async fn a_batch_ends_with_finish_by_whichever_of_its_names_and_also_when_all_before_failed() {
    let calls = Arc::new(AtomicUsize::new(0));
    let finish = tool_fn("finish", "Ends the work", |_: Text| async {
        Ok::<_, ToolFailure>("done".to_owned())
    });
    let host = counted("say", &calls).tool(finish).connect().await.unwrap();
    let call = |name: &str| json!({"name": name, "arguments": {"text": "a"}});
    for name in ["finish", "native.finish", "finish</parameter"] {
        let bad = json!({"name": "say", "arguments": "{"});
        let batch = [call("nobody"), bad, call(name), call("say"), call(name)];
        let ended = host.run_batch(&batch).await;
        let texts: Vec<String> = ended.iter().map(Observation::text).collect();
        assert_eq!(texts[2], "done", "{name}: {texts:?}");
        let failed: Vec<bool> = ended.iter().map(|seen| seen.is_error).collect();
        assert_eq!(failed, [true, true, false, true, true], "{name}: {texts:?}");
        assert!(texts[3].contains("not run"), "{name}: {texts:?}");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    host.close().await;
}

#[tokio::test]
async fn a_cancelled_batch_ends_its_calls_to_servers_to_native_tools_and_to_the_client() {
    let (tools, client) = ClientTools::new();
    let ask = ClientToolSpec::new("ask_user", "Asks", json!({"type": "object"}));
    let (dropped, ended) = tokio::sync::oneshot::channel::<()>();
    let dropped = Mutex::new(Some(dropped));
    let wait = tool_fn("wait", "Waits", move |_: Text| {
        let held = dropped.lock().unwrap().take();
        async move {
            let _held = held;
            std::future::pending::<Result<String, ToolFailure>>().await
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("frames");
    let silent = Fault::named("never_answer_call").recording(&record);
    let host = Host::builder()
        .config_value(config([("box", silent, json!({}))]))
        .tool(wait)
        .made_tool(tools.declare(ask).unwrap())
        .connect()
        .await
        .unwrap();
    let cancel = CancellationToken::new();
    let options = CallOptions::default().with_cancel(cancel.clone());
    let call = |name: &str| json!({"name": name, "arguments": {"text": "a"}});
    let batch = [call("box__echo"), call("wait"), call("ask_user")];
    let frames = || std::fs::read_to_string(&record).unwrap_or_default();
    let (seen, taken) = tokio::join!(host.run_batch_with(&batch, options), async {
        let taken = client.next().await.unwrap();
        wait_until_async(SOON, "the call is sent", || frames().contains("tools/call")).await;
        cancel.cancel();
        taken
    });
    for seen in seen {
        let text = seen.text();
        assert!(seen.is_error && text.contains("cancelled"), "{text}");
        assert!(text.contains("not known whether the tool ran"), "{text}");
    }
    assert!(taken.is_over() && !taken.answer(Observation::text_of("late")));
    assert!(ended.await.is_err(), "the native call was dropped");
    let is_told = || frames().contains("notifications/cancelled");
    wait_until_async(SOON, "the server is told", is_told).await;
    assert_eq!(host.in_flight(), 0);
    host.close().await;
}

#[tokio::test]
async fn a_batch_keeps_the_order_drops_what_comes_after_finish_and_spares_the_others_a_failure() {
    let calls = Arc::new(AtomicUsize::new(0));
    let finish = tool_fn("finish", "Ends the work", |_: Text| async {
        Ok::<_, ToolFailure>("done".to_owned())
    });
    let host = counted("say", &calls)
        .tool(finish)
        .concurrency(2)
        .connect()
        .await
        .unwrap();
    let call = |name: &str, text: &str| json!({"name": name, "arguments": {"text": text}});
    let ended = host
        .run_batch(&[
            call("say", "a"),
            json!({"no": "name"}),
            call("unknown_tool", "b"),
            call("say", "c"),
            call("finish", "d"),
            call("say", "e"),
        ])
        .await;
    let texts: Vec<String> = ended.iter().map(Observation::text).collect();
    assert_eq!(
        (texts[0].as_str(), texts[3].as_str(), texts[4].as_str()),
        ("a 0", "c 0", "done")
    );
    let failed: Vec<bool> = ended.iter().map(|seen| seen.is_error).collect();
    assert_eq!(failed, [false, true, true, false, false, true]);
    assert!(texts[5].contains("not run"), "{}", texts[5]);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    host.close().await;
}

#[tokio::test]
async fn what_one_of_several_configs_denies_stays_denied_whatever_another_one_says() {
    let denying = json!({"policy": {"deny": ["change"]}});
    let allowing = json!({"policy": {"allow": ["*"], "mode": "trusted"}});
    for (one, other) in [(&denying, &allowing), (&allowing, &denying)] {
        let calls = Arc::new(AtomicUsize::new(0));
        let host = counted("change", &calls)
            .config_value(one.clone())
            .config_value(other.clone())
            .config_value(json!({"repair": true}))
            .connect()
            .await
            .unwrap();
        let error = host.call("change", json!({"text": "a"})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PolicyDenied);
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        host.close().await;
    }
}

#[tokio::test]
async fn a_denied_tool_is_refused_by_every_name_it_can_be_called_by() {
    for denied in ["execute_bash", "terminal", "native.terminal", "term*"] {
        let calls = Arc::new(AtomicUsize::new(0));
        let host = counted("terminal", &calls)
            .config_value(json!({"policy": {"deny": [denied]}}))
            .connect()
            .await
            .unwrap();
        for called in ["execute_bash", "terminal", "native.terminal"] {
            let error = host.call(called, json!({"text": "a"})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PolicyDenied, "{denied}, {called}");
        }
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        host.close().await;
    }
    let shaped = json!({"tools": {"shape": {"echo": {"name": "parrot"}}}});
    for denied in ["echo", "parrot", "box.echo", "box.parrot", "box__parrot"] {
        let mut written = config([("box", Fault::honest(), shaped.clone())]);
        written["policy"] = json!({"deny": [denied]});
        let host = Host::builder()
            .config_value(written)
            .connect()
            .await
            .unwrap();
        for called in ["echo", "parrot", "box.echo", "box.parrot", "box__parrot"] {
            let error = host.call(called, json!({"text": "a"})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PolicyDenied, "{denied}, {called}");
        }
        host.close().await;
    }
}

/// Counts how many calls of it run at once, and lets none end before so many have met.
struct Meeting {
    meets: usize,
    inside: AtomicUsize,
    most: Arc<AtomicUsize>,
    met: tokio::sync::Notify,
}

impl toolspan::Tool for Meeting {
    type Action = Text;
    type Observation = String;

    fn name(&self) -> String {
        "meet".to_owned()
    }

    fn description(&self) -> &str {
        "Waits for others"
    }

    fn resources(&self, _: &ValidCall) -> toolspan::execute::Resources {
        toolspan::execute::Resources::none()
    }

    async fn call(&self, _: Text, _: &Context) -> Result<String, ToolFailure> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        if inside >= self.meets {
            self.met.notify_one();
        }
        self.met.notified().await;
        self.inside.fetch_sub(1, Ordering::SeqCst);
        // The next one of the batch may begin only now.
        self.met.notify_one();
        Ok("met".to_owned())
    }
}

#[tokio::test]
async fn a_batch_runs_as_many_calls_at_once_as_the_config_says_and_the_program_wins() {
    for (own, expected) in [(None, 3), (Some(2), 2)] {
        let most = Arc::new(AtomicUsize::new(0));
        let mut builder = Host::builder()
            .config_value(json!({"limits": {"concurrency": 3}}))
            .tool(Meeting {
                meets: expected,
                inside: AtomicUsize::new(0),
                most: Arc::clone(&most),
                met: tokio::sync::Notify::new(),
            });
        if let Some(own) = own {
            builder = builder.concurrency(own);
        }
        let host = builder.connect().await.unwrap();
        let call = json!({"name": "meet", "arguments": {"text": ""}});
        let calls = vec![call; 6];
        let ended = tokio::time::timeout(SOON, host.run_batch(&calls)).await;
        assert!(ended.unwrap().iter().all(|seen| seen.text() == "met"));
        assert_eq!(most.load(Ordering::SeqCst), expected);
        host.close().await;
    }
}

#[tokio::test]
async fn a_secret_reaches_its_own_toolbox_alone_and_no_result_shows_it() {
    let source = |name: &str| (name == "TOKEN").then(|| Secret::new("very-secret-value"));
    let servers = config([
        ("own", Fault::honest(), json!({})),
        ("other", Fault::honest(), json!({})),
    ]);
    let host = Host::builder()
        .config_value(servers)
        .secrets(source)
        .allow_secrets("own", ["TOKEN"])
        .secrets_in_arguments("own")
        .secrets_in_arguments("other")
        .connect()
        .await
        .unwrap();
    let arguments = json!({"text": {"$secret": "TOKEN"}});
    let seen = host.call("own__echo", arguments.clone()).await.unwrap();
    assert!(
        !seen.text().contains("very-secret") && !seen.text().is_empty(),
        "{}",
        seen.text()
    );
    let error = host.call("other__echo", arguments).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PolicyDenied);
    assert_eq!(error.toolbox(), Some("other"));
    let seen = host
        .call("other__echo", json!({"text": "very-secret-value"}))
        .await
        .unwrap();
    assert!(!seen.text().contains("very-secret"), "{}", seen.text());
    host.close().await;
}

/// A toolbox that is given a secret in a call and says it wherever it can.
#[derive(Default)]
struct Talking(Arc<Mutex<String>>);

impl ToolExecutor for Talking {
    fn call<'a>(
        &'a self,
        _: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async {
            let token = context.secret("TOKEN")?;
            token.reveal().clone_into(&mut self.0.lock().unwrap());
            Ok(Observation::text_of("signed in"))
        })
    }
}

impl Talking {
    fn said(&self) -> String {
        format!("said: {}", self.0.lock().unwrap())
    }

    fn fault(&self) -> Error {
        let error = Error::new(ErrorKind::Connect, Phase::Connect, self.said());
        error.with_stderr(self.said())
    }
}

impl ToolBox for Talking {
    fn kind(&self) -> &str {
        "talking"
    }

    fn discover(&self) -> BoxFuture<'_, Result<Discovery>> {
        let input = Schema::for_arguments(json!({"type": "object"})).unwrap();
        let definition = ToolDefinition::new("sign_in", "", Arc::new(input));
        let tool = ToolboxTool::new(Arc::new(definition), Arc::new(Self(Arc::clone(&self.0))));
        let mut discovery = Discovery::default();
        discovery.tools = vec![tool];
        let is_quiet = self.0.lock().unwrap().is_empty();
        let discovered = is_quiet.then_some(discovery).ok_or_else(|| self.fault());
        Box::pin(std::future::ready(discovered))
    }

    fn state(&self) -> ToolBoxState {
        let is_quiet = self.0.lock().unwrap().is_empty();
        match is_quiet {
            true => ToolBoxState::Ready,
            false => ToolBoxState::Failed(self.fault()),
        }
    }

    fn diagnosis(&self) -> Diagnosis {
        let mut diagnosis = Diagnosis::default();
        diagnosis.stderr = self.said();
        diagnosis.notes = vec![self.said()];
        let steps = [Ok(self.said()), Err(self.fault())];
        let steps = steps.map(|result| Step::new(self.said(), Duration::ZERO, result));
        diagnosis.steps = steps.into();
        diagnosis
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn what_a_toolbox_says_outside_of_calls_shows_no_secret_either() {
    let host = Host::builder()
        .toolbox("box", Arc::new(Talking::default()))
        .secrets(|_: &str| Some(Secret::new("very-secret-value")))
        .allow_secrets("box", ["TOKEN"])
        .connect()
        .await
        .unwrap();
    host.call("box__sign_in", Value::Null).await.unwrap();
    let listing = host.refresh().await;
    let diagnosis = host.diagnose("box").await.unwrap();
    let unknown = host.call("box__sign_out", Value::Null).await.unwrap_err();
    let told = format!(
        "{listing:?} {unknown:?} {:?} {diagnosis:?} {:?}",
        unknown.stderr(),
        host.status()
    );
    assert!(told.contains("said: [redacted]"), "{told}");
    assert!(!told.contains("very-secret"), "{told}");
    host.close().await;
}

#[tokio::test]
async fn a_tool_is_for_a_model_what_the_config_makes_of_it_and_its_server_gets_its_own() {
    let shape = json!({"tools": {"shape": {
        "echo": {"name": "say", "description": "Says hello", "hidden": {"text": "hello"}},
        "ecco": {"name": "other"},
    }}});
    let written = config([("box", Fault::honest(), shape)]);
    let host = Host::builder()
        .config_value(written)
        .connect()
        .await
        .unwrap();
    let tool = host.find("box__say").await.unwrap();
    assert_eq!(tool.definition.description, "Says hello");
    let schema = tool.definition.input.raw();
    assert!(schema["properties"].get("text").is_none(), "{schema}");
    let seen = host.call("box__say", json!({})).await.unwrap();
    assert_eq!(seen.text(), "hello");
    let broken = host.status().swap_remove(0).broken;
    let [missing] = &broken[..] else {
        panic!("{broken:?}")
    };
    assert!(
        missing.name == "ecco" && missing.reason.contains("echo"),
        "{missing:?}"
    );
    host.close().await;
}
