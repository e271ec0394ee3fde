//! Does what other tool systems lose of a schema on its way to a model reach it here?

use serde_json::{Value, json};
use toolspan_core::guard::Limits;
use toolspan_core::llm::{Api, Form};
use toolspan_core::{CallRequest, Snapshot};

use crate::llm_odd::tool;
use crate::llm_recorded::{declarations, schema_of};
use crate::support::source;

/// The APIs that take JSON Schema.
const APIS: [Api; 5] = [
    Api::OpenAi,
    Api::Responses,
    Api::Anthropic,
    Api::Gemini,
    Api::Mcp,
];

/// What an API gets of a tool with a schema, and whether it is told that something was changed.
struct Shown {
    api: Api,
    schema: Value,
    is_told: bool,
}

fn shown(raw: &Value) -> Vec<Shown> {
    let snapshot = Snapshot::new(vec![source("box", vec![tool("tool", raw.clone())])]);
    let shown = APIS.map(|api| {
        let projection = snapshot.project(&Form::new(api));
        let declared = declarations(&projection.tools);
        let schema = declared.first().and_then(|tool| schema_of(tool));
        Shown {
            api,
            schema: schema.expect("a tool with a schema").clone(),
            is_told: !projection.losses.is_empty(),
        }
    });
    shown.into()
}

/// What each API gets of a property with this schema.
fn property(raw: &Value) -> Vec<Shown> {
    let whole = json!({"type": "object", "properties": {"p": raw}});
    let property = |shown: Shown| Shown {
        schema: shown
            .schema
            .pointer("/properties/p")
            .expect("a property")
            .clone(),
        ..shown
    };
    shown(&whole).into_iter().map(property).collect()
}

/// Each API gets the property as its author wrote it; where Gemini does not take it so, the change
/// is told.
fn is_kept(raw: Value) {
    for Shown {
        api,
        schema,
        is_told,
    } in property(&raw)
    {
        let may_change = api == Api::Gemini && is_told;
        assert!(schema == raw || may_change, "{api:?} of {raw}: {schema}");
    }
}

#[test]
fn every_branch_of_alternatives_reaches_a_model() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        is_kept(
            json!({keyword: [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}),
        );
    }
}

#[test]
fn constants_defaults_formats_titles_and_examples_reach_a_model() {
    is_kept(json!({"const": "a"}));
    is_kept(json!({
        "type": "string", "format": "date-time", "default": "x", "title": "When", "examples": ["y"],
        "description": "The time",
    }));
}

#[test]
fn bounds_and_patterns_reach_a_model() {
    is_kept(json!({"type": "integer", "minimum": 1, "maximum": 9}));
    is_kept(json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 5}));
    is_kept(
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true}),
    );
}

#[test]
fn what_is_said_of_further_properties_reaches_a_model() {
    is_kept(json!({"type": "object", "additionalProperties": {"type": "integer"}}));
    is_kept(json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}));
}

#[test]
fn the_properties_of_nested_objects_reach_a_model_at_every_depth() {
    let leaf = json!({"type": "string", "description": "The leaf"});
    let mut schema = leaf;
    for _ in 0..4 {
        schema = json!({"type": "object", "required": ["in"], "properties": {"in": schema}});
        schema = json!({"type": "array", "items": schema, "description": "Some"});
    }
    is_kept(schema);
}

#[test]
fn a_list_of_types_with_an_object_keeps_its_properties() {
    is_kept(
        json!({"type": ["object", "null"], "properties": {"a": {"type": "string"}}, "required": ["a"]}),
    );
    is_kept(json!({"type": ["string", "integer"]}));
}

#[test]
fn the_parts_of_a_tuple_reach_a_model() {
    let parts = json!([{"type": "string"}, {"type": "integer"}]);
    let newer = json!({"type": "array", "prefixItems": parts});
    for Shown { api, schema, .. } in property(&newer) {
        assert_eq!(schema["prefixItems"], parts, "{api:?}: {schema}");
    }
    // The older form, a list under `items`, is brought to the newer one where an API wants that.
    let older = json!({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]});
    for Shown { api, schema, .. } in property(&older) {
        let text = schema.to_string();
        assert!(
            text.contains("string") && text.contains("integer"),
            "{api:?}: {text}"
        );
    }
}

#[test]
fn a_reference_to_definitions_reaches_a_model_with_what_it_means() {
    let raw = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object", "properties": {"p": {"$ref": "#/definitions/Item"}},
        "definitions": {"Item": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    });
    for Shown { api, schema, .. } in shown(&raw) {
        let place = schema["properties"]["p"]["$ref"].as_str();
        let item = match place.and_then(|place| place.strip_prefix('#')) {
            Some(pointer) => schema.pointer(pointer),
            None => schema.pointer("/properties/p"),
        };
        let size = item.and_then(|item| item.pointer("/properties/size/type"));
        assert_eq!(size, Some(&json!("integer")), "{api:?}: {schema}");
    }
}

#[test]
fn boolean_schemas_reach_a_model_with_their_meaning() {
    let raw = json!({"type": "object", "properties": {"any": true, "none": false}});
    for Shown {
        api,
        schema,
        is_told,
    } in shown(&raw)
    {
        let meant = |name: &str| &schema["properties"][name];
        let any = [json!(true), json!({})].contains(meant("any"));
        let none = [json!(false), json!({"not": {}})].contains(meant("none"));
        let is_kept = any && none;
        assert!(is_kept || is_told, "{api:?}: {schema}");
        assert!(is_kept || api != Api::Mcp, "{schema}");
    }
}

#[test]
fn a_schema_without_a_type_keeps_its_properties_and_its_tool_can_be_called() {
    let raw = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    for Shown { api, schema, .. } in shown(&raw) {
        assert_eq!(schema["properties"], raw["properties"], "{api:?}");
        assert_eq!(schema["required"], raw["required"], "{api:?}");
    }
    let snapshot = Snapshot::new(vec![source("box", vec![tool("tool", raw)])]);
    let request = CallRequest::new("box__tool", json!({"a": "x"}));
    let call = request.validate(&snapshot.tools()[0], &Limits::default());
    assert_eq!(call.unwrap().arguments_text(), r#"{"a":"x"}"#);
}

#[test]
fn a_property_called_kind_is_a_property_and_no_tool_has_one_that_it_did_not_declare() {
    let raw = json!({"type": "object", "required": ["kind"], "properties": {
        "kind": {"type": "string", "description": "Which kind"},
    }});
    for Shown { api, schema, .. } in shown(&raw) {
        assert_eq!(schema["properties"], raw["properties"], "{api:?}");
        assert_eq!(schema["required"], raw["required"], "{api:?}");
    }
    for Shown { api, schema, .. } in shown(&json!({"type": "object", "properties": {"a": {}}})) {
        assert!(!schema.to_string().contains("kind"), "{api:?}: {schema}");
    }
}
