//! What should the user be told although it works?

use std::sync::{Mutex, PoisonError};

/// Most warnings that one client keeps.
const KEPT: usize = 8;

/// The warnings of a client, each once, in the order in which they came up.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Adds one, unless it is there.
    pub(super) fn add(&self, warning: String) {
        if self.keep(&warning) {
            tracing::warn!("{warning}");
        }
    }

    fn keep(&self, warning: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = known.len() < KEPT && !known.iter().any(|known| known == warning);
        if is_new {
            known.push(warning.to_owned());
        }
        is_new
    }

    /// All so far.
    pub(super) fn all(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
