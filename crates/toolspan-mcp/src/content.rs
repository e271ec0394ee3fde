//! The result of `tools/call` as an observation, read block by block.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use toolspan_core::{Content, Observation, Result};

use crate::error;

/// Reads a result (MCP 2025-11-25, `CallToolResult`) in one pass. A block that is unknown or
/// malformed is kept as it came; only a result that is no object is refused.
///
/// # Errors
///
/// `protocol` when the result is not an object.
pub(crate) fn observation(result: &RawValue) -> Result<Observation> {
    let mut observation = Observation::default();
    read(result.get(), &mut observation)
        .or_else(|error| {
            let Some(text) = without_half_characters(result.get()) else {
                return Err(error);
            };
            observation = Observation::default();
            read(&text, &mut observation)
        })
        .map_err(|error| {
            error::protocol(format!("the result of the call cannot be read: {error}"))
        })?;
    Ok(observation)
}

/// Reads the object of a result into an observation that is still empty: on its way through the
/// layers of a reader it would be copied by each.
fn read(text: &str, observation: &mut Observation) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_map(Members(observation))?;
    deserializer.end()
}

/// A member's name, borrowed where it can be: most are only looked at.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct Members<'o>(&'o mut Observation);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    /// Of members that come twice the last one counts, as in every JSON value.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(observation) = self;
        while let Some(Key(key)) = map.next_key()? {
            match key.as_ref() {
                "content" => observation.content = map.next_value::<Contents>()?.0,
                "structuredContent" => observation.structured = Some(map.next_value()?),
                "isError" => {
                    let value: Value = map.next_value()?;
                    observation.is_error = value == true;
                    observation.extra.shift_remove(key.as_ref());
                    if !value.is_boolean() {
                        observation.extra.insert(key.into_owned(), value);
                    }
                }
                _ => {
                    let value = map.next_value()?;
                    observation.extra.insert(key.into_owned(), value);
                }
            }
        }
        Ok(())
    }
}

/// The blocks of a result: a list, also when the server gave a text or something else in its place.
struct Contents(Vec<Content>);

impl<'de> Deserialize<'de> for Contents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Blocks).map(Self)
    }
}

struct Blocks;

impl<'de> Visitor<'de> for Blocks {
    type Value = Vec<Content>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Vec<Content>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(sequence))
    }

    fn visit_unit<E>(self) -> Result<Vec<Content>, E> {
        Ok(Vec::new())
    }

    fn visit_str<E>(self, text: &str) -> Result<Vec<Content>, E> {
        Ok(vec![Content::text(text)])
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<Content>, A::Error> {
        let object = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(vec![Content::Other(object)])
    }

    fn visit_bool<E>(self, value: bool) -> Result<Vec<Content>, E> {
        Ok(vec![Content::Other(value.into())])
    }

    fn visit_i64<E>(self, number: i64) -> Result<Vec<Content>, E> {
        Ok(vec![Content::Other(number.into())])
    }

    fn visit_u64<E>(self, number: u64) -> Result<Vec<Content>, E> {
        Ok(vec![Content::Other(number.into())])
    }

    fn visit_f64<E>(self, number: f64) -> Result<Vec<Content>, E> {
        Ok(vec![Content::Other(number.into())])
    }
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
        let twice = r#"{"isError": "?", "content": "a", "isError": true, "content": [false, 1]}"#;
        let raw = RawValue::from_string(twice.to_owned()).unwrap();
        assert_eq!(
            observation(&raw).unwrap().to_mcp(),
            json!({"content": [false, 1], "isError": true})
        );
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
