//! What does a config say, whatever its comments and white space?

use std::fmt;
use std::path::Path;

use jsonc_parser::ast::Value;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Says of which kind a hash is, so that it never equals one that was made in another way.
const KIND: &[u8] = b"toolspan config 1";

/// The SHA-256 of what a config says, and of the files with variables that it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a config's [`canonical`] text and of files read with it.
    pub(super) fn of<'a>(
        canonical: &str,
        files: impl IntoIterator<Item = (&'a Path, &'a [u8; 32])>,
    ) -> Self {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            // With its length before it, no part can be taken for a piece of another.
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        add(KIND);
        add(canonical.as_bytes());
        for (path, content) in files {
            add(path.as_os_str().as_encoded_bytes());
            add(content);
        }
        Self(hash.finalize().into())
    }
}

/// Sixty-four hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Fingerprint({self})")
    }
}

/// The SHA-256 of these bytes.
pub(crate) fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Two digits a byte.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The config on one line, in the order it is written, without comments and white space. Numbers
/// stay as they are written. Recursion ends at the depth that a config may have.
pub(super) fn canonical(value: &Value<'_>) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value<'_>, text: &mut String) {
    match value {
        Value::NullKeyword(_) => text.push_str("null"),
        Value::BooleanLit(flag) => text.push_str(if flag.value { "true" } else { "false" }),
        Value::NumberLit(number) => text.push_str(number.value),
        Value::StringLit(string) => text.push_str(&quoted(&string.value)),
        Value::Array(array) => {
            text.push('[');
            for (index, item) in array.elements.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(object) => {
            text.push('{');
            for (index, member) in object.properties.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(&quoted(member.name.as_str()));
                text.push(':');
                write_canonical(&member.value, text);
            }
            text.push('}');
        }
    }
}

fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

/// The config as JSON, to be shown. A number that no double can hold becomes its text.
pub(super) fn tree(value: &Value<'_>) -> Json {
    match value {
        Value::NullKeyword(_) => Json::Null,
        Value::BooleanLit(flag) => Json::Bool(flag.value),
        Value::NumberLit(number) => number
            .value
            .parse()
            .map_or_else(|_| Json::from(number.value), Json::Number),
        Value::StringLit(string) => Json::from(string.value.as_ref()),
        Value::Array(array) => array.elements.iter().map(tree).collect(),
        Value::Object(object) => {
            let members = object.properties.iter();
            let member =
                members.map(|member| (member.name.as_str().to_owned(), tree(&member.value)));
            Json::Object(member.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::source::Source;
    use super::*;

    fn of(text: &str) -> String {
        let source = Source::new(None, text);
        canonical(&source.parse().expect("JSON").expect("a value"))
    }

    #[test]
    fn comments_white_space_and_escapes_mean_nothing() {
        let plain = r#"{"a":["x",1.50,true,null,{}],"b":"é\n"}"#;
        let other = "// c\n{ \"a\" : [ \"\\u0078\" , 1.50, true, null, { /* d */ } ],\n\"b\":\"\\u00e9\\u000a\"} ";
        assert_eq!(of(other), plain);
        assert_eq!(of(plain), plain);
    }

    #[test]
    fn whatever_else_differs_has_another_fingerprint() {
        let texts = [
            r#"{"a":["b","c"]}"#,
            r#"{"a":["c","b"]}"#,
            r#"{"a":["b,c"]}"#,
            r#"{"a":["bc"]}"#,
            r#"{"a":["b",1]}"#,
            r#"{"a":["b",1.0]}"#,
            r#"{"a":["b","1"]}"#,
            r#"{"a":[],"b":[]}"#,
            r#"{"b":[],"a":[]}"#,
        ];
        let path = Path::new("/p/.env");
        let none: [(&Path, &[u8; 32]); 0] = [];
        let mut all: Vec<String> = texts
            .iter()
            .map(|text| Fingerprint::of(&of(text), none).to_string())
            .collect();
        let base = of(texts[0]);
        for (path, content) in [
            (path, hash(b"A=1")),
            (path, hash(b"A=2")),
            (Path::new("/p/.env2"), hash(b"A=1")),
        ] {
            all.push(Fingerprint::of(&base, [(path, &content)]).to_string());
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
