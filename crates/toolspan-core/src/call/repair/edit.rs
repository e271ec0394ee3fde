//! Which one change removes a fault, and what does it do to the value?

use serde_json::Value;

use super::kind::{Repair, RepairKind};
use super::near::Known;
use super::text::{is_one_of, spelled};
use crate::call::restore::rename;
use crate::schema::{Fault, JsonType, Wants, escaped, shown_name};

/// Names of one object that are set right; more are no slips.
const RENAMED: usize = 100;

/// One change at one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edit {
    /// JSON pointer to the value that changes.
    pub(super) pointer: String,
    pub(super) change: Change,
    pub(super) kind: RepairKind,
    pub(super) note: String,
}

/// What happens to the value at the place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// It becomes this.
    Replace(Value),
    /// The property goes.
    Drop,
    /// The property gets this name.
    Rename(String),
}

/// The value in which faults are looked for, and how deep what a text spells may nest.
#[derive(Clone, Copy)]
pub(super) struct Place<'v> {
    pub(super) root: &'v Value,
    pub(super) maximum_depth: usize,
}

/// The changes that remove a fault; `None` where there is none, or more than one could be meant.
/// A fault about alternatives is none of these.
pub(super) fn edits(fault: &Fault, place: Place<'_>) -> Option<Vec<Edit>> {
    let pointer = fault.pointer.as_str();
    let value = place.root.pointer(pointer)?;
    let is_property = is_property(pointer, place.root);
    let edit = match &fault.wants {
        Wants::Type(kinds) => of_type(value, kinds, (is_property, place.maximum_depth)),
        Wants::Choice(options) => {
            let options = options.as_array().map_or(&[][..], Vec::as_slice);
            of_choice(value, options, (is_property, place.maximum_depth))
        }
        Wants::Constant(only) => {
            let options = std::slice::from_ref(&**only);
            of_choice(value, options, (is_property, place.maximum_depth))
        }
        Wants::Fewer { unexpected, known } => return renames(pointer, value, (unexpected, known)),
        Wants::Property | Wants::Alternative(_) | Wants::Other => None,
    };
    edit.map(|edit| {
        vec![Edit {
            pointer: pointer.to_owned(),
            ..edit
        }]
    })
}

/// Whether a place is a member of an object, and not the root or an item of a list.
fn is_property(pointer: &str, root: &Value) -> bool {
    let parent = pointer.rsplit_once('/').map(|(parent, _)| parent);
    parent
        .and_then(|parent| root.pointer(parent))
        .is_some_and(Value::is_object)
}

fn edit(change: Change, kind: RepairKind, note: impl Into<String>) -> Option<Edit> {
    Some(Edit {
        pointer: String::new(),
        change,
        kind,
        note: note.into(),
    })
}

fn dropped() -> Option<Edit> {
    let note = "null left out, since the property takes none";
    edit(Change::Drop, RepairKind::NullDropped, note)
}

fn of_type(value: &Value, kinds: &[JsonType], (is_property, depth): (bool, usize)) -> Option<Edit> {
    match value {
        Value::Null if is_property => return dropped(),
        Value::Null => return None,
        Value::String(text) => {
            let spelled = spelled(text, depth).filter(|it| is_one_of(&it.value, kinds));
            if let Some(it) = spelled {
                return edit(Change::Replace(it.value), it.kind, it.note);
            }
        }
        Value::Array(items) => {
            return match items.as_slice() {
                [only @ Value::String(_)] if kinds.contains(&JsonType::String) => {
                    let note = "a list of one string read as the string";
                    edit(Change::Replace(only.clone()), RepairKind::ListOfOne, note)
                }
                _ => None,
            };
        }
        _ => {}
    }
    let wants_list = kinds.contains(&JsonType::Array);
    // A list inside a list could be meant in two ways.
    if wants_list && is_property && !is_no_item(value) {
        let list = Value::Array(vec![value.clone()]);
        let note = "a single value put in a list";
        return edit(Change::Replace(list), RepairKind::List, note);
    }
    None
}

/// Whether a text is no item of a list: nothing at all, or a list that is not well formed, is text
/// twice over or stands in a block of Markdown.
fn is_no_item(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return false;
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    let spells_list = |text: &str| {
        let inner = serde_json::from_str::<String>(text);
        inner.is_ok_and(|inner| inner.trim_start().starts_with('['))
    };
    matches!(text, "" | "null" | "None")
        || text.starts_with('[')
        || text.starts_with("```")
        || text.starts_with('"') && spells_list(text)
}

fn of_choice(
    value: &Value,
    options: &[Value],
    (is_property, depth): (bool, usize),
) -> Option<Edit> {
    match value {
        Value::Null if is_property => dropped(),
        Value::String(text) => {
            let it = spelled(text, depth).filter(|it| options.contains(&it.value))?;
            edit(Change::Replace(it.value), it.kind, it.note)
        }
        _ => None,
    }
}

/// A new name for each unexpected property, where each means another known one that is not there.
fn renames(
    pointer: &str,
    value: &Value,
    (unexpected, known): (&[String], &[String]),
) -> Option<Vec<Edit>> {
    let members = value.as_object()?;
    if unexpected.len() > RENAMED {
        return None;
    }
    let free = known.iter().filter(|name| !members.contains_key(*name));
    let free = Known::of(free.map(String::as_str));
    let mut edits: Vec<Edit> = Vec::new();
    for wrong in unexpected {
        let meant = free.only_near(wrong)?;
        let change = Change::Rename(meant.to_owned());
        if edits.iter().any(|other| other.change == change) {
            return None;
        }
        edits.push(Edit {
            pointer: format!("{pointer}/{}", escaped(wrong)),
            change,
            kind: RepairKind::PropertyName,
            note: format!("read as {}", shown_name(meant)),
        });
    }
    Some(edits)
}

impl Edit {
    /// Makes the change. Does nothing where the place is gone.
    pub(super) fn apply(&self, root: &mut Value) {
        if let Change::Replace(new) = &self.change {
            if let Some(value) = root.pointer_mut(&self.pointer) {
                *value = new.clone();
            }
            return;
        }
        let Some((parent, token)) = self.pointer.rsplit_once('/') else {
            return;
        };
        let name = token.replace("~1", "/").replace("~0", "~");
        let parent = root.pointer_mut(parent).and_then(Value::as_object_mut);
        let Some(members) = parent else { return };
        match &self.change {
            Change::Drop => _ = members.shift_remove(&name),
            Change::Rename(new) => rename(members, &name, new),
            Change::Replace(_) => {}
        }
    }

    /// What is told of the change.
    pub(super) fn told(self) -> Repair {
        Repair::new(self.pointer, self.kind, self.note)
    }

    /// Whether the change reads a text as something else.
    pub(super) fn rereads_text(&self, root: &Value) -> bool {
        let is_text = || root.pointer(&self.pointer).is_some_and(Value::is_string);
        matches!(self.change, Change::Replace(_)) && is_text()
    }
}
