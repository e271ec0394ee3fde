//! Which value does a text spell where the schema wants no text?

use serde_json::Value;

use super::kind::RepairKind;
use crate::call::lenient;
use crate::schema::JsonType;

/// A value that a text spells, and how it was found.
pub(in crate::call) struct Spelled {
    pub(in crate::call) value: Value,
    pub(in crate::call) kind: RepairKind,
    pub(in crate::call) note: &'static str,
}

/// The value that `text` spells. An object or a list may be followed by other text; anything else
/// must be all of it.
pub(in crate::call) fn spelled(text: &str, maximum_depth: usize) -> Option<Spelled> {
    let text = text.trim();
    match text.bytes().next()? {
        b'{' | b'[' => container(text, maximum_depth),
        _ => scalar(text),
    }
}

fn container(text: &str, maximum_depth: usize) -> Option<Spelled> {
    let read = lenient::read(text, maximum_depth).ok()?;
    let note = match (read.value.is_object(), read.had_more) {
        (true, false) => "JSON text read as an object",
        (true, true) => "JSON text read as an object; text after its end left out",
        (false, false) => "JSON text read as a list",
        (false, true) => "JSON text read as a list; text after its end left out",
    };
    Some(Spelled {
        value: read.value,
        kind: RepairKind::JsonText,
        note,
    })
}

/// `true` and `false` are taken in any case, since Python writes them with a capital letter.
fn scalar(text: &str) -> Option<Spelled> {
    for flag in [true, false] {
        if text.eq_ignore_ascii_case(if flag { "true" } else { "false" }) {
            return Some(Spelled {
                value: Value::Bool(flag),
                kind: RepairKind::Boolean,
                note: "text read as a boolean",
            });
        }
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let (kind, note) = match &value {
        Value::Number(number) if !is_rounded(text, number) => {
            (RepairKind::Number, "text read as a number")
        }
        Value::Null => (RepairKind::Null, "text read as null"),
        _ => return None,
    };
    Some(Spelled { value, kind, note })
}

/// Whether a number lost digits beyond what is exact: an identifier must not change. The exact ones
/// end at 2^53.
fn is_rounded(text: &str, number: &serde_json::Number) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_large = number.is_f64() && number.as_f64().is_none_or(|number| number.abs() >= EXACT);
    // `-0` has no exact form of its own either.
    let is_whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    number.is_f64() && is_whole(text.trim_start_matches('-'))
        || is_large && significant(text) != significant(&number.to_string())
}

/// The digits of a number without its sign, its point, its exponent and the zeros around them.
fn significant(text: &str) -> String {
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Whether a value is of one of these types, as JSON Schema (2020-12, validation, 6.1.1) says.
pub(super) fn is_one_of(value: &Value, kinds: &[JsonType]) -> bool {
    kinds.iter().any(|kind| match kind {
        JsonType::Array => value.is_array(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        JsonType::Null => value.is_null(),
        JsonType::Number => value.is_number(),
        JsonType::Object => value.is_object(),
        JsonType::String => value.is_string(),
    })
}
