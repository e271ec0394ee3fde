//! Does every form of any schema that is taken obey the rules of its API, and never take more than the
//! schema without saying so?

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolspan_core::{Snapshot, ToolboxTool};

use crate::llm_recorded::{FORMS, declarations};
use crate::support::{self, Echo, source};
use crate::{llm_rules, llm_sound};

/// Values of every type, for constants and defaults.
fn constant() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!("a"),
        json!(""),
        json!("b c"),
        json!(1),
        json!(-2.5),
        json!(true),
        json!(null),
        json!([]),
        json!({"a": 1}),
    ])
}

fn kind() -> impl Strategy<Value = Value> {
    const NAMES: [&str; 7] = [
        "string", "integer", "number", "boolean", "null", "object", "array",
    ];
    let one = prop::sample::select(&NAMES[..]).prop_map(|name| json!(name));
    let some = prop::sample::subsequence(&NAMES[..], 1..3).prop_map(|names| json!(names));
    prop_oneof![4 => one, 1 => some]
}

/// Keywords about the value itself.
fn plain() -> impl Strategy<Value = (&'static str, Value)> {
    let count = 0_u64..4;
    prop_oneof![
        3 => kind().prop_map(|kind| ("type", kind)),
        1 => prop::collection::vec(constant(), 1..4).prop_map(|values| ("enum", json!(values))),
        1 => constant().prop_map(|value| ("const", value)),
        1 => constant().prop_map(|value| ("default", value)),
        1 => Just(("description", json!("Something."))),
        1 => prop::sample::select(&["uri", "date-time", "double", "int32", "x"][..])
            .prop_map(|format| ("format", json!(format))),
        1 => prop::sample::select(&["^a", "^(?=a)", "(a)\\1", "\\d+"][..])
            .prop_map(|pattern| ("pattern", json!(pattern))),
        1 => (
            prop::sample::select(
                &["minLength", "maxLength", "minItems", "maxItems", "minProperties",
                    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"][..]
            ),
            count,
        )
            .prop_map(|(keyword, count)| (keyword, json!(count))),
        1 => Just(("uniqueItems", json!(true))),
        1 => Just(("nullable", json!(true))),
        1 => Just(("required", json!(["a", "$b"]))),
        1 => prop::sample::select(&["#", "#/$defs/a", "#/$defs/b", "#/properties/a"][..])
            .prop_map(|target| ("$ref", json!(target))),
    ]
}

fn names() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["a", "$b", "type", "properties", "2 c", "items"][..])
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        8 => prop::collection::vec(plain(), 0..4).prop_map(|words| {
            let words = words.into_iter().map(|(keyword, value)| (keyword.to_owned(), value));
            Value::Object(words.collect())
        }),
        1 => any::<bool>().prop_map(Value::Bool),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        let combined = prop::sample::select(&["allOf", "anyOf", "oneOf", "prefixItems"][..]);
        let single = prop::sample::select(
            &[
                "items",
                "additionalProperties",
                "not",
                "contains",
                "propertyNames",
                "unevaluatedProperties",
                "if",
                "then",
            ][..],
        );
        let named = prop::collection::vec((names(), inner.clone()), 0..4).prop_map(|named| {
            let named = named
                .into_iter()
                .map(|(name, schema)| (name.to_owned(), schema));
            json!({"type": "object", "properties": named.collect::<Map<_, _>>()})
        });
        let combined = (combined, list()).prop_map(|(keyword, list)| json!({ keyword: list }));
        let single = (single, inner.clone()).prop_map(|(keyword, inner)| json!({ keyword: inner }));
        let part = prop_oneof![3 => named, 2 => combined, 2 => single];
        (part, prop::collection::vec(plain(), 0..2)).prop_map(|(part, words)| {
            let mut part = part.as_object().cloned().unwrap_or_default();
            for (keyword, value) in words {
                part.entry(keyword).or_insert(value);
            }
            Value::Object(part)
        })
    })
}

/// A tool's schema with definitions that its parts may refer to.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema(), any::<bool>()).prop_map(|(root, a, b, is_typed)| {
        let mut root = root.as_object().cloned().unwrap_or_default();
        if is_typed {
            root.insert("type".to_owned(), json!("object"));
        }
        root.insert("$defs".to_owned(), json!({"a": a, "b": b}));
        Value::Object(root)
    })
}

fn snapshot_of(raw: Value) -> Option<Snapshot> {
    let schema = support::schema_of(raw)?;
    let definition = toolspan_core::ToolDefinition::new("work", "Works.", schema.into());
    let tool = ToolboxTool::new(definition.into(), std::sync::Arc::new(Echo));
    Some(Snapshot::new(vec![source("box", vec![tool])]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_form_of_any_schema_obeys_its_rules_and_says_what_it_takes_more(raw in document()) {
        if let Some(snapshot) = snapshot_of(raw) {
            for (form, wanted) in FORMS {
                let projection = snapshot.project(&wanted);
                prop_assert_eq!(
                    declarations(&projection.tools).len() + projection.left_out.len(),
                    1,
                    "{}", form
                );
                for declaration in declarations(&projection.tools) {
                    let faults = llm_rules::faults(form, declaration);
                    prop_assert!(faults.is_empty(), "{}: {:?}\n{}", form, faults, declaration);
                }
            }
            llm_sound::check_all(&snapshot, llm_sound::is_said_somewhere);
        }
    }
}
