//! Are schemas that cannot be used refused with the reason, and strange ones accepted as data?

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolspan_core::schema::{Dialect, RejectedReason, Schema, SchemaLimits, SchemaNote};

fn usable(raw: Value) -> Schema {
    let schema = Schema::for_arguments(raw).expect("static checks pass");
    schema.compile().expect("compiles");
    schema
}

/// The message of a schema that is refused, at whichever step.
fn refusal(raw: Value) -> String {
    let compiled = Schema::for_arguments(raw).and_then(|schema| schema.compile());
    compiled.expect_err("is refused").to_string()
}

/// `inner` as the only property of an object. The `json!` macro would copy it, by recursion.
fn wrapped(name: &str, inner: Value) -> Value {
    Value::Object(serde_json::Map::from_iter([(name.to_owned(), inner)]))
}

/// A schema in which `levels` schemas are nested.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({"type": "object"}), |inner, _| {
        wrapped("properties", wrapped("a", inner))
    })
}

#[test]
fn references_that_leave_the_document_are_refused_by_name_and_never_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("can be polled");
    let http = format!("http://{}/x", listener.local_addr().expect("an address"));
    for reference in [
        http.as_str(),
        "file:///etc/hostname",
        "urn:example:other",
        "x.json",
        "x.json#/a",
        "//example.com/x",
        "http://json-schema.org/draft-07/schema#",
    ] {
        let places = [
            json!({"properties": {"a": {"$ref": reference}}}),
            json!({"$defs": {"unused": {"$ref": reference}}}),
            json!({"properties": {"a": {"$dynamicRef": reference}}}),
        ];
        for raw in places {
            let rejected = Schema::for_arguments(raw.clone()).expect_err("is refused");
            let expected = format!("{reference:?}");
            let reason = RejectedReason::RemoteReference {
                reference: expected,
            };
            assert_eq!(rejected.reason, reason, "{raw}");
        }
    }
    let nothing = listener.accept().expect_err("nobody connects");
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_remote_reference_is_shown_with_its_place() {
    insta::assert_snapshot!(
        refusal(json!({"properties": {"a/b": {"items": {"$ref": "other.json"}}}})),
        @r#"reference "other.json" leaves the schema, and nothing is fetched (at /properties/a~1b/items/$ref)"#
    );
}

#[test]
fn references_to_nothing_are_refused_before_compiling() {
    for reference in ["#/$defs/none", "#anchor", "#/required/0", "#/%ff"] {
        let raw = json!({"properties": {"a": {"$ref": reference}}, "required": ["a"]});
        let rejected = Schema::for_arguments(raw).expect_err("is refused");
        let reference = format!("{reference:?}");
        assert_eq!(
            rejected.reason,
            RejectedReason::UnresolvedReference { reference }
        );
    }
}

#[test]
fn references_inside_the_document_are_followed() {
    let schema = usable(json!({
        "$id": "https://example.com/root",
        "properties": {
            "pointer": {"$ref": "#/$defs/whole"},
            "escaped": {"$ref": "#/$defs/a~1b%25"},
            "anchor": {"$ref": "#name"},
            "absolute": {"$ref": "https://example.com/root#/$defs/whole"},
            "embedded": {"$ref": "inner"},
            "inside": {"$ref": "inner#/$defs/text"},
            "unknown": {"$ref": "#/components/number"},
        },
        "$defs": {
            "whole": {"type": "integer"},
            "a/b%": {"type": "integer"},
            "named": {"$anchor": "name", "type": "integer"},
            "other": {"$id": "inner", "type": "integer", "$defs": {"text": {"type": "string"}}},
        },
        "components": {"number": {"type": "number"}},
    }));
    schema
        .check(&json!({
            "pointer": 1, "escaped": 1, "anchor": 1, "absolute": 1, "embedded": 1, "inside": "x",
            "unknown": 1.5,
        }))
        .expect("matches");
    for (name, wrong) in [
        ("pointer", json!("x")),
        ("escaped", json!("x")),
        ("anchor", json!("x")),
        ("absolute", json!("x")),
        ("embedded", json!("x")),
        ("inside", json!(1)),
        ("unknown", json!("x")),
    ] {
        schema.check(&json!({ name: wrong })).expect_err(name);
    }
}

#[test]
fn references_that_only_lead_to_themselves_are_refused() {
    for raw in [
        json!({"$ref": "#"}),
        json!({"$ref": ""}),
        json!({"$dynamicRef": "#"}),
        json!({"$dynamicAnchor": "x", "$dynamicRef": "#x"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"properties": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/properties/a"}]}}}),
        json!({"not": {"if": {"$ref": "#"}}}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"}),
    ] {
        let rejected = Schema::for_arguments(raw.clone()).expect_err("is refused");
        assert_eq!(rejected.reason, RejectedReason::ReferenceLoop, "{raw}");
    }
}

#[test]
fn schemas_that_contain_themselves_through_properties_or_items_are_usable() {
    let tree = usable(json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }},
    }));
    let mut value = json!({"name": "leaf"});
    for _ in 0..25 {
        value = json!({"name": "x", "children": [value]});
    }
    tree.check(&value).expect("matches");
    let wrong = json!({"name": "x", "children": [{"name": "y", "children": [{}]}]});
    insta::assert_snapshot!(
        tree.check(&wrong).expect_err("a name is missing"),
        @"/children/0/children/0: expected required property `name`, found an empty object"
    );
    usable(json!({
        "$dynamicAnchor": "node",
        "properties": {"next": {"$dynamicRef": "#node"}, "all": {"items": {"$ref": "#"}}},
    }))
    .check(&json!({"next": {"next": {"all": [{}, {"next": {}}]}}}))
    .expect("matches");
}

#[test]
fn a_schema_that_doubles_at_each_step_is_refused_quickly_once_it_is_too_large() {
    let doubling = |steps: usize| {
        let mut definitions = serde_json::Map::new();
        definitions.insert("d0".to_owned(), json!({"type": "object"}));
        for step in 1..=steps {
            let reference = json!({"$ref": format!("#/$defs/d{}", step - 1)});
            definitions.insert(format!("d{step}"), json!({"allOf": [reference, reference]}));
        }
        json!({"$ref": format!("#/$defs/d{steps}"), "$defs": definitions})
    };
    usable(doubling(10)).check(&json!({})).expect("matches");
    for steps in [20, 24, 31, 60] {
        let start = Instant::now();
        let rejected = Schema::for_arguments(doubling(steps)).expect_err("is refused");
        let RejectedReason::TooLarge { limit, .. } = rejected.reason else {
            panic!("{rejected}")
        };
        assert_eq!(limit, "expanded_size");
        // A generous bound: following the references would take 2^20 steps and more.
        assert!(
            start.elapsed() < Duration::from_millis(500),
            "{steps} steps"
        );
    }
}

#[test]
fn long_chains_of_references_are_refused() {
    let chain = |length: usize| {
        let definitions: serde_json::Map<String, Value> = (0..length)
            .map(|at| {
                (
                    format!("d{at}"),
                    json!({"$ref": format!("#/$defs/d{}", at + 1)}),
                )
            })
            .chain([(format!("d{length}"), json!({"type": "object"}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    usable(chain(63)).check(&json!({})).expect("matches");
    assert!(refusal(chain(64)).contains("limit `reference_hops` of 64"));
}

#[test]
fn deep_schemas_are_refused_and_do_no_harm() {
    usable(nested(32));
    assert!(refusal(nested(33)).contains("limit `depth` of 32"));
    for levels in [200, 5_000, 100_000] {
        assert!(refusal(nested(levels)).contains("limit `json_depth` of 80"));
        let list = || (0..levels).fold(json!([]), |inner, _| Value::Array(vec![inner]));
        assert!(refusal(wrapped("default", list())).contains("limit `json_depth` of 80"));
        assert!(refusal(list()).contains("a schema must be an object or a boolean"));
    }
}

#[test]
fn bad_patterns_are_refused() {
    let with = |pattern: &str| json!({"properties": {"a": {"pattern": pattern}}});
    insta::assert_snapshot!(
        refusal(with("[")),
        @r#"pattern "[" is not a usable regular expression (at /properties/a/pattern)"#
    );
    assert!(refusal(with("(a{1000}){1000}")).contains("not a usable regular expression"));
    assert!(refusal(with(&"a".repeat(1_025))).contains("limit `pattern_chars` of 1024"));
    assert!(refusal(with(&"a".repeat(1_000_000))).contains("exceeds the limit"));
    let name = json!({"patternProperties": {"a".repeat(1_025): {}}});
    assert!(refusal(name).contains("limit `pattern_chars` of 1024"));
    usable(with("^(?=a)a+$"));
}

#[test]
fn long_lists_are_refused() {
    let numbers = |length: usize| (0..length).collect::<Vec<_>>();
    let names = |length: usize| (0..length).map(|n| format!("p{n}")).collect::<Vec<_>>();
    let properties = |length: usize| {
        let map: serde_json::Map<_, _> = names(length)
            .into_iter()
            .map(|name| (name, json!({})))
            .collect();
        Value::Object(map)
    };
    usable(json!({"properties": {"a": {"enum": numbers(1_000)}}, "required": names(1_000)}));
    let refused = |raw, limit: &str| {
        let message = refusal(raw);
        assert!(message.contains(limit), "{message}");
    };
    refused(
        json!({"properties": {"a": {"enum": numbers(1_001)}}}),
        "`enum_values` of 1000",
    );
    refused(json!({"required": names(1_001)}), "`required` of 1000");
    refused(
        json!({"properties": properties(5_001)}),
        "`properties` of 5000",
    );
    refused(json!({"$defs": properties(5_001)}), "`properties` of 5000");
    let many = json!({"$defs": properties(4_000), "definitions": properties(4_000),
        "properties": properties(4_000)});
    refused(many, "`subschemas` of 10000");
    for huge in [
        json!({"enum": numbers(1_000_000)}),
        json!({"required": names(100_000)}),
        json!({"properties": properties(100_000)}),
        json!({"description": "x".repeat(5_000_000)}),
    ] {
        refused(huge, "`bytes` of 262144");
    }
}

#[test]
fn the_root_of_arguments_must_allow_an_object() {
    insta::assert_snapshot!(refusal(json!(null)), @"a schema must be an object or a boolean, this is null");
    insta::assert_snapshot!(refusal(json!([])), @"a schema must be an object or a boolean, this is an array");
    insta::assert_snapshot!(refusal(json!("object")), @"a schema must be an object or a boolean, this is a string");
    insta::assert_snapshot!(
        refusal(json!({"type": "array"})),
        @r#"arguments are an object, but the schema allows only "array" (at /type)"#
    );
    insta::assert_snapshot!(
        refusal(json!({"type": ["array", "null"]})),
        @r#"arguments are an object, but the schema allows only "array" or "null" (at /type)"#
    );
    insta::assert_snapshot!(refusal(json!(false)), @"arguments are an object, but the schema allows only nothing");
    insta::assert_snapshot!(
        Schema::for_arguments(None).expect_err("is missing").to_string(),
        @"the schema is missing"
    );
}

#[test]
fn a_root_that_says_nothing_means_an_object_with_anything_and_gets_a_note() {
    for raw in [json!(true), json!({})] {
        let schema = usable(raw);
        schema
            .check(&json!({"any": [1, {"thing": null}]}))
            .expect("matches");
        schema
            .check(&json!([]))
            .expect_err("arguments are an object");
        assert_eq!(schema.notes().collect::<Vec<_>>(), [&SchemaNote::AnyObject]);
    }
}

#[test]
fn types_of_the_root_may_be_a_list_but_must_exist() {
    let schema = usable(json!({"type": ["object", "null"]}));
    schema.check(&json!({})).expect("matches");
    insta::assert_snapshot!(
        schema.check(&json!(null)).expect_err("arguments are an object"),
        @"expected an object with the arguments, found null"
    );
    insta::assert_snapshot!(refusal(json!({"type": "objekt"})), @r#""objekt" is not a type (at /type)"#);
    insta::assert_snapshot!(refusal(json!({"type": ["object", 5]})), @"a number is not a type (at /type)");
    insta::assert_snapshot!(
        refusal(json!({"properties": {"a": {"type": "strin"}}})),
        @r#"expected one of "array", "boolean", "integer", "null", "number", "object", "string" or an array, found the string "strin" (at /properties/a/type)"#
    );
}

#[test]
fn output_schemas_may_have_any_root() {
    for raw in [
        json!(true),
        json!({"type": "array"}),
        json!({"type": "string"}),
        json!({"enum": [1]}),
    ] {
        Schema::for_output(raw)
            .expect("static checks pass")
            .compile()
            .expect("compiles");
    }
    let list = Schema::for_output(json!({"type": "array", "items": {"type": "integer"}}))
        .expect("static checks pass");
    list.check(&json!([1, 2])).expect("matches");
    insta::assert_snapshot!(
        list.check(&json!([1, "x"])).expect_err("does not match"),
        @r#"/1: expected an integer, found the string "x""#
    );
    Schema::for_output(json!(null)).expect_err("is no schema");
    Schema::for_output(json!({"type": "objekt"})).expect_err("is no type");
}

#[test]
fn any_property_name_is_only_data() {
    let long = "n".repeat(10_000);
    let names = [
        "__proto__",
        "constructor",
        "self",
        "class",
        "model_config",
        "",
        "with spaces",
        "$ref",
        "$id",
        "$schema",
        "type",
        "enum",
        "~/",
        "\u{202e}",
        long.as_str(),
    ];
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "integer"})))
        .collect();
    let schema = usable(json!({"type": "object", "properties": properties}));
    for name in names {
        schema.check(&json!({ name: 1 })).expect("matches");
        let failed = schema
            .check(&json!({ name: {} }))
            .expect_err("does not match")
            .to_string();
        assert!(failed.contains("expected an integer"), "{failed}");
        assert!(failed.chars().count() < 400, "bounded");
        assert!(!failed.contains('\u{202e}'), "escaped");
    }
}

#[test]
fn contradictions_are_accepted_with_a_note() {
    let schema = usable(json!({"properties": {
        "a": {"type": "integer", "default": "x"},
        "b": {"const": 1, "enum": [2, 3]},
        "c": {"type": "integer", "default": null},
    }}));
    let notes: Vec<String> = schema.notes().map(ToString::to_string).collect();
    insta::assert_snapshot!(notes.join("\n"), @r#"
    the default at "/properties/a" breaks its own type; it is not applied
    the const at "/properties/b" is not in the enum beside it
    "#);
    schema
        .check(&json!({}))
        .expect("the default is not applied");
}

#[test]
fn known_dialects_are_honoured_and_unknown_ones_refused() {
    for (uri, dialect) in [
        ("http://json-schema.org/draft-04/schema#", Dialect::Draft4),
        ("https://json-schema.org/draft-04/schema", Dialect::Draft4),
        ("http://json-schema.org/draft-06/schema#", Dialect::Draft6),
        ("http://json-schema.org/draft-07/schema#", Dialect::Draft7),
        ("http://json-schema.org/draft-07/schema", Dialect::Draft7),
        ("https://json-schema.org/draft-07/schema#", Dialect::Draft7),
        (
            "https://json-schema.org/draft/2019-09/schema",
            Dialect::Draft201909,
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            Dialect::Draft202012,
        ),
        (
            "http://json-schema.org/draft/2020-12/schema#",
            Dialect::Draft202012,
        ),
    ] {
        let schema = usable(json!({"$schema": uri, "type": "object"}));
        assert_eq!(schema.dialect(), Ok(dialect), "{uri}");
    }
    insta::assert_snapshot!(
        refusal(json!({"$schema": "https://example.com/mine"})),
        @r#"dialect "https://example.com/mine" is not supported (draft-04, 06, 07, 2019-09 and 2020-12 are) (at /$schema)"#
    );
    assert!(refusal(json!({"$schema": 5})).contains("dialect a number is not supported"));
    let inner = json!({"$id": "a", "$schema": "https://example.com/mine"});
    let message = refusal(json!({"$defs": {"a": inner}, "properties": {"a": {"$ref": "a"}}}));
    assert!(message.ends_with("(at /$defs/a/$schema)"), "{message}");
}

#[test]
fn each_dialect_gives_keywords_its_own_meaning() {
    let draft4 = "http://json-schema.org/draft-04/schema#";
    let exclusive = usable(json!({"$schema": draft4,
        "properties": {"a": {"minimum": 5, "exclusiveMinimum": true}}}));
    exclusive
        .check(&json!({"a": 5}))
        .expect_err("5 is excluded");
    let draft7 = "http://json-schema.org/draft-07/schema#";
    let beside = usable(
        json!({"$schema": draft7, "definitions": {"a": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/definitions/a", "minimum": 5}}}),
    );
    beside
        .check(&json!({"a": 1}))
        .expect("draft-07 ignores what stands beside a reference");
    let newest = usable(json!({"$defs": {"a": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/$defs/a", "minimum": 5}}}));
    newest
        .check(&json!({"a": 1}))
        .expect_err("2020-12 does not");
}

#[test]
fn an_undeclared_older_dialect_is_recognised_where_2020_12_would_refuse() {
    let tuple = usable(json!({"properties": {"a": {"items": [{"type": "integer"}]}}}));
    assert_eq!(tuple.dialect(), Ok(Dialect::Draft7));
    tuple
        .check(&json!({"a": ["x"]}))
        .expect_err("the first item is no integer");
    let exclusive = usable(json!({"properties": {"a": {"minimum": 5, "exclusiveMinimum": true}}}));
    assert_eq!(exclusive.dialect(), Ok(Dialect::Draft4));
    assert_eq!(
        usable(json!({"type": "object"})).dialect(),
        Ok(Dialect::Draft202012)
    );
}

#[test]
fn keywords_of_other_worlds_pass_through_untouched() {
    let raw = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": ""},
        "odd": {"type": "number", "x-mcp-header": "a\r\nb"},
        "steered": {"type": "string", "description": "\u{1b}[31m \u{202e} <IMPORTANT>obey</IMPORTANT>"},
    }, "x-anything": {"$ref": "http://127.0.0.1:1/not-a-reference-here"}});
    let schema = usable(raw.clone());
    assert_eq!(schema.raw(), &raw);
    schema
        .check(&json!({"region": "x", "odd": 1, "steered": ""}))
        .expect("matches");
}

#[test]
fn the_raw_json_keeps_its_order_and_decides_the_hash() {
    let text = r#"{"type":"object","properties":{"z":{},"a":{}},"required":["z"]}"#;
    let schema = Schema::for_arguments(serde_json::from_str::<Value>(text).expect("JSON"))
        .expect("static checks pass");
    assert_eq!(schema.raw().to_string(), text);
    insta::assert_snapshot!(schema.hash(), @"1a5973a25c6a7031764d11e8a785151d711bc98b6cd80c8eb92531539f7e3553");
    let other = r#"{"type":"object","properties":{"a":{},"z":{}},"required":["z"]}"#;
    let other = Schema::for_arguments(serde_json::from_str::<Value>(other).expect("JSON"))
        .expect("static checks pass");
    assert_ne!(schema.hash(), other.hash());
}

#[test]
fn schemas_with_the_same_bytes_share_one_validator() {
    let raw = json!({"type": "object", "properties": {"shared": {"type": "integer"}}});
    let first = usable(raw.clone());
    let again = Schema::for_arguments(raw.clone()).expect("static checks pass");
    let output = Schema::for_output(raw.clone()).expect("static checks pass");
    assert!(first.shares_validator_with(&again));
    assert!(first.shares_validator_with(&output));
    let mut stricter = SchemaLimits::default();
    stricter.value_depth = 1;
    let within = Schema::for_arguments_within(raw, &stricter).expect("static checks pass");
    assert!(
        !first.shares_validator_with(&within),
        "other limits give other answers"
    );
    within
        .check(&json!({"a": [1]}))
        .expect_err("nested too deeply");
}

#[test]
fn schemas_compiled_by_many_threads_at_once_are_compiled_the_same() {
    let raw = json!({"type": "object", "properties": {"threads": {"type": "integer"}}});
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let schema = Schema::for_arguments(raw.clone()).expect("static checks pass");
                barrier.wait();
                schema.check(&json!({"threads": 1})).expect("matches");
                schema
                    .check(&json!({"threads": "x"}))
                    .expect_err("does not match");
            });
        }
    });
}
