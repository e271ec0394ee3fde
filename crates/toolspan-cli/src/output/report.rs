//! How is an error told? To people on stderr, and with `--json` to programs on stdout.

use toolspan::Error;

use super::{Output, human, json, next_step};

/// Tells an error.
pub(crate) fn error(output: &Output, error: &Error) {
    let error = next_step::within(output.timeout, error.clone());
    if output.json {
        output.json(&json::error(&error));
    }
    human::error(output, &error);
}
