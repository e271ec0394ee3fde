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
    let mut members: Map<String, Value> = serde_json::from_str(result.get()).map_err(|error| {
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
