//! Is this still the tool that was approved?

use std::fmt::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::facts::Facts;

/// A hash of all that a tool says of itself and where it comes from, as 64 hex digits of SHA-256.
///
/// Names, words, schemas, annotations and every further member count; the order of an object's
/// members does not. One changed word in a description gives another hash, so that an approval
/// never outlives what was approved.
pub fn definition_hash(facts: &Facts<'_>) -> String {
    let definition = facts.definition;
    let mut whole = definition.to_json(facts.tool, facts.toolbox);
    if let Some(members) = whole.as_object_mut() {
        members.insert("title".into(), json!(definition.title));
        members.insert("extra".into(), definition.extra.clone().into());
        members.insert("origin".into(), json!(facts.origin));
    }
    let mut hash = Sha256::new();
    feed(&mut hash, &whole);
    let mut digits = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Feeds a value member by member in the order of the keys. Recurses as deep as a message may nest
/// (`limits.json_depth`).
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| key.as_str());
            hash.update(b"{");
            for (key, member) in sorted {
                hash.update(key.len().to_le_bytes());
                hash.update(key);
                feed(hash, member);
            }
            hash.update(b"}");
        }
        Value::Array(items) => {
            hash.update(b"[");
            items.iter().for_each(|item| feed(hash, item));
            hash.update(b"]");
        }
        plain => {
            let text = plain.to_string();
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
    }
}
