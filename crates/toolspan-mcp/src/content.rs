//! The result of `tools/call` as an observation, read block by block.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolspan_core::{Content, Observation, Result};

use crate::error;

/// Reads a result (MCP 2025-11-25, `CallToolResult`). A block that is unknown or malformed is kept
/// as it came; only a result that is no object is refused.
///
/// # Errors
///
/// `protocol` when the result is not an object.
pub(crate) fn observation(result: &RawValue) -> Result<Observation> {
    let mut members: Map<String, Value> = serde_json::from_str(result.get())
        .or_else(|error| {
            without_half_characters(result.get())
                .map_or(Err(error), |text| serde_json::from_str(&text))
        })
        .map_err(|error| {
            error::protocol(format!("the result of the call cannot be read: {error}"))
        })?;
    let mut observation = Observation::default();
    observation.content = match members.shift_remove("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(blocks)) => blocks.into_iter().map(Content::from_json).collect(),
        Some(Value::String(text)) => vec![Content::text(text)],
        Some(other) => vec![Content::Other(other)],
    };
    if let Some(Value::Bool(is_error)) = members.get("isError") {
        observation.is_error = *is_error;
        members.shift_remove("isError");
    }
    observation.structured = members.shift_remove("structuredContent");
    observation.extra = members;
    Ok(observation)
}

/// The text with each escaped half of a character replaced (U+FFFD), if there is one.
///
/// JSON may hold such halves (RFC 8259, section 8.2), and servers in JavaScript that cut texts send
/// them; a `String` cannot.
fn without_half_characters(text: &str) -> Option<String> {
    /// An escape such as `\ud83d`, in bytes.
    const ESCAPE: usize = 6;
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        repaired.push_str(before);
        let next = escape.get(ESCAPE..).and_then(surrogate);
        let (kept, length) = match (surrogate(escape), next) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => {
                (escape.get(..2 * ESCAPE), 2 * ESCAPE)
            }
            (Some(_), _) => (Some("\\ufffd"), ESCAPE),
            // Any other escape; its second byte may be a backslash of its own.
            (None, _) => (escape.get(..2), 2),
        };
        repaired.push_str(kept?);
        rest = escape.get(length..)?;
    }
    repaired.push_str(rest);
    (repaired != text).then_some(repaired)
}

/// The surrogate that an escape at the start of the text stands for.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(result: &Value) -> Observation {
        observation(&serde_json::value::to_raw_value(result).unwrap()).unwrap()
    }

    #[test]
    fn a_result_comes_back_as_it_was() {
        let result = json!({
            "content": [{"type": "text", "text": "a"}, {"type": "hologram"}],
            "structuredContent": {"n": 1},
            "isError": true,
            "_meta": {"k": 1},
            "future": true,
        });
        assert_eq!(read(&result).to_mcp(), result);
    }

    #[test]
    fn odd_contents_are_kept() {
        assert!(read(&json!({})).content.is_empty());
        assert!(read(&json!({"content": null})).content.is_empty());
        assert_eq!(read(&json!({"content": "hi"})).text(), "hi");
        assert_eq!(
            read(&json!({"content": 5})).content,
            [Content::Other(json!(5))]
        );
        assert_eq!(
            read(&json!({"structuredContent": null})).structured,
            Some(Value::Null)
        );
        assert!(!read(&json!({"isError": "true"})).is_error);
    }

    #[test]
    fn a_result_that_is_no_object_is_refused() {
        let raw = RawValue::from_string("[1]".to_owned()).unwrap();
        assert_eq!(
            observation(&raw).unwrap_err().kind(),
            toolspan_core::ErrorKind::Protocol
        );
    }
}
