//! How does a person read the parameters of a tool at a glance?

use std::cell::Cell;

use serde_json::{Map, Value};

use super::definition::Schema;
use super::lookup::{properties, target};
use super::wording::{literal, quote};

/// Characters of a whole signature.
const SIGNATURE_CHARS: usize = 2_000;
/// Objects and arrays inside one another that are written out.
const NESTING: usize = 3;
/// Types of a whole signature that are written out, at any depth.
const TYPES: usize = 2_000;
/// References followed one after another for one type.
const HOPS: usize = 8;
/// Alternatives of a type, members of an `enum`, and properties of a nested object, written out.
const LISTED: usize = 8;

/// The parameters of a tool as one line: `(timezone: string, format?: "a" | "b")`.
///
/// Made for reading, at most 2,000 characters: deep or long parts are shortened with `…`, and
/// constraints other than types, constants and enums are left out. Where only the values are
/// described and not the names, it is `([name]: string)`.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::schema::{Schema, signature};
///
/// let schema = Schema::for_arguments(json!({
///     "properties": {"timezone": {"type": "string"}, "format": {"enum": ["a", "b"]}},
///     "required": ["timezone"],
/// }))?;
/// assert_eq!(signature(&schema), r#"(timezone: string, format?: "a" | "b")"#);
/// # Ok::<(), toolspan_core::schema::SchemaRejected>(())
/// ```
#[must_use]
pub fn signature(schema: &Schema) -> String {
    let raw = schema.raw();
    let mut text = String::from("(");
    let reader = Reader {
        root: raw,
        left: Cell::new(TYPES),
    };
    let named = properties(raw, raw);
    if let (true, Some(others @ Value::Object(_))) =
        (named.is_empty(), raw.get("additionalProperties"))
    {
        text.push_str(&format!("[name]: {}", reader.kind(others, NESTING, HOPS)));
    }
    for (index, property) in named.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        let mark = if property.required { "" } else { "?" };
        let kind = reader.kind(property.schema, NESTING, HOPS);
        text.push_str(&format!("{}{mark}: {kind}", identifier(property.name)));
        if let Some((end, _)) = text.char_indices().nth(SIGNATURE_CHARS) {
            text.truncate(end);
            text.push('…');
            break;
        }
    }
    text.push(')');
    text
}

/// A name as it is, or in quotes where it is not one plain word.
fn identifier(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    if !name.is_empty() && name.len() <= 60 && name.chars().all(plain) {
        name.to_owned()
    } else {
        quote(name, 60)
    }
}

struct Reader<'s> {
    root: &'s Value,
    /// Types that may still be written out.
    left: Cell<usize>,
}

impl Reader<'_> {
    /// The type of `schema`. `nesting` or `hops` counts down on every call, so this ends.
    fn kind(&self, schema: &Value, nesting: usize, hops: usize) -> String {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return "…".to_owned(),
        }
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return "never".to_owned(),
            _ => return "any".to_owned(),
        };
        if let Some(target) = target(self.root, map) {
            return match hops.checked_sub(1) {
                Some(hops) => self.kind(target, nesting, hops),
                None => "…".to_owned(),
            };
        }
        if let Some(constant) = map.get("const") {
            return literal(constant);
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            return union(values.iter().map(literal));
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(members)) = map.get(keyword) else {
                continue;
            };
            let Some(hops) = hops.checked_sub(1) else {
                return "…".to_owned();
            };
            if map.contains_key("type") || map.contains_key("properties") {
                continue;
            }
            let kinds = members.iter().take(LISTED + 1);
            let kinds = kinds.map(|member| self.kind(member, nesting, hops));
            return match keyword {
                "allOf" => kinds
                    .filter(|kind| kind != "any")
                    .collect::<Vec<_>>()
                    .join(" & "),
                _ => union(kinds),
            };
        }
        match map.get("type") {
            Some(Value::String(name)) => self.named(name, map, nesting),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                union(names.map(|name| self.named(name, map, nesting)))
            }
            _ if map.contains_key("properties") => self.named("object", map, nesting),
            _ if map.contains_key("items") => self.named("array", map, nesting),
            _ => "any".to_owned(),
        }
    }

    fn named(&self, name: &str, map: &Map<String, Value>, nesting: usize) -> String {
        match (name, nesting.checked_sub(1)) {
            ("array", Some(nesting)) => {
                let item = map
                    .get("items")
                    .map_or_else(|| "any".to_owned(), |items| self.kind(items, nesting, HOPS));
                if item.contains(" | ") && !item.starts_with('{') {
                    format!("({item})[]")
                } else {
                    format!("{item}[]")
                }
            }
            ("object", Some(nesting)) => self.object(map, nesting),
            _ => name.chars().take(20).collect(),
        }
    }

    fn object(&self, map: &Map<String, Value>, nesting: usize) -> String {
        let required: Vec<&str> = match map.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        match (map.get("properties"), map.get("additionalProperties")) {
            (Some(Value::Object(properties)), _) if !properties.is_empty() => {
                let mut parts: Vec<String> = properties
                    .iter()
                    .take(LISTED)
                    .map(|(name, schema)| {
                        let mark = if required.contains(&name.as_str()) {
                            ""
                        } else {
                            "?"
                        };
                        let kind = self.kind(schema, nesting, HOPS);
                        format!("{}{mark}: {kind}", identifier(name))
                    })
                    .collect();
                if properties.len() > LISTED {
                    parts.push("…".to_owned());
                }
                format!("{{{}}}", parts.join(", "))
            }
            (_, Some(schema @ Value::Object(_))) => {
                format!("{{[name]: {}}}", self.kind(schema, nesting, HOPS))
            }
            _ => "object".to_owned(),
        }
    }
}

/// Alternatives joined, each once, the ones after [`LISTED`] as `…`.
fn union(kinds: impl Iterator<Item = String>) -> String {
    let mut unique: Vec<String> = Vec::new();
    for kind in kinds {
        if unique.contains(&kind) {
            continue;
        }
        if unique.len() == LISTED {
            unique.push("…".to_owned());
            break;
        }
        unique.push(kind);
    }
    if unique.is_empty() {
        "any".to_owned()
    } else {
        unique.join(" | ")
    }
}
