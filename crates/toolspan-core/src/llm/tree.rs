//! What does a schema look like while it is adapted to an API?
//!
//! A tree of schemas, each with its keywords in the author's order and the place in the author's
//! document that it comes from. Keywords are told from the names of properties here, once: a
//! property called `$ref` or `definitions` is a name in a [`Word::Map`].

use std::sync::Arc;

use serde_json::{Map, Value};

/// One schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// JSON pointer into the author's document; [`OURS`](super::loss::OURS) where it is not from there.
    pub(super) at: Arc<str>,
    /// What a boolean schema says; such a one has no words.
    pub(super) boolean: Option<bool>,
    /// The keywords, in order, each name once.
    pub(super) words: Vec<(String, Word)>,
    /// What the form cannot say, for the description.
    pub(super) notes: Vec<String>,
}

/// The value of a keyword.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// Holds no schema.
    Data(Value),
    /// A schema.
    One(Box<Node>),
    /// A list of schemas.
    List(Vec<Node>),
    /// Schemas by name.
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn new(at: impl Into<Arc<str>>) -> Self {
        Self {
            at: at.into(),
            boolean: None,
            words: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A schema with one keyword, at the same place as this one.
    pub(super) fn beside(&self, keyword: &str, word: Word) -> Self {
        let mut node = Self::new(Arc::clone(&self.at));
        node.set(keyword, word);
        node
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&Word> {
        let found = self.words.iter().find(|(key, _)| key == keyword);
        found.map(|(_, word)| word)
    }

    pub(super) fn get_mut(&mut self, keyword: &str) -> Option<&mut Word> {
        let found = self.words.iter_mut().find(|(key, _)| key == keyword);
        found.map(|(_, word)| word)
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    /// The value of a keyword that holds no schema.
    pub(super) fn data(&self, keyword: &str) -> Option<&Value> {
        match self.get(keyword) {
            Some(Word::Data(value)) => Some(value),
            _ => None,
        }
    }

    pub(super) fn text(&self, keyword: &str) -> Option<&str> {
        self.data(keyword).and_then(Value::as_str)
    }

    /// The schemas of a keyword that holds a list of them.
    pub(super) fn list(&self, keyword: &str) -> &[Node] {
        match self.get(keyword) {
            Some(Word::List(list)) => list,
            _ => &[],
        }
    }

    /// The schemas of a keyword that holds them by name.
    pub(super) fn map(&self, keyword: &str) -> &[(String, Node)] {
        match self.get(keyword) {
            Some(Word::Map(map)) => map,
            _ => &[],
        }
    }

    pub(super) fn one(&self, keyword: &str) -> Option<&Node> {
        match self.get(keyword) {
            Some(Word::One(node)) => Some(node),
            _ => None,
        }
    }

    /// Sets a keyword where it stands, or as the last one.
    pub(super) fn set(&mut self, keyword: &str, word: Word) {
        match self.get_mut(keyword) {
            Some(old) => *old = word,
            None => self.words.push((keyword.to_owned(), word)),
        }
    }

    pub(super) fn set_data(&mut self, keyword: &str, value: impl Into<Value>) {
        self.set(keyword, Word::Data(value.into()));
    }

    /// Sets a keyword in front of the others.
    pub(super) fn set_first(&mut self, keyword: &str, word: Word) {
        self.take(keyword);
        self.words.insert(0, (keyword.to_owned(), word));
    }

    pub(super) fn take(&mut self, keyword: &str) -> Option<Word> {
        let at = self.words.iter().position(|(key, _)| key == keyword)?;
        Some(self.words.remove(at).1)
    }

    pub(super) fn take_list(&mut self, keyword: &str) -> Option<Vec<Node>> {
        match self.get(keyword) {
            Some(Word::List(_)) => match self.take(keyword) {
                Some(Word::List(list)) => Some(list),
                _ => None,
            },
            _ => None,
        }
    }

    /// The other name of a keyword, in its place.
    pub(super) fn rename(&mut self, keyword: &str, other: &str) {
        if let Some(found) = self.words.iter_mut().find(|(key, _)| key == keyword) {
            other.clone_into(&mut found.0);
        }
    }

    /// The names under `type`; none where it says nothing.
    pub(super) fn types(&self) -> Vec<&str> {
        match self.data("type") {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name],
            _ => Vec::new(),
        }
    }

    pub(super) fn set_types(&mut self, types: &[&str]) {
        match types {
            [only] => self.set_data("type", *only),
            list => self.set_data(
                "type",
                list.iter().copied().map(Value::from).collect::<Vec<_>>(),
            ),
        }
    }

    /// Whether it says nothing about values: `true`, `{}`, or words for people only.
    pub(super) fn takes_anything(&self) -> bool {
        match self.boolean {
            Some(value) => value,
            None => self.words.iter().all(|(key, _)| is_annotation(key)),
        }
    }

    /// Whether it takes nothing: `false`.
    pub(super) fn takes_nothing(&self) -> bool {
        self.boolean == Some(false)
    }

    /// The names under `required`.
    pub(super) fn required(&self) -> Vec<&str> {
        let names = self.data("required").and_then(Value::as_array);
        names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub(super) fn set_required<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        let names: Vec<Value> = names.into_iter().map(Value::from).collect();
        match names.is_empty() {
            true => _ = self.take("required"),
            false => self.set_data("required", names),
        }
    }

    /// The definition that it refers to.
    pub(super) fn reference(&self) -> Option<&str> {
        self.text("$ref")?.strip_prefix(REFERENCE)
    }

    /// The schema as JSON, its notes in the description. Recurses as deep as the tree, which is
    /// bounded where it is made.
    pub(super) fn write(self) -> Value {
        let Self {
            boolean,
            words,
            notes,
            ..
        } = self;
        if let (Some(boolean), true) = (boolean, notes.is_empty()) {
            return boolean.into();
        }
        let mut map = Map::new();
        for (keyword, word) in words {
            let value = match word {
                Word::Data(value) => value,
                Word::One(node) => node.write(),
                Word::List(list) => list.into_iter().map(Self::write).collect(),
                Word::Map(map) => {
                    let map = map.into_iter().map(|(name, node)| (name, node.write()));
                    Value::Object(map.collect())
                }
            };
            map.insert(keyword, value);
        }
        if boolean == Some(false) {
            map.insert("not".to_owned(), Value::Object(Map::new()));
        }
        if !notes.is_empty() {
            let notes = notes.join("; ");
            let described = match map.get("description").and_then(Value::as_str) {
                Some(text) if !text.trim().is_empty() => format!("{} ({notes})", text.trim_end()),
                _ => notes,
            };
            map.insert("description".to_owned(), described.into());
        }
        Value::Object(map)
    }
}

/// What every reference of the canonical form begins with.
pub(super) const REFERENCE: &str = "#/$defs/";

/// Keywords that say nothing about which values are right. `format` is one: it is not checked.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "format"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
            | "$comment"
    )
}

/// Keywords that bound which values are right, over all dialects; what is neither this nor an
/// annotation means nothing.
pub(super) fn is_assertion(keyword: &str) -> bool {
    matches!(
        keyword,
        "type"
            | "enum"
            | "const"
            | "multipleOf"
            | "maximum"
            | "exclusiveMaximum"
            | "minimum"
            | "exclusiveMinimum"
            | "maxLength"
            | "minLength"
            | "pattern"
            | "maxItems"
            | "minItems"
            | "uniqueItems"
            | "maxContains"
            | "minContains"
            | "maxProperties"
            | "minProperties"
            | "required"
            | "dependentRequired"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "dependentSchemas"
            | "prefixItems"
            | "items"
            | "contains"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "$ref"
    )
}
