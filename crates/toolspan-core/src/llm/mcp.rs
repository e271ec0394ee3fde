//! Tools and results as the Model Context Protocol lists and returns them.
//!
//! The schema is the author's own, so that whoever gets it can check by it. Only a root that does
//! not say that it is an object says so, as the protocol demands. Nothing is injected.

use serde_json::{Map, Value};

use super::loss::{Effect, Losses};
use super::projection::{Declared, Shaped};
use crate::registry::RegisteredTool;

/// The schema of a tool.
pub(super) fn shape(tool: &RegisteredTool, losses: &mut Losses) -> Shaped {
    let raw = tool.definition.input.raw();
    let schema = match raw {
        Value::Object(root) if root.get("type").and_then(Value::as_str) == Some("object") => {
            raw.clone()
        }
        Value::Object(root) => stated(root, losses),
        _ => stated(&Map::new(), losses),
    };
    Shaped {
        schema,
        is_strict: false,
    }
}

fn stated(root: &Map<String, Value>, losses: &mut Losses) -> Value {
    let said = (
        "the root says that it is an object",
        "MCP demands it, and arguments are one",
    );
    losses.say("", Effect::Same, said);
    let mut stated = Map::new();
    stated.insert("type".to_owned(), "object".into());
    let rest = root.iter().filter(|(keyword, _)| *keyword != "type");
    stated.extend(rest.map(|(keyword, value)| (keyword.clone(), value.clone())));
    stated.into()
}

/// One element of the `tools` field.
pub(super) fn declare(declared: Declared<'_>) -> Value {
    let Declared {
        tool,
        name,
        description,
        shaped,
    } = declared;
    let mut value = tool.definition.to_mcp(&name);
    if let Value::Object(members) = &mut value {
        members.insert("inputSchema".to_owned(), shaped.schema);
        if !description.is_empty() {
            members.insert("description".to_owned(), description.into());
        }
    }
    value
}
