//! How does an author's schema become a tree in the spelling of 2020-12?
//!
//! Older spellings are brought to today's, every reference leads to an entry of `$defs` at the root,
//! and what names a schema (`$id`, anchors) is not needed any more. All of it accepts the same values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::as_written::Findings;
use super::keys::{self, OtherNames};
use super::loss::{Effect, Losses};
use super::tree::{Node, REFERENCE, Word, is_annotation};
use super::walk::Unfit;
use crate::schema::{Dialect, Form, Schema, escaped, place_of};

/// Schemas inside one another that are read; schemas of a host have at most 32.
const LEVELS: usize = 64;

const SPELLING: &str = "this is the spelling of 2020-12";

/// A schema with what it refers to.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) root: Node,
    /// What references lead to, by name, in the order in which they are met.
    pub(super) definitions: Vec<(String, Node)>,
    /// What its properties are called where an API refuses their names.
    pub(super) other_names: OtherNames,
}

/// Reads a schema that has passed its static checks.
pub(super) fn read(
    schema: &Schema,
    findings: Findings,
    losses: &mut Losses,
) -> Result<Document, Unfit> {
    let dialect = match schema.known_dialect() {
        Some(dialect) => dialect,
        None if findings.old_spelling => schema
            .dialect_as_written()
            .map_err(|rejected| Unfit(format!("its schema cannot be used: {rejected}")))?,
        None => Dialect::Draft202012,
    };
    let mut reader = Reader {
        raw: schema.raw(),
        schema,
        dialect,
        losses,
        references: None,
        names: HashMap::new(),
        open: Vec::new(),
        level: 0,
    };
    let root = reader.node(schema.raw(), "");
    let mut definitions = Vec::new();
    let mut next = 0;
    while let Some((pointer, name)) = reader.open.get(next).cloned() {
        next += 1;
        let target = reader.raw.pointer(&pointer).unwrap_or(&Value::Bool(true));
        let node = reader.node(target, &pointer);
        definitions.push((name, node));
    }
    reader.say_unused();
    Ok(Document {
        root,
        definitions,
        other_names: keys::other_names(schema),
    })
}

struct Reader<'s, 'l> {
    schema: &'s Schema,
    raw: &'s Value,
    dialect: Dialect,
    losses: &'l mut Losses,
    /// Where references lead; made when the first one is met.
    references: Option<HashMap<&'s str, Cow<'s, str>>>,
    /// The name of each definition by the pointer to it.
    names: HashMap<String, String>,
    /// Definitions in the order in which they are met.
    open: Vec<(String, String)>,
    level: usize,
}

impl<'s> Reader<'s, '_> {
    /// Recurses as deep as schemas nest, which is bounded.
    fn node(&mut self, value: &'s Value, at: &str) -> Node {
        let mut node = Node::new(at);
        let map = match value {
            Value::Object(map) => map,
            Value::Bool(value) => {
                node.boolean = Some(*value);
                return node;
            }
            _ => return node,
        };
        if self.level >= LEVELS {
            let what = format!("schemas more than {LEVELS} levels deep take anything");
            self.losses
                .say(at, Effect::Wider, (what, "deeper ones are not read"));
            return node;
        }
        self.level += 1;
        let reference = ["$ref", "$dynamicRef", "$recursiveRef"]
            .into_iter()
            .find(|keyword| map.get(*keyword).is_some_and(Value::is_string));
        let alone = self.dialect.reference_stands_alone() && reference == Some("$ref");
        if let Some(keyword) = reference {
            self.reference(&mut node, keyword, map);
        }
        for (keyword, value) in map {
            if alone && !stays_beside_reference(keyword) {
                let what = format!("`{keyword}` beside a reference left out");
                let why = format!("{} reads nothing beside a reference", self.dialect);
                self.losses.say(at, Effect::Same, (what, why));
                continue;
            }
            self.keyword(&mut node, (keyword, value), map);
        }
        self.level -= 1;
        node
    }

    fn keyword(
        &mut self,
        node: &mut Node,
        (keyword, value): (&str, &'s Value),
        map: &'s Map<String, Value>,
    ) {
        let at = Arc::clone(&node.at);
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {}
            "$defs" | "definitions" if value.is_object() => {}
            "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor"
            | "$vocabulary" => {
                let what = format!("`{keyword}` left out");
                self.losses
                    .say(&at, Effect::Same, (what, "nothing in the form needs it"));
            }
            "id" if self.dialect == Dialect::Draft4 => {}
            "items" if value.is_array() => {
                let word = self.word(&at, (keyword, value), Form::List);
                node.set("prefixItems", word);
                self.losses.say(
                    &at,
                    Effect::Same,
                    ("`items` as a list is `prefixItems`", SPELLING),
                );
            }
            "additionalItems" => {
                if map.get("items").is_some_and(Value::is_array) {
                    let word = self.word(&at, (keyword, value), Form::One);
                    node.set("items", word);
                    self.losses.say(
                        &at,
                        Effect::Same,
                        ("`additionalItems` is `items`", SPELLING),
                    );
                }
            }
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                self.exclusive(node, keyword, map);
            }
            "minimum" | "maximum" if is_excluded(keyword, map) => {}
            "dependencies" if self.dialect.reference_stands_alone() => {
                self.dependencies(node, value);
            }
            _ => match place_of(keyword, value.is_array()) {
                Some((form, _)) => {
                    let word = self.word(&at, (keyword, value), form);
                    node.set(keyword, word);
                }
                None => node.set(keyword, Word::Data(value.clone())),
            },
        }
    }

    /// The schemas that a keyword holds; what breaks the keyword's rules stays data.
    fn word(&mut self, at: &str, (keyword, value): (&str, &'s Value), form: Form) -> Word {
        match (form, value) {
            (Form::One, Value::Object(_) | Value::Bool(_)) => {
                Word::One(Box::new(self.node(value, &format!("{at}/{keyword}"))))
            }
            (Form::List, Value::Array(list)) => {
                let nodes = list.iter().enumerate();
                let nodes = nodes
                    .map(|(index, value)| self.node(value, &format!("{at}/{keyword}/{index}")));
                Word::List(nodes.collect())
            }
            (Form::Map, Value::Object(map)) => {
                let nodes = map.iter().map(|(name, value)| {
                    let at = format!("{at}/{keyword}/{}", escaped(name));
                    (name.clone(), self.node(value, &at))
                });
                Word::Map(nodes.collect())
            }
            _ => Word::Data(value.clone()),
        }
    }

    fn exclusive(&mut self, node: &mut Node, keyword: &str, map: &Map<String, Value>) {
        let bound = match keyword {
            "exclusiveMinimum" => "minimum",
            _ => "maximum",
        };
        let is_set = map.get(keyword) == Some(&Value::Bool(true));
        if let (true, Some(bound)) = (is_set, map.get(bound)) {
            node.set(keyword, Word::Data(bound.clone()));
        }
        let what = format!("`{keyword}` is the bound itself");
        self.losses.say(&node.at, Effect::Same, (what, SPELLING));
    }

    fn dependencies(&mut self, node: &mut Node, value: &'s Value) {
        let at = Arc::clone(&node.at);
        let (mut names, mut schemas) = (Map::new(), Vec::new());
        for (name, value) in value.as_object().into_iter().flatten() {
            match value {
                Value::Array(_) => _ = names.insert(name.clone(), value.clone()),
                value => {
                    let at = format!("{at}/dependencies/{}", escaped(name));
                    schemas.push((name.clone(), self.node(value, &at)));
                }
            }
        }
        if !names.is_empty() {
            node.set("dependentRequired", Word::Data(Value::Object(names)));
        }
        if !schemas.is_empty() {
            node.set("dependentSchemas", Word::Map(schemas));
        }
        let what = "`dependencies` are `dependentRequired` and `dependentSchemas`";
        self.losses.say(&at, Effect::Same, (what, SPELLING));
    }

    /// Makes the node refer to a definition.
    fn reference(&mut self, node: &mut Node, keyword: &str, map: &'s Map<String, Value>) {
        let schema = self.schema;
        let references = self.references.get_or_insert_with(|| schema.references());
        let Some(target) = references.get(&*node.at).cloned() else {
            let what = format!("`{keyword}` that may mean several schemas takes anything");
            self.losses
                .say(&node.at, Effect::Wider, (what, "no form can say it"));
            return;
        };
        let name = self.name(&target);
        let text = format!("{REFERENCE}{name}");
        if map.get(keyword).and_then(Value::as_str) != Some(&text) {
            let what = match map.get(keyword).and_then(Value::as_str) {
                Some("#") | None => {
                    "the reference to the whole schema leads to a copy in `$defs`".to_owned()
                }
                Some(_) => format!("the reference leads to `$defs/{name}`"),
            };
            self.losses.say(
                &node.at,
                Effect::Same,
                (what, "references lead to `$defs` only"),
            );
        }
        node.set_data("$ref", text);
    }

    /// The name of the definition at `pointer`, which is read later where it is new.
    fn name(&mut self, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let last = match pointer.rsplit_once('/') {
            Some((_, last)) => last.replace("~1", "_").replace("~0", "_"),
            None => "arguments".to_owned(),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let plain: String = last
            .chars()
            .take(60)
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        let plain = if plain.is_empty() {
            "schema".to_owned()
        } else {
            plain
        };
        let mut name = plain.clone();
        let mut count = 1;
        while self.open.iter().any(|(_, known)| *known == name) {
            count += 1;
            name = format!("{plain}_{count}");
        }
        self.names.insert(pointer.to_owned(), name.clone());
        self.open.push((pointer.to_owned(), name.clone()));
        name
    }

    /// Records the definitions that nothing refers to; they are not read.
    fn say_unused(&mut self) {
        for keyword in ["$defs", "definitions"] {
            let named = self.raw.get(keyword).and_then(Value::as_object);
            for name in named.into_iter().flat_map(Map::keys) {
                let pointer = format!("/{keyword}/{}", escaped(name));
                if !self.names.contains_key(&pointer) {
                    let said = ("a definition left out", "nothing refers to it");
                    self.losses.say(&pointer, Effect::Same, said);
                }
            }
        }
    }
}

/// Whether draft-04 says beside this bound that the bound itself is excluded.
fn is_excluded(keyword: &str, map: &Map<String, Value>) -> bool {
    let exclusive = match keyword {
        "minimum" => "exclusiveMinimum",
        _ => "exclusiveMaximum",
    };
    map.get(exclusive) == Some(&Value::Bool(true))
}

/// Whether a keyword beside a reference is kept where the dialect reads nothing there.
fn stays_beside_reference(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$schema" | "$defs" | "definitions") || is_annotation(keyword)
}
