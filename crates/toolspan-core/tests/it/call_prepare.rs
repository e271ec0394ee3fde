//! What becomes of a model's call before it may run?

use serde_json::{Value, json};
use toolspan_core::call::keys::api_keys;
use toolspan_core::guard::Limits;
use toolspan_core::{
    CallRequest, Error, ErrorKind, Injection, Preparing, RegisteredTool, Result, ValidCall,
};

use crate::support;

const BOTH: Preparing = Preparing::of_model(Injection::new(true, true));

fn tool(schema: Value) -> RegisteredTool {
    support::tool_of(
        support::definition("work", schema),
        support::echo("x").executor,
    )
}

fn prepare(schema: Value, arguments: Value, preparing: &Preparing) -> Result<ValidCall> {
    let request = CallRequest::new("work", arguments);
    request.prepare(&tool(schema), &Limits::default(), preparing)
}

/// A call of a model with this arguments text, as OpenAI's API gives it.
fn asked(text: &str) -> Result<CallRequest> {
    let function = json!({"name": "work", "arguments": text});
    CallRequest::from_model(&json!({"id": "c1", "type": "function", "function": function}))
}

fn notes(call: &ValidCall) -> Vec<String> {
    call.repairs().iter().map(ToString::to_string).collect()
}

fn shell() -> Value {
    json!({
        "type": "object",
        "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
        "required": ["command"],
        "additionalProperties": false,
    })
}

#[test]
fn injected_fields_are_taken_out_before_the_arguments_are_checked() {
    let given = json!({"security_risk": "LOW", "command": "ls", "summary": "Lists\n the files"});
    let call = prepare(shell(), given.clone(), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), r#"{"command":"ls"}"#);
    assert_eq!(call.risk_word(), Some("LOW"));
    assert_eq!(call.model_summary(), Some("Lists the files"));
    assert!(call.repairs().is_empty());
    // A field that the host does not inject is an argument like any other.
    let risk = Preparing::of_model(Injection::new(true, false));
    let error = prepare(shell(), given, &risk).unwrap_err();
    assert!(error.message().contains("no property `summary`"), "{error}");
    assert!(!error.message().contains("security_risk"), "{error}");
}

#[test]
fn injected_fields_that_are_absent_or_no_text_are_no_reason_to_refuse() {
    for given in [
        json!({"command": "ls"}),
        json!({"command": "ls", "security_risk": null, "summary": ""}),
        json!({"command": "ls", "security_risk": 3, "summary": ["a"]}),
    ] {
        let call = prepare(shell(), given, &BOTH).unwrap();
        assert_eq!((call.risk_word(), call.model_summary()), (None, None));
        assert_eq!(call.arguments_text(), r#"{"command":"ls"}"#);
    }
    // Which words there are is for the policy to know.
    let odd = json!({"command": "ls", "security_risk": " rather low "});
    assert_eq!(
        prepare(shell(), odd, &BOTH).unwrap().risk_word(),
        Some("rather low")
    );
    let long =
        json!({"command": "ls", "security_risk": "x".repeat(1_000), "summary": "y".repeat(1_000)});
    let call = prepare(shell(), long, &BOTH).unwrap();
    assert_eq!(call.risk_word().unwrap().chars().count(), 41);
    assert_eq!(call.model_summary().unwrap().chars().count(), 301);
}

/// OpenHands issue 2624: a tracker's `summary` was taken for the host's.
#[test]
fn a_tools_own_summary_and_security_risk_stay_in_the_arguments() {
    let tracker = json!({
        "properties": {"summary": {"type": "string"}, "security_risk": {"type": "integer"}},
        "required": ["summary"],
    });
    let given = json!({
        "toolspan_security_risk": "HIGH", "summary": "Crash at start", "security_risk": 3,
        "toolspan_summary": "Files a bug",
    });
    let call = prepare(tracker.clone(), given, &BOTH).unwrap();
    assert_eq!(
        call.arguments_text(),
        r#"{"summary":"Crash at start","security_risk":3}"#
    );
    assert_eq!(call.risk_word(), Some("HIGH"));
    assert_eq!(call.model_summary(), Some("Files a bug"));
    let call = prepare(tracker, json!({"summary": "a", "security_risk": 1}), &BOTH).unwrap();
    assert_eq!((call.risk_word(), call.model_summary()), (None, None));
}

#[test]
fn a_misspelled_security_risk_is_meant_unless_the_tool_has_such_a_property() {
    for name in [
        "security_rort",
        "securtiy_risk",
        "security_riks",
        "secuity_risk",
    ] {
        let given = json!({name: "low", "command": "ls"});
        let call = prepare(shell(), given.clone(), &BOTH).unwrap();
        assert_eq!(call.risk_word(), Some("low"));
        assert_eq!(call.arguments_text(), r#"{"command":"ls"}"#);
        assert_eq!(notes(&call), [format!("/{name}: read as `security_risk`")]);
        let own = json!({"properties": {name: {"type": "string"}}});
        let call = prepare(own, given.clone(), &BOTH).unwrap();
        assert_eq!((call.risk_word(), call.arguments().len()), (None, 2));
        let own = json!({"properties": {"security_risk": {"type": "string"}}});
        let call = prepare(own, given, &BOTH).unwrap();
        assert_eq!((call.risk_word(), call.arguments().len()), (None, 2));
    }
    // Another field, or no word of a risk.
    let open = json!({"type": "object"});
    for given in [json!({"section": "low"}), json!({"security_riks": "a lot"})] {
        let call = prepare(open.clone(), given, &BOTH).unwrap();
        assert_eq!((call.risk_word(), call.arguments().len()), (None, 1));
    }
}

#[test]
fn arguments_inside_a_wrapping_are_taken_out_with_the_injected_fields_in_them() {
    for wrapper in ["arguments", "input", "args", "parameters"] {
        let given = json!({wrapper: {"command": "ls", "security_risk": "LOW"}});
        let call = prepare(shell(), given, &BOTH).unwrap();
        assert_eq!(call.arguments_text(), r#"{"command":"ls"}"#);
        assert_eq!(call.risk_word(), Some("LOW"));
        assert_eq!(
            notes(&call),
            [format!("the arguments inside `{wrapper}` were taken")]
        );
    }
    let beside =
        json!({"security_risk": "HIGH", "arguments": "{\"command\": \"ls\", \"timeout\": \"5\"}"});
    let call = prepare(shell(), beside, &BOTH).unwrap();
    assert_eq!(call.arguments_text(), r#"{"command":"ls","timeout":5}"#);
    assert_eq!((call.risk_word(), call.repairs().len()), (Some("HIGH"), 2));
}

#[test]
fn a_tools_own_input_property_is_no_wrapping() {
    let own = json!({
        "properties": {"input": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "required": ["input"],
    });
    let call = prepare(own.clone(), json!({"input": {"n": "5"}}), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), r#"{"input":{"n":5}}"#);
    assert!(prepare(own, json!({"input": "x"}), &BOTH).is_err());
    // An open tool without required properties takes the wrapping as it is: it is valid.
    let open = json!({"properties": {"query": {"type": "string"}}});
    let given = json!({"arguments": {"query": "x"}});
    let call = prepare(open, given.clone(), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), given.to_string());
    // Two members are no wrapping.
    assert!(
        prepare(
            shell(),
            json!({"arguments": {"command": "ls"}, "x": 1}),
            &BOTH
        )
        .is_err()
    );
}

#[test]
fn arguments_that_are_json_text_twice_over_are_read() {
    let call = asked(r#""{\"command\": \"ls\"}""#).unwrap();
    let call = call
        .prepare(&tool(shell()), &Limits::default(), &BOTH)
        .unwrap();
    assert_eq!(call.arguments_text(), r#"{"command":"ls"}"#);
    assert_eq!(notes(&call), ["JSON text read as an object"]);
    assert_eq!(call.id(), Some("c1"));
}

#[test]
fn what_is_no_object_is_refused_in_plain_words() {
    for (text, found) in [
        ("[1]", "an array"),
        ("5", "a number"),
        ("\"ls\"", "a string"),
        ("\"[1]\"", "a string"),
        ("true", "a boolean"),
    ] {
        let call = asked(text).unwrap();
        let error = call
            .prepare(&tool(shell()), &Limits::default(), &BOTH)
            .unwrap_err();
        let message = format!("arguments must be a JSON object, not {found}");
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::InvalidArguments, &*message)
        );
    }
}

#[test]
fn raw_control_characters_and_text_after_the_end_are_forgiven_and_reported() {
    let request = asked("{\"command\": \"cat <<E\n\tx\nE\"}</parameter>").unwrap();
    let call = request
        .prepare(&tool(shell()), &Limits::default(), &BOTH)
        .unwrap();
    assert_eq!(call.arguments()["command"], "cat <<E\n\tx\nE");
    assert_eq!(
        notes(&call),
        [
            "raw control characters in strings taken as they are",
            "text after the arguments left out"
        ]
    );
    for text in [
        "{\"command\": \"l",
        "{\"command\": }",
        "{\"a\": 1} {\"a\": 2}",
        "ls",
        "{'a': 1}",
    ] {
        let error = asked(text).unwrap_err();
        assert!(
            error.message().starts_with("the arguments are not JSON: "),
            "{error}"
        );
        assert_eq!(error.tool(), Some("work"));
    }
}

#[test]
fn no_arguments_at_all_are_an_empty_object() {
    for call in [
        json!({"name": "work", "arguments": ""}),
        json!({"name": "work", "arguments": " \n"}),
        json!({"name": "work", "arguments": "null"}),
        json!({"name": "work", "arguments": null}),
        json!({"name": "work", "input": {}}),
        json!({"name": "work"}),
    ] {
        let request = CallRequest::from_model(&call).unwrap();
        let call = request
            .prepare(&tool(json!(true)), &Limits::default(), &BOTH)
            .unwrap();
        assert_eq!((call.arguments_text(), call.repairs().len()), ("{}", 0));
    }
}

#[test]
fn a_model_can_not_send_more_or_deeper_than_the_limits() {
    let mut limits = Limits::default();
    limits.arguments_bytes = 30;
    let text = |length: usize| json!({"name": "work", "arguments": "x".repeat(length)});
    let error = CallRequest::from_model_within(&text(31), &limits).unwrap_err();
    assert_eq!(
        error.message(),
        "the arguments take 31 bytes, more than limits.arguments_bytes (30)"
    );
    let deep = "[".repeat(100_000);
    let error = asked(&deep).unwrap_err();
    assert!(
        error.message().contains("limits.json_depth (64)"),
        "{error}"
    );
    let mut value = json!({});
    for _ in 0..65 {
        value = json!([value]);
    }
    let error = CallRequest::from_model(&json!({"name": "work", "input": value})).unwrap_err();
    assert!(
        error.message().contains("limits.json_depth (64)"),
        "{error}"
    );
    // Small as text, but over the limit by what it spells.
    let call = CallRequest::new("work", json!({"it": "[[[[1]]]]"}));
    limits.json_depth = 4;
    let lists = tool(json!({"properties": {"it": {"type": "array"}}}));
    assert!(call.prepare(&lists, &limits, &BOTH).is_err());
}

#[test]
fn the_id_of_a_call_is_kept_whatever_the_api_calls_it() {
    for (call, id) in [
        (json!({"id": "c1", "function": {"name": "a"}}), Some("c1")),
        (
            json!({"type": "function_call", "id": "fc1", "call_id": "c1", "name": "a"}),
            Some("c1"),
        ),
        (
            json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}}),
            Some("t1"),
        ),
        (
            json!({"functionCall": {"id": "g1", "name": "a"}}),
            Some("g1"),
        ),
        (json!({"function_call": {"name": "a", "args": {}}}), None),
        (json!({"id": 7, "name": "a"}), Some("7")),
        (json!({"id": "", "name": "a"}), None),
        (json!({"id": "x".repeat(600), "name": "a"}), None),
    ] {
        let request = CallRequest::from_model(&call).unwrap();
        assert_eq!(request.id.as_deref(), id, "{call}");
    }
}

#[test]
fn repair_can_be_turned_off() {
    let off = BOTH.with_repair(false);
    let refused = |error: Error| error.message().to_owned();
    let error = prepare(shell(), json!({"command": "ls", "timeout": "5"}), &off).unwrap_err();
    assert!(refused(error).contains("/timeout: expected an integer"));
    let text = json!("{\"command\": \"ls\"}");
    assert!(prepare(shell(), text, &off).is_err());
    let request = asked("{\"command\": \"ls\"}</x>").unwrap();
    let error = request
        .prepare(&tool(shell()), &Limits::default(), &off)
        .unwrap_err();
    assert_eq!(
        error.message(),
        "the call needs repair, which is off: text after the arguments left out"
    );
    // What the host injected is taken out all the same.
    let given = json!({"command": "ls", "security_risk": "LOW"});
    assert_eq!(
        prepare(shell(), given, &off).unwrap().risk_word(),
        Some("LOW")
    );
}

#[test]
fn a_null_that_a_strict_form_demands_is_dropped_with_repair_off_too() {
    let off = BOTH.with_repair(false);
    let given = json!({"command": "ls", "timeout": null});
    let call = prepare(shell(), given.clone(), &off).unwrap();
    assert_eq!(call.arguments_text(), r#"{"command":"ls"}"#);
    let more = json!({"command": "ls", "timeout": null, "tags": "[]"});
    assert!(prepare(shell(), more, &off).is_err());
    // Whoever is no model was given no such form.
    assert!(prepare(shell(), given, &Preparing::STRICT).is_err());
}

#[test]
fn a_name_that_stands_twice_with_two_values_is_refused() {
    let error = asked(r#"{"command": "ls", "timeout": 5, "command": "rm"}"#).unwrap_err();
    assert!(
        error.message().starts_with(
            "the arguments are not JSON: `command` stands twice, with different values"
        ),
        "{error}"
    );
    let twice = asked(r#"{"command": "ls", "command": "ls"}"#).unwrap();
    assert_eq!(twice.arguments, json!({"command": "ls"}));
    // In text that spells the arguments, too.
    let text = json!(r#"{"command": "ls", "command": "rm"}"#);
    assert!(prepare(shell(), text, &BOTH).is_err());
}

#[test]
fn an_object_that_takes_no_property_is_told_of_each_one_and_of_no_value() {
    let inner = json!({"properties": {"in": {"type": "object", "additionalProperties": false}}});
    for (schema, given, at) in [
        (
            json!({"type": "object", "additionalProperties": false}),
            json!({"size": 1, "password": "hunter2"}),
            "",
        ),
        (
            inner,
            json!({"in": {"size": 1, "password": "hunter2"}}),
            "/in",
        ),
    ] {
        let error = prepare(schema, given, &BOTH).unwrap_err();
        let message = format!(
            "the arguments do not match the tool's schema: 2 problems:\n\
             - {at}/size: expected no property `size`, found a number\n\
             - {at}/password: expected no property `password`, found a string"
        );
        assert_eq!(error.message(), message);
        assert!(!error.to_json().to_string().contains("hunter"));
    }
}

#[test]
fn what_a_tool_takes_is_told_truly_where_it_names_nothing() {
    let hint = |schema: Value, given: Value| {
        let error = prepare(schema, given, &BOTH).unwrap_err();
        error.hint().unwrap().to_owned()
    };
    let closed = json!({"type": "object", "additionalProperties": false});
    assert_eq!(hint(closed, json!({"a": 1})), "it takes no arguments");
    let numbers = json!({"additionalProperties": {"type": "integer"}});
    assert_eq!(
        hint(numbers, json!({"a": "x"})),
        "it takes ([name]: integer)"
    );
    let some = json!({"minProperties": 1});
    assert_eq!(hint(some, json!({})), "it takes arguments of any name");
}

#[test]
fn fifty_thousand_unknown_names_are_answered_at_once() {
    let properties: serde_json::Map<String, Value> = (0..1_000)
        .map(|number| {
            (
                format!("a_rather_long_name_of_a_property_{number}"),
                json!({}),
            )
        })
        .collect();
    let schema = json!({"properties": properties, "additionalProperties": false});
    let members = (0..50_000).map(|number| (format!("a_rather_long_nome{number}"), json!(0)));
    let given = Value::Object(members.collect());
    let start = std::time::Instant::now();
    let error = prepare(schema, given, &BOTH).unwrap_err();
    assert_eq!(error.violations().len(), 100);
    assert!(
        start.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn where_repair_fails_the_arguments_as_given_are_told_of() {
    let given = json!({"command": 5, "timeout": "5", "timeuot": 1});
    let strict = CallRequest::new("work", given.clone())
        .validate(&tool(shell()), &Limits::default())
        .unwrap_err();
    let error = prepare(shell(), given, &BOTH).unwrap_err();
    assert_eq!(error.to_json(), strict.to_json());
    insta::assert_snapshot!(format!("{error}\n{}", error.hint().unwrap()));
}

#[test]
fn many_problems_are_told_in_bounded_lines_and_counted() {
    let names: Vec<String> = (0..130).map(|number| format!("p{number}")).collect();
    let members: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!("x")))
        .collect();
    let numbers = json!({"additionalProperties": {"type": "integer"}});
    let error = prepare(numbers, Value::Object(members), &BOTH).unwrap_err();
    let lines: Vec<&str> = error.message().lines().collect();
    assert_eq!(
        lines[0],
        "the arguments do not match the tool's schema: 130 problems:"
    );
    assert_eq!((lines.len(), lines[21]), (22, "- and 110 more"));
    assert_eq!(error.violations().len(), 100);
}

#[test]
fn values_of_secret_names_are_not_told_to_the_model() {
    let schema = json!({"properties": {
        "api_key": {"type": "integer"}, "headers": {"additionalProperties": {"type": "integer"}},
        "pass": {"type": "integer", "format": "password"}, "size": {"type": "integer"},
    }});
    let given = json!({
        "api_key": "hunter2", "headers": {"Authorization": "hunter3"}, "pass": "hunter4", "size": "big",
    });
    let error = prepare(schema, given, &BOTH).unwrap_err();
    let told = format!("{error} {:?} {}", error.hint(), error.to_json());
    assert!(!told.contains("hunter"), "{told}");
    assert!(
        told.contains("/api_key: expected an integer, found a string (hidden)"),
        "{told}"
    );
    assert!(told.contains("found the string \"big\""), "{told}");
}

#[test]
fn near_names_are_offered_where_none_is_taken_for_the_other() {
    let closed = |property: &str| {
        json!({
            "allOf": [{"$ref": "#/$defs/it"}],
            "$defs": {"it": {"properties": {property: {}}, "additionalProperties": false}},
        })
    };
    let error = prepare(closed("source_ip"), json!({"source_id": 1}), &BOTH).unwrap_err();
    assert!(
        error.message().contains("did you mean `source_ip`?"),
        "{error}"
    );
    let combined = json!({
        "allOf": [{"properties": {"source_ip": {}}}], "unevaluatedProperties": false,
    });
    let error = prepare(combined, json!({"source_id": 1}), &BOTH).unwrap_err();
    assert!(
        error.message().contains("did you mean `source_ip`?"),
        "{error}"
    );
}

#[test]
fn names_that_a_projection_gave_become_the_tools_own() {
    let odd = json!({
        "properties": {
            "$filter": {"type": "string"},
            "rows": {"items": {"properties": {"page-size": {"type": "integer"}, "page_size": {}}}},
            "map": {"additionalProperties": {"$ref": "#/$defs/it"}},
        },
        "$defs": {"it": {"properties": {"a b": {}}}},
    });
    let names = api_keys(["$filter", "rows", "page-size", "page_size", "map", "a b"]);
    let size = &names["page-size"];
    let given = json!({
        "_filter": "x", "rows": [{size: 5}, {"page_size": 6}], "map": {"m": {"a_b": 1}}, "a_b": 2,
    });
    let expected = json!({
        "$filter": "x", "rows": [{"page-size": 5}, {"page_size": 6}], "map": {"m": {"a b": 1}}, "a_b": 2,
    });
    let call = prepare(odd.clone(), given.clone(), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), expected.to_string());
    assert!(call.repairs().is_empty());
    // Names that are the tool's own already stay, and so do both where both are given.
    let call = prepare(odd.clone(), expected.clone(), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), expected.to_string());
    let both = json!({"$filter": "x", "_filter": "y"});
    let call = prepare(odd.clone(), both.clone(), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), both.to_string());
    // A caller who read no projection means what is written.
    let call = prepare(odd.clone(), given.clone(), &Preparing::default()).unwrap();
    assert_eq!(call.arguments_text(), given.to_string());
}

#[test]
fn names_inside_json_text_become_the_tools_own_too() {
    let odd = json!({"properties": {"it": {"type": "object", "properties": {"a b": {"type": "integer"}}}}});
    let call = prepare(odd, json!({"it": "{\"a_b\": 5}"}), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), r#"{"it":{"a b":5}}"#);
}

#[test]
fn what_a_model_writes_behind_a_name_is_cut_where_the_name_is_known() {
    let known = |name: &str| ["str_replace", "box__now", "git", "a b"].contains(&name);
    for (given, expected) in [
        ("str_replace", "str_replace"),
        ("str_replace </parameter", "str_replace"),
        ("str_replace<|channel|>commentary", "str_replace"),
        ("box__now\n", "box__now"),
        (" box__now", "box__now"),
        ("box__now({\"a\": 1})", "box__now"),
        ("box__now\":", "box__now"),
        // A registered name wins, however it is written.
        ("a b", "a b"),
    ] {
        let request = CallRequest::new(given, Value::Null).with_plain_name(known);
        assert_eq!(request.tool, expected, "{given}");
        assert_eq!(request.repairs.is_empty(), given == expected, "{given}");
    }
}

#[test]
fn a_command_line_as_a_name_is_refused() {
    let known = |name: &str| ["cat", "ls", "git", "str_replace"].contains(&name);
    for given in [
        "cat /etc/passwd",
        "cat </etc/passwd",
        "ls; echo pwned",
        "ls -l",
        "ls && rm x",
        "git log | sh",
        "git 'log'; x",
        "ls > out",
        "find . -name x",
        "pwd",
        "",
        "🦀",
    ] {
        let request = CallRequest::new(given, Value::Null).with_plain_name(known);
        assert_eq!((request.tool.as_str(), request.repairs.len()), (given, 0));
    }
}

/// What the dynamic models of others make of arguments: see each case.
/// Sent as it was given, with nothing repaired.
fn goes_as_it_is(schema: Value, given: Value) {
    let call = prepare(schema, given.clone(), &BOTH).expect("valid arguments");
    assert_eq!(call.arguments_text(), given.to_string());
    assert_eq!(call.repairs(), []);
}

#[test]
fn a_required_property_that_may_be_null_takes_null() {
    let nullable = json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]});
    goes_as_it_is(nullable, json!({"a": null}));
}

#[test]
fn an_open_schema_takes_more_properties_than_it_names() {
    let open = json!({"properties": {"a": {}}, "additionalProperties": true});
    goes_as_it_is(open, json!({"a": 1, "more": [1]}));
}

#[test]
fn a_whole_number_where_any_number_is_due_stays_whole() {
    let number = json!({"properties": {"n": {"type": "number"}}});
    goes_as_it_is(number, json!({"n": 5}));
}

#[test]
fn an_argument_may_have_any_name_also_one_that_means_something_to_a_class() {
    let names = [
        "model_dump",
        "model_config",
        "_id",
        "__class__",
        "kind",
        "self",
    ];
    let members = |value: fn(&str) -> Value| -> Value {
        names
            .iter()
            .map(|name| ((*name).to_owned(), value(name)))
            .collect()
    };
    goes_as_it_is(
        json!({"properties": members(|_| json!({"type": "string"}))}),
        members(|name| name.into()),
    );
}

#[test]
fn enums_bounds_patterns_nested_rules_and_alternatives_are_checked() {
    let checked = json!({"properties": {
        "choice": {"enum": ["a"]}, "few": {"maximum": 3}, "word": {"pattern": "^x"},
        "inner": {"required": ["a"]}, "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    }});
    for given in [
        json!({"choice": "b"}),
        json!({"few": 4}),
        json!({"word": "y"}),
        json!({"inner": {}}),
        json!({"either": "x"}),
    ] {
        assert!(
            prepare(checked.clone(), given.clone(), &BOTH).is_err(),
            "{given}"
        );
    }
}

#[test]
fn text_for_a_number_is_reported_as_repaired_and_yes_is_no_boolean() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "flag": {"type": "boolean"}}});
    let call = prepare(schema.clone(), json!({"n": "5"}), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), r#"{"n":5}"#);
    assert_eq!(call.repairs()[0].pointer, "/n");
    assert!(prepare(schema, json!({"flag": "yes"}), &BOTH).is_err());
}

#[test]
fn a_list_that_came_as_json_text_is_read() {
    let lists = json!({"properties": {"l": {"type": "array", "items": {"type": "string"}}}});
    let call = prepare(lists, json!({"l": "[\"a\"]"}), &BOTH).unwrap();
    assert_eq!(call.arguments_text(), r#"{"l":["a"]}"#);
}
