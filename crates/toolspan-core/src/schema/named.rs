//! Does a schema know a property of this name, wherever that is said?

use std::collections::HashSet;

use serde_json::Value;

use super::definition::Schema;
use super::graph::Graph;

impl Schema {
    /// Whether the schema names this property of the value itself: in `properties` or `required`,
    /// at the root or in whatever applies there, such as the target of a reference or one of
    /// several alternatives.
    pub(crate) fn names_property(&self, name: &str) -> bool {
        let definition = &self.definition;
        let mut seen = HashSet::new();
        let mut open = vec![0];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let Some(node) = definition.graph.node(id) else {
                continue;
            };
            let is_declared = node
                .properties
                .binary_search_by(|(known, _)| (**known).cmp(name))
                .is_ok();
            if is_declared || requires(&definition.raw, &node.pointer, name) {
                return true;
            }
            open.extend(node.applied.iter().map(|applied| applied.node));
        }
        false
    }
}

impl Schema {
    /// Whether a property has a name that some model API does not take, at any depth.
    pub(crate) fn has_odd_names(&self) -> bool {
        self.definition.has_odd_names
    }

    /// The names of all properties that the document names at any depth, each once, sorted.
    pub(crate) fn all_property_names(&self) -> Vec<&str> {
        let nodes = self.definition.graph.iter();
        let properties = nodes.flat_map(|(_, node)| &node.properties);
        let mut names: Vec<&str> = properties.map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// [`Schema::has_odd_names`], found once when the schema is read.
pub(super) fn has_odd_names(graph: &Graph) -> bool {
    graph.iter().any(|(_, node)| {
        let mut names = node.properties.iter();
        names.any(|(name, _)| !is_plain_name(name))
    })
}

/// Whether every model API takes a property of this name: `[A-Za-z_][A-Za-z0-9_]*`, at most 64
/// characters.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_legal = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let begins_well = !name.starts_with(|char: char| char.is_ascii_digit());
    (1..=64).contains(&name.len()) && begins_well && name.chars().all(is_legal)
}

/// Whether the schema at `pointer` lists the name under `required`.
fn requires(root: &Value, pointer: &str, name: &str) -> bool {
    let schema = root.pointer(pointer);
    let required = schema.and_then(|schema| schema.get("required"));
    let required = required.and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
}
