//! What is said about one broken rule?

use std::fmt;

/// One place where a rule is broken, printed as `file:line: what (why)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// Relative to the root.
    pub(super) file: String,
    /// From 1.
    pub(super) line: usize,
    /// What is there, or missing.
    pub(super) what: String,
    /// The reason of the rule, and so the way out.
    pub(super) why: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            what,
            why,
        } = self;
        write!(formatter, "{file}:{line}: {what} ({why})")
    }
}
