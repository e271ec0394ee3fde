//! What a start did, step by step, for `doctor`.

use tokio::time::Instant;
use toolspan_core::toolbox::Step;
use toolspan_core::{Error, Result};

/// The steps of a start, with how long each took.
pub(super) struct Steps {
    pub(super) done: Vec<Step>,
    since: Instant,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            done: Vec::new(),
            since: Instant::now(),
        }
    }
}

impl Steps {
    /// Adds a step that ended now, with words for what came of it; gives the result back.
    pub(super) fn note<T>(
        &mut self,
        what: &str,
        result: Result<T>,
        words: impl Fn(&T) -> String,
    ) -> Result<T> {
        let said = result.as_ref().map(words).map_err(Error::clone);
        self.add(what, said, Instant::now());
        result
    }

    /// Adds a step that ended at an instant.
    pub(super) fn add(&mut self, what: &str, said: Result<String>, ended: Instant) {
        let took = ended.saturating_duration_since(self.since);
        self.done.push(Step::new(what, took, said));
        self.since = ended;
    }
}
