//! Which properties does a schema name, read for people rather than for validation?
//!
//! Used by signatures and by the coercion of text. Both are a courtesy: what is not found here is
//! shown as `any`, or stays text, and the validator has the last word.

use serde_json::{Map, Value};

/// Schemas looked at to answer one question.
const LOOKED_AT: usize = 256;

/// One property of an object schema.
pub(super) struct Property<'s> {
    pub(super) name: &'s str,
    pub(super) schema: &'s Value,
    pub(super) required: bool,
}

/// `schema` itself and what applies beside it: targets of local references, members of `allOf`,
/// and with `unions` those of `anyOf` and `oneOf`. In document order, bounded, each once.
pub(super) fn applied<'s>(root: &'s Value, schema: &'s Value, unions: bool) -> Vec<&'s Value> {
    let mut found: Vec<&'s Value> = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if found.len() >= LOOKED_AT {
            break;
        }
        if found.iter().any(|other| std::ptr::eq(*other, schema)) {
            continue;
        }
        found.push(schema);
        let Value::Object(map) = schema else { continue };
        let lists: &[&str] = if unions {
            &["oneOf", "anyOf", "allOf"]
        } else {
            &["allOf"]
        };
        for keyword in lists {
            if let Some(Value::Array(members)) = map.get(*keyword) {
                open.extend(members.iter().take(LOOKED_AT).rev());
            }
        }
        open.extend(target(root, map));
    }
    found
}

/// The target of a schema's `$ref`, where it is a pointer into the document.
pub(super) fn target<'s>(root: &'s Value, schema: &'s Map<String, Value>) -> Option<&'s Value> {
    let reference = schema.get("$ref")?.as_str()?;
    root.pointer(reference.strip_prefix('#')?)
}

/// The properties that an object schema names, in document order, each name once.
pub(super) fn properties<'s>(root: &'s Value, schema: &'s Value) -> Vec<Property<'s>> {
    let parts: Vec<_> = applied(root, schema, false)
        .into_iter()
        .filter_map(Value::as_object)
        .collect();
    let required: std::collections::HashSet<&str> = parts
        .iter()
        .filter_map(|part| part.get("required")?.as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut seen = std::collections::HashSet::new();
    parts
        .iter()
        .filter_map(|part| part.get("properties")?.as_object())
        .flatten()
        .filter(|(name, _)| seen.insert(name.as_str()))
        .map(|(name, schema)| {
            let required = required.contains(name.as_str());
            Property {
                name,
                schema,
                required,
            }
        })
        .collect()
}
