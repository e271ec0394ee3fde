//! Which types does a schema allow, and how is that said in a form that knows fewer ways to say it?

use std::sync::Arc;

use serde_json::Value;

use super::loss::{Effect, Losses};
use super::tree::{Node, Word, is_annotation};

/// The JSON Schema type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The values under `enum` or `const`.
pub(super) fn values(node: &Node) -> Option<Vec<Value>> {
    match (node.data("const"), node.data("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Whether a value of the type may be `value`: an integer is a number too.
fn is_of(kind: &str, value: &Value) -> bool {
    let own = type_of(value);
    let whole = || value.as_f64().is_some_and(|number| number.fract() == 0.0);
    own == kind
        || (kind == "number" && own == "integer")
        || (kind == "integer" && own == "number" && whole())
}

/// States the type where the author did not and the other keywords show it.
pub(super) fn infer(node: &mut Node, losses: &mut Losses) {
    if !node.types().is_empty() || node.reference().is_some() {
        return;
    }
    if let Some(values) = values(node) {
        let mut types: Vec<&str> = Vec::new();
        for value in &values {
            if !types.contains(&type_of(value)) {
                types.push(type_of(value));
            }
        }
        if types.contains(&"number") {
            types.retain(|name| *name != "integer");
        }
        if !types.is_empty() {
            set_first(node, &types);
            losses.say(
                &node.at,
                Effect::Same,
                ("`type` stated by the values", "the form needs it"),
            );
        }
        return;
    }
    // What alternatives add to properties is about objects too; of other keywords it is not known.
    let is_open = node.has("anyOf") || node.has("oneOf");
    if is_open && node.map("properties").is_empty() {
        return;
    }
    let shown = ["object", "array", "string", "number"]
        .into_iter()
        .find(|kind| {
            node.words
                .iter()
                .any(|(keyword, _)| group(keyword) == Some(kind))
        });
    if let Some(kind) = shown {
        set_first(node, &[kind]);
        let what = "`type` stated by the other keywords";
        losses.say(&node.at, Effect::Narrower, (what, "the form needs it"));
    }
}

fn set_first(node: &mut Node, types: &[&str]) {
    node.set_types(types);
    if let Some(word) = node.take("type") {
        node.set_first("type", word);
    }
}

/// The type whose values a keyword is about; `number` for integers too.
pub(super) fn group(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => "object",
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
        | "minContains" | "maxContains" | "unevaluatedItems" => "array",
        "minLength" | "maxLength" | "pattern" => "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        _ => return None,
    })
}

fn is_about(keyword: &str, kind: &str) -> bool {
    group(keyword).is_none_or(|about| about == kind || (about == "number" && kind == "integer"))
}

/// Leaves out keywords that are about no value of the stated types.
pub(super) fn drop_foreign(node: &mut Node, losses: &mut Losses) {
    let types: Vec<String> = node.types().into_iter().map(str::to_owned).collect();
    if types.is_empty() {
        return;
    }
    let at = Arc::clone(&node.at);
    node.words.retain(|(keyword, _)| {
        let stays = types.iter().any(|kind| is_about(keyword, kind));
        if !stays {
            let what = format!("`{keyword}` left out");
            losses.say(
                &at,
                Effect::Same,
                (what, "it says nothing about the stated types"),
            );
        }
        stays
    });
}

/// Leaves out members of `enum` that the stated types do not allow.
pub(super) fn drop_other_values(node: &mut Node, losses: &mut Losses) {
    let kinds: Vec<String> = node.types().into_iter().map(str::to_owned).collect();
    if let (Some(Word::Data(Value::Array(values))), false) =
        (node.get_mut("enum"), kinds.is_empty())
    {
        let before = values.len();
        values.retain(|value| kinds.iter().any(|kind| is_of(kind, value)));
        if values.len() < before {
            let said = (
                "values of other types left out of `enum`",
                "the stated type refuses them",
            );
            losses.say(&node.at, Effect::Same, said);
        }
    }
}

/// Leaves `const` alone where `enum` stands beside it: the only value that passes both, or none.
pub(super) fn settle_constants(node: &mut Node, losses: &mut Losses) {
    let Some(constant) = node.data("const").cloned() else {
        return;
    };
    let Some(Word::Data(Value::Array(values))) = node.take("enum") else {
        return;
    };
    if !values.contains(&constant) {
        node.take("const");
        node.set_data("enum", Vec::<Value>::new());
        return;
    }
    let said = ("`enum` left out", "`const` beside it says more");
    losses.say(&node.at, Effect::Same, said);
}

/// Whether some constant is of the stated types, where constants are stated.
pub(super) fn may_have_values(node: &Node) -> bool {
    let kinds = node.types();
    values(node).is_none_or(|values| {
        let is_fit =
            |value: &Value| kinds.is_empty() || kinds.iter().any(|kind| is_of(kind, value));
        values.iter().any(is_fit)
    })
}

/// Turns a list of types into `anyOf` with one schema for each.
pub(super) fn split(node: &mut Node, losses: &mut Losses, why: &'static str) {
    let types: Vec<String> = node.types().into_iter().map(str::to_owned).collect();
    if types.len() < 2 {
        if let Some(only) = types.into_iter().next() {
            // A list of one is that one.
            node.set_types(&[&only]);
        }
        return;
    }
    let mut branches = Vec::new();
    for kind in &types {
        let mut branch = Node::new(Arc::clone(&node.at));
        branch.set_data("type", kind.as_str());
        for (keyword, word) in &node.words {
            if keyword == "type" || is_annotation(keyword) || !is_about(keyword, kind) {
                continue;
            }
            branch.words.push((keyword.clone(), word.clone()));
        }
        if let Some(values) = values(node) {
            branch.take("const");
            let fitting: Vec<Value> = values
                .into_iter()
                .filter(|value| is_of(kind, value))
                .collect();
            if fitting.is_empty() {
                continue;
            }
            branch.set_data("enum", fitting);
            settle_values(&mut branch);
        }
        branches.push(branch);
    }
    node.words.retain(|(keyword, _)| is_annotation(keyword));
    losses.say(
        &node.at,
        Effect::Same,
        ("the types are alternatives of `anyOf`", why),
    );
    match (branches.pop(), branches.is_empty()) {
        (Some(only), true) => node.words.extend(only.words),
        (Some(last), false) => {
            branches.push(last);
            node.set("anyOf", Word::List(branches));
        }
        (None, _) => node.set_data("type", "null"),
    }
}

/// Takes away an `enum` that says no more than the type beside it.
fn settle_values(node: &mut Node) {
    let Some(Value::Array(values)) = node.data("enum") else {
        return;
    };
    let says_all = match node.types().as_slice() {
        ["null"] => true,
        ["boolean"] => values.contains(&Value::Bool(true)) && values.contains(&Value::Bool(false)),
        _ => false,
    };
    if says_all {
        node.take("enum");
    }
}

/// Makes a schema take null too; `false` where it does so already.
pub(super) fn make_nullable(node: &mut Node) -> bool {
    if takes_null(node) {
        return false;
    }
    let types: Vec<String> = node.types().into_iter().map(str::to_owned).collect();
    let is_plain = !["anyOf", "oneOf", "allOf", "not", "if", "$ref"]
        .iter()
        .any(|keyword| node.has(keyword));
    if is_plain && !types.is_empty() {
        let mut types: Vec<&str> = types.iter().map(String::as_str).collect();
        types.push("null");
        node.set_types(&types);
        if let Some(mut values) = values(node) {
            values.push(Value::Null);
            node.rename("const", "enum");
            node.set_data("enum", values);
        }
        return true;
    }
    if is_plain && let Some(mut values) = values(node) {
        values.push(Value::Null);
        node.rename("const", "enum");
        node.set_data("enum", values);
        return true;
    }
    let words = std::mem::take(&mut node.words);
    let mut inner = Node::new(Arc::clone(&node.at));
    inner.boolean = node.boolean.take();
    for (keyword, word) in words {
        match keyword.as_str() {
            "description" | "title" => node.words.push((keyword, word)),
            _ => inner.words.push((keyword, word)),
        }
    }
    let null = node.beside("type", Word::Data("null".into()));
    let mut members = match inner.words.as_slice() {
        [(keyword, Word::List(list))] if keyword == "anyOf" => list.clone(),
        _ => vec![inner],
    };
    members.push(null);
    node.set("anyOf", Word::List(members));
    true
}

/// Whether a schema says itself that null is right.
fn takes_null(node: &Node) -> bool {
    if node.takes_anything() {
        return true;
    }
    if let Some(values) = values(node) {
        return values.contains(&Value::Null)
            && (node.types().is_empty() || node.types().contains(&"null"));
    }
    let alternatives = ["anyOf", "oneOf"]
        .into_iter()
        .flat_map(|keyword| node.list(keyword));
    let mut alternatives = alternatives.filter(|member| member.types() == ["null"]);
    node.types().contains(&"null") || alternatives.next().is_some()
}

/// Turns `oneOf` into `anyOf`.
pub(super) fn one_of(node: &mut Node, losses: &mut Losses, why: &'static str) {
    if !matches!(node.get("oneOf"), Some(Word::List(_))) {
        return;
    }
    let Some(list) = node.take_list("oneOf") else {
        return;
    };
    let effect = match are_apart(&list) {
        true => Effect::Same,
        false => Effect::Wider,
    };
    let at = format!("{}/oneOf", node.at);
    losses.say(&at, effect, ("`oneOf` is `anyOf`", why));
    match node.take_list("anyOf") {
        None => node.set("anyOf", Word::List(list)),
        Some(other) => {
            node.set("anyOf", Word::List(other));
            let said = ("`oneOf` beside `anyOf` left out", why);
            losses.say(&at, Effect::Wider, said);
        }
    }
}

/// Whether no value can pass two of the schemas: they are of different types, or an object's
/// property that all require has another constant in each.
fn are_apart(list: &[Node]) -> bool {
    let apart = |one: &Node, other: &Node| {
        let (a, b) = (one.types(), other.types());
        let number = |types: &[&str]| {
            types
                .iter()
                .any(|name| matches!(*name, "number" | "integer"))
        };
        let shares = a.iter().any(|name| b.contains(name)) || (number(&a) && number(&b));
        let by_type = !a.is_empty() && !b.is_empty() && !shares;
        by_type
            || tags(one).iter().any(|(name, value)| {
                tags(other)
                    .iter()
                    .any(|(key, known)| name == key && value != known)
            })
    };
    list.iter()
        .enumerate()
        .all(|(at, one)| list.iter().skip(at + 1).all(|other| apart(one, other)))
}

/// The properties that an object must have with one constant.
fn tags(node: &Node) -> Vec<(&str, Value)> {
    let required = node.required();
    let of_object = node.types() == ["object"];
    let named = node
        .map("properties")
        .iter()
        .filter(|(name, _)| of_object && required.contains(&name.as_str()));
    named
        .filter_map(|(name, node)| match values(node)?.as_slice() {
            [only] => Some((name.as_str(), only.clone())),
            _ => None,
        })
        .collect()
}
