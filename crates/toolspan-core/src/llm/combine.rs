//! How do two schemas of the same value become one?

use std::sync::Arc;

use serde_json::Value;

use super::loss::{Effect, Losses, OURS};
use super::tree::{Node, Word, is_annotation};
use super::walk::Walk;
use super::words;

/// Members of `allOf` that are taken into one schema.
const MEMBERS: usize = 256;

const ONE_SCHEMA: &str = "the parts that apply together are one schema in the form";

const TWO: &str = "two of them cannot be said together";

/// Keywords that mean something together only.
const TOGETHER: [&[&str]; 2] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
];

/// Takes the members of `allOf`, and the target of a reference beside other constraints, into the
/// schema itself. A reference alone stays; one beside words is wrapped, so that nothing stands
/// beside it.
pub(super) fn flatten(node: &mut Node, walk: &mut Walk<'_, '_>) {
    // A member may bring an `allOf` of its own.
    for _ in 0..MEMBERS {
        let Some(members) = node.take_list("allOf") else {
            break;
        };
        let is_bare = !node
            .words
            .iter()
            .any(|(keyword, _)| !is_annotation(keyword));
        let what = "the members of `allOf` are merged";
        walk.losses.say(&node.at, Effect::Same, (what, ONE_SCHEMA));
        let only = members.len() == 1;
        for mut member in members.into_iter().take(MEMBERS) {
            let stays = only && is_bare && member.words.len() == 1 && member.reference().is_some();
            if !stays {
                walk.inline(&mut member);
            }
            into(node, member, walk.losses);
        }
    }
    settle_reference(node, walk);
}

/// Leaves nothing beside a reference.
fn settle_reference(node: &mut Node, walk: &mut Walk<'_, '_>) {
    if node.reference().is_none() || node.words.len() == 1 {
        return;
    }
    let constrains = node
        .words
        .iter()
        .any(|(keyword, _)| keyword != "$ref" && !is_annotation(keyword));
    let said = |what| (what, "nothing may stand beside a reference");
    if constrains {
        walk.inline(node);
        walk.losses.say(
            &node.at,
            Effect::Same,
            said("the target stands in place of the reference"),
        );
        return flatten(node, walk);
    }
    if let Some(reference) = node.take("$ref") {
        let inner = node.beside("$ref", reference);
        node.set("anyOf", Word::List(vec![inner]));
        walk.losses.say(
            &node.at,
            Effect::Same,
            said("the reference is wrapped in `anyOf`"),
        );
    }
}

/// Makes `node` take what both take; what cannot be said together is told in the description.
pub(super) fn into(node: &mut Node, other: Node, losses: &mut Losses) {
    match (node.boolean, other.boolean) {
        (Some(false), _) | (_, Some(true)) => return,
        (_, Some(false)) => {
            node.words.clear();
            node.boolean = Some(false);
            return;
        }
        (Some(true), None) => node.boolean = None,
        (None, None) => {}
    }
    say_closed(node, &other, losses);
    let mut other = other;
    for group in TOGETHER {
        if group
            .first()
            .is_some_and(|first| node.has(first) && other.has(first))
        {
            for keyword in group {
                words::tell(&mut other, keyword, losses, TWO);
            }
        }
    }
    node.notes.append(&mut other.notes);
    let origin = other.at;
    for (keyword, word) in other.words {
        let Some(own) = node.take(&keyword) else {
            node.words.push((keyword, word));
            continue;
        };
        if own == word || is_annotation(&keyword) {
            node.set(&keyword, own);
            continue;
        }
        match both(&keyword, own, word) {
            Ok(word) => node.set(&keyword, word),
            Err(clash) => {
                let (own, word) = *clash;
                node.set(&keyword, own);
                let mut rest = Node::new(Arc::clone(&origin));
                rest.set(&keyword, word);
                words::tell(&mut rest, &keyword, losses, TWO);
                node.notes.append(&mut rest.notes);
            }
        }
    }
}

/// One side may refuse properties that the other one names; merged, they are taken.
fn say_closed(node: &Node, other: &Node, losses: &mut Losses) {
    for (closed, open) in [(node, other), (other, node)] {
        let bound = [
            "additionalProperties",
            "unevaluatedProperties",
            "patternProperties",
        ];
        let is_closed = bound.iter().any(|keyword| match closed.get(keyword) {
            Some(Word::One(node)) => !node.takes_anything(),
            Some(Word::Map(map)) => !map.is_empty(),
            _ => false,
        });
        let names = |node: &Node, name: &str| {
            node.map("properties")
                .iter()
                .any(|(known, _)| known == name)
        };
        let mut theirs = open
            .map("properties")
            .iter()
            .filter(|(_, node)| &*node.at != OURS);
        let adds = theirs.any(|(name, _)| !names(closed, name));
        let both_bound = closed.has("additionalProperties") && open.has("additionalProperties");
        if is_closed
            && (adds
                || (both_bound
                    && closed.get("additionalProperties") != open.get("additionalProperties")))
        {
            let what = "one part's bound on other properties is not held against the other part's";
            losses.say(&closed.at, Effect::Wider, (what, ONE_SCHEMA));
        }
        if closed.has("items")
            && open.has("prefixItems")
            && closed.get("prefixItems") != open.get("prefixItems")
        {
            let what = "one part's items are not held against the other part's first ones";
            losses.say(&closed.at, Effect::Wider, (what, ONE_SCHEMA));
        }
    }
}

/// A keyword's value that says what both say.
fn both(keyword: &str, one: Word, other: Word) -> Result<Word, Box<(Word, Word)>> {
    match (keyword, one, other) {
        ("properties", Word::Map(one), Word::Map(other)) => Ok(Word::Map(named(one, other))),
        ("allOf", Word::List(mut one), Word::List(other)) => {
            one.extend(other);
            Ok(Word::List(one))
        }
        ("items" | "propertyNames" | "additionalProperties", Word::One(one), Word::One(other)) => {
            Ok(Word::One(Box::new(together(*one, *other))))
        }
        (_, Word::Data(one), Word::Data(other)) => both_data(keyword, &one, &other)
            .map(Word::Data)
            .ok_or_else(|| Box::new((Word::Data(one), Word::Data(other)))),
        (_, one, other) => Err(Box::new((one, other))),
    }
}

fn named(mut one: Vec<(String, Node)>, other: Vec<(String, Node)>) -> Vec<(String, Node)> {
    for (name, node) in other {
        match one.iter_mut().find(|(known, _)| *known == name) {
            None => one.push((name, node)),
            Some((_, own)) if *own == node => {}
            Some((_, own)) => {
                let place = Node::new(Arc::clone(&own.at));
                let first = std::mem::replace(own, place);
                *own = together(first, node);
            }
        }
    }
    one
}

/// A schema of both as its parts, which are merged when the walk comes there.
fn together(one: Node, other: Node) -> Node {
    if other.takes_anything() || one.takes_nothing() {
        return one;
    }
    if one.takes_anything() || other.takes_nothing() {
        return other;
    }
    one.beside("allOf", Word::List(vec![one.clone(), other]))
}

fn both_data(keyword: &str, one: &Value, other: &Value) -> Option<Value> {
    let (a, b) = (one.as_f64(), other.as_f64());
    match keyword {
        "required" => {
            let mut names = one.as_array()?.clone();
            let more = other
                .as_array()?
                .iter()
                .filter(|name| !names.contains(name));
            let more: Vec<Value> = more.cloned().collect();
            names.extend(more);
            Some(names.into())
        }
        "enum" => {
            let (one, other) = (one.as_array()?, other.as_array()?);
            let shared: Vec<Value> = one
                .iter()
                .filter(|value| other.contains(value))
                .cloned()
                .collect();
            (!shared.is_empty()).then(|| shared.into())
        }
        "type" => both_types(one, other),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
        | "minContains" => Some(if a? >= b? { one.clone() } else { other.clone() }),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
        | "maxContains" => Some(if a? <= b? { one.clone() } else { other.clone() }),
        "uniqueItems" => Some(Value::Bool(one.as_bool()? || other.as_bool()?)),
        _ => None,
    }
}

fn both_types(one: &Value, other: &Value) -> Option<Value> {
    let list = |value: &Value| match value {
        Value::Array(list) => list.clone(),
        value => vec![value.clone()],
    };
    let (one, other) = (list(one), list(other));
    let is_number = |list: &[Value]| list.iter().any(|name| name == "number");
    let shared = |from: &[Value], with: &[Value]| -> Vec<Value> {
        let fits = |name: &&Value| with.contains(name) || (**name == "integer" && is_number(with));
        from.iter().filter(fits).cloned().collect()
    };
    let mut types = shared(&one, &other);
    for name in shared(&other, &one) {
        if !types.contains(&name) {
            types.push(name);
        }
    }
    match types.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(types.into()),
    }
}
