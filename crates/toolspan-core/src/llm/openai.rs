//! Tools as OpenAI's Chat Completions API takes them.

use serde_json::{Value, json};

use crate::registry::RegisteredTool;

/// One element of the `tools` field: the schema as its author wrote it, not strict.
pub fn tool(tool: &RegisteredTool) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": &*tool.name,
            "description": tool.definition.description,
            "parameters": tool.definition.input.raw(),
        },
    })
}
