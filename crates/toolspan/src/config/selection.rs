//! Which servers do the lists of names at the top of a config leave out?
//!
//! They are those of Gemini CLI: `"mcp": {"allowed": […], "excluded": […]}`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::field::{Field, Table};
use super::keys::{self, warn_unknown};
use super::problem::{Problem, Warnings};

/// The names that are in and out.
#[derive(Default)]
pub(super) struct Selection<'a> {
    /// `None` where all are.
    allowed: Option<HashSet<&'a str>>,
    excluded: HashSet<&'a str>,
}

impl<'a> Selection<'a> {
    /// Whether the server with this key is left out. What is on both lists is.
    pub(super) fn leaves_out(&self, key: &str) -> bool {
        let is_allowed = |allowed: &HashSet<&str>| allowed.contains(key);
        self.excluded.contains(key) || !self.allowed.as_ref().is_none_or(is_allowed)
    }

    /// The lists of a file of another program; what is none counts as absent.
    pub(super) fn of_json(members: &'a Map<String, Value>) -> Self {
        let names = |key| {
            let items = members.get(key)?.as_array()?;
            Some(items.iter().filter_map(Value::as_str).collect())
        };
        Self {
            allowed: names("allowed"),
            excluded: names("excluded").unwrap_or_default(),
        }
    }

    /// The lists of a config; what is none is warned of and counts as absent.
    pub(super) fn read(field: &Field<'a>, warnings: &mut Warnings) -> Self {
        match field.table() {
            Ok(table) => {
                let known = keys::SELECTION.iter().copied();
                warn_unknown(&table, known, keys::SELECTION_OTHERS, warnings);
                Self {
                    allowed: allowed(&table, warnings),
                    excluded: names(&table, "excluded", warnings).unwrap_or_default(),
                }
            }
            Err(problem) => {
                warnings.add(|| without_effect(problem));
                Self::default()
            }
        }
    }
}

fn allowed<'a>(table: &Table<'a>, warnings: &mut Warnings) -> Option<HashSet<&'a str>> {
    let allowed = names(table, "allowed", warnings)?;
    if allowed.is_empty()
        && let Some(field) = table.get("allowed")
    {
        warnings.add(|| {
            field
                .problem("\"allowed\" names no server, so none is used")
                .with_hint("remove \"allowed\" to use all")
        });
    }
    Some(allowed)
}

fn names<'a>(table: &Table<'a>, key: &str, warnings: &mut Warnings) -> Option<HashSet<&'a str>> {
    let field = table.get(key)?;
    let items = match field.items() {
        Ok(items) => items,
        Err(problem) => {
            warnings.add(|| without_effect(problem));
            return None;
        }
    };
    let mut names = HashSet::new();
    for item in items {
        match item.text() {
            Ok(name) => {
                names.insert(name);
            }
            Err(problem) => warnings.add(|| without_effect(problem)),
        }
    }
    Some(names)
}

fn without_effect(mut problem: Problem) -> Problem {
    problem.message.push_str(", so it has no effect");
    problem
}
