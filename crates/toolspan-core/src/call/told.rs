//! What is said to whoever gave arguments that are refused?

use crate::guard::outcome::Phase;
use crate::guard::sanitise;
use crate::schema::{CheckFailed, Schema, Violations, signature};
use crate::{Error, ErrorKind};

/// Violations written out in a message; the others are counted.
const WRITTEN_OUT: usize = 20;
/// Characters of a signature in a hint.
const SHOWN_SIGNATURE: usize = 300;

/// The error of arguments that do not match their schema: a line for each violation, and what the
/// tool takes as the hint.
pub(super) fn refused(failed: CheckFailed, input: &Schema) -> Error {
    match failed {
        CheckFailed::Schema(rejected) => {
            let message = format!("the tool's schema cannot be used: {rejected}");
            Error::new(ErrorKind::SchemaRejected, Phase::Validate, message)
        }
        CheckFailed::Violations(violations) => invalid(format!(
            "the arguments do not match the tool's schema: {}",
            written_out(&violations)
        ))
        .with_violations(violations.into_vec())
        .with_hint(takes(input)),
    }
}

/// All violations where they are few, else the first ones and how many more there are.
fn written_out(violations: &Violations) -> String {
    let listed = violations.as_slice();
    let rest = listed.len().saturating_sub(WRITTEN_OUT);
    if rest == 0 {
        return violations.to_string();
    }
    let all = violations.unlisted().map(|more| listed.len() + more);
    let mut text = match all {
        Some(all) => format!("{all} problems:"),
        None => "problems:".to_owned(),
    };
    for violation in listed.iter().take(WRITTEN_OUT) {
        text.push_str(&format!("\n- {violation}"));
    }
    let more = match all {
        Some(all) => format!("\n- and {} more", all - WRITTEN_OUT),
        None => format!("\n- and at least {rest} more"),
    };
    text + &more
}

/// What a tool takes, for whoever gave it something else.
fn takes(input: &Schema) -> String {
    match signature(input).as_str() {
        "()" if is_closed(input) => "it takes no arguments".to_owned(),
        "()" => "it takes arguments of any name".to_owned(),
        signature => {
            let shown = sanitise::one_line(signature, SHOWN_SIGNATURE);
            format!("it takes {shown}")
        }
    }
}

/// Whether the root refuses what it does not name.
fn is_closed(input: &Schema) -> bool {
    let mut bounds = ["additionalProperties", "unevaluatedProperties"].into_iter();
    bounds.any(|keyword| input.raw().get(keyword) == Some(&false.into()))
}

/// An error of the arguments.
pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArguments, Phase::Validate, message)
}
