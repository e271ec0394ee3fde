//! How is an error told? To people on stderr, and with `--json` to programs on stdout.

use toolspan::Error;

use super::{Output, human, json};

/// Tells an error.
pub(crate) fn error(output: &Output, error: &Error) {
    if output.json {
        output.json(&json::error(error));
    }
    human::error(output, error);
}
