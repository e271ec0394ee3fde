//! How do the fields that a host asks of a model get into a schema?
//!
//! They come first, so that an answer that is cut off has them, and are never required of the model:
//! `security_risk` and `summary`, as far as they are wanted for the tool. Whoever asks for a form says
//! of which tools the risk is wanted ([`Offered`](super::Offered)): what a server says of its own
//! tools is not looked at here.

use serde_json::{Map, Value, json};

use super::loss::OURS;
use super::tree::{Node, Word};
use crate::call::injected::{self, Injection};
use crate::registry::RegisteredTool;

/// The fields of one tool: name and schema, in order.
pub(super) fn fields(tool: &RegisteredTool, injection: Injection) -> Vec<(String, Value)> {
    if !injection.is_any() {
        return Vec::new();
    }
    let names = injected::names(&tool.definition.input);
    let mut fields = Vec::new();
    if injection.security_risk {
        let schema = json!({
            "type": "string",
            "description": "How much harm this call may do, as far as you can tell.",
            "enum": ["UNKNOWN", "LOW", "MEDIUM", "HIGH"],
        });
        fields.push((names.security_risk.into_owned(), schema));
    }
    if injection.summary {
        let schema = json!({
            "type": "string",
            "description": "What this call does, in about ten words.",
        });
        fields.push((names.summary.into_owned(), schema));
    }
    fields
}

/// Puts the fields in front of the properties of a schema as its author wrote it.
pub(super) fn into_written(schema: &mut Value, fields: Vec<(String, Value)>) {
    let Value::Object(root) = schema else {
        return;
    };
    if fields.is_empty() {
        return;
    }
    let own = root
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .map(std::mem::take);
    let mut properties: Map<String, Value> = fields.into_iter().collect();
    properties.extend(own.unwrap_or_default());
    root.insert("properties".to_owned(), properties.into());
}

/// Puts the fields in front of the properties of the root of a tree.
pub(super) fn into_tree(root: &mut Node, fields: Vec<(String, Value)>) {
    if fields.is_empty() {
        return;
    }
    let named = |(name, schema): (String, Value)| {
        let mut node = Node::new(OURS);
        if let Value::Object(schema) = schema {
            node.words = schema
                .into_iter()
                .map(|(key, value)| (key, Word::Data(value)))
                .collect();
        }
        (name, node)
    };
    let mut properties: Vec<(String, Node)> = fields.into_iter().map(named).collect();
    if root.boolean.take().is_some() {
        root.set_data("type", "object");
    }
    if let Some(Word::Map(own)) = root.get_mut("properties") {
        properties.append(own);
    }
    root.set("properties", Word::Map(properties));
}
