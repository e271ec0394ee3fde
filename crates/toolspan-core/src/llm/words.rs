//! How is a constraint that a form cannot say told in the description?

use serde_json::Value;

use super::loss::{Effect, Losses};
use super::tree::{Node, Word, is_annotation, is_assertion};

/// Characters of one constraint in a description.
const NOTE_CHARS: usize = 300;

/// Takes a keyword out of a schema, tells what it said in the description, and records it.
pub(super) fn tell(node: &mut Node, keyword: &str, losses: &mut Losses, why: &str) {
    let Some(word) = node.take(keyword) else {
        return;
    };
    let effect = match is_assertion(keyword) && !says_nothing(keyword, &word) {
        true => Effect::Wider,
        false if is_annotation(keyword) => Effect::Words,
        false => Effect::Same,
    };
    let note = note(keyword, word);
    let what = match note {
        Some(_) => format!("`{keyword}` is told in the description"),
        None => format!("`{keyword}` left out"),
    };
    node.notes.extend(note);
    losses.say(&node.at, effect, (what, why.to_owned()));
}

/// Adds a note to the description of a schema.
pub(super) fn note_of(keyword: &str, value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match text.char_indices().nth(NOTE_CHARS) {
        Some((end, _)) => format!("{keyword}: {}…", text.get(..end).unwrap_or_default()),
        None => format!("{keyword}: {text}"),
    }
}

/// What a description says in place of a keyword; nothing for what a model needs not know.
fn note(keyword: &str, word: Word) -> Option<String> {
    if says_nothing(keyword, &word) {
        return None;
    }
    let value = match word {
        Word::Data(value) => value,
        Word::One(node) => node.write(),
        Word::List(list) => list.into_iter().map(Node::write).collect(),
        Word::Map(map) => Value::Object(
            map.into_iter()
                .map(|(name, node)| (name, node.write()))
                .collect(),
        ),
    };
    let is_worth_it = match keyword {
        "title" | "$comment" | "contentSchema" | "readOnly" | "writeOnly" => false,
        // Several generators write so that there is none.
        "default" => !value.is_null(),
        keyword => is_assertion(keyword) || is_annotation(keyword),
    };
    is_worth_it.then(|| note_of(keyword, &value))
}

/// Whether a keyword with this value allows everything.
fn says_nothing(keyword: &str, word: &Word) -> bool {
    match (keyword, word) {
        ("uniqueItems", Word::Data(Value::Bool(false))) => true,
        ("minItems" | "minLength" | "minProperties", Word::Data(value)) => {
            value.as_f64() == Some(0.0)
        }
        ("required", Word::Data(Value::Array(list))) => list.is_empty(),
        ("propertyNames", Word::One(node)) => {
            node.takes_anything() || (node.words.len() == 1 && node.types() == ["string"])
        }
        (
            "additionalProperties"
            | "items"
            | "contains"
            | "unevaluatedProperties"
            | "unevaluatedItems",
            Word::One(node),
        ) => keyword != "contains" && node.takes_anything(),
        ("properties" | "patternProperties" | "dependentSchemas", Word::Map(map)) => map.is_empty(),
        ("dependentRequired", Word::Data(Value::Object(map))) => map.is_empty(),
        _ => false,
    }
}
