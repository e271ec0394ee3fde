//! Schemas with what is rare in the recorded lists, for the tests of the forms of model APIs.

use std::sync::Arc;

use serde_json::{Value, json};
use toolspan_core::schema::Schema;
use toolspan_core::{Snapshot, ToolDefinition, ToolboxTool};

use crate::support::{Echo, source};

/// Names and schemas.
pub(crate) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("nothing", json!({})),
        ("bare", json!({"type": "object"})),
        (
            "root_union",
            json!({"type": "object", "anyOf": [
                {"properties": {"id": {"type": "integer"}, "all": {"type": "boolean"}}, "required": ["id", "all"]},
                {"properties": {"name": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["name", "all"]},
            ]}),
        ),
        (
            "root_parts",
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "allOf": [
                {"properties": {"b": {"type": "integer", "minimum": 1}}, "required": ["b"]},
                {"properties": {"b": {"maximum": 9}}},
            ]}),
        ),
        (
            "root_reference",
            json!({"$ref": "#/$defs/Input", "$defs": {"Input": {
                "type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"],
            }}}),
        ),
        (
            "tree",
            json!({"type": "object", "required": ["tree"], "properties": {"tree": {"$ref": "#/$defs/Tree"}}, "$defs": {
                "Tree": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"},
                    "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                }},
            }}),
        ),
        (
            "itself",
            json!({"type": "object", "properties": {"next": {"$ref": "#"}, "value": {"type": "integer"}}}),
        ),
        (
            "draft_4",
            json!({
                "$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
                "properties": {
                    "part": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                    "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
                    "item": {"$ref": "#/definitions/Item", "description": "An item.", "minLength": 99},
                },
                "definitions": {"Item": {"type": "string", "maxLength": 5}},
            }),
        ),
        (
            "draft_7",
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
                "dependencies": {"to": ["from"]},
            }),
        ),
        (
            "named_as_keywords",
            json!({"type": "object", "required": ["definitions", "$ref"], "properties": {
                "definitions": {"type": "object", "properties": {"items": {"type": "string"}}, "additionalProperties": false},
                "$ref": {"type": "string"}, "type": {"enum": ["a", "b"]}, "$defs": {"type": "integer"},
                "properties": {"type": "array", "items": {"type": "string"}},
            }}),
        ),
        (
            "elsewhere",
            json!({"type": "object", "properties": {
            "from": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": false},
            "to": {"$ref": "#/properties/from"}, "via": {"$ref": "#place"},
        }, "$defs": {"Place~1Name": {"$anchor": "place", "type": "string", "minLength": 2}}}),
        ),
        (
            "odd_keys",
            json!({"type": "object", "required": ["$filter"], "properties": {
                "$filter": {"type": "string"}, "page size": {"type": "integer"}, "a.b": {"type": "string"}, "2fa": {"type": "boolean"},
                "nested": {"type": "object", "properties": {"@type": {"type": "string"}}, "required": ["@type"], "additionalProperties": false},
            }}),
        ),
        (
            "mixed",
            json!({"type": "object", "properties": {
                "level": {"enum": ["low", "high", null]}, "number": {"enum": [1, 2, 3]}, "flag": {"const": true},
                "any": {"enum": ["a", 1, null, false]}, "kind": {"const": "fixed"},
            }}),
        ),
        (
            "types",
            json!({"type": "object", "properties": {
                "one": {"type": ["string", "null"]}, "two": {"type": ["integer", "string"]},
                "list": {"type": ["array", "null"], "items": {"type": "string"}, "minItems": 2},
                "text": {"minLength": 2}, "open": true, "never": false, "bare": {"type": "array"},
            }}),
        ),
        (
            "unions",
            json!({"type": "object", "properties": {
            "shape": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"], "additionalProperties": false},
                {"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"], "additionalProperties": false},
            ]},
            "near": {"oneOf": [{"type": "number", "maximum": 5}, {"type": "number", "minimum": 3}]},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": null, "title": "Maybe"},
            "both": {"allOf": [{"$ref": "#/$defs/Point"}, {"properties": {"z": {"type": "number"}}}], "description": "A point."},
            "wrapped": {"allOf": [{"$ref": "#/$defs/Point"}], "description": "A point."},
        }, "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}}),
        ),
        (
            "bounds",
            json!({"type": "object", "properties": {
            "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^(?=a)", "format": "uri"},
            "number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 3, "multipleOf": 0.5, "format": "double"},
            "list": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 2, "maxItems": 3, "contains": {"const": 1}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "propertyNames": {"pattern": "^a"}},
            "not": {"type": "string", "not": {"const": "x"}},
            "when": {"type": "object", "properties": {"a": {"type": "string"}}, "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        }, "minProperties": 1, "not": {"required": ["zzz"]}}),
        ),
        (
            "unknown_required",
            json!({"type": "object", "required": ["ghost"], "properties": {"a": {"type": "object", "required": ["b"]}}}),
        ),
    ]
}

/// The schemas as tools.
pub(crate) fn snapshot() -> Snapshot {
    let tools = schemas()
        .into_iter()
        .map(|(name, schema)| tool(name, schema));
    Snapshot::new(vec![source("odd", tools.collect())])
}

/// A tool with a schema.
pub(crate) fn tool(name: &str, schema: Value) -> ToolboxTool {
    let input = Schema::for_arguments(schema).expect("usable");
    input.compile().expect(name);
    let definition = ToolDefinition::new(name, "Does something.", Arc::new(input));
    ToolboxTool::new(Arc::new(definition), Arc::new(Echo))
}
