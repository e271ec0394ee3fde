//! Tools and results as Google's Gemini API takes them, by `parametersJsonSchema`.
//!
//! That field takes a part of JSON Schema: `$ref` and `$defs`, `anyOf`, lists of types, bounds of
//! numbers and lists; constants are an `enum` of texts. The rest is told in descriptions.

use serde_json::{Map, Value, json};

use super::combine;
use super::form::Form;
use super::loose::add_items;
use super::loss::{Effect, Losses};
use super::projection::{Declared, Shaped};
use super::result::Parts;
use super::root::{self, RootRules};
use super::shape;
use super::tree::{Node, Word};
use super::types;
use super::walk::{Rules, Unfit, Walk};
use super::words;
use crate::registry::RegisteredTool;

const WHY: &str = "Gemini takes a part of JSON Schema";

const ROOT: RootRules = RootRules {
    why: "Gemini takes an object without alternatives at the root",
    refused: &["not", "enum", "const", "if", "then", "else"],
};

const KEYWORDS: &[&str] = &[
    "$ref",
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
    "enum",
    "format",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];

struct GeminiRules;

impl Rules for GeminiRules {
    fn cycles(&self) -> &'static str {
        "parts that apply together cannot refer to one another"
    }

    fn adapt_root(&self, root: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        root::fold(root, &ROOT, walk)
    }

    fn adapt(&self, node: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        combine::flatten(node, walk);
        if node.reference().is_some() {
            return Ok(());
        }
        write_out(node, walk.losses);
        if !adapt_shared(node, walk, WHY) {
            return Ok(());
        }
        add_items(node, walk, "Gemini refuses a list without `items`");
        keep(node, KEYWORDS, (walk.losses, WHY));
        Ok(())
    }
}

/// Makes `true` and `false` schemas of their own; that nothing is right is told in the description.
fn write_out(node: &mut Node, losses: &mut Losses) {
    match node.boolean.take() {
        Some(false) => {
            node.words.clear();
            node.notes = vec!["nothing is right here".to_owned()];
            let said = ("that nothing is right is told in the description", WHY);
            losses.say(&node.at, Effect::Wider, said);
        }
        Some(true) => {
            let said = ("`true` is an empty schema", WHY);
            losses.say(&node.at, Effect::Same, said);
        }
        None => {}
    }
}

/// What both of Gemini's forms ask; `false` where the schema takes anything and nothing is left to
/// adapt.
pub(super) fn adapt_shared(node: &mut Node, walk: &mut Walk<'_, '_>, why: &'static str) -> bool {
    if node.boolean.is_some() {
        return false;
    }
    types::one_of(node, walk.losses, why);
    if types::values(node).is_some() {
        types::infer(node, walk.losses);
        constants(node, walk.losses, why);
    } else {
        types::infer(node, walk.losses);
    }
    types::drop_foreign(node, walk.losses);
    drop_never(node, walk.losses, why);
    require_known(node, walk.losses, why);
    true
}

/// Makes constants an `enum` of texts; those that are none are told in the description.
fn constants(node: &mut Node, losses: &mut Losses, why: &'static str) {
    if node.has("enum") {
        words::tell(node, "const", losses, why);
    }
    let constant = node
        .data("const")
        .filter(|constant| constant.is_string())
        .cloned();
    if let (Some(constant), false) = (constant, node.has("enum")) {
        node.rename("const", "enum");
        node.set_data("enum", vec![constant]);
        losses.say(&node.at, Effect::Same, ("`const` is an `enum` of one", why));
    }
    types::drop_other_values(node, losses);
    let values = types::values(node).unwrap_or_default();
    let is_text = |value: &Value| value.is_string();
    if !values.is_empty() && values.iter().all(is_text) {
        return;
    }
    let texts_and_null = values
        .iter()
        .all(|value| value.is_string() || value.is_null());
    if texts_and_null && values.iter().any(is_text) {
        types::split(node, losses, why);
        return;
    }
    words::tell(node, "enum", losses, why);
    words::tell(node, "const", losses, why);
}

/// Leaves out properties that take nothing, which these forms cannot say.
fn drop_never(node: &mut Node, losses: &mut Losses, why: &'static str) {
    if let Some(Word::Map(map)) = node.get_mut("properties") {
        map.retain(|(_, property)| {
            if property.takes_nothing() {
                let what = "a property that takes nothing left out";
                losses.say(&property.at, Effect::Wider, (what, why));
            }
            !property.takes_nothing()
        });
    }
}

/// Requires only what is described.
fn require_known(node: &mut Node, losses: &mut Losses, why: &'static str) {
    let known: Vec<String> = node
        .map("properties")
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let required: Vec<String> = node.required().into_iter().map(str::to_owned).collect();
    let (stay, gone): (Vec<&String>, Vec<&String>) =
        required.iter().partition(|name| known.contains(name));
    if gone.is_empty() {
        return;
    }
    node.set_required(stay.into_iter().map(String::as_str));
    let gone: Vec<Value> = gone.into_iter().map(|name| name.as_str().into()).collect();
    node.notes
        .push(words::note_of("required", &Value::Array(gone)));
    let said = (
        "`required` of a property that is not described is told in the description",
        why,
    );
    losses.say(&format!("{}/required", node.at), Effect::Wider, said);
}

/// Leaves these keywords; the others are told in the description.
pub(super) fn keep(node: &mut Node, known: &[&str], (losses, why): (&mut Losses, &'static str)) {
    let keywords: Vec<String> = node
        .words
        .iter()
        .map(|(keyword, _)| keyword.clone())
        .collect();
    for keyword in keywords {
        let is_number = node
            .types()
            .iter()
            .any(|name| matches!(*name, "number" | "integer"));
        // These fields refuse what is about values of a type that is not stated.
        let is_about_none = node.types().is_empty() && types::group(&keyword).is_some();
        let stays = known.contains(&keyword.as_str())
            && (keyword != "format" || is_number)
            && !is_about_none;
        if !stays {
            words::tell(node, &keyword, losses, why);
        }
    }
}

/// The schema of a tool.
pub(super) fn shape(
    tool: &RegisteredTool,
    form: &Form,
    losses: &mut Losses,
) -> Result<Shaped, Unfit> {
    let document = shape::read(tool, (form, shape::look(tool)), losses)?;
    let schema = shape::by_rules(document, &GeminiRules, losses)?;
    Ok(Shaped {
        schema,
        is_strict: false,
    })
}

/// One element of `functionDeclarations`.
pub(super) fn declare(declared: Declared<'_>) -> Value {
    let Declared {
        name,
        description,
        shaped,
        ..
    } = declared;
    json!({
        "name": &*name,
        "description": description,
        "parametersJsonSchema": shaped.schema,
    })
}

/// The part that answers a call: the text under `output`, or under `error` where the tool failed,
/// and the images in `parts`.
pub(super) fn tool_result((call_id, name): (&str, &str), parts: &Parts) -> Value {
    let key = if parts.is_error { "error" } else { "output" };
    let mut response = Map::new();
    if !call_id.is_empty() {
        response.insert("id".to_owned(), call_id.into());
    }
    response.insert("name".to_owned(), name.into());
    response.insert("response".to_owned(), json!({key: parts.text()}));
    let images: Vec<Value> = parts
        .images()
        .map(|(data, mime_type)| json!({"inlineData": {"mimeType": mime_type, "data": data}}))
        .collect();
    if !images.is_empty() {
        response.insert("parts".to_owned(), images.into());
    }
    json!({"functionResponse": response})
}
