//! Which of the tool's own names does a property have that a projection had to rename?

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::keys::api_keys;
use crate::schema::{Applying, Schema};

/// Schemas looked at to give the names back in one call. What lies beyond keeps the name it has.
const LOOKED_AT: usize = 200_000;

/// Gives the properties their own names back, at every depth. A property that the schema knows by
/// the name it has keeps it, and none is renamed over another one.
pub(super) fn restore(schema: &Schema, arguments: &mut Map<String, Value>) {
    if !schema.has_odd_names() {
        return;
    }
    let given = api_keys(schema.all_property_names()).into_iter();
    let own: HashMap<String, &str> = given.map(|(original, name)| (name, original)).collect();
    let mut left = LOOKED_AT;
    let mut open: Vec<(&mut Value, Applying<'_>)> = Vec::new();
    restore_in(arguments, (&schema.applying(), &own), &mut open);
    while let Some((value, applying)) = open.pop() {
        // Also counts the places where no schema applies, but not what is inside them.
        let Some(after) = left.checked_sub(applying.len().max(1)) else {
            return;
        };
        left = after;
        match value {
            _ if applying.len() == 0 => {}
            Value::Object(members) => restore_in(members, (&applying, &own), &mut open),
            Value::Array(items) => {
                let items = items.iter_mut().enumerate();
                let inside = items.filter(|(_, item)| item.is_array() || item.is_object());
                open.extend(inside.map(|(index, item)| (item, applying.item(index))));
            }
            _ => {}
        }
    }
}

/// Restores the names of one object, and lists what is inside it.
fn restore_in<'v, 's>(
    members: &'v mut Map<String, Value>,
    (applying, own): (&Applying<'s>, &HashMap<String, &'s str>),
    open: &mut Vec<(&'v mut Value, Applying<'s>)>,
) {
    let known: HashSet<&str> = applying.property_names().collect();
    let meant: Vec<(String, &str)> = members
        .keys()
        .filter(|name| !known.contains(name.as_str()))
        .filter_map(|name| Some((name.clone(), *own.get(name)?)))
        .filter(|(_, original)| known.contains(original))
        .collect();
    for (given, original) in meant {
        rename(members, &given, original);
    }
    for (name, value) in members.iter_mut() {
        if value.is_array() || value.is_object() {
            open.push((value, applying.property(name)));
        }
    }
}

/// Gives a member another name in the same place. Does nothing where the new name is taken.
pub(super) fn rename(members: &mut Map<String, Value>, old: &str, new: &str) {
    if members.contains_key(new) || !members.contains_key(old) {
        return;
    }
    let renamed = std::mem::take(members).into_iter();
    *members = renamed
        .map(|(name, value)| match name == old {
            true => (new.to_owned(), value),
            false => (name, value),
        })
        .collect();
}
