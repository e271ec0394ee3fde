//! Can a person read a schema as a signature, and type values by it?

use serde_json::{Value, json};
use toolspan_core::schema::{Schema, coerce_text, signature};

fn schema(raw: Value) -> Schema {
    Schema::for_arguments(raw).expect("static checks pass")
}

#[test]
fn a_signature_shows_names_types_and_what_is_required() {
    let shown = signature(&schema(json!({
        "type": "object",
        "properties": {
            "timezone": {"type": "string"},
            "format": {"enum": ["a", "b"]},
            "count": {"type": ["integer", "null"]},
            "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}, "required": ["deep"]},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            "anything": true,
            "odd name": {"const": 1},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "required": ["timezone", "tree"],
        "$defs": {"tree": {"type": "object", "properties": {"children": {
            "type": "array", "items": {"$ref": "#/$defs/tree"}}}}},
    })));
    insta::assert_snapshot!(shown, @r#"(timezone: string, format?: "a" | "b", count?: integer | null, tags?: (string | number)[], options?: {deep: boolean}, map?: {[name]: integer}, anything?: any, "odd name"?: 1, tree: {children?: {children?: array}[]})"#);
    assert_eq!(signature(&schema(json!({"type": "object"}))), "()");
    assert_eq!(signature(&schema(json!(true))), "()");
}

#[test]
fn a_signature_is_bounded_and_harmless() {
    let properties: serde_json::Map<String, Value> = (0..500)
        .map(|n| {
            (
                format!("\u{1b}{n}"),
                json!({"enum": (0..50).collect::<Vec<_>>()}),
            )
        })
        .collect();
    let shown = signature(&schema(json!({"properties": properties})));
    assert!(
        shown.chars().count() <= 2_002 && shown.ends_with("…)"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'));
    // Every level leads to nine times as many types, over and over.
    let nine = |name: &str| json!({"anyOf": vec![json!({"$ref": name}); 9]});
    let endless = json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {
        "a": nine("#/$defs/b"), "b": nine("#/$defs/c"), "c": nine("#/$defs/d"),
        "d": {"type": "array", "items": {"$ref": "#/$defs/a"}}}});
    assert!(signature(&schema(endless)).chars().count() <= 2_002);
    let wide = (0..8).fold(
        json!({"type": "string"}),
        |inner, _| json!({"anyOf": vec![inner; 3]}),
    );
    assert!(
        signature(&schema(json!({"properties": {"a": wide}})))
            .chars()
            .count()
            <= 2_002
    );
}

#[test]
fn text_becomes_the_type_that_the_schema_gives() {
    let raw = json!({
        "properties": {
            "text": {"type": "string"},
            "whole": {"type": "integer"},
            "number": {"type": "number"},
            "flag": {"type": "boolean"},
            "nothing": {"type": "null"},
            "list": {"type": "array"},
            "object": {"type": "object"},
            "either": {"type": ["string", "integer"]},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "choice": {"enum": [1, "2", true]},
            "constant": {"const": 5},
            "kind": {"$ref": "#/$defs/kind"},
            "untyped": {},
            "mixed": {"anyOf": [{"enum": ["auto"]}, {"type": "integer"}]},
        },
        "$defs": {"kind": {"allOf": [{"type": "integer"}]}},
        "additionalProperties": {"type": "boolean"},
    });
    let schema = schema(raw);
    for (property, text, value) in [
        ("text", "5", json!("5")),
        ("text", "null", json!("null")),
        ("whole", "5", json!(5)),
        ("whole", "-7", json!(-7)),
        ("whole", "five", json!("five")),
        ("whole", "5.5", json!("5.5")),
        ("whole", "18446744073709551615", json!(u64::MAX)),
        (
            "whole",
            "18446744073709551616",
            json!("18446744073709551616"),
        ),
        ("number", "5.5", json!(5.5)),
        ("number", "99999999999999999999", json!(1e20)),
        ("number", "1e400", json!("1e400")),
        ("number", "NaN", json!("NaN")),
        ("flag", "true", json!(true)),
        ("flag", "yes", json!("yes")),
        ("nothing", "null", json!(null)),
        ("list", "[1, 2]", json!([1, 2])),
        ("list", "{}", json!("{}")),
        ("list", "[", json!("[")),
        ("object", r#"{"a": 1}"#, json!({"a": 1})),
        ("either", "5", json!("5")),
        ("maybe", "5", json!(5)),
        ("maybe", "null", json!(null)),
        ("maybe", "x", json!("x")),
        ("choice", "1", json!(1)),
        ("choice", "2", json!("2")),
        ("choice", "true", json!(true)),
        ("choice", "3", json!("3")),
        ("constant", "5", json!(5)),
        ("kind", "5", json!(5)),
        ("untyped", "5", json!("5")),
        ("mixed", "auto", json!("auto")),
        ("mixed", "5", json!(5)),
        ("other", "true", json!(true)),
        ("whole", "", json!("")),
    ] {
        assert_eq!(
            coerce_text(&schema, property, text),
            value,
            "{property}={text}"
        );
    }
}
