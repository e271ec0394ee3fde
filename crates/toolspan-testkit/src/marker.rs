//! How does a test recognise the processes that came from it, whatever became of their parents?

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// An environment variable with a value nobody else uses. A process started with it, and all its
/// descendants that keep their environment, are found by [`marked_processes`](crate::marked_processes)
/// and counted by [`Census::marked`](crate::Census::marked).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    value: String,
}

impl Marker {
    /// The name of the variable.
    pub const NAME: &'static str = "TOOLSPAN_TEST_MARK";

    /// A new value, unique on this machine.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "each marker differs, so none is the default"
    )]
    #[expect(
        clippy::disallowed_methods,
        reason = "it tells this run from an earlier one with the same process id"
    )]
    pub fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            value: format!("{}-{count}-{}", process::id(), time.as_nanos()),
        }
    }

    /// Name and value, to put into the environment of a server.
    #[must_use]
    pub fn variable(&self) -> (&'static str, &str) {
        (Self::NAME, &self.value)
    }

    /// The assignment as it stands in `/proc/PID/environ`.
    #[must_use]
    pub fn assignment(&self) -> String {
        format!("{}={}", Self::NAME, self.value)
    }
}
