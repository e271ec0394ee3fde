//! Which names of properties does an API refuse, and what are they called in its form?
//!
//! The other names are those of [`call::keys`](crate::call::keys), which follow from a schema alone:
//! a call that uses them gets the tool's own ones back before anything is checked.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::loss::Effect;
use super::tree::{Node, Word};
use super::walk::Walk;
use crate::call::keys::{LONGEST_KEY, api_keys};
use crate::schema::Schema;

/// A rule for the names of properties, and its words.
#[derive(Clone, Copy)]
pub(super) struct KeyRule {
    pub(super) fits: fn(&str) -> bool,
    pub(super) why: &'static str,
}

/// Anthropic's rule; without it the whole request is refused.
pub(super) const ANTHROPIC: KeyRule = KeyRule {
    fits: fits_anthropic,
    why: "Anthropic takes names of 1 to 64 letters, digits, `_`, `.` and `-`",
};

/// The rule of Gemini's older field.
pub(super) const GEMINI: KeyRule = KeyRule {
    fits: fits_gemini,
    why: "Gemini's `parameters` take names of letters, digits and `_`, at most 64",
};

/// Whether Anthropic's API takes the name of a property: `^[a-zA-Z0-9_.-]{1,64}$`.
pub(super) fn fits_anthropic(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=LONGEST_KEY).contains(&name.len()) && name.bytes().all(fits)
}

/// Whether the OpenAPI subset of Gemini takes the name of a property: `[A-Za-z_][A-Za-z0-9_]*`, at
/// most 64 characters.
fn fits_gemini(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts = name
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    starts && name.len() <= LONGEST_KEY && name.bytes().all(fits)
}

/// The other names of a tool's properties, for those that some API refuses.
pub(super) type OtherNames = HashMap<String, String>;

/// The other names that a call of a tool with this schema may use.
pub(super) fn other_names(schema: &Schema) -> OtherNames {
    if !schema.has_odd_names() {
        return OtherNames::new();
    }
    let given = api_keys(schema.all_property_names()).into_iter();
    given
        .map(|(name, given)| (name.to_owned(), given))
        .collect()
}

/// Gives the properties of one schema the names of the form, wherever its keywords name them.
pub(super) fn rename(node: &mut Node, rule: KeyRule, walk: &mut Walk<'_, '_>) {
    let names = node.map("properties").iter().map(|(name, _)| name);
    let odd = names.filter(|name| !(rule.fits)(name));
    let given: HashMap<String, String> = odd
        .filter_map(|name| Some((name.clone(), walk.other_names.get(name)?.clone())))
        .collect();
    if given.is_empty() {
        return;
    }
    let at = Arc::clone(&node.at);
    for (name, _) in node.map("properties") {
        if let Some(given) = given.get(name) {
            let what = format!("property `{name}` is called `{given}`");
            walk.losses.say(&at, Effect::Undone, (what, rule.why));
        }
    }
    let new = |name: &str| given.get(name).cloned();
    if let Some(Word::Map(map)) = node.get_mut("properties") {
        for (name, _) in map {
            if let Some(given) = new(name) {
                *name = given;
            }
        }
    }
    if let Some(Word::Map(map)) = node.get_mut("dependentSchemas") {
        for (name, _) in map {
            if let Some(given) = new(name) {
                *name = given;
            }
        }
    }
    let rename_all = |names: &mut Value| {
        for name in names.as_array_mut().into_iter().flatten() {
            if let Some(given) = name.as_str().and_then(new) {
                *name = given.into();
            }
        }
    };
    if let Some(Word::Data(names)) = node.get_mut("required") {
        rename_all(names);
    }
    if let Some(Word::Data(Value::Object(map))) = node.get_mut("dependentRequired") {
        let renamed = std::mem::take(map).into_iter().map(|(name, mut names)| {
            rename_all(&mut names);
            (new(&name).unwrap_or(name), names)
        });
        *map = renamed.collect::<Map<_, _>>();
    }
}
