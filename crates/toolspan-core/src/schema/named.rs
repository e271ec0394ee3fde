//! Does a schema know a property of this name, wherever that is said?

use std::collections::HashSet;

use serde_json::Value;

use super::definition::Schema;

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

/// Whether the schema at `pointer` lists the name under `required`.
fn requires(root: &Value, pointer: &str, name: &str) -> bool {
    let schema = root.pointer(pointer);
    let required = schema.and_then(|schema| schema.get("required"));
    let required = required.and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
}
