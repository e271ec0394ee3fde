//! Tools as Google's Gemini API takes them by the older field `parameters`, a subset of OpenAPI 3.0.
//!
//! No references, no lists of types, no closed objects: what is referred to stands in its place, null
//! is `nullable`, and a part that contains itself is an open object from the second time on.

use serde_json::{Map, Value};

use super::combine;
use super::form::Form;
use super::gemini;
use super::keys;
use super::loose::add_items;
use super::loss::{Effect, Losses};
use super::projection::{Declared, Shaped};
use super::root::{self, RootRules};
use super::shape;
use super::tree::{Node, Word};
use super::types;
use super::walk::{Rules, Unfit, Walk};
use super::words;
use crate::registry::RegisteredTool;

const WHY: &str = "Gemini's `parameters` take a subset of OpenAPI 3.0";

const ROOT: RootRules = RootRules {
    why: WHY,
    refused: &["not", "enum", "const", "if", "then", "else"],
};

const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "nullable",
    "properties",
    "required",
    "items",
    "anyOf",
    "enum",
    "format",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minProperties",
    "maxProperties",
];

struct OpenApiRules;

impl Rules for OpenApiRules {
    fn cycles(&self) -> &'static str {
        WHY
    }

    fn adapt_root(&self, root: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        root::fold(root, &ROOT, walk)
    }

    fn adapt(&self, node: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        let mut is_nullable = settle(node, walk);
        types::infer(node, walk.losses);
        is_nullable |= take_null(node) | only_null(node, walk.losses);
        if node.takes_anything() || node.takes_nothing() || !gemini::adapt_shared(node, walk, WHY) {
            any(node, walk.losses);
            return Ok(());
        }
        tuples(node, walk.losses);
        add_items(node, walk, "Gemini refuses a list without `items`");
        close(node, walk.losses);
        types::split(node, walk.losses, WHY);
        gemini::keep(node, KEYWORDS, (walk.losses, WHY));
        if node.takes_anything() {
            any(node, walk.losses);
        }
        if is_nullable {
            node.set_data("nullable", true);
            walk.losses
                .say(&node.at, Effect::Same, ("null is `nullable`", WHY));
        }
        keys::rename(node, keys::GEMINI, walk);
        Ok(())
    }
}

/// Alternatives inside one another that are taken apart.
const ALTERNATIVES: usize = 64;

/// Puts together what applies to the value itself, until no reference is left; whether null was an
/// alternative, which is taken out.
fn settle(node: &mut Node, walk: &mut Walk<'_, '_>) -> bool {
    let mut is_nullable = false;
    for _ in 0..ALTERNATIVES {
        if node.reference().is_some() {
            walk.inline(node);
            walk.losses.say(
                &node.at,
                Effect::Same,
                ("the target stands in place of the reference", WHY),
            );
        }
        combine::flatten(node, walk);
        types::one_of(node, walk.losses, WHY);
        // This keyword of the author's says nothing in JSON Schema; the form's own comes later.
        words::tell(node, "nullable", walk.losses, WHY);
        let Some(mut members) = node.take_list("anyOf") else {
            break;
        };
        let before = members.len();
        if node.types().is_empty() {
            members.retain(|member| member.types() != ["null"]);
        }
        is_nullable |= members.len() < before;
        let is_alone = node.types().is_empty() && members.len() == 1;
        match (members.pop(), is_alone) {
            (Some(only), true) => combine::into(node, only, walk.losses),
            (Some(last), false) => {
                members.push(last);
                node.set("anyOf", Word::List(members));
                break;
            }
            (None, _) => {
                node.set_data("type", "null");
                return false;
            }
        }
    }
    is_nullable
}

/// Takes null out of a list of types.
fn take_null(node: &mut Node) -> bool {
    let kinds: Vec<String> = node.types().into_iter().map(str::to_owned).collect();
    let others: Vec<&str> = kinds
        .iter()
        .map(String::as_str)
        .filter(|kind| *kind != "null")
        .collect();
    let is_nullable = !others.is_empty() && others.len() < kinds.len();
    if is_nullable {
        node.set_types(&others);
    }
    is_nullable
}

/// Makes what takes null alone a text that may be null, since null is no type of its own there.
fn only_null(node: &mut Node, losses: &mut Losses) -> bool {
    let is_null = node.types() == ["null"];
    if is_null {
        node.words
            .retain(|(keyword, _)| matches!(keyword.as_str(), "type" | "description"));
        node.set_data("type", "string");
        node.notes.push("only null is right".to_owned());
        let said = ("what takes null alone is a text that may be null", WHY);
        losses.say(&node.at, Effect::Wider, said);
    }
    is_null
}

/// Names the types that a schema which takes anything may take, since each has to have a type.
fn any(node: &mut Node, losses: &mut Losses) {
    if node.takes_nothing() {
        node.boolean = None;
        let said = ("a part that takes nothing takes anything", WHY);
        losses.say(&node.at, Effect::Wider, said);
    }
    node.boolean = None;
    node.words.retain(|(keyword, _)| keyword == "description");
    let mut members = Vec::new();
    for kind in ["string", "number", "boolean", "object", "array"] {
        let mut member = node.beside("type", Word::Data(kind.into()));
        if kind == "array" {
            let text = node.beside("type", Word::Data("string".into()));
            member.set("items", Word::One(Box::new(text)));
        }
        members.push(member);
    }
    node.set("anyOf", Word::List(members));
    let what =
        "what takes anything takes a text, a number, a boolean, an object or a list of texts";
    losses.say(&node.at, Effect::Narrower, (what, WHY));
}

/// Items by position are one schema for all.
fn tuples(node: &mut Node, losses: &mut Losses) {
    let Some(first) = node.take_list("prefixItems") else {
        return;
    };
    let mut members: Vec<Node> = Vec::new();
    let rest = match node.take("items") {
        Some(Word::One(rest)) if !rest.takes_nothing() => Some(*rest),
        _ => None,
    };
    for item in first.into_iter().chain(rest) {
        if !members.iter().any(|known| known.words == item.words) {
            members.push(item);
        }
    }
    let mut items = Node::new(node.at.clone());
    match (members.pop(), members.is_empty()) {
        (Some(only), true) => items = only,
        (Some(last), false) => {
            members.push(last);
            items.set("anyOf", Word::List(members));
        }
        (None, _) => {}
    }
    node.set("items", Word::One(Box::new(items)));
    node.notes
        .push("the items stand in a fixed order".to_owned());
    let said = ("items by position are one schema for all", WHY);
    losses.say(&node.at, Effect::Wider, said);
}

/// Takes away what is said of properties without a name.
fn close(node: &mut Node, losses: &mut Losses) {
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if node.one(keyword).is_some_and(Node::takes_nothing) {
            node.take(keyword);
            let what = format!("`{keyword}: false` left out");
            losses.say(&node.at, Effect::Wider, (what, WHY));
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
    let schema = shape::by_rules(document, &OpenApiRules, losses)?;
    Ok(Shaped {
        schema,
        is_strict: false,
    })
}

/// One element of `functionDeclarations`; without `parameters` where the tool takes none, since an
/// object without properties is refused there.
pub(super) fn declare(declared: Declared<'_>) -> Value {
    let Declared {
        name,
        description,
        shaped,
        ..
    } = declared;
    let mut function = Map::new();
    function.insert("name".to_owned(), (&*name).into());
    function.insert("description".to_owned(), description.into());
    let properties = shaped.schema.get("properties").and_then(Value::as_object);
    if properties.is_some_and(|properties| !properties.is_empty()) {
        function.insert("parameters".to_owned(), shaped.schema);
    }
    function.into()
}
