//! How are JSON values and types put into plain, bounded, harmless words?

use jsonschema::{JsonType, JsonTypeSet};
use serde_json::Value;

/// Characters of a value shown in a message.
const EXCERPT_CHARS: usize = 60;
/// Values of an `enum` shown in a message.
const LISTED_VALUES: usize = 20;
/// Property names shown when an object is described.
const LISTED_NAMES: usize = 8;

/// `text` in double quotes, cut after `limit` characters; control, bidirectional and other
/// invisible characters are escaped, since the text comes from a server or a model.
pub(super) fn quote(text: &str, limit: usize) -> String {
    let (inner, cut) = escape(text, limit);
    format!("\"{inner}\"{cut}")
}

/// A property name in backquotes, escaped and bounded like [`quote`].
pub(crate) fn name(text: &str) -> String {
    let (inner, cut) = escape(text, EXCERPT_CHARS);
    format!("`{inner}{cut}`")
}

/// A JSON pointer, escaped and bounded like [`quote`].
pub(super) fn pointer(text: &str, limit: usize) -> String {
    let (inner, cut) = escape(text, limit);
    format!("{inner}{cut}")
}

/// A JSON pointer for a line of its own, escaped and cut after 200 characters.
pub(crate) fn shown_pointer(text: &str) -> String {
    pointer(text, 200)
}

/// The first `limit` characters, escaped, and what stands for the rest.
fn escape(text: &str, limit: usize) -> (String, &'static str) {
    let (shown, cut) = match text.char_indices().nth(limit) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), "…"),
        None => (text, ""),
    };
    let quoted = format!("{shown:?}");
    let inner = quoted.get(1..quoted.len().saturating_sub(1));
    (inner.unwrap_or_default().to_owned(), cut)
}

/// "a string", "an integer", "null".
pub(super) fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// The types of a set, in words.
pub(super) fn type_names(kinds: JsonTypeSet) -> Vec<&'static str> {
    kinds.iter().map(type_name).collect()
}

/// The JSON type of a value: "a string", "an object".
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The type of a value and a short excerpt. Never the values inside an object or array, which may
/// be secret although the object is not.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quote(text, EXCERPT_CHARS)),
        Value::Array(items) if items.len() == 1 => "an array of 1 item".to_owned(),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(map) => {
            let shown: Vec<String> = map.keys().take(LISTED_NAMES).map(|key| name(key)).collect();
            let more = if map.len() > LISTED_NAMES {
                ", …"
            } else {
                ""
            };
            format!("an object with {}{more}", shown.join(", "))
        }
    }
}

/// The type of a value that must not be shown.
pub(super) fn describe_hidden(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        other => format!("{} (hidden)", kind_of(other)),
    }
}

/// A value of a schema (`const`, a member of `enum`) as it would be written.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text, EXCERPT_CHARS),
        Value::Array(_) | Value::Object(_) => describe(value),
        scalar => scalar.to_string(),
    }
}

/// The members of an `enum`, in words.
pub(super) fn one_of(values: &[Value]) -> String {
    let mut shown: Vec<String> = values.iter().take(LISTED_VALUES).map(literal).collect();
    match values.len().saturating_sub(LISTED_VALUES) {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    match shown.as_slice() {
        [single] => single.clone(),
        _ => format!("one of {}", shown.join(", ")),
    }
}

/// "a", "a or b", "a, b or c"; repeated words once.
pub(super) fn alternatives<S: AsRef<str>>(words: &[S]) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for word in words {
        if !unique.contains(&word.as_ref()) {
            unique.push(word.as_ref());
        }
    }
    match unique.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// "1 item", "3 items".
pub(super) fn count(number: impl Into<u64>, noun: &str, plural: &str) -> String {
    let number = number.into();
    let word = if number == 1 { noun } else { plural };
    format!("{number} {word}")
}
