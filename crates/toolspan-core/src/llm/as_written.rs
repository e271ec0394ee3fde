//! What in an author's schema would an API refuse?
//!
//! Most schemas are taken as they are written, and are then given so. Looked through with a stack of
//! its own, at the places of keywords only.

use serde_json::{Map, Value};

use super::keys;
use super::tree::REFERENCE;
use crate::schema::{Form, place_of};

/// What was found in one schema.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Findings {
    /// A spelling that 2020-12 does not have: `items` as a list, a boolean `exclusiveMinimum`.
    pub(super) old_spelling: bool,
    /// An array that does not say what its items are.
    pub(super) bare_array: bool,
    /// References that lead elsewhere than to `$defs` at the root, or names that such ones need.
    pub(super) other_references: bool,
    /// The root is put together from parts, or is no plain object.
    pub(super) composed_root: bool,
    /// The root has no `properties`.
    pub(super) no_properties: bool,
    /// A property's name that Anthropic's API refuses.
    pub(super) odd_key: bool,
}

impl Findings {
    /// Whether OpenAI's APIs refuse the schema where it is not strict.
    pub(super) fn is_refused_by_openai(self) -> bool {
        self.old_spelling
            || self.bare_array
            || self.other_references
            || self.composed_root
            || self.no_properties
    }

    /// Whether Anthropic's API refuses the schema where it is not strict.
    pub(super) fn is_refused_by_anthropic(self) -> bool {
        self.old_spelling || self.other_references || self.composed_root || self.odd_key
    }
}

/// Keywords that may not stand at the root of what OpenAI's and Anthropic's APIs take.
pub(super) const NOT_AT_THE_ROOT: [&str; 9] = [
    "allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else",
];

/// Looks through a schema.
pub(super) fn look(raw: &Value) -> Findings {
    let mut found = Findings::default();
    let Value::Object(root) = raw else {
        found.composed_root = true;
        return found;
    };
    found.composed_root = NOT_AT_THE_ROOT
        .iter()
        .any(|keyword| root.contains_key(*keyword))
        || root.contains_key("$ref")
        || root.get("type").and_then(Value::as_str) != Some("object");
    found.no_properties = !root.get("properties").is_some_and(Value::is_object);
    let mut open = vec![(root, true)];
    while let Some((map, is_root)) = open.pop() {
        look_at(map, is_root, &mut found);
        for (keyword, value) in map {
            let Some((form, _)) = place_of(keyword, value.is_array()) else {
                continue;
            };
            match (form, value) {
                (Form::One, Value::Object(map)) => open.push((map, false)),
                (Form::List, Value::Array(list)) => {
                    open.extend(
                        list.iter()
                            .filter_map(Value::as_object)
                            .map(|map| (map, false)),
                    );
                }
                (Form::Map, Value::Object(named)) => {
                    open.extend(
                        named
                            .values()
                            .filter_map(Value::as_object)
                            .map(|map| (map, false)),
                    );
                }
                _ => {}
            }
        }
    }
    found
}

fn look_at(map: &Map<String, Value>, is_root: bool, found: &mut Findings) {
    for (keyword, value) in map {
        match keyword.as_str() {
            "items" if value.is_array() => found.old_spelling = true,
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                found.old_spelling = true;
            }
            "additionalItems" | "dependencies" => found.old_spelling = true,
            "type" if is_array_type(value) && !map.contains_key("items") => found.bare_array = true,
            "$ref" => found.other_references |= !is_plain(value),
            "$defs" if !is_root => found.other_references = true,
            "definitions" | "$id" | "$anchor" | "$dynamicAnchor" | "$dynamicRef"
            | "$recursiveRef" | "$recursiveAnchor" => found.other_references = true,
            "properties" => {
                let mut names = value.as_object().into_iter().flat_map(Map::keys);
                found.odd_key |= names.any(|name| !keys::fits_anthropic(name));
            }
            _ => {}
        }
    }
}

fn is_array_type(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind.as_str() == Some("array")),
        kind => kind.as_str() == Some("array"),
    }
}

/// Whether a reference leads to the root or to an entry of `$defs` there.
fn is_plain(reference: &Value) -> bool {
    let text = reference.as_str().unwrap_or_default();
    text == "#"
        || text
            .strip_prefix(REFERENCE)
            .is_some_and(|name| !name.contains('/'))
}
