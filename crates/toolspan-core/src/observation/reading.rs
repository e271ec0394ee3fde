//! How is a content block read from JSON text without a detour?
//!
//! Almost every block is text, with its type first: such a block is read straight into place. Every
//! other one becomes a value first, and [`Content::from_json`] looks at that.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::content::{Content, Text};

impl<'de> Deserialize<'de> for Content {
    /// Reads a block as MCP writes it, to the same end as [`Content::from_json`]: what breaks the
    /// rules of its kind is [`Content::Other`], and only text that is no JSON is an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Block)
    }
}

/// A member's name, borrowed where it can be: most are only looked at.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct Block;

impl<'de> Visitor<'de> for Block {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut members = Map::new();
        if let Some((Key(key), value)) = map.next_entry::<_, Value>()? {
            if key == "type" && value == "text" {
                return text(map);
            }
            members.insert(key.into_owned(), value);
        }
        while let Some((key, value)) = map.next_entry()? {
            members.insert(key, value);
        }
        Ok(Content::from_json(Value::Object(members)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Content, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(sequence)).map(Content::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Other(text.into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Other(value.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Content, E> {
        Ok(Content::Other(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Content, E> {
        Ok(Content::Other(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Content, E> {
        Ok(Content::Other(number.into()))
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Other(Value::Null))
    }
}

/// The rest of a block that began with its type, which was `text`. Of members that come twice the
/// last one counts, as in every JSON value.
fn text<'de, A: MapAccess<'de>>(mut map: A) -> Result<Content, A::Error> {
    let (mut text, mut extra) = (None, Map::new());
    while let Some((Key(key), value)) = map.next_entry::<_, Value>()? {
        match value {
            Value::String(value) if key == "text" => {
                extra.shift_remove("text");
                text = Some(value);
            }
            value => {
                extra.insert(key.into_owned(), value);
            }
        }
    }
    match text {
        Some(text) if !extra.contains_key("text") && !extra.contains_key("type") => {
            Ok(Content::Text(Text { text, extra }))
        }
        text => {
            let mut members = Map::new();
            members.insert("type".to_owned(), "text".into());
            members.extend(text.map(|text| ("text".to_owned(), text.into())));
            members.extend(extra);
            Ok(Content::from_json(Value::Object(members)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_comes_to_the_same_as_looking_at_the_value() {
        for block in [
            r#"{"type":"text","text":"a"}"#,
            r#"{"text":"a","type":"text"}"#,
            r#"{"type":"text","annotations":{"audience":["robot"]},"text":"a","_meta":{"x":1}}"#,
            r#"{"type":"text","text":null}"#,
            r#"{"type":"text","text":"a","text":5}"#,
            r#"{"type":"text","text":5,"text":"a"}"#,
            r#"{"type":"text","text":"a","type":"image","data":"AAAA","mimeType":"image/png"}"#,
            r#"{"type":"text"}"#,
            r#"{"type":"image","data":"AAAA","mimeType":"image/png","new":true}"#,
            r#"{"type":"resource","resource":{"uri":"file:///a","text":"x"}}"#,
            r#"{"type":"hologram","beam":[1,2.5,-3,{}]}"#,
            r#"{"type":5}"#,
            "{}",
            "[1]",
            "\"just text\"",
            "true",
            "1",
            "-1",
            "1.5",
            "null",
        ] {
            let value: Value = serde_json::from_str(block).expect("JSON");
            let read: Content = serde_json::from_str(block).expect("a block");
            assert_eq!(read, Content::from_json(value), "{block}");
        }
    }
}
