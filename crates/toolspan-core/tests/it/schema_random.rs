//! Does any JSON at all, as a schema or as a value, get an answer instead of a crash?

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolspan_core::schema::{Schema, coerce_text, signature};

/// Words that mean something in a schema, so that random documents get past the first check.
const WORDS: &[&str] = &[
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$defs",
    "definitions",
    "$schema",
    "type",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "required",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentSchemas",
    "dependentRequired",
    "minimum",
    "multipleOf",
    "minLength",
    "pattern",
    "format",
    "uniqueItems",
    "default",
    "id",
    "writeOnly",
    "a",
    "b",
    "",
];

const TEXTS: &[&str] = &[
    "#",
    "",
    "#/$defs/a",
    "#/properties/a",
    "#a",
    "a",
    "a#/b",
    "#/%41",
    "http://127.0.0.1:1/a",
    "string",
    "object",
    "array",
    "integer",
    "null",
    "^(a+)+$",
    "(?=a)b",
    "[",
    "\\p{L}",
    "(a)\\1",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "password",
    "\u{202e}",
    "aaaaaaaaaaaaaaaaaaaa",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        (-3_i64..5).prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        prop::sample::select(TEXTS).prop_map(|text| json!(text)),
        ".{0,8}".prop_map(|text| json!(text)),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(8, 96, 6, |inner| {
        let word = prop::sample::select(WORDS).prop_map(str::to_owned);
        let entry = (word, inner.clone());
        prop_oneof![
            1 => prop::collection::vec(inner, 0..5).prop_map(Value::Array),
            4 => prop::collection::vec(entry, 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Schemas that obey the rules, so that checks run: random keywords with fitting values.
pub(crate) fn plausible() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(&["string", "object", "array", "integer", "null"][..])
            .prop_map(|name| json!({"type": name})),
        prop::sample::select(&["#", "#/properties/a", "#/properties/b", "#/items"][..])
            .prop_map(|reference| json!({"$ref": reference})),
        scalar().prop_map(|value| json!({"enum": [value, 1]})),
        any::<bool>().prop_map(Value::Bool),
        (0_u8..4).prop_map(|least| json!({"minLength": least, "minItems": least})),
        prop::sample::select(&["^(a+)+$", "^(?=a)(a+)+$", "(a)\\1"][..])
            .prop_map(|pattern| json!({"pattern": pattern})),
        Just(json!({"required": ["a", "token"], "uniqueItems": true})),
    ];
    leaf.prop_recursive(6, 64, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone()
                .prop_map(|(a, b)| json!({"properties": {"a": a, "b": b, "token": false}})),
            two.prop_map(|(a, b)| json!({"items": a, "additionalProperties": b})),
            (
                prop::sample::select(&["allOf", "anyOf", "oneOf", "prefixItems"][..]),
                list
            )
                .prop_map(
                    |(keyword, list)| json!({ keyword: list, "unevaluatedProperties": false })
                ),
            (
                prop::sample::select(&["not", "contains", "propertyNames", "unevaluatedItems"][..]),
                inner
            )
                .prop_map(|(keyword, inner)| json!({ keyword: inner })),
        ]
    })
}

fn use_everywhere(raw: Value, value: &Value) {
    for schema in [Schema::for_arguments(raw.clone()), Schema::for_output(raw)] {
        match schema {
            Ok(schema) => {
                _ = schema.compile().map_err(|rejected| rejected.to_string());
                if let Err(failed) = schema.check(value) {
                    assert!(!failed.to_string().is_empty());
                }
                assert!(signature(&schema).chars().count() <= 2_002);
                _ = coerce_text(&schema, "a", "5");
                assert!(schema.notes().count() <= 33);
            }
            Err(rejected) => assert!(!rejected.to_string().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_can_be_given_as_a_schema_or_a_value(raw in document(), value in document()) {
        use_everywhere(raw, &value);
    }

    #[test]
    fn plausible_schemas_answer_for_any_value(raw in plausible(), value in document()) {
        use_everywhere(raw, &value);
    }
}
