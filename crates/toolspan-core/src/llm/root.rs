//! How does the root of a schema become one plain object?

use serde_json::Value;

use super::combine;
use super::loss::Effect;
use super::tree::{Node, Word};
use super::walk::{Unfit, Walk};
use super::words;

/// Characters of the alternatives that a description tells.
const TOLD: usize = 400;

/// What an API says about the root.
pub(super) struct RootRules {
    /// Why alternatives are folded.
    pub(super) why: &'static str,
    /// Further keywords that may not stand there.
    pub(super) refused: &'static [&'static str],
}

/// Makes the root an object with properties: what applies together is merged, of alternatives the
/// properties are joined, and which ones go together is told in the description.
///
/// # Errors
///
/// When the parts together take nothing.
pub(super) fn fold(
    root: &mut Node,
    rules: &RootRules,
    walk: &mut Walk<'_, '_>,
) -> Result<(), Unfit> {
    if root.boolean.take().is_some() || root.types() != ["object"] {
        let said = ("the root is an object", "arguments are an object");
        walk.losses.say(&root.at, Effect::Same, said);
        root.set_first("type", Word::Data("object".into()));
    }
    walk.inline(root);
    combine::flatten(root, walk);
    if root.takes_nothing() {
        return Err(Unfit("its schema takes no arguments at all".to_owned()));
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(branches) = root.take_list(keyword) {
            join(root, branches, (keyword, rules.why), walk);
        }
    }
    for keyword in rules.refused {
        words::tell(root, keyword, walk.losses, rules.why);
    }
    // A part that allowed something else than an object too.
    root.set_data("type", "object");
    if !matches!(root.get("properties"), Some(Word::Map(_))) {
        root.set("properties", Word::Map(Vec::new()));
        let said = (
            "an empty `properties` added",
            "an object states its properties",
        );
        walk.losses.say(&root.at, Effect::Same, said);
    }
    Ok(())
}

/// Joins alternatives to one object.
fn join(
    root: &mut Node,
    branches: Vec<Node>,
    (keyword, why): (&str, &'static str),
    walk: &mut Walk<'_, '_>,
) {
    let mut objects = Vec::new();
    for mut branch in branches {
        walk.inline(&mut branch);
        combine::flatten(&mut branch, walk);
        let takes_object = branch.types().is_empty() || branch.types().contains(&"object");
        if takes_object && !branch.takes_nothing() {
            objects.push(branch);
        }
    }
    let at = format!("{}/{keyword}", root.at);
    let what = format!("the alternatives of `{keyword}` are one object with the properties of all");
    walk.losses.say(&at, Effect::Wider, (what, why));
    say_alternatives(root, &objects);
    let shared = shared_required(&objects);
    let mut required: Vec<String> = root.required().into_iter().map(str::to_owned).collect();
    required.extend(
        shared
            .into_iter()
            .filter(|name| !required.contains(name))
            .collect::<Vec<_>>(),
    );
    root.set_required(required.iter().map(String::as_str));
    let is_closed = |node: &Node| {
        node.one("additionalProperties")
            .is_some_and(Node::takes_nothing)
    };
    if !root.has("additionalProperties") && !objects.is_empty() && objects.iter().all(is_closed) {
        root.set("additionalProperties", Word::One(Box::new(never(root))));
    }
    let mut joined: Vec<(String, Vec<Node>)> = Vec::new();
    for branch in objects {
        for (keyword, word) in branch.words {
            let ("properties", Word::Map(map)) = (keyword.as_str(), word) else {
                continue;
            };
            for (name, node) in map {
                match joined.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, nodes)) => nodes.push(node),
                    None => joined.push((name, vec![node])),
                }
            }
        }
    }
    add_properties(root, joined);
}

fn never(root: &Node) -> Node {
    let mut never = Node::new(root.at.clone());
    never.boolean = Some(false);
    never
}

/// Properties of the alternatives; those of the root itself stay as they are.
fn add_properties(root: &mut Node, joined: Vec<(String, Vec<Node>)>) {
    let mut own = match root.take("properties") {
        Some(Word::Map(map)) => map,
        _ => Vec::new(),
    };
    for (name, nodes) in joined {
        if own.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let mut distinct: Vec<Node> = Vec::new();
        for node in nodes {
            if !distinct
                .iter()
                .any(|known| known.words == node.words && known.boolean == node.boolean)
            {
                distinct.push(node);
            }
        }
        let first = distinct.first().cloned();
        match (first, distinct.len()) {
            (Some(only), 1) => own.push((name, only)),
            (Some(first), _) => own.push((name, first.beside("anyOf", Word::List(distinct)))),
            (None, _) => {}
        }
    }
    root.set("properties", Word::Map(own));
}

/// The names that every alternative requires.
fn shared_required(objects: &[Node]) -> Vec<String> {
    let Some((first, rest)) = objects.split_first() else {
        return Vec::new();
    };
    let everywhere = |name: &&str| rest.iter().all(|node| node.required().contains(name));
    first
        .required()
        .into_iter()
        .filter(everywhere)
        .map(str::to_owned)
        .collect()
}

/// Tells which properties go together, where the alternatives require different ones.
fn say_alternatives(root: &mut Node, objects: &[Node]) {
    let own = root.required();
    let alternatives: Vec<String> = objects
        .iter()
        .map(|node| {
            let names = node.required();
            let names: Vec<&str> = names
                .into_iter()
                .filter(|name| !own.contains(name))
                .collect();
            format!("({})", names.join(", "))
        })
        .collect();
    if alternatives.len() < 2
        || alternatives
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if a == b))
    {
        return;
    }
    let text = Value::from(alternatives.join(" or "));
    let mut note = words::note_of("required together", &text);
    if let Some((end, _)) = note.char_indices().nth(TOLD) {
        note.truncate(end);
    }
    root.notes.push(note);
}
