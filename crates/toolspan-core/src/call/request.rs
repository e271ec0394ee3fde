//! What is asked for: a tool's name and arguments that nobody has checked yet.

use serde_json::Value;

use super::valid::{ValidCall, invalid};
use crate::Result;
use crate::guard::limits::Limits;
use crate::registry::RegisteredTool;

/// What a caller asks for: a name and arguments, nothing checked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRequest {
    /// The tool's exposed name or another form that the registry takes.
    pub tool: String,
    /// The arguments; `null` means none.
    pub arguments: Value,
}

impl CallRequest {
    /// A request.
    pub fn new(tool: impl Into<String>, arguments: Value) -> Self {
        Self {
            tool: tool.into(),
            arguments,
        }
    }

    /// Reads a tool call as a model API gives it.
    ///
    /// Takes OpenAI Chat (`{"function": {"name", "arguments": "<JSON text>"}}`), OpenAI Responses
    /// (`{"name", "arguments": "<JSON text>"}`), Anthropic (`{"name", "input"}`), Gemini
    /// (`{"functionCall": {"name", "args"}}` or `{"name", "args"}`) and MCP
    /// (`{"name", "arguments"}`). An empty arguments text means no arguments.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when there is no name or the arguments are not JSON.
    pub fn from_model(call: &Value) -> Result<Self> {
        let inner = call
            .get("function")
            .or_else(|| call.get("functionCall"))
            .unwrap_or(call);
        let name = inner
            .get("name")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| {
            let hint = "give a tool call as the model's API returned it";
            invalid("the model's call names no tool").with_hint(hint)
        })?;
        let given = ["arguments", "input", "args"]
            .iter()
            .find_map(|key| inner.get(*key));
        let arguments = match given {
            None => Value::Null,
            Some(Value::String(text)) if text.trim().is_empty() => Value::Null,
            Some(Value::String(text)) => serde_json::from_str(text).map_err(|error| {
                invalid(format!("the arguments are not JSON: {error}")).in_tool(name)
            })?,
            Some(arguments) => arguments.clone(),
        };
        Ok(Self::new(name, arguments))
    }

    /// Checks the arguments against the tool's schema and the host's limits.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` with every violation; `schema_rejected` when the schema does not compile.
    pub fn validate(self, tool: &RegisteredTool, limits: &Limits) -> Result<ValidCall> {
        ValidCall::check(self.arguments, tool, limits)
            .map_err(|error| error.in_toolbox(&tool.toolbox).in_tool(&tool.name))
    }
}
