//! Who is asked, what is shown, and what is remembered of the answer?

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolspan_core::guard::Limits;
use toolspan_core::policy::{
    Answer, Approvals, Approver, Confirm, Decision, Facts, Policy, Question, Refused, Trust,
    definition_hash,
};
use toolspan_core::{
    BoxFuture, CallRequest, ErrorKind, Phase, RegisteredTool, ToolAnnotations, ValidCall,
};

use crate::support;

/// Answers all with the same, and keeps what it was asked.
struct Always {
    answer: Answer,
    asked: Mutex<Vec<Question>>,
}

impl Always {
    fn new(answer: Answer) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> usize {
        self.asked.lock().expect("not poisoned").len()
    }
}

impl Approver for Always {
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.asked
            .lock()
            .expect("not poisoned")
            .push(question.clone());
        Box::pin(async {
            tokio::task::yield_now().await;
            self.answer.clone()
        })
    }
}

/// A tool of level 2 under [`risky`], or of level 3 without hints.
fn tool(description: &str, milder: bool) -> RegisteredTool {
    let mut definition = support::definition("work", json!({"type": "object"}));
    definition.description = description.to_owned();
    if milder {
        let mut hints = ToolAnnotations::default();
        hints.destructive_hint = Some(false);
        definition.annotations = Some(hints);
    }
    support::tool_of(definition, support::echo("x").executor)
}

fn call(tool: &RegisteredTool, arguments: Value) -> ValidCall {
    let request = CallRequest::new(&*tool.name, arguments);
    request
        .validate(tool, &Limits::default())
        .expect("the schema takes any object")
}

fn risky() -> Policy {
    Policy::new(Confirm::risky()).with_trust("box", Trust::Annotations)
}

async fn admit(
    tool: &RegisteredTool,
    approver: Option<&dyn Approver>,
    approvals: &Approvals,
) -> Result<Decision, Refused> {
    let call = call(tool, json!({"n": 1}));
    let facts = Facts::of(tool, &call).with_model_risk(Some("LOW"));
    risky().admit(&facts, approver, approvals).await
}

#[tokio::test]
async fn a_session_answer_holds_for_level_two_and_this_definition_alone() {
    let (approver, approvals) = (Always::new(Answer::Session), Approvals::new());
    for expected in ["session", "session"] {
        let decision = admit(&tool("a", true), Some(&approver), &approvals)
            .await
            .unwrap();
        assert_eq!(decision.approved_by.as_deref(), Some(expected));
    }
    assert_eq!(approver.asked(), 1);
    // A remembered answer needs nobody to ask.
    admit(&tool("a", true), None, &approvals).await.unwrap();
    admit(&tool("a, changed", true), Some(&approver), &approvals)
        .await
        .unwrap();
    assert_eq!(approver.asked(), 2);
    assert_eq!(approvals.list().len(), 2);
    approvals.revoke("box__work");
    assert!(approvals.list().is_empty());
    admit(&tool("a", true), Some(&approver), &approvals)
        .await
        .unwrap();
    assert_eq!(approver.asked(), 3);
    approvals.clear();
    assert!(approvals.list().is_empty());
}

#[tokio::test]
async fn level_three_is_asked_each_time_with_the_exact_arguments() {
    let (approver, approvals) = (Always::new(Answer::Session), Approvals::new());
    let tool = tool("a", false);
    for _ in 0..2 {
        let decision = admit(&tool, Some(&approver), &approvals).await.unwrap();
        assert_eq!(decision.approved_by.as_deref(), Some("once"));
    }
    assert_eq!(approver.asked(), 2);
    assert!(approvals.list().is_empty());
    let question = approver.asked.lock().unwrap()[0].clone();
    assert!(!question.may_remember());
    assert_eq!(
        question.arguments,
        call(&tool, json!({"n": 1})).arguments_text()
    );
}

#[tokio::test]
async fn an_approved_tool_is_asked_about_again_when_a_call_is_risky() {
    let (approver, approvals) = (Always::new(Answer::Session), Approvals::new());
    let tool = tool("a", true);
    admit(&tool, Some(&approver), &approvals).await.unwrap();
    let call = call(&tool, json!({}));
    let facts = Facts::of(&tool, &call).with_model_risk(Some("HIGH"));
    let decision = risky()
        .admit(&facts, Some(&approver), &approvals)
        .await
        .unwrap();
    assert_eq!(
        (decision.approved_by.as_deref(), approver.asked()),
        (Some("once"), 2)
    );
}

#[tokio::test]
async fn once_is_asked_again() {
    let (approver, approvals) = (Always::new(Answer::Once), Approvals::new());
    for _ in 0..2 {
        admit(&tool("a", true), Some(&approver), &approvals)
            .await
            .unwrap();
    }
    assert_eq!(approver.asked(), 2);
}

#[tokio::test]
async fn without_an_approver_the_call_is_refused_as_approval_required() {
    let refused = admit(&tool("a", true), None, &Approvals::new())
        .await
        .unwrap_err();
    assert_eq!(refused.error.kind(), ErrorKind::ApprovalRequired);
    assert_eq!(refused.error.phase(), Phase::Decide);
    assert_eq!(refused.error.tool(), Some("box__work"));
    assert_eq!(refused.error.toolbox(), Some("box"));
    assert!(refused.error.hint().unwrap().contains("approver"));
    assert_eq!(refused.decision.level.number(), 2);
}

#[tokio::test]
async fn deny_and_level_four_are_refused_as_policy_denied_and_nobody_is_asked() {
    let (approver, approvals) = (Always::new(Answer::Once), Approvals::new());
    let tool = tool("a", true);
    let write = call(&tool, json!({"path": "~/.ssh/config"}));
    let refused = risky()
        .admit(&Facts::of(&tool, &write), Some(&approver), &approvals)
        .await;
    let error = refused.unwrap_err().error;
    assert_eq!(error.kind(), ErrorKind::PolicyDenied);
    assert!(error.message().contains("the folder .ssh"), "{error}");
    let deny = risky().with_deny(["box__*".parse().unwrap()]);
    let plain = call(&tool, json!({}));
    let refused = deny
        .admit(&Facts::of(&tool, &plain), Some(&approver), &approvals)
        .await;
    assert_eq!(refused.unwrap_err().error.kind(), ErrorKind::PolicyDenied);
    assert_eq!(approver.asked(), 0);
}

#[tokio::test]
async fn a_no_reaches_the_caller_with_its_reason_made_harmless() {
    let approver = Always::new(Answer::Refuse("not on\u{1b}[2J a\nFriday".into()));
    let refused = admit(&tool("a", true), Some(&approver), &Approvals::new())
        .await
        .unwrap_err();
    assert_eq!(refused.error.kind(), ErrorKind::PolicyDenied);
    assert_eq!(
        refused.error.message(),
        "the user refused the call: not on a Friday"
    );
}

/// Never answers.
struct Silent;

impl Approver for Silent {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::pending())
    }
}

/// Panics, before or in its future.
struct Broken {
    at_once: bool,
}

impl Approver for Broken {
    fn approve<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        assert!(!self.at_once, "on purpose");
        Box::pin(async {
            assert!(self.at_once, "on purpose");
            Answer::Once
        })
    }
}

#[tokio::test(start_paused = true)]
async fn silence_ends_at_the_policys_limit() {
    let tool = tool("a", true);
    let call = call(&tool, json!({}));
    let policy = risky().with_approval_wait(Duration::from_secs(7));
    let facts = Facts::of(&tool, &call);
    let refused = policy
        .admit(&facts, Some(&Silent), &Approvals::new())
        .await
        .unwrap_err();
    assert_eq!(refused.error.kind(), ErrorKind::ApprovalRequired);
    assert!(refused.error.message().contains("7 s"), "{}", refused.error);
}

#[tokio::test]
async fn an_approver_that_panics_approves_nothing_and_blocks_nobody() {
    let approvals = Approvals::new();
    for at_once in [true, false] {
        let refused = admit(&tool("a", true), Some(&Broken { at_once }), &approvals).await;
        assert_eq!(
            refused.unwrap_err().error.kind(),
            ErrorKind::ApprovalRequired
        );
    }
    let approver = Always::new(Answer::Once);
    admit(&tool("a", true), Some(&approver), &approvals)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_calls_at_once_are_one_question() {
    let approver = std::sync::Arc::new(Always::new(Answer::Session));
    let approvals = std::sync::Arc::new(Approvals::new());
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (approver, approvals) = (approver.clone(), approvals.clone());
            tokio::spawn(async move {
                admit(&tool("a", true), Some(&*approver), &approvals)
                    .await
                    .unwrap();
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!((approver.asked(), approvals.list().len()), (1, 1));
}

#[tokio::test]
async fn each_call_of_a_batch_is_decided_for_itself() {
    let (approver, approvals) = (Always::new(Answer::Refuse(String::new())), Approvals::new());
    let policy = risky();
    let ran = AtomicUsize::new(0);
    for (hints, word) in [(true, "HIGH"), (false, "LOW")] {
        let mut definition = support::definition("work", json!({"type": "object"}));
        let mut annotations = ToolAnnotations::read_only();
        annotations.read_only_hint = Some(!hints);
        definition.annotations = Some(annotations);
        let tool = support::tool_of(definition, support::echo("x").executor);
        let call = call(&tool, json!({}));
        let facts = Facts::of(&tool, &call).with_model_risk(Some(word));
        let admitted = policy.admit(&facts, Some(&approver), &approvals).await;
        ran.fetch_add(usize::from(admitted.is_ok()), Ordering::Relaxed);
    }
    assert_eq!((ran.into_inner(), approver.asked()), (1, 1));
}

#[tokio::test]
async fn the_memory_of_approvals_is_bounded_and_forgets_the_oldest() {
    let (approver, approvals) = (Always::new(Answer::Session), Approvals::new());
    for number in 0..1_030 {
        let tool = tool(&number.to_string(), true);
        admit(&tool, Some(&approver), &approvals).await.unwrap();
    }
    assert_eq!(approvals.list().len(), 1_024);
    admit(&tool("0", true), Some(&approver), &approvals)
        .await
        .unwrap();
    assert_eq!(approver.asked(), 1_031);
}

#[test]
fn a_hash_is_of_all_that_the_tool_says_and_not_of_the_order_of_members() {
    let hash = |schema: Value, change: fn(&mut toolspan_core::ToolDefinition), origin| {
        let mut definition = support::definition("work", schema);
        change(&mut definition);
        let tool = support::tool_of(definition, support::echo("x").executor);
        let call = call(&tool, json!({}));
        definition_hash(&Facts::of(&tool, &call).with_origin(origin))
    };
    let plain = || json!({"type": "object", "properties": {"a": {}, "b": {}}});
    let base = hash(plain(), |_| (), None);
    assert_eq!(base.len(), 64);
    assert_eq!(
        base,
        hash(
            json!({"properties": {"b": {}, "a": {}}, "type": "object"}),
            |_| (),
            None
        )
    );
    for other in [
        hash(json!({"type": "object"}), |_| (), None),
        hash(plain(), |definition| definition.description.push('.'), None),
        hash(
            plain(),
            |definition| definition.title = Some("T".into()),
            None,
        ),
        hash(
            plain(),
            |definition| definition.annotations = Some(ToolAnnotations::read_only()),
            None,
        ),
        hash(
            plain(),
            |definition| {
                definition.extra.insert("_meta".into(), json!(1));
            },
            None,
        ),
        hash(plain(), |_| (), Some("mcp/stdio: other")),
    ] {
        assert_ne!(base, other);
    }
}

#[tokio::test]
async fn a_question_shows_people_all_of_it_and_nothing_that_steers() {
    let approver = Always::new(Answer::Once);
    let tool = tool("a", false);
    let call = call(
        &tool,
        json!({"path": "a\u{202e}b\u{1b}[2J", "list": [1, 2]}),
    );
    let facts = Facts::of(&tool, &call).with_origin(Some("mcp/stdio: uvx \u{1b}[31mserver\n"));
    risky()
        .admit(&facts, Some(&approver), &Approvals::new())
        .await
        .unwrap();
    let question = approver.asked.lock().unwrap().pop().unwrap();
    assert_eq!(question.arguments, call.arguments_text());
    assert_eq!(
        question.text(),
        "tool: box__work\n\
         from: work of toolbox box, mcp/stdio: uvx server\n\
         arguments: {\"path\":\"a\\u202eb\\u001b[2J\",\"list\":[1,2]}\n\
         why: nothing that is believed is said of what the tool does; unknown risk (level 3, risk unknown)"
    );
}
