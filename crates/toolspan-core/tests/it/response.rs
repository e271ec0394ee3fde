//! How does a tool take a response beside its own arguments, and what may a response schema say?

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolspan_core::registry::{Registration, ToolRegistry, ToolSpec};
use toolspan_core::tool::{
    Action, ClientToolSpec, ClientTools, ConversationState, NoParams, ResponseSchema, ToolFailure,
    native, tool_fn,
};
use toolspan_core::{
    CallRequest, Error, ErrorKind, Observation, RegisteredTool, Result, ToolDefinition, ToolboxTool,
};

use crate::support::{answer, definition, echo, tool_of};

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Finish {
    /// What to say at the end
    message: String,
}

impl Action for Finish {}

fn finish() -> ToolboxTool {
    let finish = tool_fn("finish", "Ends the run", |finish: Finish| async move {
        Ok::<_, ToolFailure>(finish.message)
    });
    native(finish).expect("a usable schema")
}

fn verdict() -> Value {
    json!({
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$", "minLength": 3},
            "where": {"$ref": "#/$defs/Place"},
        },
        "required": ["score"],
        "additionalProperties": false,
        "$defs": {"Place": {
            "type": "object",
            "properties": {"file": {"type": "string"}},
            "additionalProperties": false,
        }},
    })
}

fn extended(tool: ToolboxTool) -> ToolboxTool {
    ResponseSchema::new(verdict())
        .and_then(|response| response.extend(tool))
        .expect("they go together")
}

#[tokio::test]
async fn the_tool_gets_its_own_arguments_and_the_observation_the_response() {
    let arguments = json!({"score": 4, "message": "Done", "where": {"file": "a"}});
    let seen = answer(&extended(finish()), arguments.clone())
        .await
        .unwrap();
    assert_eq!(seen.text(), "Done");
    assert_eq!(
        seen.response,
        Some(json!({"score": 4, "where": {"file": "a"}}))
    );
    let open = ToolboxTool::new(
        Arc::new(definition("open", json!({}))),
        echo("open").executor,
    );
    let seen = answer(&extended(open), json!({"x": [1], "score": 1}))
        .await
        .unwrap();
    assert_eq!(seen.text(), r#"{"x":[1]}"#);
}

#[tokio::test]
async fn its_constraints_hold_and_a_model_sees_all_of_them() {
    let tool = extended(finish());
    insta::assert_snapshot!(format!("{:#}", tool.definition.input.raw()));
    for wrong in [
        json!({"message": "Done"}),
        json!({"message": "Done", "score": 6}),
        json!({"message": "Done", "score": 1, "code": "abc"}),
        json!({"message": "Done", "score": 1, "where": {"file": "a", "line": 5}}),
        json!({"message": "Done", "score": 1, "more": true}),
        json!({"score": 1}),
    ] {
        let error = answer(&tool, wrong.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{wrong}");
    }
}

#[tokio::test]
async fn a_tool_of_the_client_or_of_a_server_takes_one_too() {
    let (tools, calls) = ClientTools::new();
    let tool = tools.declare(ClientToolSpec::new("report", "", json!({"type": "object"})));
    let tool = extended(tool.unwrap());
    let client = async {
        let call = calls.next().await.unwrap();
        assert_eq!(
            Value::Object(call.arguments().clone()),
            json!({"to": "ada"})
        );
        call.answer(Observation::error_of("nobody is there"))
    };
    let (seen, _) = tokio::join!(answer(&tool, json!({"to": "ada", "score": 2})), client);
    let seen = seen.unwrap();
    assert!(seen.is_error);
    assert_eq!(seen.response, Some(json!({"score": 2})));
}

#[test]
fn a_schema_comes_from_a_type_too() {
    #[derive(Serialize, JsonSchema)]
    struct Place {
        file: String,
    }
    #[derive(Serialize, JsonSchema)]
    struct Verdict {
        score: u8,
        place: Option<Place>,
    }
    let response = ResponseSchema::of::<Verdict>().unwrap();
    let given = json!({"score": 5, "place": {"file": "a"}, "message": "x"});
    let verdict = Verdict {
        score: 5,
        place: Some(Place {
            file: "a".to_owned(),
        }),
    };
    assert_eq!(
        response.parse(&given).unwrap(),
        serde_json::to_value(verdict).unwrap()
    );
}

#[test]
fn what_no_response_may_say_is_refused_with_the_reason() {
    let plain = |properties: Value| json!({"type": "object", "properties": properties});
    let with = |keyword: &str, value: Value| {
        let mut schema = plain(json!({"a": {"type": "string"}}));
        schema[keyword] = value;
        schema
    };
    let refused: Vec<String> = [
        json!("text"),
        json!({"type": "string"}),
        plain(json!({})),
        json!({"type": "object"}),
        plain(json!({"kind": {}})),
        plain(json!({"security_risk": {}})),
        plain(json!({"structured_output": {}})),
        plain(json!({"summary": {}})),
        plain(json!({"a": {"type": "text"}})),
        with("oneOf", json!([{"required": ["a"]}])),
        with("dependentRequired", json!({"a": ["b"]})),
        with("patternProperties", json!({"^x": {}})),
        with("additionalProperties", json!(true)),
        with("additionalProperties", json!({"type": "string"})),
        with("required", json!(["a", "b"])),
        plain(json!({"a": {"$ref": "#"}})),
        plain(json!({"a": {"$anchor": "here"}})),
    ]
    .into_iter()
    .map(|schema| {
        let error = ResponseSchema::new(schema).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::SchemaRejected);
        error.to_string()
    })
    .collect();
    insta::assert_snapshot!(refused.join("\n"));
}

#[test]
fn a_property_or_a_value_that_is_called_like_a_keyword_is_no_reference() {
    let schema = json!({
        "type": "object",
        "properties": {
            "$ref": {"type": "string"},
            "$id": {"const": {"$ref": "elsewhere", "$anchor": "x"}},
        },
    });
    assert!(ResponseSchema::new(schema).is_ok());
}

#[test]
fn what_does_not_go_with_the_tool_is_refused_with_the_reason() {
    let response = ResponseSchema::new(verdict()).unwrap();
    let of = |schema| {
        let tool = definition("tool", schema);
        response.extend(ToolboxTool::new(Arc::new(tool), echo("tool").executor))
    };
    let said = |result: Result<ToolboxTool>| {
        let error: Error = result.expect_err("refused");
        format!("{}: {error}", error.tool().unwrap_or_default())
    };
    let refused = [
        said(of(json!({"type": "object", "properties": {"score": {}}}))),
        said(of(
            json!({"type": "object", "$defs": {"Place": {"type": "string"}}}),
        )),
        said(of(
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}),
        )),
        said(of(
            json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        )),
        said(of(json!({"type": "object", "maxProperties": 2}))),
        said(response.extend(extended(finish()))),
    ];
    insta::assert_snapshot!(refused.join("\n"));
    // An equal definition is one.
    let place = verdict()["$defs"].clone();
    assert!(of(json!({"type": "object", "$defs": place})).is_ok());
}

#[test]
fn the_tool_that_was_extended_stays_as_it_was() {
    let tool = finish();
    let before = (*tool.definition).clone();
    let one = extended(tool.clone());
    let other =
        ResponseSchema::new(json!({"type": "object", "properties": {"other": {}}})).unwrap();
    let other = other.extend(tool.clone()).unwrap();
    assert_eq!(*tool.definition, before);
    let names = |tool: &ToolDefinition| {
        let properties = tool.input.raw()["properties"].as_object().cloned();
        properties
            .unwrap_or_default()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&one.definition),
        ["message", "score", "code", "where"]
    );
    assert_eq!(names(&other.definition), ["message", "other"]);
}

fn registry() -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    registry
        .register(Registration::instance(finish()))
        .expect("free");
    let set = |_: NoParams, _: &ConversationState| Ok(vec![echo("a"), echo("b")]);
    registry
        .register(Registration::factory("set", set))
        .expect("free");
    registry
}

#[test]
fn a_spec_asks_for_it_for_an_instance_too_and_for_one_tool_only() {
    let resolve = |name: &str, schema: Value| {
        let params = json!({"response_schema": schema}).as_object().cloned();
        let spec = ToolSpec::new(name, params.unwrap_or_default());
        registry().resolve(&spec, &ConversationState::none())
    };
    let tools = resolve("finish", verdict()).unwrap();
    assert!(tools[0].definition.response.is_some());
    let tools = resolve("finish", Value::Null).unwrap();
    assert!(tools[0].definition.response.is_none());
    let error = resolve("set", verdict()).unwrap_err();
    assert_eq!(
        error.message(),
        "it makes several tools, and a response schema is for one"
    );
    let error = resolve("finish", json!({"type": "object"})).unwrap_err();
    assert_eq!(
        (error.kind(), error.tool()),
        (ErrorKind::SchemaRejected, Some("finish"))
    );
}

fn registered(tool: &ToolboxTool) -> RegisteredTool {
    tool_of((*tool.definition).clone(), Arc::clone(&tool.executor))
}

#[test]
fn the_last_call_of_the_tool_has_the_response() {
    let tool = registered(&extended(finish()));
    let call =
        |name: &str, score: i64| CallRequest::new(name, json!({"message": "x", "score": score}));
    let calls = [call("finish", 1), call("box__finish", 2), call("other", 3)];
    let last = tool.parse_last_response(&calls).unwrap();
    assert_eq!(last.unwrap(), json!({"score": 2}));
    assert!(tool.parse_last_response(&calls[2..]).is_none());
    // A wrong response is not passed over for an older one.
    let wrong = [call("finish", 1), call("finish", 9)];
    let error = tool.parse_last_response(&wrong).unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.tool()),
        (ErrorKind::InvalidArguments, Some("box__finish"))
    );
    assert_eq!(error.violations().len(), 1);
    assert!(registered(&finish()).parse_last_response(&calls).is_none());
}
