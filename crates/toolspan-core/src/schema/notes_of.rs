//! Which parts of a schema deserve a note, and which properties does it mark as secret?

use std::collections::HashSet;

use serde_json::Value;

use super::graph::{Graph, Node, NodeId};
use super::note::SchemaNote;

/// Notes kept for one schema.
const MAXIMUM_NOTES: usize = 32;

/// The properties whose values must not be shown because the schema says so.
#[derive(Debug, Default)]
pub(super) struct SecretNames {
    pub(super) names: HashSet<Box<str>>,
    /// A marked schema is not under a property name, so nothing may be shown.
    pub(super) everything: bool,
}

/// A `default` of null gets no note: it is how several generators write that there is none.
pub(super) fn notes(raw: &Value, graph: &Graph) -> Vec<SchemaNote> {
    let mut notes = Vec::new();
    for (id, node) in graph.iter() {
        if id > 0 && node.pointer.is_empty() {
            // Not a schema of the document, or one whose place is not known.
            continue;
        }
        let Some(Value::Object(schema)) = raw.pointer(&node.pointer) else {
            continue;
        };
        let pointer = || node.pointer.clone();
        if let (Some(default), Some(kind)) = (schema.get("default"), schema.get("type"))
            && !default.is_null()
            && !allows(kind, default)
        {
            notes.push(SchemaNote::DefaultBreaksType { pointer: pointer() });
        }
        if let (Some(constant), Some(Value::Array(list))) =
            (schema.get("const"), schema.get("enum"))
            && !list.contains(constant)
        {
            notes.push(SchemaNote::ConstOutsideEnum { pointer: pointer() });
        }
    }
    notes.truncate(MAXIMUM_NOTES);
    notes
}

/// Whether `type` allows the value. `type` may be anything, since it has not been validated.
fn allows(kind: &Value, value: &Value) -> bool {
    let one = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match kind {
        Value::Array(list) => list.iter().any(one),
        kind => one(kind),
    }
}

/// The names under which a schema marked `writeOnly` or `format: password` is reached.
pub(super) fn secret_names(graph: &Graph) -> SecretNames {
    let mut secrets = SecretNames::default();
    if !graph.iter().any(|(_, node)| node.secret) {
        return secrets;
    }
    let hidden = reaching_secret(graph);
    let is_hidden = |id: NodeId| hidden.get(id).copied().unwrap_or_default();
    secrets.everything = is_hidden(0);
    for (_, node) in graph.iter() {
        for (name, child) in &node.properties {
            if is_hidden(*child) {
                secrets.names.insert(name.clone());
            }
        }
    }
    secrets
}

/// For each schema, whether a marked one is reached from it without passing a named property.
/// Works backwards from the marked ones, so that each edge is taken once.
fn reaching_secret(graph: &Graph) -> Vec<bool> {
    let mut sources: Vec<Vec<NodeId>> = vec![Vec::new(); graph.len()];
    for (id, node) in graph.iter() {
        for child in unnamed(node) {
            if let Some(list) = sources.get_mut(child) {
                list.push(id);
            }
        }
    }
    let mut hidden = vec![false; graph.len()];
    let mut open: Vec<NodeId> = graph
        .iter()
        .filter(|(_, node)| node.secret)
        .map(|(id, _)| id)
        .collect();
    while let Some(id) = open.pop() {
        match hidden.get_mut(id) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        open.extend(sources.get(id).into_iter().flatten());
    }
    hidden
}

fn unnamed(node: &Node) -> impl Iterator<Item = NodeId> {
    let named: HashSet<NodeId> = node.properties.iter().map(|(_, child)| *child).collect();
    let applied: HashSet<NodeId> = node.applied.iter().map(|applied| applied.node).collect();
    node.reached()
        .filter(move |child| !named.contains(child) || applied.contains(child))
}
