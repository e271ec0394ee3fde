//! How is JSON text of a model read that is almost right?
//!
//! Text that is JSON is read as it is. Else two slips of models are forgiven: raw control characters
//! inside strings, such as the line ends of a program that is written out, and text that goes on
//! after an object or a list has ended. Nothing is closed, quoted or completed: what a cut text would
//! have gone on to say is not known, and neither is which of two values a name that stands twice was
//! meant to have.

use std::borrow::Cow;

use serde_json::Value;

use super::distinct::Distinct;
use crate::guard::depth;

/// JSON that was read, and what had to be forgiven.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) value: Value,
    /// Strings held raw control characters.
    pub(super) had_controls: bool,
    /// Text that followed the value was left out.
    pub(super) had_more: bool,
}

/// Reads one JSON value that nests at most `maximum_depth` objects and arrays in one another.
///
/// # Errors
///
/// Says in words what is wrong; never shows the text.
pub(super) fn read(text: &str, maximum_depth: usize) -> Result<Read, String> {
    if depth::of_text(text.as_bytes(), maximum_depth).is_none() {
        return Err(format!(
            "it nests more than limits.json_depth ({maximum_depth}) objects and arrays"
        ));
    }
    match serde_json::from_str(text) {
        Ok(Distinct(value)) => Ok(Read {
            value,
            had_controls: false,
            had_more: false,
        }),
        Err(error) => forgiving(text).ok_or_else(|| error.to_string()),
    }
}

fn forgiving(text: &str) -> Option<Read> {
    let escaped = with_escaped_controls(text);
    let mut values = serde_json::Deserializer::from_str(&escaped).into_iter::<Distinct>();
    let Distinct(value) = values.next()?.ok()?;
    let rest = escaped.get(values.byte_offset()..)?.trim();
    let is_whole = value.is_object() || value.is_array();
    if !rest.is_empty() && (!is_whole || is_another_value(rest, &value)) {
        return None;
    }
    Some(Read {
        had_controls: matches!(escaped, Cow::Owned(_)),
        had_more: !rest.is_empty(),
        value,
    })
}

/// Whether the rest begins with a whole object or list that says something else: then the model gave
/// two answers, and it is not known which one it meant.
fn is_another_value(rest: &str, first: &Value) -> bool {
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match values.next() {
        Some(Ok(second)) => (second.is_object() || second.is_array()) && second != *first,
        _ => false,
    }
}

/// The text with raw control characters inside strings written as JSON wants them.
fn with_escaped_controls(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte < 0x20) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let (mut in_string, mut after_backslash, mut changed) = (false, false, false);
    for char in text.chars() {
        match char {
            '\u{0}'..='\u{1f}' if in_string => {
                changed = true;
                // A backslash before a raw line end is no escape that JSON knows.
                if after_backslash {
                    escaped.push('\\');
                }
                escaped.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            _ => escaped.push(char),
        }
        in_string ^= char == '"' && !after_backslash;
        after_backslash = in_string && char == '\\' && !after_backslash;
    }
    match changed {
        true => Cow::Owned(escaped),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(text: &str) -> Option<Value> {
        read(text, 64).ok().map(|read| read.value)
    }

    #[test]
    fn raw_control_characters_are_taken_inside_strings_only() {
        let text = "{\"a\":\"one\n\ttwo\u{1}\", \n \"b\": [\"\r\"]}";
        let read = read(text, 64).unwrap();
        assert_eq!(read.value, json!({"a": "one\n\ttwo\u{1}", "b": ["\r"]}));
        assert!(read.had_controls && !read.had_more);
        assert_eq!(value("{\"a\": \u{1} 1}"), None);
        assert_eq!(value("[\"a\\\"\n\"]"), Some(json!(["a\"\n"])));
        assert_eq!(value("[\"a\\\n\"]"), Some(json!(["a\\\n"])));
    }

    #[test]
    fn text_after_an_object_or_a_list_is_left_out() {
        let cut = r#"["a","b"]<parameter name="security_risk">LOW"#;
        assert_eq!(value(cut), Some(json!(["a", "b"])));
        assert_eq!(value("{\"a\": 1}</tool_call>"), Some(json!({"a": 1})));
        assert_eq!(value("{\"a\": \"é\n\"} 🦀"), Some(json!({"a": "é\n"})));
        assert_eq!(value("{\"a\": 1}{\"a\": 1}"), Some(json!({"a": 1})));
        for text in [
            "5 apples",
            "\"a\" b",
            "true.",
            "null}",
            "{\"a\": 1}{\"a\": 2}",
            "[1][]",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_is_completed() {
        for text in [
            "",
            "{",
            "{\"a\": 1",
            "[1, 2,",
            "{'a': 1}",
            "{a: 1}",
            "[1,]",
            "\"a",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_that_stands_twice_has_one_value() {
        assert_eq!(
            value("{\"a\": [1, null], \"a\": [1, null], \"b\": true}"),
            Some(json!({"a": [1, null], "b": true}))
        );
        let problem = read("{\"it\": [{\"a\": 1, \"b\": -2.5, \"a\": 2}]}", 64).unwrap_err();
        assert!(
            problem.starts_with("`a` stands twice, with different values"),
            "{problem}"
        );
        assert_eq!(value("{\"a\": \"\n\", \"a\": 1} more"), None);
    }

    #[test]
    fn the_depth_is_bounded_before_anything_recursive() {
        let deep = "[".repeat(100_000);
        assert_eq!(
            read(&deep, 64).unwrap_err(),
            "it nests more than limits.json_depth (64) objects and arrays"
        );
    }
}
