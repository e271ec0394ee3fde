//! How do servers get into an existing config, with everything else in it as it was?

use std::path::Path;

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::super::dialect;
use super::super::field::Field;
use super::super::problem::{Problem, quoted};
use super::super::source::{Source, strict};
use super::note::Note;
use super::plan::{Change, ChangeState};
use super::read::{self, Import};

/// A config with the servers in it.
pub(super) struct Merged {
    pub(super) text: String,
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<Note>,
}

/// What a config has.
struct Existing {
    /// The key that new servers go under; `None` where servers stand at the top themselves.
    key: Option<&'static str>,
    servers: Map<String, Value>,
    inputs: Vec<Value>,
}

/// The text with the servers added that it does not have. Comments, order and indentation stay.
pub(super) fn merge(text: &str, file: &Path, import: &Import) -> Result<Merged, Problem> {
    let existing = existing(text, file)?;
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let tree = CstRootNode::parse(text, &strict()).map_err(|_| cannot(file))?;
    // `null` is a config without anything, and so is a text of comments alone.
    let root = tree.object_value_or_set();
    let mut changes = Vec::new();
    let mut servers = None;
    for (key, entry) in &import.servers {
        let state = match existing.servers.get(key) {
            None => ChangeState::Added,
            Some(known) if known == entry => ChangeState::AlreadyThere,
            Some(_) => ChangeState::Differs,
        };
        if state == ChangeState::Added {
            let servers = servers.get_or_insert_with(|| match existing.key {
                Some(key) => object(&root, key),
                None => root.clone(),
            });
            servers.append(key, node(entry));
        }
        changes.push(Change {
            key: key.clone(),
            state,
        });
    }
    let notes = match servers {
        Some(_) => add_inputs(&root, &existing, import),
        None => Vec::new(),
    };
    let merged = tree.to_string();
    check(&merged, file, import)?;
    Ok(Merged {
        text: merged,
        changes,
        notes,
    })
}

/// Refuses a text in which our own reader would not find every server: nothing is written that
/// could not be read, or that would mean something else.
fn check(merged: &str, file: &Path, import: &Import) -> Result<(), Problem> {
    let merged = existing(merged, file)?;
    let mut keys = import.servers.keys();
    match keys.find(|key| !merged.servers.contains_key(*key)) {
        None => Ok(()),
        Some(key) => Err(cannot(file).with_hint(format!(
            "move its servers under \"mcpServers\"; {} does not fit where they are",
            quoted(key)
        ))),
    }
}

fn cannot(file: &Path) -> Problem {
    Problem::new("the config cannot be added to").in_file(Some(file.to_owned()))
}

/// The object that this key has; a new one where there is none, or `null`.
fn object(root: &CstObject, key: &str) -> CstObject {
    if let Some(member) = root.get(key)
        && member.object_value().is_none()
    {
        member.remove();
    }
    root.object_value_or_set(key)
}

/// Adds the inputs that the config does not have, and notes those it has otherwise.
fn add_inputs(root: &CstObject, existing: &Existing, import: &Import) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut inputs = None;
    for input in &import.inputs {
        let id = read::id(input);
        let mut known = existing.inputs.iter();
        match known.find(|known| id.is_some() && read::id(known) == id) {
            Some(known) if known == input => {}
            Some(_) => notes.push(Note::general(format!(
                "the config has another input {}, which is left alone",
                quoted(&id.unwrap_or_default())
            ))),
            None => {
                let inputs = inputs.get_or_insert_with(|| root.array_value_or_set("inputs"));
                inputs.append(node(input));
            }
        }
    }
    notes
}

fn existing(text: &str, file: &Path) -> Result<Existing, Problem> {
    let source = Source::new(Some(file), text);
    let mut existing = Existing {
        key: Some("mcpServers"),
        servers: Map::new(),
        inputs: Vec::new(),
    };
    let Some(value) = source.parse()? else {
        return Ok(existing);
    };
    let root = Field::root(&source, &value);
    if root.is_null() {
        return Ok(existing);
    }
    let table = root
        .table()
        .map_err(|problem| problem.with_hint("a config is an object: {\"mcpServers\": {…}}"))?;
    for entry in dialect::entries(&table)? {
        let json = entry.field.to_json()?;
        existing.servers.insert(entry.key.to_owned(), json);
    }
    let has = |key| table.get(key).is_some();
    existing.key = match (has("mcpServers"), has("servers")) {
        (false, true) => Some("servers"),
        (false, false) if dialect::is_flat(&table) => None,
        _ => Some("mcpServers"),
    };
    if let Some(inputs) = table.get("inputs") {
        for input in inputs.items()? {
            existing.inputs.push(input.to_json()?);
        }
    }
    Ok(existing)
}

/// A value for the tree. Recursion ends at the depth that a config may have.
fn node(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(node).collect()),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| (key.clone(), node(value));
            CstInputValue::Object(members.iter().map(member).collect())
        }
    }
}
