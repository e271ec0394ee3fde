//! What may stand in a config, as a JSON Schema (2020-12)?

use serde_json::{Map, Value, json};
use toolspan_core::guard::{Limits, Timeouts};

use super::bounds::{LIMITS, LONGEST, TIMEOUTS};
use super::keys::{self, ADDRESSES, OVER_HTTP, STDIO};
use super::policy;

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
            "mcpServers": servers("The toolboxes by their keys"),
            "servers": servers("The same, as VS Code names it"),
            "mcp": selection(),
            "inputs": {
                "description": "Values that a person gives, for ${input:id}",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/input"},
            },
            "tools": {
                "description": "The native tools to add",
                "type": ["array", "null"],
                "items": {"$ref": "#/$defs/tool"},
            },
            "limits": limits(),
            "timeout": timeout(),
            "timeouts": timeouts(),
            "policy": policy(),
            "repair": flag("Whether arguments that do not match are repaired where it is clear how", true),
        },
        "$defs": {
            "server": server(),
            "input": input(),
            "tool": tool(),
            "patterns": patterns(),
            "shape": shape(),
            "names": names(),
        },
    })
}

fn servers(description: &str) -> Value {
    json!({
        "description": description,
        "type": ["object", "null"],
        "propertyNames": {"minLength": 1, "maxLength": 200, "not": {"const": "native"}},
        "additionalProperties": {"$ref": "#/$defs/server"},
    })
}

/// Not a list is only warned of, but it is a mistake all the same.
fn selection() -> Value {
    let names = |description: &str| {
        json!({
            "description": description,
            "type": ["array", "null"],
            "items": {"type": "string"},
        })
    };
    json!({
        "description": "Which servers are used, as Gemini CLI names it",
        "type": ["object", "null"],
        "properties": {
            "allowed": names("The keys of the servers that are used; all where it is absent"),
            "excluded": names("The keys of servers that are not used, whatever is allowed"),
        },
    })
}

fn server() -> Value {
    let mut properties = started();
    properties.extend(remote());
    properties.extend(any_server());
    let spelled = |spellings: &[&str]| {
        let spellings = spellings.iter().copied().map(Value::from);
        json!({"enum": spellings.chain([Value::Null]).collect::<Vec<_>>()})
    };
    let (stdio, http) = (spelled(&STDIO), spelled(&OVER_HTTP));
    let address = |key: &str| json!({"required": [key], "properties": {key: {"type": "string"}}});
    json!({
        "type": "object",
        // Exactly one: a server is started, or it is connected to. `null` counts as absent.
        "oneOf": [
            {
                "required": ["command"],
                "properties": {"command": {"type": "string"}, "transport": stdio, "type": stdio},
            },
            {
                "anyOf": ADDRESSES.map(address),
                "properties": {"transport": http, "type": http},
            },
        ],
        "properties": properties,
    })
}

/// The keys of a server that is started.
fn started() -> Map<String, Value> {
    members(json!({
        "command": {
            "description": "The program to start: a name or a path, one word; of variables, \
                ${workspaceFolder} and ${userHome} are filled in",
            "type": ["string", "null"],
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
        "envFile": path("A file of NAME=value lines; env wins over it"),
        "cwd": path("Its directory; a relative one starts from the config's folder"),
        "inherit_env": inherit_env(),
    }))
}

/// The keys of a server that is reached over HTTP.
fn remote() -> Map<String, Value> {
    let url = |description: &str| json!({"description": description, "type": ["string", "null"], "minLength": 1});
    members(json!({
        "url": url("Its address, http or https; ${VAR} and ${VAR:-default} are filled in"),
        "serverUrl": url("Another name of url"),
        "serverURL": url("Another name of url"),
        "httpUrl": url("Its address, spoken to in streamable HTTP"),
        "headers": {
            "description": "Headers of each request; ${VAR} and ${VAR:-default} are filled in",
            "type": ["object", "null"],
            "propertyNames": {"pattern": "^[-!#$%&'*+.^_`|~0-9A-Za-z]+$"},
            "additionalProperties": {"type": "string"},
        },
        "auth": {
            "description": "The token that is sent as Authorization: Bearer",
            "type": ["string", "null"],
            "not": {"const": "oauth"},
        },
        "tls": {
            "description": "What TLS needs beside what the system trusts",
            "type": ["object", "null"],
            "properties": {
                "ca": path("PEM file of certificates to trust, too"),
                "cert": path("PEM file of the certificate that is shown"),
                "key": path("PEM file of the key to it, unless it is in cert"),
                "insecure": flag("Whether any certificate is taken: nothing protects what is sent", false),
            },
        },
        "proxy": {
            "description": "The URL of a proxy, or false for none; else what HTTPS_PROXY and so on say",
            "anyOf": [{"type": ["string", "null"]}, {"const": false}],
        },
        "sse_read_timeout": number("number", "Another name of timeouts.idle", LONGEST),
    }))
}

/// The keys of every server.
fn any_server() -> Map<String, Value> {
    members(json!({
        "transport": transport(),
        "type": transport(),
        "required": flag("Whether the host fails when this toolbox does", false),
        "disabled": flag("Whether the toolbox is left out", false),
        "enabled": flag("The opposite of disabled", true),
        "prefix": {
            "description": "What stands before its tools' names in place of the key",
            "type": ["string", "null"],
            "maxLength": 64,
        },
        "timeout": number(
            "number",
            "Seconds for timeouts.connect and timeouts.total, raises timeouts.idle to it; over 3600 \
             it is in milliseconds, as other programs write it",
            LONGEST * 1_000.0,
        ),
        "timeouts": timeouts(),
        "limits": limits(),
        "max_in_flight": number("integer", "Same as limits.max_in_flight", 1_000_000.0),
        "trust": trust(),
        "tools": {
            "description": "Which of its tools are taken, by their own names",
            "anyOf": [
                {"$ref": "#/$defs/patterns"},
                {
                    "type": "object",
                    "properties": {
                        "include": {"$ref": "#/$defs/patterns"},
                        "exclude": {"$ref": "#/$defs/patterns"},
                        "shape": {
                            "description": "What its tools are for a model, by their own names",
                            "type": ["object", "null"],
                            "additionalProperties": {"$ref": "#/$defs/shape"},
                        },
                    },
                },
            ],
        },
        "includeTools": {"$ref": "#/$defs/names"},
        "excludeTools": {"$ref": "#/$defs/names"},
        "disabledTools": {"$ref": "#/$defs/names"},
    }))
}

/// The members of an object that is written down above.
fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn input() -> Value {
    json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "type": {"enum": ["promptString", "pickString", "command", null]},
            "id": {"description": "What ${input:id} refers to it by", "type": "string", "minLength": 1},
            "description": {"description": "What is asked", "type": ["string", "null"]},
            "password": flag("Whether what is typed must not be shown", false),
            "default": {"description": "What an empty answer stands for", "type": ["string", "null"]},
            "options": {
                "description": "What can be chosen from",
                "type": ["array", "null"],
                "items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["value"]}]},
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

/// Unknown keys are refused here, as they are when a config is read.
fn policy() -> Value {
    let globs = |description: &str| {
        json!({
            "description": description,
            "type": ["array", "null"],
            "items": {"type": "string", "pattern": "\\S", "maxLength": 256},
        })
    };
    let hints = keys::HINTS.iter().map(|key| {
        let kind = if *key == "title" { "string" } else { "boolean" };
        ((*key).to_owned(), json!({"type": [kind, "null"]}))
    });
    let hints: Map<String, Value> = hints.collect();
    json!({
        "description": "By which rules calls are decided",
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "confirm": one_of("confirm", "Which calls are asked about"),
            "threshold": one_of("threshold", "For risky: a risk from here on adds a level; high, if absent"),
            "confirm_unknown": flag("For risky: whether an unknown risk adds a level", true),
            "mode": one_of("mode", "How strictly the levels are read"),
            "allow": globs("Tools that run without a question; * and ? are patterns"),
            "deny": globs("Tools that never run; * and ? are patterns"),
            "commands": globs("Command lines that a shell tool may run without a question"),
            "annotations": {
                "description": "Hints for tools of a pattern, over those of their source",
                "type": ["object", "null"],
                "propertyNames": {"pattern": "\\S", "maxLength": 256},
                "additionalProperties": {
                    "type": "object",
                    "properties": hints,
                    "additionalProperties": false,
                },
            },
            "approval_wait": number("number", "How long an answer may take, in seconds", LONGEST),
        },
    })
}

/// True or false is what another program writes; it is noted and has no effect.
fn trust() -> Value {
    let words = policy::words("trust").into_iter().map(Value::from);
    let others = [true.into(), false.into(), Value::Null];
    json!({
        "description": "Whether the hints of its tools are believed, or it is trusted as the \
            program itself",
        "enum": words.chain(others).collect::<Vec<_>>(),
    })
}

fn one_of(key: &str, description: &str) -> Value {
    let words = policy::words(key).into_iter().map(Value::from);
    let words: Vec<Value> = words.chain([Value::Null]).collect();
    json!({"description": description, "enum": words})
}

fn patterns() -> Value {
    json!({
        "description": "Patterns with *, ?, [ab] and {a,b}",
        "type": ["array", "null"],
        "items": {"type": "string", "minLength": 1},
    })
}

fn shape() -> Value {
    let arguments =
        |description: &str| json!({"description": description, "type": ["object", "null"]});
    json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "name": {"description": "Its name for a model", "type": ["string", "null"], "pattern": "\\S"},
            "description": {"description": "What it does, for a model", "type": ["string", "null"]},
            "hidden": arguments("Arguments that a model does not see, with the value of every call"),
            "defaults": arguments("Arguments that a model may leave out, with the value of the call then"),
        },
    })
}

fn names() -> Value {
    json!({
        "description": "Names of tools, letter by letter",
        "type": ["array", "null"],
        "items": {"type": "string", "minLength": 1},
    })
}

fn path(description: &str) -> Value {
    json!({"description": description, "type": ["string", "null"], "minLength": 1})
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
    json!({
        "description": "How it is talked to: stdio, http (streamable HTTP) or sse; absent, a URL is \
            tried as http, then as sse",
        "type": ["string", "null"],
    })
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
