//! How does a schema become one that an API holds the model to while it writes?
//!
//! OpenAI's and Anthropic's strict forms have the same shape: closed objects of named properties,
//! and few keywords. What cannot be closed makes the tool unfit, and it is given without `strict`.

use std::sync::Arc;

use serde_json::Value;

use super::combine;
use super::keys::{self, KeyRule};
use super::loss::Effect;
use super::root::{self, RootRules};
use super::tree::{Node, Word};
use super::types;
use super::walk::{Rules, Unfit, Walk};
use super::words;

/// What one API's strict form takes.
pub(super) struct StrictRules {
    pub(super) root: RootRules,
    /// Why a keyword is not in the form.
    pub(super) why: &'static str,
    /// Whether every property is required, so that one which may be left out is null instead.
    pub(super) every_property_required: bool,
    /// Whether `type` may be a list.
    pub(super) type_lists: bool,
    /// Whether a schema may contain itself.
    pub(super) recursion: bool,
    /// The greatest `minItems`.
    pub(super) min_items: u64,
    /// Which names of properties it takes, where not all.
    pub(super) keys: Option<KeyRule>,
    /// Keywords that the form has.
    pub(super) keywords: &'static [&'static str],
    /// Values of `format` that it has.
    pub(super) formats: &'static [&'static str],
}

fn unfit(node: &Node, reason: &str) -> Unfit {
    let at = match &*node.at {
        "" => "the root",
        at => at,
    };
    Unfit(format!("{reason} (at {at})"))
}

impl Rules for StrictRules {
    fn cycles(&self) -> &'static str {
        "parts that apply together cannot refer to one another"
    }

    fn adapt_root(&self, root: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        root::fold(root, &self.root, walk)
    }

    fn adapt(&self, node: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        combine::flatten(node, walk);
        if let Some(name) = node.reference() {
            if !self.recursion && walk.is_recursive(name) {
                return Err(unfit(node, "a part contains itself"));
            }
            return Ok(());
        }
        if node.boolean.is_some() || node.takes_anything() {
            return match node.takes_nothing() && node.notes.is_empty() {
                true => Err(unfit(node, "a part takes nothing")),
                false => Err(unfit(node, "a part takes anything")),
            };
        }
        types::one_of(node, walk.losses, self.why);
        types::settle_constants(node, walk.losses);
        types::infer(node, walk.losses);
        types::drop_foreign(node, walk.losses);
        types::drop_other_values(node, walk.losses);
        if !types::may_have_values(node) {
            return Err(unfit(node, "a part takes nothing"));
        }
        if types::values(node).is_some_and(|values| {
            values
                .iter()
                .any(|value| value.is_array() || value.is_object())
        }) {
            return Err(unfit(node, "a constant is an object or a list"));
        }
        let kinds: Vec<String> = node.types().into_iter().map(str::to_owned).collect();
        let is = |kind: &str| kinds.iter().any(|known| known == kind);
        if kinds.is_empty() && node.list("anyOf").is_empty() {
            return Err(unfit(node, "a part has no type"));
        }
        if is("object") {
            self.object(node, walk)?;
        }
        if is("array") {
            self.array(node)?;
        }
        self.words(node, walk);
        if let Some(rule) = self.keys {
            keys::rename(node, rule, walk);
        }
        if !self.type_lists {
            types::split(node, walk.losses, self.why);
        }
        Ok(())
    }
}

impl StrictRules {
    fn object(&self, node: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        let names: Vec<String> = node
            .map("properties")
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        if !node.map("patternProperties").is_empty() {
            return Err(unfit(node, "an object has properties by pattern"));
        }
        if !names.is_empty() && !node.list("anyOf").is_empty() {
            return Err(unfit(
                node,
                "an object has alternatives beside its properties",
            ));
        }
        let is_closed = |keyword| match node.one(keyword) {
            None => Ok(false),
            Some(other) if other.takes_nothing() => Ok(true),
            Some(_) => Err(unfit(
                node,
                "an object takes other properties than those it names",
            )),
        };
        let is_closed = is_closed("additionalProperties")? | is_closed("unevaluatedProperties")?;
        let is_root = node.at.is_empty();
        if names.is_empty() && !is_closed && !is_root {
            return Err(unfit(node, "an object names no properties"));
        }
        if node
            .required()
            .iter()
            .any(|name| !names.iter().any(|known| known == name))
        {
            return Err(unfit(
                node,
                "an object requires a property that it does not describe",
            ));
        }
        node.take("unevaluatedProperties");
        let mut never = Node::new(Arc::clone(&node.at));
        never.boolean = Some(false);
        node.set("additionalProperties", Word::One(Box::new(never)));
        if !is_closed {
            let what = "properties that the object does not name are refused";
            walk.losses
                .say(&node.at, Effect::Narrower, (what, self.why));
        }
        if !matches!(node.get("properties"), Some(Word::Map(_))) {
            node.set("properties", Word::Map(Vec::new()));
        }
        if self.every_property_required {
            self.require(node, walk);
        }
        Ok(())
    }

    /// Requires every property; one that may be left out may be null.
    fn require(&self, node: &mut Node, walk: &mut Walk<'_, '_>) {
        let required: Vec<String> = node.required().into_iter().map(str::to_owned).collect();
        let mut names: Vec<Value> = Vec::new();
        if let Some(Word::Map(map)) = node.get_mut("properties") {
            for (name, property) in map {
                names.push(name.as_str().into());
                if required.contains(name) {
                    continue;
                }
                let (effect, what) = match types::make_nullable(property) {
                    true => (
                        Effect::Undone,
                        "an optional property is null in place of left out",
                    ),
                    false => (
                        Effect::Narrower,
                        "an optional property that may be null is required",
                    ),
                };
                walk.losses.say(&property.at, effect, (what, self.why));
            }
        }
        node.set_data("required", names);
    }

    fn array(&self, node: &Node) -> Result<(), Unfit> {
        if !node.list("prefixItems").is_empty() {
            return Err(unfit(node, "a list has items by position"));
        }
        match node.one("items") {
            Some(items) if !items.takes_anything() && !items.takes_nothing() => Ok(()),
            _ => Err(unfit(node, "a list does not say what its items are")),
        }
    }

    /// Leaves the keywords that the form has.
    fn words(&self, node: &mut Node, walk: &mut Walk<'_, '_>) {
        let keywords: Vec<String> = node
            .words
            .iter()
            .map(|(keyword, _)| keyword.clone())
            .collect();
        for keyword in keywords {
            let stays = match keyword.as_str() {
                "format" => node
                    .text("format")
                    .is_some_and(|format| self.formats.contains(&format)),
                "pattern" => node.text("pattern").is_some_and(is_regular),
                "minItems" => node
                    .data("minItems")
                    .and_then(Value::as_u64)
                    .is_some_and(|least| least <= self.min_items),
                _ => true,
            };
            if !stays || !self.keywords.contains(&keyword.as_str()) {
                words::tell(node, &keyword, walk.losses, self.why);
            }
        }
    }
}

/// Whether a pattern has no look-around and no back-reference.
fn is_regular(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '(']) {
        let tail = rest.get(at..).unwrap_or_default();
        let mut chars = tail.chars();
        match (chars.next(), chars.next(), chars.next(), chars.next()) {
            (Some('\\'), Some('1'..='9' | 'k'), ..)
            | (Some('('), Some('?'), Some('=' | '!'), _)
            | (Some('('), Some('?'), Some('<'), Some('=' | '!')) => return false,
            (Some('\\'), Some(escaped), ..) => {
                rest = tail.get(1 + escaped.len_utf8()..).unwrap_or_default()
            }
            _ => rest = tail.get(1..).unwrap_or_default(),
        }
    }
    true
}

/// What a strict schema counts against an API's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Properties of all objects.
    pub(super) properties: usize,
    /// Those of them that are not required.
    pub(super) optional: usize,
    /// Schemas with `anyOf` or a list of types.
    pub(super) unions: usize,
    /// Objects and lists inside one another.
    pub(super) levels: usize,
    /// Members of every `enum`.
    pub(super) values: usize,
    /// Characters of the names of properties and definitions, and of all constants.
    pub(super) characters: usize,
    /// Characters of the texts of the longest `enum` that has more than 250.
    pub(super) long_enum: usize,
}

/// Counts a written strict schema.
pub(super) fn count(schema: &Value) -> Counts {
    let mut counts = Counts::default();
    let mut open = vec![(schema, 0)];
    while let Some((schema, level)) = open.pop() {
        let Value::Object(map) = schema else { continue };
        counts.levels = counts.levels.max(level);
        let kinds = map.get("type").and_then(Value::as_array);
        counts.unions +=
            usize::from(map.contains_key("anyOf") || kinds.is_some_and(|kinds| kinds.len() > 1));
        let properties = map.get("properties").and_then(Value::as_object);
        let required = map.get("required").and_then(Value::as_array);
        for (name, schema) in properties.into_iter().flatten() {
            counts.properties += 1;
            counts.characters += name.chars().count();
            let is_required = required.is_some_and(|names| names.iter().any(|known| known == name));
            counts.optional += usize::from(!is_required);
            open.push((schema, level + 1));
        }
        open.extend(map.get("items").map(|items| (items, level + 1)));
        let members = map.get("anyOf").and_then(Value::as_array);
        open.extend(members.into_iter().flatten().map(|member| (member, level)));
        for (name, schema) in map
            .get("$defs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            counts.characters += name.chars().count();
            open.push((schema, 1));
        }
        let constants = map.get("const").into_iter();
        let values = map.get("enum").and_then(Value::as_array);
        let lengths = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        counts.characters += constants.map(lengths).sum::<usize>();
        if let Some(values) = values {
            let texts: usize = values.iter().map(lengths).sum();
            counts.values += values.len();
            counts.characters += texts;
            if values.len() > 250 {
                counts.long_enum = counts.long_enum.max(texts);
            }
        }
    }
    counts
}
