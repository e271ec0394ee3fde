//! Where do the words of a task go? To standard error, line by line.

use std::io::Write as _;

/// Writes one line to standard error. A closed terminal is no reason to fail a task.
#[expect(clippy::disallowed_methods, reason = "the one door of the tasks")]
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
