//! How each toolbox of a host is: what `status` shows.

use std::sync::Arc;

use serde_json::{Value, json};
use toolspan_core::BrokenTool;
use toolspan_core::toolbox::ToolBoxState;

/// How one toolbox is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolboxStatus {
    /// Its key as the config writes it.
    pub toolbox: Arc<str>,
    /// What kind of source it is, such as `mcp/stdio` or `native`.
    pub kind: String,
    /// How it is now.
    pub state: ToolBoxState,
    /// How many of its tools can be called.
    pub tools: usize,
    /// Its tools that cannot be used, and why.
    pub broken: Vec<BrokenTool>,
    /// Whether the host cannot do without it.
    pub required: bool,
}

impl ToolboxStatus {
    /// The JSON object of the `status` command; `error` is `null` where there is none.
    pub fn to_json(&self) -> Value {
        let broken: Vec<Value> = self
            .broken
            .iter()
            .map(|broken| json!({"name": broken.name, "reason": broken.reason}))
            .collect();
        json!({
            "toolbox": &*self.toolbox,
            "kind": self.kind,
            "state": self.state.as_str(),
            "tools": self.tools,
            "broken": broken,
            "error": self.state.error().map(toolspan_core::Error::to_json),
        })
    }
}
