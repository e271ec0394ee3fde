//! What is remembered of a way over HTTP, for people.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

/// The response to `initialize`: that the server was reached, and how it answered.
#[derive(Clone, Debug)]
pub(crate) struct Met {
    /// When its head was here.
    pub(crate) at: Instant,
    /// Its status (RFC 9110, section 15).
    pub(crate) status: u16,
    /// Status, kind of the body and, after a redirect, the final URL.
    pub(crate) words: String,
}

/// What happened on a way, counted.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Held to set or copy only.
    met: Mutex<Option<Met>>,
    /// Sessions that were begun in place of one that the server no longer knew.
    pub(super) renewals: AtomicU64,
    /// Streams that were cut and taken up again.
    pub(super) resumed: AtomicU64,
    /// Messages to the server beside calls that it did not take.
    pub(super) refused: AtomicU64,
    /// Why there is no stream for what the server sends unasked.
    given_up: Mutex<Option<String>>,
}

impl Notes {
    /// Keeps the response to `initialize`, the last one.
    pub(super) fn meet(&self, status: u16, words: String) {
        *lock(&self.met) = Some(Met {
            at: Instant::now(),
            status,
            words,
        });
    }

    pub(super) fn met(&self) -> Option<Met> {
        lock(&self.met).clone()
    }

    /// Says why the server's own stream is no longer asked for.
    pub(super) fn give_up(&self, why: String) {
        *lock(&self.given_up) = Some(why);
    }

    /// A line for each thing that happened.
    pub(super) fn lines(&self) -> Vec<String> {
        let counts = [
            (
                &self.renewals,
                "sessions begun anew, as the server no longer knew the one before",
            ),
            (
                &self.resumed,
                "streams that were cut before the reply and taken up again",
            ),
            (
                &self.refused,
                "notices and answers that the server did not take",
            ),
        ];
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut lines: Vec<String> = counts
            .iter()
            .filter(|(counter, _)| read(counter) > 0)
            .map(|(counter, words)| format!("{words}: {}", read(counter)))
            .collect();
        lines.extend(lock(&self.given_up).clone());
        lines
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
