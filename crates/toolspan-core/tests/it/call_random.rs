//! Is any answer of a model, to any schema, either valid in the end or refused, and never changed
//! where it was valid?

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use toolspan_core::call::repair::repair;
use toolspan_core::guard::Limits;
use toolspan_core::schema::Schema;
use toolspan_core::{CallRequest, Injection, Preparing, RegisteredTool};

use crate::support;

/// The input schemas of the recorded tools, each as the tool of a snapshot.
fn recorded() -> Vec<RegisteredTool> {
    let folder =
        std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/toollists");
    let mut tools = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let list: Value = serde_json::from_str(&text).expect("JSON");
        for tool in list.get("tools").and_then(Value::as_array).expect("tools") {
            let input = tool.get("inputSchema").expect("a schema").clone();
            let definition = support::definition("work", input);
            tools.push(support::tool_of(definition, support::echo("x").executor));
        }
    }
    assert_eq!(tools.len(), 478);
    tools
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..100).prop_map(|number| json!(number)),
        (-2.0..2.0).prop_map(|number: f64| json!(number)),
        prop::sample::select(
            &[
                "",
                "5",
                "-1.5",
                "true",
                "False",
                "null",
                "[1, \"a\"]",
                "{\"a\": \"5\"}",
                "[\"a\"]</x>",
                "{\"a\": 1}{\"a\": 2}",
                "[[",
                "text",
                "{\"path\": \"/a\"}",
                "\u{0}\n"
            ][..]
        )
        .prop_map(|text| json!(text)),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        let name = prop::sample::select(&["a", "path", "type", "query", "arguments", "items"][..]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name, inner), 0..4).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(members.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// How the value of a property is spoiled, or what is put in its place.
#[derive(Clone, Debug)]
enum Turn {
    Keep,
    AsText,
    AsTextWithMore,
    InList,
    Leave,
    Put(Value),
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        2 => Just(Turn::Keep),
        2 => Just(Turn::AsText),
        1 => Just(Turn::AsTextWithMore),
        1 => Just(Turn::InList),
        1 => Just(Turn::Leave),
        3 => anything().prop_map(Turn::Put),
    ]
}

/// How the name of a property is spoiled.
fn renamed() -> impl Strategy<Value = u8> {
    0_u8..12
}

/// A value that fits a schema more often than not; the depth bounds it.
fn fitting(root: &Value, schema: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    let target = schema["$ref"]
        .as_str()
        .and_then(|target| root.pointer(target.strip_prefix('#')?));
    if let Some(target) = target {
        return fitting(root, target, depth);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(keyword).and_then(|list| list.get(0)) {
            return fitting(root, first, depth);
        }
    }
    if let Some(only) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return only.clone();
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"].get(0)?.as_str());
    match kind {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(3)),
        Some("boolean") => json!(true),
        Some("array") => match schema.get("items") {
            Some(items) => json!([fitting(root, items, depth)]),
            None => json!([]),
        },
        Some("object") | None if schema.get("properties").is_some() => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties
                .map(|(name, inner)| (name.clone(), fitting(root, inner, depth)))
                .collect()
        }
        Some("object") => json!({}),
        Some("null") => Value::Null,
        _ => json!("a text"),
    }
}

fn spoiled(value: Value, turn: &Turn) -> Option<Value> {
    Some(match turn {
        Turn::Keep => value,
        Turn::AsText => json!(value.to_string()),
        Turn::AsTextWithMore => json!(format!("{value}</parameter>")),
        Turn::InList => json!([value]),
        Turn::Leave => return None,
        Turn::Put(other) => other.clone(),
    })
}

fn spoiled_name(name: &str, how: u8) -> String {
    match how {
        0 => name.to_uppercase(),
        1 => name.replace('_', "-"),
        2 => format!("{name}s"),
        _ => name.to_owned(),
    }
}

/// What must hold for every schema and all arguments; says whether they were repaired.
fn holds(tool: &RegisteredTool, arguments: &Value) -> Result<bool, TestCaseError> {
    let schema: &Schema = &tool.definition.input;
    let limits = Limits::default();
    let is_valid = schema.check(arguments).is_ok();
    let repaired = repair(schema, arguments, limits.json_depth);
    if is_valid {
        // Too large to be looked at is none of these.
        let kept = repaired.expect("is valid");
        prop_assert_eq!(&kept.arguments, arguments);
        prop_assert!(kept.repairs.is_empty());
    } else if let Some(repaired) = repaired {
        prop_assert!(schema.check(&repaired.arguments).is_ok(), "{}", arguments);
        prop_assert!(!repaired.repairs.is_empty());
        let again = repair(schema, &repaired.arguments, limits.json_depth).expect("is valid");
        prop_assert_eq!(again.arguments, repaired.arguments);
        prop_assert!(again.repairs.is_empty());
    }
    let request = CallRequest::new("work", arguments.clone());
    let strict = request.clone().validate(tool, &limits);
    match request.prepare(tool, &limits, &Preparing::default()) {
        Ok(call) => {
            prop_assert_eq!(strict.is_ok(), call.repairs().is_empty());
            let sent: Value = serde_json::from_str(call.arguments_text()).expect("JSON");
            prop_assert!(schema.check(&sent).is_ok());
            prop_assert_eq!(&sent, &Value::Object(call.arguments().clone()));
            Ok(!call.repairs().is_empty())
        }
        Err(error) => {
            let strict = strict.expect_err("is refused too");
            prop_assert_eq!(strict.to_json(), error.to_json());
            Ok(false)
        }
    }
}

#[test]
fn what_comes_of_calls_to_recorded_tools_is_valid_or_refused() {
    let tools = recorded();
    let mut runner = TestRunner::deterministic();
    let (mut repaired, mut all) = (0, 0);
    for tool in &tools {
        let raw = tool.definition.input.raw();
        let whole = fitting(raw, raw, 8);
        let members = whole.as_object().cloned().unwrap_or_default();
        for _ in 0..6 {
            let turns = prop::collection::vec((turn(), renamed()), members.len());
            let turns = turns.new_tree(&mut runner).expect("a tree").current();
            let given: Map<String, Value> = members
                .iter()
                .zip(&turns)
                .filter_map(|((name, value), (turn, how))| {
                    Some((spoiled_name(name, *how), spoiled(value.clone(), turn)?))
                })
                .collect();
            for given in [Value::Object(given.clone()), json!({ "arguments": given })] {
                all += 1;
                repaired += usize::from(holds(tool, &given).expect("holds"));
            }
        }
    }
    assert!(
        repaired * 10 > all,
        "only {repaired} of {all} were repaired, so little was tried"
    );
}

#[test]
fn a_call_that_fits_its_recorded_tool_is_sent_as_it_is() {
    let mut valid = 0;
    for tool in recorded() {
        let raw = tool.definition.input.raw();
        let given = fitting(raw, raw, 8);
        if tool.definition.input.check(&given).is_ok() {
            valid += 1;
            let preparing = Preparing::of_model(Injection::default());
            let call = CallRequest::new("work", given.clone());
            let call = call
                .prepare(&tool, &Limits::default(), &preparing)
                .expect("is valid");
            assert_eq!(call.arguments_text(), given.to_string());
            assert!(call.repairs().is_empty());
        }
    }
    assert!(valid > 400, "{valid}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_and_any_plausible_schema_are_answered(
        raw in crate::schema_random::plausible(),
        arguments in anything(),
        wanted in anything(),
    ) {
        for given in [arguments, json!({"a": wanted})] {
            let schema = support::schema_of(raw.clone());
            if let Some(schema) = schema {
                let definition = toolspan_core::ToolDefinition::new("work", "", schema.into());
                let tool = support::tool_of(definition, support::echo("x").executor);
                if given.is_object() {
                    holds(&tool, &given)?;
                }
                let request = CallRequest::new("work", given);
                let preparing = Preparing::of_model(Injection::new(true, true));
                _ = request.prepare(&tool, &Limits::default(), &preparing);
            }
        }
    }

    #[test]
    fn any_json_can_be_given_as_the_call_of_a_model(call in anything(), text in ".{0,40}") {
        _ = CallRequest::from_model(&call);
        let call = json!({"name": "x", "arguments": text});
        if let Ok(request) = CallRequest::from_model(&call) {
            let plain = request.with_plain_name(|_| false);
            prop_assert_eq!(plain.tool, "x");
        }
    }
}
