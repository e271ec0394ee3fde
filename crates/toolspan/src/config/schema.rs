//! What may stand in a config, as a JSON Schema (2020-12)?

use serde_json::{Map, Value, json};
use toolspan_core::guard::{Limits, Timeouts};

use super::bounds::{LIMITS, LONGEST, TIMEOUTS};

/// The JSON Schema of a config file, for editors and for `config schema`.
///
/// Unknown keys are allowed, as they are when a config is read: they are warned of there.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolspan config",
        "type": ["object", "null"],
        "properties": {
            "$schema": {"type": "string"},
            "mcpServers": {
                "description": "The toolboxes by their keys",
                "type": ["object", "null"],
                "propertyNames": {"minLength": 1, "maxLength": 200, "not": {"const": "native"}},
                "additionalProperties": {"$ref": "#/$defs/server"},
            },
            "tools": {
                "description": "The native tools to add",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/tool"},
            },
            "limits": limits(),
            "timeout": timeout(),
            "timeouts": timeouts(),
            "policy": {"description": "Not supported by this version", "type": "null"},
        },
        "$defs": {"server": server(), "tool": tool(), "patterns": patterns()},
    })
}

fn server() -> Value {
    json!({
        "type": "object",
        "required": ["command"],
        "properties": {
            "command": {
                "description": "The program to start: a name or a path, one word, no variables",
                "type": "string",
                "minLength": 1,
            },
            "args": {
                "description": "Its arguments; ${VAR} and ${VAR:-default} are filled in",
                "type": ["array", "null"],
                "items": {"type": "string"},
            },
            "env": {
                "description": "Variables set for it; ${VAR} and ${VAR:-default} are filled in",
                "type": ["object", "null"],
                "propertyNames": {"pattern": "^[^=]+$"},
                "additionalProperties": {"type": "string"},
            },
            "cwd": {
                "description": "Its directory; a relative one starts from the config's folder",
                "type": ["string", "null"],
                "minLength": 1,
            },
            "inherit_env": inherit_env(),
            "transport": transport(),
            "type": transport(),
            "url": {"description": "Not supported by this version", "type": "null"},
            "required": flag("Whether the host fails when this toolbox does", false),
            "disabled": flag("Whether the toolbox is left out", false),
            "enabled": flag("The opposite of disabled", true),
            "prefix": {
                "description": "What stands before its tools' names in place of the key",
                "type": ["string", "null"],
                "maxLength": 64,
            },
            "timeout": timeout(),
            "timeouts": timeouts(),
            "limits": limits(),
            "max_in_flight": number("integer", "Same as limits.max_in_flight", 1_000_000.0),
            "tools": {
                "description": "Which of its tools are taken, by their own names",
                "anyOf": [
                    {"$ref": "#/$defs/patterns"},
                    {
                        "type": "object",
                        "properties": {
                            "include": {"$ref": "#/$defs/patterns"},
                            "exclude": {"$ref": "#/$defs/patterns"},
                        },
                    },
                ],
            },
        },
    })
}

fn tool() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"description": "The name it is registered under", "type": "string", "minLength": 1},
            "params": {"description": "What it is made with", "type": ["object", "null"]},
        },
    })
}

fn patterns() -> Value {
    json!({
        "description": "Patterns with *, ?, [ab] and {a,b}",
        "type": ["array", "null"],
        "items": {"type": "string", "minLength": 1},
    })
}

fn inherit_env() -> Value {
    json!({
        "description": "Which variables of the environment it gets: a safe few, none, all, or these",
        "default": "safe",
        "anyOf": [
            {"enum": ["safe", "none", "all", null]},
            {"type": "array", "items": {"type": "string", "pattern": "^[^=]+$"}},
        ],
    })
}

fn transport() -> Value {
    json!({"description": "How it is talked to", "enum": ["stdio", null]})
}

fn flag(description: &str, default: bool) -> Value {
    json!({"description": description, "type": ["boolean", "null"], "default": default})
}

/// A positive number. Text is allowed for it too, as it is when a config is read.
fn number(kind: &str, description: &str, largest: f64) -> Value {
    let least = if kind == "integer" {
        ("minimum", 1)
    } else {
        ("exclusiveMinimum", 0)
    };
    let mut schema = json!({
        "description": description,
        "type": [kind, "string", "null"],
        "maximum": largest,
    });
    if let Some(members) = schema.as_object_mut() {
        members.insert(least.0.to_owned(), least.1.into());
    }
    schema
}

fn timeout() -> Value {
    let description = "Sets timeouts.connect and timeouts.total, and raises timeouts.idle to it";
    number("number", description, LONGEST)
}

fn timeouts() -> Value {
    let mut defaults = Timeouts::default();
    let members = TIMEOUTS.iter().map(|key| {
        let mut schema = number("number", key.description, LONGEST);
        set_default(&mut schema, (key.field)(&mut defaults).as_secs().into());
        (key.name.to_owned(), schema)
    });
    object("Times in seconds", members.collect())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the largest limits are far below 2^53"
)]
fn limits() -> Value {
    let mut defaults = Limits::default();
    let members = LIMITS.iter().map(|key| {
        let mut schema = number("integer", key.description, key.largest as f64);
        set_default(&mut schema, (*(key.field)(&mut defaults)).into());
        (key.name.to_owned(), schema)
    });
    object("Sizes and counts", members.collect())
}

fn object(description: &str, properties: Map<String, Value>) -> Value {
    json!({"description": description, "type": ["object", "null"], "properties": properties})
}

fn set_default(schema: &mut Value, default: Value) {
    if let Some(members) = schema.as_object_mut() {
        members.insert("default".to_owned(), default);
    }
}
