//! Which level has a call, and what does the policy make of it?

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolspan_core::guard::Limits;
use toolspan_core::policy::{
    Analyzer, BuiltIn, Confirm, Decision, Ensemble, Facts, Glob, KnownRisk, Level, Mode, ModelWord,
    Patterns, Policy, SecurityRisk, Trust, Verdict, effective,
};
use toolspan_core::{CallRequest, RegisteredTool, ToolAnnotations, ValidCall};

use crate::support;

/// The tool `box__work` with these hints.
fn tool(annotations: Option<ToolAnnotations>) -> RegisteredTool {
    let mut definition = support::definition("work", json!({"type": "object"}));
    definition.annotations = annotations;
    support::tool_of(definition, support::echo("x").executor)
}

fn call(tool: &RegisteredTool, arguments: Value) -> ValidCall {
    let request = CallRequest::new(&*tool.name, arguments);
    request
        .validate(tool, &Limits::default())
        .expect("the schema takes any object")
}

fn hints(
    read_only: Option<bool>,
    destructive: Option<bool>,
    open: Option<bool>,
) -> ToolAnnotations {
    let mut annotations = ToolAnnotations::default();
    annotations.read_only_hint = read_only;
    annotations.destructive_hint = destructive;
    annotations.open_world_hint = open;
    annotations
}

/// The decision on a call without arguments, with this word of the model.
fn decided(policy: &Policy, annotations: Option<ToolAnnotations>, word: Option<&str>) -> Decision {
    let tool = tool(annotations);
    let call = call(&tool, json!({}));
    policy.decide(&Facts::of(&tool, &call).with_model_risk(word))
}

/// A policy that asks risky calls of a source so trusted.
fn risky(trust: Trust) -> Policy {
    Policy::new(Confirm::risky()).with_trust("box", trust)
}

fn glob(pattern: &str) -> Glob {
    Glob::new(pattern).expect("the tests' patterns are usable")
}

#[test]
fn the_table_of_hints_and_sources_holds() {
    let (yes, no) = (Some(true), Some(false));
    let rows = [
        (Some(hints(yes, None, no)), 0, 1),
        (Some(hints(yes, yes, no)), 0, 1),
        (Some(hints(yes, None, yes)), 1, 2),
        (Some(hints(yes, None, None)), 1, 2),
        (Some(hints(no, no, yes)), 1, 2),
        (Some(hints(None, no, no)), 1, 2),
        (Some(hints(no, yes, no)), 2, 3),
        (Some(hints(no, None, no)), 2, 3),
        (Some(hints(None, None, no)), 2, 3),
        (Some(hints(None, None, None)), 2, 3),
        (None, 2, 3),
    ];
    for (annotations, trusted, believed) in rows {
        let level = |trust| {
            let policy = risky(trust);
            decided(&policy, annotations.clone(), Some("LOW"))
                .level
                .number()
        };
        assert_eq!(level(Trust::Trusted), trusted, "{annotations:?}");
        assert_eq!(level(Trust::Annotations), believed, "{annotations:?}");
        assert_eq!(level(Trust::Untrusted), 3, "{annotations:?}");
        // What the user says of an untrusted source's tool is believed.
        if let Some(own) = annotations {
            let policy = risky(Trust::Untrusted).with_override(glob("box.work"), own);
            assert_eq!(decided(&policy, None, Some("LOW")).level.number(), believed);
        }
    }
}

#[test]
fn the_rows_of_built_in_tools_hold() {
    let tool = tool(None);
    let call = call(&tool, json!({"command": "make; ls"}));
    let policy = risky(Trust::Trusted);
    for (built_in, expected) in [
        (BuiltIn::Speak, Level::Run),
        (BuiltIn::Look { inside: true }, Level::Run),
        (BuiltIn::Look { inside: false }, Level::AskOnce),
        (BuiltIn::Edit { inside: true }, Level::Log),
        (BuiltIn::Edit { inside: false }, Level::Refuse),
        (BuiltIn::Shell { harmless: false }, Level::AskEach),
        (BuiltIn::Shell { harmless: true }, Level::Log),
        (BuiltIn::Launch, Level::AskEach),
    ] {
        let facts = Facts::of(&tool, &call)
            .with_built_in(built_in)
            .with_model_risk(Some("low"));
        assert_eq!(policy.decide(&facts).level, expected, "{built_in:?}");
    }
    assert!(matches!(
        Policy::default()
            .decide(&Facts::of(&tool, &call).with_built_in(BuiltIn::Edit { inside: false }))
            .verdict,
        Verdict::Refuse
    ));
}

#[test]
fn a_rule_lowers_a_single_known_command_and_no_shell_syntax() {
    let policy = risky(Trust::Trusted).with_commands([glob("cargo check*")]);
    for (command, level) in [
        ("ls -l", Level::Log),
        ("cargo check -p core", Level::Log),
        ("cargo check; ls", Level::AskEach),
        ("cargo build", Level::AskEach),
        ("ls | sh", Level::AskEach),
    ] {
        let tool = tool(None);
        let call = call(&tool, json!({"command": command}));
        let facts = Facts::of(&tool, &call)
            .with_built_in(BuiltIn::Shell { harmless: false })
            .with_model_risk(Some("LOW"));
        assert_eq!(policy.decide(&facts).level, level, "{command}");
    }
}

#[test]
fn untrusted_text_in_the_context_adds_a_level_to_what_acts_or_reaches_out() {
    let (yes, no) = (Some(true), Some(false));
    for (annotations, trust, level) in [
        (hints(yes, None, yes), Trust::Annotations, 3),
        (hints(yes, None, yes), Trust::Trusted, 2),
        (hints(yes, None, no), Trust::Trusted, 0),
        (hints(no, no, no), Trust::Trusted, 2),
        (hints(no, yes, no), Trust::Annotations, 3),
    ] {
        let tool = tool(Some(annotations));
        let call = call(&tool, json!({}));
        let facts = Facts::of(&tool, &call)
            .with_taint(true)
            .with_model_risk(Some("LOW"));
        assert_eq!(risky(trust).decide(&facts).level.number(), level);
    }
}

#[test]
fn modes_shift_one_step() {
    let (yes, no) = (Some(true), Some(false));
    let level = |mode, annotations, word| {
        let policy = risky(Trust::Trusted).with_mode(mode);
        decided(&policy, Some(annotations), Some(word))
            .level
            .number()
    };
    let (reads, changes, destroys) = (hints(yes, None, no), hints(no, no, no), hints(no, yes, no));
    assert_eq!(level(Mode::Strict, reads.clone(), "LOW"), 0);
    assert_eq!(level(Mode::Strict, changes.clone(), "LOW"), 2);
    assert_eq!(level(Mode::Strict, reads, "HIGH"), 2);
    assert_eq!(level(Mode::Default, changes, "LOW"), 1);
    assert_eq!(level(Mode::Trusted, destroys.clone(), "LOW"), 1);
    // Lowered first, raised after: a risk is never lost.
    assert_eq!(level(Mode::Trusted, destroys, "HIGH"), 2);
}

#[test]
fn each_way_to_confirm_asks_from_its_level() {
    let (yes, no) = (Some(true), Some(false));
    let rows = [
        hints(yes, None, no),
        hints(yes, None, yes),
        hints(no, yes, no),
    ];
    let verdicts = |confirm: Confirm| {
        rows.clone().map(|annotations| {
            let policy = Policy::new(confirm).with_trust("box", Trust::Trusted);
            decided(&policy, Some(annotations), Some("LOW")).verdict
        })
    };
    use Verdict::{Ask, Run};
    assert_eq!(verdicts(Confirm::Never), [Run, Run, Run]);
    assert_eq!(verdicts(Confirm::risky()), [Run, Run, Ask]);
    assert_eq!(verdicts(Confirm::Always), [Ask, Ask, Ask]);
}

/// {the model's word, another analyzer, none} x {each value, absent, invalid}.
#[test]
fn the_risk_of_every_analyzer_and_word_of_the_model() {
    use SecurityRisk::{High, Low, Medium, Unknown};
    let words = [
        (Some("LOW"), Low),
        (Some("MEDIUM"), Medium),
        (Some("HIGH"), High),
        (Some("UNKNOWN"), Unknown),
        (None, Unknown),
        (Some("CRITICAL"), Unknown),
        (Some(""), Unknown),
    ];
    let other = |_: &Facts<'_>| Medium;
    for (word, said) in words {
        for (analyzer, expected) in [
            (Some(Arc::new(ModelWord) as Arc<dyn Analyzer>), said),
            (Some(Arc::new(other)), Medium),
            (None, Unknown),
        ] {
            let policy = risky(Trust::Trusted).with_analyzer(analyzer);
            let decision = decided(&policy, Some(hints(None, Some(false), None)), word);
            assert_eq!(decision.risk, expected, "{word:?}");
            // Level 1 of the table; high or unknown adds one and is asked.
            let asks = matches!(expected, High | Unknown);
            assert_eq!(
                decision.verdict == Verdict::Ask,
                asks,
                "{word:?} {decision:?}"
            );
        }
    }
}

#[test]
fn a_word_that_is_no_risk_is_unknown_with_a_note_and_never_an_error() {
    let decision = decided(&risky(Trust::Trusted), None, Some("EXTREME"));
    assert_eq!(decision.risk, SecurityRisk::Unknown);
    let note = decision.note.unwrap();
    assert!(
        note.contains("EXTREME") && note.contains("unknown, low, medium or high"),
        "{note}"
    );
}

#[test]
fn threshold_and_unknown_are_set_apart() {
    let changes = || Some(hints(None, Some(false), None));
    for (threshold, confirm_unknown, word, asks) in [
        (KnownRisk::High, true, Some("MEDIUM"), false),
        (KnownRisk::Medium, true, Some("MEDIUM"), true),
        (KnownRisk::Low, false, Some("LOW"), true),
        (KnownRisk::High, false, None, false),
        (KnownRisk::High, true, None, true),
        (KnownRisk::High, false, Some("HIGH"), true),
    ] {
        let confirm = Confirm::Risky {
            threshold,
            confirm_unknown,
        };
        let policy = Policy::new(confirm).with_trust("box", Trust::Trusted);
        let verdict = decided(&policy, changes(), word).verdict;
        assert_eq!(verdict == Verdict::Ask, asks, "{confirm:?} {word:?}");
    }
}

#[test]
fn a_read_only_call_without_a_risk_does_not_prompt_the_user() {
    let decision = decided(
        &risky(Trust::Trusted),
        Some(ToolAnnotations::read_only()),
        None,
    );
    assert_eq!(
        (decision.risk, decision.verdict),
        (SecurityRisk::Low, Verdict::Run)
    );
    // The pattern still speaks, and the model may still warn.
    let decision = decided(
        &risky(Trust::Annotations),
        Some(ToolAnnotations::read_only()),
        Some("HIGH"),
    );
    assert_eq!(
        (decision.level, decision.verdict),
        (Level::AskOnce, Verdict::Ask)
    );
}

#[test]
fn a_server_cannot_switch_off_risk_prediction_by_calling_itself_read_only() {
    let claimed = ToolAnnotations::read_only();
    let decision = decided(&risky(Trust::Untrusted), Some(claimed.clone()), None);
    assert_eq!(
        (decision.risk, decision.level),
        (SecurityRisk::Unknown, Level::AskEach)
    );
    let tool = tool(Some(claimed));
    let counted = risky(Trust::Untrusted).effective(&tool.name, &tool.toolbox, &tool.definition);
    assert!(!counted.is_read_only() && counted.is_destructive() && counted.is_open_world());
}

#[test]
fn all_four_hints_count() {
    let mut idempotent = ToolAnnotations::default();
    idempotent.idempotent_hint = Some(true);
    let tool = tool(Some(idempotent));
    let repeats = |trust| risky(trust).may_repeat(&tool.name, &tool.toolbox, &tool.definition);
    assert!(repeats(Trust::Trusted) && repeats(Trust::Annotations) && !repeats(Trust::Untrusted));
    // Each of the others alone moves a level; the table's test says which.
    let level = |annotations| decided(&risky(Trust::Trusted), Some(annotations), Some("LOW")).level;
    let (yes, no) = (Some(true), Some(false));
    assert!(level(hints(yes, None, no)) < level(hints(yes, None, yes)));
    assert!(level(hints(no, no, yes)) < level(hints(no, yes, yes)));
    assert!(level(hints(yes, None, yes)) < level(hints(no, None, yes)));
}

#[test]
fn finish_and_think_are_never_asked_about() {
    for name in ["finish", "think"] {
        let snapshot = toolspan_core::Snapshot::new(vec![support::source(
            "native",
            vec![support::echo(name)],
        )]);
        let tool = &snapshot.tools()[0];
        let call = call(tool, json!({}));
        let decision = Policy::new(Confirm::Always).decide(&Facts::of(tool, &call));
        assert_eq!(
            (decision.level, decision.verdict),
            (Level::Run, Verdict::Run)
        );
    }
    // A server's tool of that name is as any other.
    let finish = support::definition("finish", json!({"type": "object"}));
    let tool = support::tool_of(finish, support::echo("x").executor);
    let call = call(&tool, json!({}));
    let decision = Policy::new(Confirm::Always).decide(&Facts::of(&tool, &call));
    assert_eq!(decision.verdict, Verdict::Ask);
}

#[test]
fn deny_wins_over_all_and_names_its_pattern() {
    for pattern in ["box__*", "box.work", "*work"] {
        let policy = Policy::default()
            .with_deny([glob("x"), glob(pattern)])
            .with_allow([glob("*")]);
        assert!(!policy.is_open());
        let decision = decided(&policy, Some(ToolAnnotations::read_only()), Some("LOW"));
        assert_eq!(
            (decision.level, decision.verdict),
            (Level::Refuse, Verdict::Refuse)
        );
        assert!(decision.rule.contains(pattern), "{decision:?}");
    }
    let policy = Policy::default().with_deny([glob("wor"), glob("Box*"), glob("box")]);
    assert_eq!(decided(&policy, None, None).verdict, Verdict::Run);
}

#[test]
fn allow_answers_in_advance_but_not_for_a_known_risk_or_level_four() {
    let policy = risky(Trust::Untrusted).with_allow([glob("box.*")]);
    let decision = decided(&policy, None, None);
    assert_eq!(
        (decision.level, decision.verdict),
        (Level::AskEach, Verdict::Run)
    );
    assert!(decision.approved_by.unwrap().contains("box.*"));
    assert_eq!(decided(&policy, None, Some("HIGH")).verdict, Verdict::Ask);
    let tool = tool(None);
    let call = call(&tool, json!({"path": "~/.ssh/config", "content": ""}));
    assert_eq!(
        policy.decide(&Facts::of(&tool, &call)).verdict,
        Verdict::Refuse
    );
}

#[test]
fn an_open_policy_refuses_level_four_alone() {
    let policy = Policy::default();
    assert!(policy.is_open() && !policy.wants_model_risk());
    assert!(!risky(Trust::Trusted).is_open() && risky(Trust::Trusted).wants_model_risk());
    let decision = decided(&policy, None, Some("HIGH"));
    assert_eq!(
        (decision.verdict, decision.risk),
        (Verdict::Run, SecurityRisk::Unknown)
    );
}

#[test]
fn a_tool_that_is_believed_to_read_is_not_looked_through_for_writes() {
    let tool = tool(Some(ToolAnnotations::read_only()));
    let call = call(&tool, json!({"path": "~/.ssh/config"}));
    let verdict = |trust| risky(trust).decide(&Facts::of(&tool, &call)).verdict;
    assert_eq!(verdict(Trust::Trusted), Verdict::Run);
    assert_eq!(verdict(Trust::Untrusted), Verdict::Refuse);
}

#[test]
fn an_ensemble_says_the_highest_that_is_known() {
    use SecurityRisk::{High, Low, Medium, Unknown};
    let tool = tool(None);
    let call = call(&tool, json!({}));
    let facts = Facts::of(&tool, &call);
    let of = |risks: &[SecurityRisk], propagate: bool| {
        let all = risks.iter().fold(Ensemble::new(), |all, risk| {
            let risk = *risk;
            all.with(move |_: &Facts<'_>| risk)
        });
        let all = if propagate {
            all.propagating_unknown()
        } else {
            all
        };
        all.analyze(&facts)
    };
    assert_eq!(of(&[], false), Unknown);
    assert_eq!(of(&[Unknown, Unknown], false), Unknown);
    assert_eq!(of(&[Low, Unknown, Medium, Low], false), Medium);
    assert_eq!(of(&[Low, Unknown], true), Unknown);
    assert_eq!(of(&[Low, Medium], true), Medium);
    assert_eq!(of(&[High, Unknown], true), High, "nothing is above high");
}

#[test]
fn an_analyzer_that_panics_counts_as_high_and_hurts_nobody() {
    let broken = |_: &Facts<'_>| -> SecurityRisk { panic!("on purpose") };
    for analyzer in [
        Arc::new(broken) as Arc<dyn Analyzer>,
        Arc::new(
            Ensemble::new()
                .with(ModelWord)
                .with(broken)
                .with(Patterns::new()),
        ),
    ] {
        let policy = risky(Trust::Trusted).with_analyzer(Some(analyzer));
        let decision = decided(&policy, Some(hints(None, Some(false), None)), Some("LOW"));
        assert_eq!(
            (decision.risk, decision.level),
            (SecurityRisk::High, Level::AskOnce)
        );
        assert!(decision.rule.contains("an analyzer failed"), "{decision:?}");
    }
}

#[test]
fn a_decision_says_its_rule_and_goes_through_json() {
    let decision = decided(&risky(Trust::Untrusted), None, Some("high"));
    assert_eq!(
        decision.to_json(),
        json!({
            "level": 3,
            "verdict": "ask",
            "rule": "nothing that is believed is said of what the tool does; high risk: the model says so",
            "risk": "high",
        })
    );
    let back: Decision = serde_json::from_value(decision.to_json()).unwrap();
    assert_eq!(back, decision);
}

fn any_hint() -> impl Strategy<Value = Option<bool>> {
    prop_oneof![Just(None), Just(Some(false)), Just(Some(true))]
}

fn any_annotations() -> impl Strategy<Value = Option<ToolAnnotations>> {
    let all = (any_hint(), any_hint(), any_hint(), any_hint()).prop_map(
        |(read, destroy, open, again)| {
            let mut annotations = hints(read, destroy, open);
            annotations.idempotent_hint = again;
            annotations
        },
    );
    proptest::option::of(all)
}

fn any_policy() -> impl Strategy<Value = (Confirm, Mode)> {
    let known = prop_oneof![
        Just(KnownRisk::Low),
        Just(KnownRisk::Medium),
        Just(KnownRisk::High)
    ];
    let risky = (known, any::<bool>()).prop_map(|(threshold, confirm_unknown)| Confirm::Risky {
        threshold,
        confirm_unknown,
    });
    let confirm = prop_oneof![Just(Confirm::Never), Just(Confirm::Always), risky];
    let mode = prop_oneof![Just(Mode::Strict), Just(Mode::Default), Just(Mode::Trusted)];
    (confirm, mode)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn annotations_of_an_untrusted_source_only_raise(
        source in any_annotations(), local in any_annotations(), (confirm, mode) in any_policy(),
    ) {
        let mut policy = Policy::new(confirm).with_mode(mode);
        if let Some(local) = &local {
            policy = policy.with_override(glob("*"), local.clone());
        }
        let (said, silent) = (decided(&policy, source.clone(), None), decided(&policy, None, None));
        prop_assert!(said.level >= silent.level);
        let rank = |verdict| match verdict { Verdict::Run => 0, Verdict::Ask => 1, Verdict::Refuse => 2 };
        prop_assert!(rank(said.verdict) >= rank(silent.verdict));
        let counted = effective(source.as_ref(), Trust::Untrusted, local.as_ref());
        let without = effective(None, Trust::Untrusted, local.as_ref());
        prop_assert!(!counted.is_read_only() || without.is_read_only());
        prop_assert!(counted.is_destructive() || !without.is_destructive());
        prop_assert!(counted.is_open_world() || !without.is_open_world());
        prop_assert!(!counted.is_idempotent() || without.is_idempotent());
    }

    #[test]
    fn a_risk_only_raises(
        source in any_annotations(), trusted in any::<bool>(), (confirm, mode) in any_policy(),
        taint in any::<bool>(),
    ) {
        let trust = if trusted { Trust::Trusted } else { Trust::Annotations };
        let tool = tool(source);
        let call = call(&tool, json!({}));
        let level = |analyzer: Option<SecurityRisk>| {
            let policy = Policy::new(confirm).with_mode(mode).with_trust("box", trust);
            let analyzer = analyzer.map(|risk| Arc::new(move |_: &Facts<'_>| risk) as Arc<dyn Analyzer>);
            policy.with_analyzer(analyzer).decide(&Facts::of(&tool, &call).with_taint(taint)).level
        };
        let low = level(Some(SecurityRisk::Low));
        let medium = level(Some(SecurityRisk::Medium));
        let high = level(Some(SecurityRisk::High));
        prop_assert!(low <= medium && medium <= high && high <= Level::AskEach);
        prop_assert!(level(None) <= high && level(Some(SecurityRisk::Unknown)) == level(None));
    }

    #[test]
    fn what_the_model_says_never_lowers_below_the_table(
        source in any_annotations(), word in proptest::option::of("LOW|MEDIUM|HIGH|UNKNOWN|[a-z]{1,6}"),
    ) {
        let confirm = Confirm::Risky { threshold: KnownRisk::High, confirm_unknown: false };
        let table = decided(
            &Policy::new(confirm).with_trust("box", Trust::Trusted).with_analyzer(None), source.clone(), None,
        );
        let said = decided(&Policy::new(confirm).with_trust("box", Trust::Trusted), source, word.as_deref());
        prop_assert!(said.level >= table.level);
    }
}

#[test]
fn the_level_of_a_tool_is_that_of_a_call_that_says_nothing() {
    let all = [
        None,
        Some(hints(Some(true), None, Some(false))),
        Some(hints(Some(true), None, None)),
        Some(hints(None, Some(false), None)),
        Some(hints(None, Some(true), None)),
    ];
    let denying = Policy::default().with_deny([glob("work")]);
    let mut policies = vec![denying];
    for trust in [Trust::Trusted, Trust::Annotations, Trust::Untrusted] {
        for mode in [Mode::Strict, Mode::Default, Mode::Trusted] {
            let policy = Policy::default();
            policies.push(policy.with_mode(mode).with_trust("box", trust));
        }
    }
    for policy in &policies {
        for annotations in &all {
            let tool = tool(annotations.clone());
            let (level, rule) = policy.level_of(&tool.name, &tool.toolbox, &tool.definition);
            let decision = decided(policy, annotations.clone(), None);
            assert_eq!((level, rule), (decision.level, decision.rule), "{policy:?}");
        }
    }
    let mut finish = tool(None);
    finish.name = "finish".into();
    finish.toolbox = "native".into();
    let policy = Policy::new(Confirm::Always);
    let (level, _) = policy.level_of(&finish.name, &finish.toolbox, &finish.definition);
    assert_eq!(level, Level::Run);
}

#[test]
fn no_spelling_of_a_tools_name_gets_round_a_deny() {
    for pattern in [
        "box__work",
        "box.work",
        "work",
        "w?rk",
        "box__*",
        "*.work",
        "*",
    ] {
        let policy = Policy::new(Confirm::Never)
            .with_deny([glob(pattern)])
            .with_allow([glob("*")]);
        let decision = decided(&policy, Some(ToolAnnotations::read_only()), None);
        assert_eq!(decision.verdict, Verdict::Refuse, "{pattern}");
    }
    let other = Policy::default().with_deny([glob("wor"), glob("other.work"), glob("Work")]);
    assert_eq!(decided(&other, None, None).verdict, Verdict::Run);
}
