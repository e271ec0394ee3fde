//! What a model or a server may see of a tool.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::annotations::ToolAnnotations;
use crate::schema::Schema;
use crate::tool::ResponseSchema;

/// A tool's name, words, schemas and hints, as its source gave them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The tool's own name, as its source gave it; not the exposed one.
    pub name: String,
    /// What the exposed name is made from, where a config renames the tool.
    pub exposed_as: Option<String>,
    /// A short name for people.
    pub title: Option<String>,
    /// What the tool does, in words for a model. Empty when the source gave none.
    pub description: String,
    /// What the arguments must match.
    pub input: Arc<Schema>,
    /// What a structured result matches, where the source says so.
    pub output: Option<Arc<Schema>>,
    /// Hints about effects; `None` when the source gave no `annotations`.
    pub annotations: Option<ToolAnnotations>,
    /// Every further member of the source's object (`_meta`, `icons`, `execution`, …), untouched.
    pub extra: Map<String, Value>,
    /// What the model gives beside the tool's own arguments, where a caller asked for it; `input`
    /// has it already.
    pub response: Option<Arc<ResponseSchema>>,
}

impl ToolDefinition {
    /// A definition with a name, words and an input schema, and nothing else.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input: Arc<Schema>,
    ) -> Self {
        Self {
            name: name.into(),
            exposed_as: None,
            title: None,
            description: description.into(),
            input,
            output: None,
            annotations: None,
            extra: Map::new(),
            response: None,
        }
    }

    /// What the exposed name is made from: the name that a config gives, or the source's own.
    pub fn shown_name(&self) -> &str {
        self.exposed_as.as_deref().unwrap_or(&self.name)
    }

    /// The hints, with the specification's defaults where the source is silent.
    pub fn hints(&self) -> ToolAnnotations {
        self.annotations.clone().unwrap_or_default()
    }

    /// The name for people: the title, the annotations' title or the name.
    pub fn title(&self) -> &str {
        let hint = || {
            self.annotations
                .as_ref()
                .and_then(|hints| hints.title.as_deref())
        };
        self.title.as_deref().or_else(hint).unwrap_or(&self.name)
    }

    /// The tool under its exposed name in its toolbox: the element of `tools --json`, the same at
    /// every door. What the source does not say is `null`.
    pub fn to_json(&self, name: &str, toolbox: &str) -> Value {
        json!({
            "name": name,
            "toolbox": toolbox,
            "original_name": self.name,
            "description": self.description,
            "input_schema": self.input.raw(),
            "output_schema": self.output.as_ref().map(|schema| schema.raw()),
            "annotations": self.annotations,
        })
    }

    /// The `Tool` object of MCP (2025-11-25, `tools/list`) under a name of the caller's choice.
    pub fn to_mcp(&self, name: &str) -> Value {
        let mut tool = Map::new();
        tool.insert("name".into(), name.into());
        if let Some(title) = &self.title {
            tool.insert("title".into(), title.as_str().into());
        }
        if !self.description.is_empty() {
            tool.insert("description".into(), self.description.as_str().into());
        }
        tool.insert("inputSchema".into(), self.input.raw().clone());
        if let Some(output) = &self.output {
            tool.insert("outputSchema".into(), output.raw().clone());
        }
        if let Some(annotations) = &self.annotations {
            let hints = serde_json::to_value(annotations).unwrap_or_default();
            tool.insert("annotations".into(), hints);
        }
        for (key, value) in &self.extra {
            tool.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        Value::Object(tool)
    }
}
