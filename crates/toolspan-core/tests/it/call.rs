//! From a request, or a model's own call, to checked arguments.

use serde_json::{Value, json};
use toolspan_core::guard::Limits;
use toolspan_core::{CallRequest, ErrorKind, ValidCall};

use crate::support;

fn check(arguments: Value) -> toolspan_core::Result<ValidCall> {
    let schema = json!({
        "type": "object",
        "properties": {
            "zone": {"type": "string"},
            "style": {"type": "object", "properties": {"size": {"enum": ["s", "m"]}}},
        },
        "required": ["zone"],
        "additionalProperties": false,
    });
    let tool = snapshot_tool(schema);
    CallRequest::new("work", arguments).validate(&tool, &Limits::default())
}

fn snapshot_tool(schema: Value) -> toolspan_core::RegisteredTool {
    let executor = support::echo("x").executor;
    support::tool_of(support::definition("work", schema), executor)
}

#[test]
fn arguments_are_serialised_once_and_kept_in_order() {
    let call = check(json!({"zone": "UTC", "style": {"size": "s"}})).unwrap();
    assert_eq!(
        call.arguments_text(),
        r#"{"zone":"UTC","style":{"size":"s"}}"#
    );
    assert_eq!(
        call.summary(),
        r#"box__work(zone: "UTC", style: {"size":"s"})"#
    );
}

#[test]
fn null_means_no_arguments() {
    let tool = snapshot_tool(json!({"type": "object"}));
    let call = CallRequest::new("work", Value::Null)
        .validate(&tool, &Limits::default())
        .unwrap();
    assert_eq!(call.arguments_text(), "{}");
}

#[test]
fn every_problem_of_the_arguments_is_told() {
    let answers: Vec<String> = [
        json!([1]),
        json!("x"),
        json!(5),
        json!({}),
        json!({"zone": 5, "style": {"size": "xl"}, "zonne": 1}),
    ]
    .into_iter()
    .map(|arguments| {
        let error = check(arguments).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert_eq!(
            (error.toolbox(), error.tool()),
            (Some("box"), Some("box__work"))
        );
        format!("{error} ({})", error.hint().unwrap())
    })
    .collect();
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn arguments_over_the_limit_are_refused_and_name_it() {
    let tool = snapshot_tool(json!({"type": "object"}));
    let mut limits = Limits::default();
    limits.arguments_bytes = 20;
    let sized = |length: usize| {
        CallRequest::new("work", json!({"a": "x".repeat(length)})).validate(&tool, &limits)
    };
    assert!(sized(20 - r#"{"a":""}"#.len()).is_ok());
    let error = sized(20 - r#"{"a":""}"#.len() + 1).unwrap_err();
    assert_eq!(
        error.message(),
        "the arguments take 21 bytes, more than limits.arguments_bytes (20)"
    );
}

#[test]
fn values_of_secret_names_stay_out_of_the_summary() {
    let tool = snapshot_tool(json!({"type": "object"}));
    let arguments = json!({"api_key": "hunter2", "text": "a\u{1b}[2Jb"});
    let call = CallRequest::new("work", arguments)
        .validate(&tool, &Limits::default())
        .unwrap();
    assert_eq!(
        call.summary(),
        r#"box__work(api_key: [redacted], text: "a\u001b[2Jb")"#
    );
    assert!(!format!("{call:?}").contains("hunter2"));
    let arguments = json!({"headers": [{"Authorization": "Bearer hunter2", "Accept": "*/*"}]});
    let call = CallRequest::new("work", arguments)
        .validate(&tool, &Limits::default())
        .unwrap();
    assert_eq!(
        call.summary(),
        r#"box__work(headers: [{"Authorization":"[redacted]","Accept":"*/*"}])"#
    );
}

#[test]
fn a_models_call_is_read_in_the_form_of_each_api() {
    for call in [
        json!({"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}}),
        json!({"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{\"a\":1}"}),
        json!({"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}),
        json!({"functionCall": {"name": "add", "args": {"a": 1}}}),
        json!({"name": "add", "args": {"a": 1}}),
        json!({"name": "add", "arguments": {"a": 1}}),
    ] {
        let request = CallRequest::from_model(&call).unwrap();
        let read = (request.tool, request.arguments);
        assert_eq!(read, ("add".to_owned(), json!({"a": 1})), "{call}");
    }
    let empty = json!({"function": {"name": "now", "arguments": ""}});
    assert_eq!(
        CallRequest::from_model(&empty).unwrap().arguments,
        Value::Null
    );
}

#[test]
fn a_models_call_that_cannot_be_read_says_why() {
    let answers: Vec<String> = [
        json!({}),
        json!("add"),
        json!({"name": ""}),
        json!({"function": {"name": "add", "arguments": "{\"a\": "}}),
    ]
    .iter()
    .map(|call| CallRequest::from_model(call).unwrap_err().to_string())
    .collect();
    insta::assert_snapshot!(answers.join("\n"));
}
