//! What does another part of this crate need that walks a checked schema itself?

use std::borrow::Cow;
use std::collections::HashMap;

use super::compile::Compiled;
use super::definition::Schema;
use super::dialect::Dialect;
use super::references::percent_decoded;
use super::rejected::SchemaRejected;

impl Schema {
    /// The dialect the schema is read in, without compiling it where it states one.
    pub(crate) fn dialect_as_written(&self) -> Result<Dialect, SchemaRejected> {
        match self.definition.declared {
            Some(dialect) => Ok(dialect),
            None => self.dialect(),
        }
    }

    /// The dialect, where it is stated or known already; compiles nothing.
    pub(crate) fn known_dialect(&self) -> Option<Dialect> {
        let compiled = self.definition.compiled.get();
        let compiled = compiled.and_then(|compiled| compiled.as_ref().ok());
        let compiled = compiled.map(|Compiled { dialect, .. }| *dialect);
        self.definition.declared.or(compiled)
    }

    /// Where each reference leads: the pointer of the schema that holds it, to that of the schema
    /// it means. A dynamic reference that may mean several schemas is not in it.
    pub(crate) fn references(&self) -> HashMap<&str, Cow<'_, str>> {
        let graph = &self.definition.graph;
        let known = |pointer: &str| self.raw().pointer(pointer).is_some();
        let mut found = HashMap::new();
        for (_, node) in graph.iter() {
            let Some(applied) = node.applied.iter().find(|applied| applied.by_reference) else {
                continue;
            };
            let mut target = applied.node;
            // Between a dynamic reference and its anchors stands a node that is no schema.
            if let Some(crossing) = graph.node(target)
                && target > 0
                && crossing.pointer.is_empty()
            {
                match crossing.applied.as_slice() {
                    [only] => target = only.node,
                    _ => continue,
                }
            }
            let Some(pointer) = graph.node(target).map(|node| node.pointer.as_str()) else {
                continue;
            };
            let pointer = match known(pointer) {
                true => Some(Cow::Borrowed(pointer)),
                false => percent_decoded(pointer).map(Cow::Owned),
            };
            if let Some(pointer) = pointer.filter(|pointer| known(pointer)) {
                found.insert(node.pointer.as_str(), pointer);
            }
        }
        found
    }
}
