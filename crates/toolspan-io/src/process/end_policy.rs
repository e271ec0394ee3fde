//! How long may a process take to end before it is made to?

use std::time::Duration;

/// The steps of ending a process: its input is closed by the caller; after `eof_grace` its group
/// gets SIGTERM; after `term_grace` more, SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndPolicy {
    /// Time to exit after the end of its input: 2 s by default.
    pub eof_grace: Duration,
    /// Time to exit after SIGTERM: 2 s by default.
    pub term_grace: Duration,
}

impl EndPolicy {
    /// Sets the time to exit after the end of its input.
    #[must_use]
    pub fn with_eof_grace(mut self, eof_grace: Duration) -> Self {
        self.eof_grace = eof_grace;
        self
    }

    /// Sets the time to exit after SIGTERM.
    #[must_use]
    pub fn with_term_grace(mut self, term_grace: Duration) -> Self {
        self.term_grace = term_grace;
        self
    }
}

impl Default for EndPolicy {
    fn default() -> Self {
        Self {
            eof_grace: Duration::from_secs(2),
            term_grace: Duration::from_secs(2),
        }
    }
}
