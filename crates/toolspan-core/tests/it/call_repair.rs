//! Is a call that almost matches its schema set right, and only where it is clear what was meant?

use serde_json::{Value, json};
use toolspan_core::call::repair::{Repaired, repair};
use toolspan_core::schema::Schema;

fn schema(raw: Value) -> Schema {
    Schema::for_arguments(raw).expect("the tests' schemas are usable")
}

fn repaired(raw: &Value, arguments: &Value) -> Option<Repaired> {
    repair(&schema(raw.clone()), arguments, 64)
}

/// The schema of an object with one property `it`.
fn of(property: Value) -> Value {
    json!({"type": "object", "properties": {"it": property}})
}

/// What `it` becomes under a schema, and the kinds of the repairs.
#[track_caller]
fn becomes(property: Value, given: Value, expected: Value, kinds: &[&str]) {
    let raw = of(property);
    let arguments = json!({"it": given});
    let repaired = repaired(&raw, &arguments).expect("is repaired");
    assert_eq!(repaired.arguments, json!({"it": expected}), "{raw}");
    let found: Vec<&str> = repaired.repairs.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(found, kinds, "{arguments} by {raw}");
}

/// That nothing is made of `it`, which the schema refuses.
#[track_caller]
fn stays_refused(property: Value, given: Value) {
    let raw = of(property);
    let arguments = json!({"it": given});
    assert!(
        schema(raw.clone()).check(&arguments).is_err(),
        "{arguments} is valid by {raw}"
    );
    assert_eq!(repaired(&raw, &arguments), None, "{arguments} by {raw}");
}

/// That `it` is valid and comes back as it is.
#[track_caller]
fn stays_valid(property: Value, given: Value) {
    let raw = of(property);
    let arguments = json!({"it": given});
    let kept = repaired(&raw, &arguments).expect("is valid");
    assert_eq!(
        (kept.arguments, kept.repairs),
        (arguments, Vec::new()),
        "{raw}"
    );
}

fn a(kind: &str) -> Value {
    json!({ "type": kind })
}

#[test]
fn json_text_is_read_where_an_object_or_a_list_is_due() {
    becomes(
        a("object"),
        json!(r#"{"a": 1}"#),
        json!({"a": 1}),
        &["json_text"],
    );
    becomes(
        a("array"),
        json!(" [1, 2]\n"),
        json!([1, 2]),
        &["json_text"],
    );
    becomes(
        json!({"type": ["array", "null"]}),
        json!("[]"),
        json!([]),
        &["json_text"],
    );
    becomes(
        json!({"const": {"a": 1}}),
        json!("{\"a\":1}"),
        json!({"a": 1}),
        &["json_text"],
    );
    becomes(
        a("array"),
        json!("[\"zürich\", \"東京\"]"),
        json!(["zürich", "東京"]),
        &["json_text"],
    );
}

#[test]
fn json_text_may_be_followed_by_text_that_belongs_elsewhere() {
    let given = json!(r#"["a","b"]<parameter name="security_risk">LOW"#);
    let list = json!({"type": "array", "items": {"type": "string"}});
    becomes(list, given, json!(["a", "b"]), &["json_text"]);
    becomes(
        a("object"),
        json!("{\"a\": \"x\ny\"}\n</parameter>"),
        json!({"a": "x\ny"}),
        &["json_text"],
    );
    stays_refused(a("object"), json!("{\"a\": 1}{\"a\": 2}"));
    stays_refused(a("object"), json!("see {\"a\": 1}"));
}

#[test]
fn json_text_is_read_at_any_depth_and_inside_itself() {
    let deep = json!({"type": "array", "items": {
        "type": "object",
        "properties": {"at": {"type": "object", "properties": {"line": {"type": "integer"}}}},
    }});
    let given = json!([{"at": {"line": 1}}, {"at": "{\"line\": \"2\"}"}]);
    let expected = json!([{"at": {"line": 1}}, {"at": {"line": 2}}]);
    becomes(deep.clone(), given, expected, &["json_text", "number"]);
    let all = json!(r#"[{"at": "{\"line\": 3}"}]"#);
    becomes(
        deep,
        all,
        json!([{"at": {"line": 3}}]),
        &["json_text", "json_text"],
    );
}

#[test]
fn text_that_spells_a_number_or_a_boolean_is_read_as_such() {
    becomes(a("integer"), json!("5"), json!(5), &["number"]);
    becomes(a("integer"), json!(" -5 "), json!(-5), &["number"]);
    becomes(a("number"), json!("0.5"), json!(0.5), &["number"]);
    becomes(a("number"), json!("5"), json!(5), &["number"]);
    becomes(a("integer"), json!("5.0"), json!(5.0), &["number"]);
    becomes(
        a("number"),
        json!("0.30000000000000004"),
        json!(0.300_000_000_000_000_04),
        &["number"],
    );
    becomes(
        a("integer"),
        json!("9007199254740993"),
        json!(9_007_199_254_740_993_i64),
        &["number"],
    );
    becomes(a("boolean"), json!("true"), json!(true), &["boolean"]);
    becomes(a("boolean"), json!("False"), json!(false), &["boolean"]);
    becomes(json!({"enum": [1, 2]}), json!("2"), json!(2), &["number"]);
    becomes(
        json!({"type": ["integer", "null"]}),
        json!("null"),
        json!(null),
        &["null"],
    );
    for (kind, text) in [
        ("integer", "five"),
        ("integer", "5.5"),
        ("integer", "5 apples"),
        ("integer", "0x10"),
        ("integer", "1,000"),
        ("integer", ""),
        ("number", "NaN"),
        ("boolean", "yes"),
        ("boolean", "1"),
        ("integer", "true"),
        ("integer", "123456789012345678901234567890"),
        ("number", "123456789012345678901234567890"),
        ("number", "9007199254740993.0"),
        ("integer", "123456789012345678901234567890.5"),
        ("number", "1e400"),
        ("number", "Infinity"),
        ("integer", "٣"),
        ("integer", "１２"),
        ("integer", "+5"),
        ("integer", "007"),
        ("object", "5"),
    ] {
        stays_refused(a(kind), json!(text));
    }
    stays_refused(json!({"enum": [1, 2]}), json!("3"));
}

#[test]
fn other_values_are_no_text_and_no_truth() {
    stays_refused(a("string"), json!(5));
    stays_refused(a("string"), json!(true));
    stays_refused(a("string"), json!({"a": 1}));
    stays_refused(a("boolean"), json!(1));
    stays_refused(a("boolean"), json!(0));
    stays_refused(a("integer"), json!(5.5));
    stays_refused(a("integer"), json!(true));
    stays_refused(a("object"), json!([1]));
    // A whole number stays as it was written where any number is allowed.
    stays_valid(a("number"), json!(5));
}

#[test]
fn a_single_value_becomes_a_list_where_a_list_is_due() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    becomes(texts.clone(), json!("a"), json!(["a"]), &["list"]);
    becomes(texts.clone(), json!("a, b"), json!(["a, b"]), &["list"]);
    becomes(
        texts.clone(),
        json!("{not json"),
        json!(["{not json"]),
        &["list"],
    );
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    becomes(numbers.clone(), json!(5), json!([5]), &["list"]);
    becomes(numbers.clone(), json!("5"), json!([5]), &["list", "number"]);
    let objects = json!({"type": "array", "items": {"type": "object", "required": ["a"]}});
    becomes(
        objects.clone(),
        json!({"a": 1}),
        json!([{"a": 1}]),
        &["list"],
    );
    becomes(
        objects,
        json!("{\"a\": 1}"),
        json!([{"a": 1}]),
        &["list", "json_text"],
    );
    stays_refused(numbers, json!("x"));
    stays_refused(texts.clone(), json!(5));
    stays_refused(texts.clone(), json!(""));
    stays_refused(texts.clone(), json!("[\"a\", "));
    // What is no list and no item of one either.
    for text in [
        "null",
        "None",
        "\"[\\\"a\\\"]\"",
        "```json\n[\"a\"]\n```",
        "\u{feff}[\"a\"]",
    ] {
        stays_refused(texts.clone(), json!(text));
    }
    becomes(
        texts.clone(),
        json!("\"exact words\""),
        json!(["\"exact words\""]),
        &["list"],
    );
    // Whether [[1], [2]] or [[1, 2]] was meant is not known.
    let rows = json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}});
    stays_refused(rows, json!([1, 2]));
}

#[test]
fn a_list_of_one_string_becomes_the_string_and_a_longer_one_is_not_glued() {
    becomes(a("string"), json!(["a"]), json!("a"), &["list_of_one"]);
    stays_refused(a("string"), json!(["a", "b"]));
    stays_refused(a("string"), json!([]));
    stays_refused(a("string"), json!([5]));
    stays_valid(json!({"type": ["string", "array"]}), json!(["a"]));
}

#[test]
fn a_null_goes_where_the_property_is_optional_and_takes_none() {
    let raw = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "limit": {"type": "integer"},
            "kind": {"enum": ["a", "b"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "note": {"type": ["string", "null"]},
            "any": {},
            "inner": {"type": "object", "properties": {"x": {"type": "number"}}},
        },
        "required": ["id"],
    });
    let given = json!({
        "id": "1", "limit": null, "kind": null, "either": null, "note": null, "any": null,
        "inner": {"x": null},
    });
    let repaired = repaired(&raw, &given).expect("is clear");
    let expected = json!({"id": "1", "note": null, "any": null, "inner": {}});
    assert_eq!(repaired.arguments, expected);
    assert_eq!(repaired.repairs.len(), 4);
    assert!(
        repaired
            .repairs
            .iter()
            .all(|it| it.kind.as_str() == "null_dropped")
    );
}

#[test]
fn a_null_for_a_required_property_or_an_item_stays() {
    let raw = json!({"properties": {"id": {"type": "string"}}, "required": ["id"]});
    assert_eq!(repaired(&raw, &json!({"id": null})), None);
    stays_refused(json!({"items": {"type": "string"}}), json!(["a", null]));
    // Required and nullable: a null is what the server asks for.
    let nullable = json!({"properties": {"id": {"type": ["string", "null"]}}, "required": ["id"]});
    let given = json!({"id": null});
    assert_eq!(
        repaired(&nullable, &given).expect("is valid").arguments,
        given
    );
}

#[test]
fn text_is_never_touched_where_the_schema_takes_text() {
    for property in [
        a("string"),
        json!({}),
        json!(true),
        json!({"type": ["string", "integer"]}),
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"oneOf": [{"type": "array"}, {"type": "string"}]}),
        json!({"description": "anything"}),
    ] {
        for text in ["5", "true", "null", "[1, 2]", "{\"a\": 1}", "", "null "] {
            stays_valid(property.clone(), json!(text));
        }
    }
}

#[test]
fn text_that_breaks_another_rule_is_not_read_as_something_else() {
    stays_refused(
        json!({"type": ["string", "integer"], "maxLength": 1}),
        json!("55"),
    );
    let either = json!({"anyOf": [{"type": "string", "pattern": "^#"}, {"type": "integer"}]});
    stays_refused(either, json!("5"));
    let nested = json!({"anyOf": [
        {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["y"]},
        {"type": "object", "properties": {"x": {"type": "integer"}}},
    ]});
    // By the first alternative `x` is text and `y` is missing; by the second `x` is a number.
    stays_refused(nested.clone(), json!({"x": "5"}));
    stays_valid(nested, json!({"x": "5", "y": 1}));
}

#[test]
fn the_alternative_that_was_meant_decides() {
    let optional =
        json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]});
    becomes(optional.clone(), json!("[1]"), json!([1]), &["json_text"]);
    becomes(optional, json!(["1"]), json!([1]), &["number"]);
    let either = json!({"oneOf": [{"type": "integer"}, {"type": "boolean"}]});
    becomes(either.clone(), json!("5"), json!(5), &["number"]);
    becomes(either, json!("true"), json!(true), &["boolean"]);
    let auto = json!({"anyOf": [{"type": "number"}, {"const": "auto"}]});
    becomes(auto.clone(), json!("5"), json!(5), &["number"]);
    stays_valid(auto.clone(), json!("auto"));
    stays_refused(auto, json!("Auto"));
    let one_or_many =
        json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]});
    becomes(one_or_many.clone(), json!("5"), json!(5), &["number"]);
    becomes(one_or_many, json!("[5]"), json!([5]), &["json_text"]);
    let tagged = json!({"anyOf": [
        {"properties": {"kind": {"const": "text"}, "value": {"type": "string"}}, "required": ["kind"]},
        {"properties": {"kind": {"const": "number"}, "value": {"type": "number"}}, "required": ["kind"]},
    ]});
    let given = json!({"kind": "number", "value": "5"});
    becomes(
        tagged.clone(),
        given,
        json!({"kind": "number", "value": 5}),
        &["number"],
    );
    stays_valid(tagged, json!({"kind": "text", "value": "5"}));
}

#[test]
fn what_may_be_one_of_two_things_is_left_alone() {
    // An object, or a list with one text: both take what is there.
    let either = json!({"anyOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["c"]},
    ]});
    stays_valid(either.clone(), json!({"b": "5"}));
    let both = json!({"oneOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": ["integer", "array"]}}, "required": ["a"]},
    ]});
    // Repaired for the one, it would match both.
    stays_refused(both, json!({"a": "5"}));
}

#[test]
fn references_and_combined_schemas_are_looked_through() {
    let raw = json!({
        "$ref": "#/$defs/query",
        "$defs": {
            "query": {"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"tags": {"$ref": "#/$defs/tags"}}}]},
            "base": {"properties": {"limit": {"type": "integer", "minimum": 1}}, "required": ["limit"]},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
            "tag": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
    });
    let repaired =
        repaired(&raw, &json!({"limit": "5", "tags": "[\"7\", null]"})).expect("is clear");
    assert_eq!(repaired.arguments, json!({"limit": 5, "tags": [7, null]}));
    assert_eq!(self::repaired(&raw, &json!({"limit": "0"})), None);
    let tree = json!({
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {
            "size": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}},
    });
    let given = json!({"root": {"children": [{"children": {"size": "3"}}]}});
    let expected = json!({"root": {"children": [{"children": [{"size": 3}]}]}});
    assert_eq!(
        self::repaired(&tree, &given).expect("is clear").arguments,
        expected
    );
}

#[test]
fn maps_lists_of_parts_and_conditions_are_looked_through() {
    let numbers = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    becomes(
        numbers,
        json!({"a": "1", "b": 2}),
        json!({"a": 1, "b": 2}),
        &["number"],
    );
    let pair = json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false});
    becomes(pair, json!(["1", "2"]), json!(["1", 2]), &["number"]);
    let named = json!({"patternProperties": {"^n_": {"type": "number"}}});
    becomes(
        named,
        json!({"n_a": "1", "s_a": "1"}),
        json!({"n_a": 1, "s_a": "1"}),
        &["number"],
    );
    let conditional = json!({
        "if": {"properties": {"kind": {"const": "n"}}, "required": ["kind"]},
        "then": {"properties": {"value": {"type": "integer"}}},
    });
    let given = json!({"kind": "n", "value": "1"});
    becomes(
        conditional.clone(),
        given,
        json!({"kind": "n", "value": 1}),
        &["number"],
    );
    stays_valid(conditional, json!({"kind": "s", "value": "1"}));
}

#[test]
fn a_near_name_is_meant_where_the_schema_takes_no_other() {
    let raw = json!({
        "type": "object",
        "properties": {"file_path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["file_path"],
        "additionalProperties": false,
    });
    let repaired = repaired(&raw, &json!({"filePath": "a", "limti": "5"})).expect("is clear");
    assert_eq!(repaired.arguments, json!({"file_path": "a", "limit": 5}));
    let told: Vec<String> = repaired.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "/filePath: read as `file_path`",
            "/limti: read as `limit`",
            "/limit: text read as a number"
        ]
    );
    for given in [
        // The name that is meant is there already.
        json!({"file_path": "a", "filePath": "b"}),
        // Two names mean one.
        json!({"filePath": "a", "file-path": "b"}),
        // Nothing is near.
        json!({"file_path": "a", "offset": 5}),
        json!({"file_path": "a", "offset": null}),
    ] {
        assert_eq!(self::repaired(&raw, &given), None, "{given}");
    }
}

#[test]
fn an_open_schema_takes_every_name_as_it_is() {
    let raw =
        json!({"properties": {"file_path": {"type": "string"}, "limit": {"type": "integer"}}});
    let given = json!({"filePath": "a", "limit": "5"});
    let repaired = repaired(&raw, &given).expect("is clear");
    assert_eq!(repaired.arguments, json!({"filePath": "a", "limit": 5}));
}

#[test]
fn closed_schemas_of_every_kind_have_near_names() {
    let combined = json!({
        "allOf": [{"properties": {"page_size": {"type": "integer"}}}],
        "unevaluatedProperties": false,
    });
    let given = json!({"pageSize": 5});
    assert_eq!(
        repaired(&combined, &given).expect("is clear").arguments,
        json!({"page_size": 5})
    );
    let inner = of(json!({"properties": {"page_size": {}}, "additionalProperties": false}));
    let repaired = repaired(&inner, &json!({"it": {"a/b": 1}}));
    assert_eq!(repaired, None);
    let odd = of(json!({"properties": {"a/b~c": {}}, "additionalProperties": false}));
    let repaired = self::repaired(&odd, &json!({"it": {"A/B~C": 1}})).expect("is clear");
    assert_eq!(repaired.arguments, json!({"it": {"a/b~c": 1}}));
}

#[test]
fn no_value_is_made_up() {
    let raw = json!({
        "properties": {"id": {"type": "string", "default": "x"}, "on": {"const": true}},
        "required": ["id", "on"],
    });
    for given in [
        json!({}),
        json!({"id": "a"}),
        json!({"on": true}),
        json!({"id": 5, "on": true}),
    ] {
        assert_eq!(repaired(&raw, &given), None, "{given}");
    }
}

#[test]
fn the_notes_tell_no_value() {
    let raw = json!({"properties": {"token": {"type": "integer"}, "keys": {"type": "array"}}});
    let given = json!({"token": "42424242", "keys": "hunter2"});
    let repaired = repaired(&raw, &given).expect("is clear");
    let told = format!("{:?}", repaired.repairs);
    assert!(
        !told.contains("4242") && !told.contains("hunter2"),
        "{told}"
    );
    assert_eq!(
        repaired.repairs[0].to_json(),
        json!({"pointer": "/token", "kind": "number", "note": "text read as a number"})
    );
}

#[test]
fn text_that_nests_too_deeply_is_not_read() {
    let deep = |depth: usize| json!(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    let raw = of(a("array"));
    assert!(repaired(&raw, &json!({"it": deep(63)})).is_some());
    assert!(repaired(&raw, &json!({"it": deep(64)})).is_none());
    assert!(repaired(&raw, &json!({"it": deep(100_000)})).is_none());
}

#[test]
fn a_thousand_slips_are_set_right_and_a_hundred_thousand_are_refused() {
    let raw = of(json!({"type": "array", "items": {"type": "number"}}));
    let given = |count: usize| json!({"it": vec!["0.5"; count]});
    let repaired = repaired(&raw, &given(1_000)).expect("is clear");
    assert_eq!(
        (repaired.arguments, repaired.repairs.len()),
        (json!({"it": vec![0.5; 1_000]}), 1_000)
    );
    assert_eq!(self::repaired(&raw, &given(100_000)), None);
}

#[test]
fn a_hundred_wrong_names_are_set_right_and_more_are_no_slips() {
    let properties: serde_json::Map<String, Value> = (0..1_000)
        .map(|number| (format!("property_{number}"), json!({"type": "integer"})))
        .collect();
    let raw = json!({"properties": properties, "additionalProperties": false});
    let given = |count: usize| -> Value {
        let members = (0..count).map(|number| (format!("Property{number}"), json!(1)));
        Value::Object(members.collect())
    };
    let repaired = repaired(&raw, &given(100)).expect("is clear");
    assert_eq!(repaired.repairs.len(), 100);
    assert_eq!(self::repaired(&raw, &given(101)), None);
}
