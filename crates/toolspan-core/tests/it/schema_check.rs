//! Are values checked as the schema says, within bounds, and faults told in useful words?

use serde_json::{Value, json};
use toolspan_core::schema::{CheckFailed, Schema, Violations};

fn schema(raw: Value) -> Schema {
    let schema = Schema::for_arguments(raw).expect("static checks pass");
    schema.compile().expect("compiles");
    schema
}

fn violations(schema: &Schema, value: &Value) -> Violations {
    match schema.check(value).expect_err("does not match") {
        CheckFailed::Violations(violations) => violations,
        other => unreachable!("{other}"),
    }
}

fn told(raw: Value, value: Value) -> String {
    violations(&schema(raw), &value).to_string()
}

fn clock() -> Value {
    json!({
        "type": "object",
        "properties": {
            "timezone": {"type": "string"},
            "hour": {"type": "integer", "minimum": 0, "maximum": 23},
            "format": {"enum": ["short", "long"]},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2},
        },
        "required": ["timezone"],
        "additionalProperties": false,
    })
}

#[test]
fn every_violation_is_listed_with_its_place() {
    let value =
        json!({"timezome": "UTC", "hour": 24.5, "format": "medium", "tags": ["a", 5, "long"]});
    insta::assert_snapshot!(told(clock(), value), @r#"
        8 problems:
        - /hour: expected an integer, found the number 24.5
        - /hour: expected at most 23, found the number 24.5
        - /format: expected one of "short", "long", found the string "medium"
        - /tags: expected at most 2 items, found an array of 3 items
        - /tags/1: expected a string, found the number 5
        - /tags/2: expected at most 3 characters, found the string "long"
        - /timezome: expected no property `timezome` (did you mean `timezone`?), found a string
        - expected required property `timezone`, found an object with `timezome`, `hour`, `format`, `tags`
        "#);
}

#[test]
fn a_violation_tells_keyword_and_places() {
    let found = violations(
        &schema(clock()),
        &json!({"timezone": "UTC", "tags": ["ab/c"]}),
    );
    insta::assert_debug_snapshot!(found.as_slice(), @r#"
        [
            Violation {
                pointer: "/tags/0",
                expected: "at most 3 characters",
                found: "the string \"ab/c\"",
                keyword: "maxLength",
                schema_pointer: "/properties/tags/items/maxLength",
            },
        ]
        "#);
}

#[test]
fn each_keyword_is_told_in_plain_words() {
    let cases = [
        (json!({"type": ["string", "null"]}), json!(5)),
        (json!({"const": {"a": 1}}), json!(5)),
        (json!({"const": "x"}), json!([1])),
        (json!({"enum": ["only"]}), json!(true)),
        (json!({"minimum": 5}), json!(4)),
        (json!({"maximum": 5}), json!(6)),
        (json!({"exclusiveMinimum": 5}), json!(5)),
        (json!({"exclusiveMaximum": 5}), json!(5)),
        (json!({"multipleOf": 5}), json!(6)),
        (json!({"minLength": 1}), json!("")),
        (json!({"maxLength": 2}), json!("abc")),
        (json!({"pattern": "^a+$"}), json!("b")),
        (json!({"minItems": 1}), json!([])),
        (json!({"maxItems": 1}), json!([1, 2])),
        (json!({"uniqueItems": true}), json!([1, 1])),
        (json!({"contains": {"const": 1}}), json!([2])),
        (
            json!({"prefixItems": [true], "items": false}),
            json!([1, 2]),
        ),
        (
            json!({"prefixItems": [true], "unevaluatedItems": false}),
            json!([1, 2]),
        ),
        (json!({"minProperties": 1}), json!({})),
        (json!({"maxProperties": 1}), json!({"b": 1, "c": 2})),
        (
            json!({"propertyNames": {"maxLength": 2}}),
            json!({"long": 1}),
        ),
        (json!({"unevaluatedProperties": false}), json!({"b": 1})),
        (json!({"dependentRequired": {"b": ["c"]}}), json!({"b": 1})),
        (json!({"not": {"type": "string"}}), json!("x")),
        (json!(false), json!("x")),
        (json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}), json!(3)),
        (json!({"if": {"const": 1}, "then": false}), json!(1)),
    ];
    let lines: Vec<String> = cases
        .into_iter()
        .map(|(raw, value)| {
            let text = told(json!({"properties": {"a": raw}}), json!({"a": value}));
            format!("{raw}  {text}")
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
        {"type":["string","null"]}  /a: expected null or a string, found the number 5
        {"const":{"a":1}}  /a: expected an object with `a`, found the number 5
        {"const":"x"}  /a: expected "x", found an array of 1 item
        {"enum":["only"]}  /a: expected "only", found the boolean true
        {"minimum":5}  /a: expected at least 5, found the number 4
        {"maximum":5}  /a: expected at most 5, found the number 6
        {"exclusiveMinimum":5}  /a: expected more than 5, found the number 5
        {"exclusiveMaximum":5}  /a: expected less than 5, found the number 5
        {"multipleOf":5}  /a: expected a multiple of 5, found the number 6
        {"minLength":1}  /a: expected at least 1 character, found the string ""
        {"maxLength":2}  /a: expected at most 2 characters, found the string "abc"
        {"pattern":"^a+$"}  /a: expected a string that matches "^a+$", found the string "b"
        {"minItems":1}  /a: expected at least 1 item, found an array of 0 items
        {"maxItems":1}  /a: expected at most 1 item, found an array of 2 items
        {"uniqueItems":true}  /a: expected no item twice, found an array of 2 items
        {"contains":{"const":1}}  /a: expected as many matching items as the schema asks for, found an array of 1 item
        {"prefixItems":[true],"items":false}  /a/1: expected nothing here, found the number 2
        {"prefixItems":[true],"unevaluatedItems":false}  /a: expected no further items, found an array of 2 items
        {"minProperties":1}  /a: expected at least 1 property, found an empty object
        {"maxProperties":1}  /a: expected at most 1 property, found an object with `b`, `c`
        {"propertyNames":{"maxLength":2}}  /a: expected property names that are at most 2 characters, found the name `long`
        {"unevaluatedProperties":false}  /a/b: expected no property `b`, found a number
        {"dependentRequired":{"b":["c"]}}  /a: expected required property `c`, found an object with `b`
        {"not":{"type":"string"}}  /a: expected a value that the schema does not exclude, found the string "x"
        false  /a: expected nothing here, found the string "x"
        {"oneOf":[{"minimum":1},{"minimum":2}]}  /a: expected exactly one of 2 alternatives to match, not 2, found the number 3
        {"if":{"const":1},"then":false}  /a: expected nothing here, found the number 1
        "#);
}

#[test]
fn many_violations_are_cut_and_counted() {
    let raw = json!({"properties": {"list": {"items": {"type": "string"}}}});
    let found = violations(&schema(raw), &json!({"list": vec![1; 250]}));
    assert_eq!((found.as_slice().len(), found.unlisted()), (100, Some(150)));
    let text = found.to_string();
    assert!(text.starts_with("250 problems:\n- /list/0: expected a string, found the number 1\n"));
    assert!(text.ends_with("- and 150 more"), "{text}");
}

#[test]
fn alternatives_of_types_are_told_together() {
    let raw = json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
    insta::assert_snapshot!(told(raw, json!({"a": 5})), @"/a: expected a string or null, found the number 5");
    let raw = json!({"properties": {"a": {"oneOf": [
        {"const": "x"}, {"enum": ["y", "z"]}, {"type": "array"}, false]}}});
    insta::assert_snapshot!(told(raw, json!({"a": 5})), @r#"/a: expected "x", one of "y", "z" or an array, found the number 5"#);
}

#[test]
fn the_alternative_that_was_meant_is_explained() {
    let shapes = json!({"properties": {"shape": {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
         "required": ["kind", "radius"]},
        {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
         "required": ["kind", "side"]},
        {"type": "null"},
    ]}}});
    let tell = |shape: Value| told(shapes.clone(), json!({"shape": shape}));
    let lines = [
        tell(json!({"kind": "square", "side": "4"})),
        tell(json!({"kind": "circle"})),
        tell(json!({"kind": "triangle", "side": 4})),
        tell(json!(5)),
        tell(json!({})),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
        /shape/side: expected a number, found the string "4"
        /shape: expected required property `radius`, found an object with `kind`
        /shape/kind: expected "circle" or "square", found the string "triangle"
        /shape: expected an object or null, found the number 5
        /shape: expected required property `kind`, found an empty object
        "#);
    let either = json!({"anyOf": [{"required": ["path"]}, {"required": ["url"]}]});
    insta::assert_snapshot!(told(either, json!({"a": 1})), @"expected required property `path` or required property `url`, found an object with `a`");
    let nested = json!({"properties": {"a": {"anyOf": [
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        {"type": "boolean"},
    ]}}});
    insta::assert_snapshot!(told(nested, json!({"a": [1, "x"]})), @r#"/a/1: expected an integer or null, found the string "x""#);
}

#[test]
fn a_mistyped_property_gets_a_suggestion_and_a_strange_one_does_not() {
    let tell = |name: &str| told(clock(), json!({"timezone": "UTC", name: 1}));
    let lines = [
        tell("Format"),
        tell("formatt"),
        tell("colour"),
        tell("a/b~c"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
        /Format: expected no property `Format` (did you mean `format`?), found a number
        /formatt: expected no property `formatt` (did you mean `format`?), found a number
        /colour: expected no property `colour`, found a number
        /a~1b~0c: expected no property `a/b~c`, found a number
        ");
}

#[test]
fn values_that_look_secret_are_never_shown() {
    let raw = json!({
        "properties": {
            "api_key": {"type": "integer"},
            "accessToken": {"pattern": "^x$"},
            "login": {"type": "object", "properties": {"user": {"type": "integer"}}},
            "password": {"properties": {"inner": {"items": {"type": "integer"}}}},
            "phrase": {"type": "string", "format": "password", "maxLength": 1},
            "shape": {"anyOf": [{"$ref": "#/$defs/hidden"}, {"type": "null"}]},
            "list": {"items": {"writeOnly": true, "type": "integer"}},
            "Authorization": {"enum": ["a"]},
            "X-Session-Key": {"const": 1},
            "credentials": {"type": "integer"},
        },
        "$defs": {"hidden": {"writeOnly": true, "type": "integer"}},
        "required": ["missing"],
        "additionalProperties": false,
    });
    let canary = "hunter2hunter2";
    let value = json!({
        "api_key": canary, "accessToken": canary, "password": {"inner": [canary]},
        "phrase": canary, "shape": canary, "list": [canary], "Authorization": canary,
        "X-Session-Key": canary, "credentials": [canary], "toke": canary,
        "login": [canary],
    });
    let found = violations(&schema(raw), &value);
    assert_eq!(found.as_slice().len(), 12, "{found}");
    assert!(!format!("{found:?} {found}").contains("hunter2"), "{found}");
    let open = told(
        json!({"properties": {"login": {"type": "integer"}}}),
        json!({"login": canary}),
    );
    assert!(
        open.contains(canary),
        "values that do not look secret are shown"
    );
    let marked = json!({"writeOnly": true, "properties": {"login": {"type": "integer"}}});
    assert!(!told(marked, json!({"login": canary})).contains("hunter2"));
}

#[test]
fn excerpts_are_bounded_and_free_of_control_characters() {
    let raw = json!({"properties": {"a": {"type": "integer"}}, "additionalProperties": false});
    let hostile = format!("\u{1b}[2J\u{202e}\r\n{}", "x".repeat(100_000));
    let text = told(raw, json!({"a": hostile.clone(), hostile: 1}));
    assert!(text.len() < 1_500, "{}", text.len());
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{text}");
}

#[test]
fn deep_values_are_refused_without_recursion() {
    let any = schema(json!({}));
    let nest = |levels: usize| {
        // The `json!` macro would copy `inner`, by recursion.
        let wrapped = |inner| Value::Object(serde_json::Map::from_iter([("a".to_owned(), inner)]));
        (1..levels).fold(json!({"a": 1}), |inner, _| wrapped(inner))
    };
    any.check(&nest(64)).expect("matches");
    for levels in [65, 1_000, 100_000] {
        let value = nest(levels);
        let found = violations(&any, &value).to_string();
        // The ordinary drop of so deep a value would overflow the stack.
        std::mem::forget(value);
        assert_eq!(
            found,
            "expected at most 64 objects and arrays inside one another, \
             found a value nested more deeply"
        );
    }
    any.check_within(&nest(3), 3).expect("matches");
    any.check_within(&nest(4), 3)
        .expect_err("nested too deeply");
    any.check_within(&nest(65), 1_000)
        .expect_err("the schema's own limit stays");
}

#[test]
fn a_pattern_with_look_ahead_cannot_run_away() {
    let raw = json!({"properties": {"plain": {"pattern": "^(a+)+$"},
        "ahead": {"pattern": "^(?=a)(a+)+$"}, "back": {"pattern": "^(a+)+\\1$"}}});
    let schema = schema(raw);
    let long = format!("{}!", "a".repeat(40));
    for name in ["plain", "ahead", "back"] {
        let found = violations(&schema, &json!({ name: long })).to_string();
        assert!(found.contains("expected a string"), "{found}");
    }
    schema
        .check(&json!({"plain": "aaa", "ahead": "aaa"}))
        .expect("matches");
}

#[test]
fn text_that_a_pattern_could_take_minutes_for_is_refused_before_matching() {
    let raw = json!({"properties": {
        "plain": {"pattern": "[ab]*a[ab]{700}[^ab]{3}c"},
        "ahead": {"pattern": "(?=a)(a|b)*c"},
        "free": {"type": "string"},
    }, "patternProperties": {"^(?=x)": {}}, "propertyNames": {"pattern": "^(?!x)"}});
    let schema = schema(raw);
    let text = |length: usize| "ab".repeat(length / 2);
    for value in [
        json!({"plain": text(1_000_000)}),
        json!({"ahead": text(100_000)}),
        json!({text(100_000): 1}),
    ] {
        let found = violations(&schema, &value).to_string();
        assert!(found.contains("too much work to check"), "{found}");
    }
    schema
        .check(&json!({"free": text(5_000_000)}))
        .expect("matches");
    schema
        .check(&json!({"ahead": format!("{}c", text(1_000))}))
        .expect("matches");
}

#[test]
fn large_arrays_and_extreme_numbers_are_checked() {
    let unique = schema(json!({"properties": {"a": {"uniqueItems": true}}}));
    let mut items: Vec<Value> = (0..1_000_000).map(Value::from).collect();
    items.push(Value::from(0));
    let mut value = json!({"a": null});
    value["a"] = Value::Array(items);
    let found = violations(&unique, &value).to_string();
    assert!(
        found.contains("expected no item twice, found an array of 1000001 items"),
        "{found}"
    );
    value["a"].as_array_mut().expect("an array").pop();
    unique.check(&value).expect("matches");

    let extreme = json!({"properties": {
        "tiny": {"multipleOf": 1e-300}, "text": {"minLength": 1e30}, "big": {"maximum": 1e308}}});
    let compiled =
        Schema::for_arguments(extreme).and_then(|schema| schema.compile().map(|()| schema));
    let schema = compiled.expect("compiles");
    for number in [
        json!(1e308),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0),
        json!(5e-324),
    ] {
        _ = schema.check(&json!({"tiny": number, "text": "x", "big": number}));
    }
}

#[test]
fn a_schema_that_would_blow_up_on_a_deep_value_is_stopped_before_the_check() {
    let twice = schema(json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}));
    let nest = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    twice.check(&nest(10)).expect("matches");
    let found = violations(&twice, &nest(50)).to_string();
    assert!(found.contains("too much work to check"), "{found}");
    let again = schema(json!({"properties": {"a": {"$ref": "#"}},
        "allOf": [{"properties": {"a": {"$ref": "#"}}}]}));
    violations(&again, &nest(50));
}

#[test]
fn recursive_schemas_take_deep_values() {
    let json = Schema::for_output(json!({"$ref": "#/$defs/any", "$defs": {"any": {"anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": {"$ref": "#/$defs/any"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
    ]}}}))
    .expect("static checks pass");
    let nest = |inner| (0..31).fold(inner, |inner, _| json!({"a": [inner, 1], "b": "x"}));
    json.check(&nest(json!(null))).expect("matches");
}

#[test]
fn a_value_too_large_to_explain_is_still_refused() {
    let list = schema(json!({"properties": {"a": {"items": {"type": "integer"}}}}));
    let mut items = vec![json!(1); 200_000];
    items.push(json!("x"));
    insta::assert_snapshot!(violations(&list, &json!({"a": items})), @r#"
        problems:
        - /a/200000: expected an integer, found the string "x"
        - and perhaps more; the value is too large to list them
        "#);
    let branches: Vec<Value> = (0..200)
        .map(|n| json!({"required": [format!("p{n}")], "minProperties": 3}))
        .collect();
    let either = schema(json!({"anyOf": branches}));
    let big = json!({"content": "x".repeat(1024 * 1024)});
    insta::assert_snapshot!(violations(&either, &big), @r"
        problems:
        - expected a value that matches the schema, found an object that does not, too large to explain
        - and perhaps more; the value is too large to list them
        ");
}

#[test]
fn a_schema_that_does_not_compile_is_told_by_the_first_check() {
    let schema = Schema::for_arguments(json!({"properties": {"a": {"minLength": "x"}}}))
        .expect("static checks pass");
    let failed = schema.check(&json!({})).expect_err("does not compile");
    assert!(matches!(failed, CheckFailed::Schema(_)));
    insta::assert_snapshot!(failed, @r#"expected an integer, found the string "x" (at /properties/a/minLength)"#);
    assert_eq!(
        failed,
        CheckFailed::Schema(schema.compile().expect_err("the same"))
    );
}

#[test]
fn formats_are_annotations() {
    let schema = schema(json!({"properties": {"a": {"type": "string", "format": "date-time"}}}));
    schema
        .check(&json!({"a": "tomorrow"}))
        .expect("a format is not checked");
}

/// Runs on a thread with little stack; an overflow would abort the whole test run.
fn with_little_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(run);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn schemas_at_the_limits_need_less_than_a_mebibyte_of_stack() {
    type Wrap = fn(Value) -> Value;
    // How deep the references lead, and what each level is made of: the first go into the value,
    // the others stay at the same place of it.
    let wraps: [(usize, Wrap); 8] = [
        (60, |inner| json!({"properties": {"a": inner}})),
        (60, |inner| json!({"items": inner})),
        (
            60,
            |inner| json!({"additionalProperties": inner, "unevaluatedProperties": false}),
        ),
        (8, |inner| json!({"allOf": [inner]})),
        (8, |inner| json!({"if": inner, "then": true, "else": true})),
        (8, |inner| json!({"oneOf": [inner, {"const": 5}]})),
        (
            1,
            |inner| json!({"dependentSchemas": {"a": inner}, "unevaluatedProperties": false}),
        ),
        (4, |inner| json!({"not": {"anyOf": [inner]}})),
    ];
    with_little_stack(move || {
        for (length, wrap) in wraps {
            let levels = match length {
                60 => 5,
                1 => 8,
                _ => 14,
            };
            let mut definitions = serde_json::Map::new();
            for at in 0..length {
                let next = json!({"$ref": format!("#/$defs/d{}", (at + 1) % length)});
                let inner = if at + 1 == length {
                    json!({"items": next})
                } else {
                    next
                };
                let inner = (0..levels).fold(inner, |inner, _| wrap(inner));
                definitions.insert(format!("d{at}"), inner);
            }
            let raw = json!({"$ref": "#/$defs/d0", "$defs": definitions});
            let schema = Schema::for_output(raw.clone()).expect("within the limits");
            schema.compile().expect("compiles");
            let mut value = json!("x");
            for level in 0..64 {
                _ = schema.check(&value);
                value = if level % 2 == 0 {
                    json!([value])
                } else {
                    json!({"a": value})
                };
            }
        }
    });
}
