//! From faults to changes to a value without faults, in a bounded number of rounds.

use std::collections::HashSet;

use serde_json::Value;

use super::alternatives::{is_at_or_around, plans};
use super::edit::{Edit, Place, edits};
use super::kind::Repair;
use crate::schema::{Fault, Schema, Wants};

/// Rounds of changes. Each one goes a layer deeper into text that spells an object with texts.
const ROUNDS: usize = 8;
/// Changes of one call.
const CHANGES: usize = 4_096;
/// Alternatives that are tried out on the whole value for one call.
const TRIED: usize = 32;

/// Arguments that match their schema, and what was changed to that end.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Repaired {
    /// The arguments as they are now; valid.
    pub arguments: Value,
    /// The changes, in the order they were made. Empty where the arguments were valid.
    pub repairs: Vec<Repair>,
}

/// Sets arguments right that do not match `schema`; `None` where that cannot be done without doubt.
///
/// The outcome is valid, nests at most `maximum_depth` objects and arrays in one another, and
/// repairing it again changes nothing. Arguments that are valid come back as they are. Reads nothing
/// but what it is given, so the same arguments always give the same outcome.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::call::repair::repair;
/// use toolspan_core::schema::Schema;
///
/// let schema = Schema::for_arguments(json!({
///     "properties": {"count": {"type": "integer"}, "tags": {"type": "array"}},
/// }))?;
/// let repaired = repair(&schema, &json!({"count": "5", "tags": "new"}), 64).expect("is clear");
/// assert_eq!(repaired.arguments, json!({"count": 5, "tags": ["new"]}));
/// assert_eq!(repaired.repairs[0].to_string(), "/count: text read as a number");
/// assert!(repair(&schema, &json!({"count": "five"}), 64).is_none());
/// # Ok::<(), toolspan_core::schema::SchemaRejected>(())
/// ```
pub fn repair(schema: &Schema, arguments: &Value, maximum_depth: usize) -> Option<Repaired> {
    let mut faults = schema.faults(arguments, maximum_depth)?;
    let mut repaired = Repaired {
        arguments: arguments.clone(),
        repairs: Vec::new(),
    };
    let mut tried = 0;
    for _ in 0..ROUNDS {
        if faults.is_empty() {
            return Some(repaired);
        }
        let place = Place {
            root: &repaired.arguments,
            maximum_depth,
        };
        let mut trial = Trial {
            schema,
            place,
            tried: &mut tried,
        };
        let changes = trial.changes(&faults);
        if changes.is_empty() || repaired.repairs.len() + changes.len() > CHANGES {
            return None;
        }
        for change in &changes {
            change.apply(&mut repaired.arguments);
        }
        repaired.repairs.extend(changes.into_iter().map(Edit::told));
        faults = schema.faults(&repaired.arguments, maximum_depth)?;
    }
    faults.is_empty().then_some(repaired)
}

/// One round: a value, and how many alternatives were tried out so far.
struct Trial<'t> {
    schema: &'t Schema,
    place: Place<'t>,
    tried: &'t mut usize,
}

impl Trial<'_> {
    /// The changes that these faults call for; of several at one place or inside one another only
    /// the outermost, first one.
    fn changes(&mut self, faults: &[Fault]) -> Vec<Edit> {
        let mut changes: Vec<Edit> = Vec::new();
        for fault in faults {
            let more = match &fault.wants {
                Wants::Alternative(branches) => self.alternative(fault, branches),
                _ => edits(fault, self.place),
            };
            changes.extend(more.into_iter().flatten());
        }
        let places: HashSet<String> = changes.iter().map(|it| it.pointer.clone()).collect();
        let mut made: HashSet<String> = HashSet::new();
        changes.retain(|change| {
            let is_inside = outer(&change.pointer).any(|outer| places.contains(outer));
            !is_inside && made.insert(change.pointer.clone())
        });
        changes
    }

    /// The changes of the one alternative that is meant. Where several can be, each is tried out,
    /// and one is meant if it alone leaves no fault there.
    fn alternative(&mut self, fault: &Fault, branches: &[Vec<Fault>]) -> Option<Vec<Edit>> {
        let mut plans = plans(branches, self.place);
        if plans.len() > 1 {
            plans.retain(|plan| self.settles(plan, &fault.pointer));
        }
        match (plans.pop(), plans.is_empty()) {
            (Some(only), true) => Some(only),
            _ => None,
        }
    }

    /// Whether a plan leaves no fault at or inside a place.
    fn settles(&mut self, plan: &[Edit], pointer: &str) -> bool {
        *self.tried += 1;
        if *self.tried > TRIED {
            return false;
        }
        let mut value = self.place.root.clone();
        plan.iter().for_each(|edit| edit.apply(&mut value));
        let faults = self.schema.faults(&value, self.place.maximum_depth);
        faults.is_some_and(|faults| {
            let mut left = faults.iter();
            !left.any(|left| is_at_or_around(pointer, &left.pointer))
        })
    }
}

/// Each place that holds this one.
fn outer(pointer: &str) -> impl Iterator<Item = &str> {
    let ends = pointer.match_indices('/').map(|(end, _)| end);
    ends.filter_map(|end| pointer.get(..end))
}
