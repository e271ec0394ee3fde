//! What is wrong with a value that matches none of several alternatives?
//!
//! "Matches none of the alternatives" helps nobody. The alternative that its author most likely
//! meant is looked for, and its own violations are reported.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::explain::{Explain, expected};
use super::violation::Violation;
use super::wording::alternatives;

/// Alternatives written out when none is closest.
const WRITTEN_OUT: usize = 4;

type Branch = [ValidationError<'static>];

/// The violations of the alternative that comes closest; one violation for all where none does.
pub(super) fn explain_alternatives(
    explain: &Explain<'_>,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
) -> Vec<Violation> {
    let here = error.instance_path().as_str();
    let fitting: Vec<&Branch> = branches
        .iter()
        .map(Vec::as_slice)
        .filter(|branch| basic(branch, here).is_none())
        .collect();
    match fitting.as_slice() {
        [] => return vec![explain.violation(error, any_basic(branches, here))],
        [only] => return branch_violations(explain, only),
        _ => {}
    }
    if let Some(violation) = discriminator(explain, &fitting) {
        return vec![violation];
    }
    match closest(&fitting) {
        Some(branch) => branch_violations(explain, branch),
        None => vec![explain.violation(error, written_out(explain, &fitting))],
    }
}

fn branch_violations(explain: &Explain<'_>, branch: &Branch) -> Vec<Violation> {
    branch
        .iter()
        .flat_map(|error| explain.error(error))
        .collect()
}

/// The error, if any, that says that the value as a whole is of another kind than the branch is
/// about.
fn basic<'b>(branch: &'b Branch, here: &str) -> Option<&'b ValidationError<'static>> {
    branch.iter().find(|error| {
        error.instance_path().as_str() == here
            && (is_choice(error) || matches!(error.kind(), Kind::Type { .. } | Kind::FalseSchema))
    })
}

fn is_choice(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
}

/// What the branches want where the value is of another kind than all of them: `a string or null`.
fn any_basic(branches: &[Vec<ValidationError<'static>>], here: &str) -> String {
    let basics = branches.iter().filter_map(|branch| basic(branch, here));
    let (nothing, wanted): (Vec<_>, Vec<_>) =
        basics.partition(|error| matches!(error.kind(), Kind::FalseSchema));
    let wanted = if wanted.is_empty() { nothing } else { wanted };
    alternatives(&wanted.into_iter().map(expected).collect::<Vec<_>>())
}

/// Where every branch wants another constant at one same place, that place decides between them.
fn discriminator(explain: &Explain<'_>, branches: &[&Branch]) -> Option<Violation> {
    let (first, rest) = branches.split_first()?;
    first
        .iter()
        .filter(|error| is_choice(error))
        .find_map(|error| {
            let place = error.instance_path();
            let same = |other: &&ValidationError<'_>| {
                is_choice(other) && other.instance_path().as_str() == place.as_str()
            };
            let others: Option<Vec<_>> =
                rest.iter().map(|branch| branch.iter().find(same)).collect();
            let wanted: Vec<String> = std::iter::once(error)
                .chain(others?)
                .map(expected)
                .collect();
            Some(explain.violation(error, alternatives(&wanted)))
        })
}

/// The branch with the fewest wrong constants, then the fewest errors; `None` on a tie.
fn closest<'b>(branches: &[&'b Branch]) -> Option<&'b Branch> {
    let score = |branch: &Branch| {
        let wrong = branch.iter().filter(|error| is_choice(error)).count();
        (wrong, branch.len())
    };
    let best = branches.iter().min_by_key(|branch| score(branch))?;
    let equal = branches
        .iter()
        .filter(|branch| score(branch) == score(best))
        .count();
    (equal == 1).then_some(*best)
}

fn written_out(explain: &Explain<'_>, branches: &[&Branch]) -> String {
    let mut words: Vec<String> = branches
        .iter()
        .take(WRITTEN_OUT)
        .filter_map(|branch| branch_violations(explain, branch).into_iter().next())
        .map(|violation| violation.expected)
        .collect();
    if branches.len() > WRITTEN_OUT {
        words.push("another alternative".to_owned());
    }
    alternatives(&words)
}
