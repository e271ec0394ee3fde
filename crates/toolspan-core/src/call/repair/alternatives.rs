//! Which of several alternatives was meant by a value that matches none of them?
//!
//! An alternative can be meant when every fault it finds has its change. Text is read as something
//! else only where no other alternative, unless ruled out, could have taken it as text.

use super::edit::{Change, Edit, Place, edits};
use super::kind::RepairKind;
use crate::schema::{Fault, Wants};

/// Alternatives compared with one another; more are not tried.
const COMPARED: usize = 64;

/// The changes of each alternative that can be meant, the most likely ones only, each once.
pub(super) fn plans(branches: &[Vec<Fault>], place: Place<'_>) -> Vec<Vec<Edit>> {
    if branches.len() > COMPARED {
        return Vec::new();
    }
    let mut plans: Vec<Vec<Edit>> = Vec::new();
    for (index, branch) in branches.iter().enumerate() {
        let Some(plan) = plan(branch, place) else {
            continue;
        };
        let others = branches.iter().enumerate();
        let others = others.filter(|(other, _)| *other != index);
        let keeps_text = others
            .map(|(_, other)| other)
            .filter(|other| !is_ruled_out(other, place))
            .any(|other| takes_a_text(other, &plan, place));
        if !keeps_text && !plans.contains(&plan) {
            plans.push(plan);
        }
    }
    let best = plans.iter().map(|plan| rank(plan)).min();
    plans.retain(|plan| Some(rank(plan)) == best);
    plans
}

/// The changes by which a value matches an alternative, as far as can be seen before they are made.
/// A missing property is no obstacle: its name may be among the changes, or inside a text.
fn plan(branch: &[Fault], place: Place<'_>) -> Option<Vec<Edit>> {
    let mut plan: Vec<Edit> = Vec::new();
    for fault in branch {
        let more = match &fault.wants {
            Wants::Property => continue,
            Wants::Alternative(inner) => match plans(inner, place).as_slice() {
                [only] => only.clone(),
                _ => return None,
            },
            _ => edits(fault, place)?,
        };
        for edit in more {
            if !plan.iter().any(|known| known.pointer == edit.pointer) {
                plan.push(edit);
            }
        }
    }
    (!plan.is_empty()).then_some(plan)
}

/// Whether a value is so far from an alternative that it cannot be meant: another constant, or
/// another type that is no slip.
fn is_ruled_out(branch: &[Fault], place: Place<'_>) -> bool {
    branch.iter().any(|fault| {
        let is_kind = matches!(
            fault.wants,
            Wants::Type(_) | Wants::Choice(_) | Wants::Constant(_)
        );
        is_kind && edits(fault, place).is_none()
    })
}

/// Whether an alternative finds no fault in a text that the plan would read as something else.
fn takes_a_text(branch: &[Fault], plan: &[Edit], place: Place<'_>) -> bool {
    let texts = plan.iter().filter(|edit| edit.rereads_text(place.root));
    let mut texts = texts.map(|edit| edit.pointer.as_str());
    texts.any(|text| !blames(branch, text))
}

/// Whether an alternative refuses the kind of value at a place, or around it.
fn blames(branch: &[Fault], text: &str) -> bool {
    branch.iter().any(|fault| match &fault.wants {
        Wants::Type(_) | Wants::Choice(_) | Wants::Constant(_) => {
            is_at_or_around(&fault.pointer, text)
        }
        Wants::Alternative(inner) => inner.iter().all(|branch| blames(branch, text)),
        _ => false,
    })
}

/// Whether `outer` is the same place as `inner` or one that holds it.
pub(super) fn is_at_or_around(outer: &str, inner: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// How far-fetched a plan is; what a text spells comes before a list around it.
fn rank(plan: &[Edit]) -> u8 {
    let rank = |edit: &Edit| match (&edit.change, edit.kind) {
        (Change::Replace(_), RepairKind::List) => 2,
        (Change::Rename(_), _) => 1,
        _ => 0,
    };
    plan.iter().map(rank).max().unwrap_or_default()
}
