//! Which JSON value does a person mean who types `key=value` on a command line?

use serde_json::Value;

use super::definition::Schema;
use super::lookup::{applied, properties};

/// The value of `property` written as `text`, by the type the schema gives it.
///
/// Text stays a string wherever the schema allows a string there, or says nothing about the type.
/// Else it is read as JSON, and taken if its type is allowed: `5` for an integer, `true`, `null`,
/// `[1,2]`. What fits nothing stays a string, so that [`Schema::check`] explains it. A whole number
/// beyond 64 bits is taken where any number is allowed, and rounded as JSON numbers are; where only
/// integers are, it stays a string.
///
/// Reads type lists, `enum`, `const`, `anyOf`, `oneOf`, `allOf` and local references.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::schema::{Schema, coerce_text};
///
/// let schema = Schema::for_arguments(json!({
///     "properties": {"count": {"type": "integer"}, "text": {"type": ["string", "integer"]}},
/// }))?;
/// assert_eq!(coerce_text(&schema, "count", "5"), json!(5));
/// assert_eq!(coerce_text(&schema, "text", "5"), json!("5"));
/// # Ok::<(), toolspan_core::schema::SchemaRejected>(())
/// ```
#[must_use]
pub fn coerce_text(schema: &Schema, property: &str, text: &str) -> Value {
    let root = schema.raw();
    let as_text = || Value::String(text.to_owned());
    let allowed = match declared(root, property) {
        Some(schema) => Allowed::of(root, schema),
        None => return as_text(),
    };
    let parsed: Option<Value> = serde_json::from_str(text).ok();
    let is_rounded = parsed.as_ref().is_some_and(|value| is_rounded(text, value));
    let fits = |value: &Value| match is_rounded {
        true => allowed.types.contains(&"number"),
        false => allowed.names_type_of(value),
    };
    if !allowed.values.is_empty() {
        let is_member = |value: &Value| allowed.values.contains(&value);
        return match parsed {
            _ if is_member(&as_text()) => as_text(),
            Some(value) if is_member(&value) || fits(&value) => value,
            _ => as_text(),
        };
    }
    match parsed {
        Some(value) if !allowed.takes_text() && fits(&value) => value,
        _ => as_text(),
    }
}

/// The schema of a property: its own, or the one for all other properties.
fn declared<'s>(root: &'s Value, name: &str) -> Option<&'s Value> {
    let own = properties(root, root)
        .into_iter()
        .find(|property| property.name == name);
    own.map(|property| property.schema)
        .or_else(|| root.get("additionalProperties"))
}

/// Whether a whole number did not fit 64 bits and lost digits.
fn is_rounded(text: &str, value: &Value) -> bool {
    let digits = text.trim().trim_start_matches('-');
    value.is_f64() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a schema says about the type of a value.
struct Allowed<'s> {
    /// Members of `enum`, and constants.
    values: Vec<&'s Value>,
    /// Types named.
    types: Vec<&'s str>,
}

impl<'s> Allowed<'s> {
    fn of(root: &'s Value, schema: &'s Value) -> Self {
        let mut allowed = Self {
            values: Vec::new(),
            types: Vec::new(),
        };
        for part in applied(root, schema, true) {
            if let Some(Value::Array(values)) = part.get("enum") {
                allowed.values.extend(values);
            } else if let Some(constant) = part.get("const") {
                allowed.values.push(constant);
            } else {
                match part.get("type") {
                    Some(Value::Array(names)) => {
                        allowed.types.extend(names.iter().filter_map(Value::as_str));
                    }
                    Some(Value::String(name)) => allowed.types.push(name),
                    _ if part.get("properties").is_some() => allowed.types.push("object"),
                    _ if part.get("items").is_some() => allowed.types.push("array"),
                    _ => {}
                }
            }
        }
        allowed
    }

    fn takes_text(&self) -> bool {
        self.types.is_empty() || self.types.contains(&"string")
    }

    fn names_type_of(&self, value: &Value) -> bool {
        let names: &[&str] = match value {
            Value::Null => &["null"],
            Value::Bool(_) => &["boolean"],
            Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() == 0.0) => {
                &["integer", "number"]
            }
            Value::Number(_) => &["number"],
            Value::String(_) => &["string"],
            Value::Array(_) => &["array"],
            Value::Object(_) => &["object"],
        };
        !value.is_string() && names.iter().any(|name| self.types.contains(name))
    }
}
