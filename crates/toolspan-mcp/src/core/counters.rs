//! What a server sent that meant nothing: counted, and a little of it kept for `doctor`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use toolspan_core::guard::sanitise;

/// How many lines that are no messages are kept.
const KEPT_LINES: usize = 5;
/// How many characters of each.
const KEPT_CHARS: usize = 200;

/// Counts over the life of a connection.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Lines on standard output that are no messages.
    pub(crate) noise: AtomicU64,
    /// Replies to calls that have ended: late, or a second time.
    pub(crate) late: AtomicU64,
    /// Replies with an id that was never ours.
    pub(crate) unknown_ids: AtomicU64,
    /// Replies that could not be read.
    pub(crate) unreadable: AtomicU64,
    /// Requests of the server that got no answer: too many waited, or the id was none.
    pub(crate) unanswered: AtomicU64,
    /// The first lines that are no messages. Held to push or copy only.
    lines: Mutex<Vec<String>>,
}

impl Counters {
    /// Counts a line that is no message, and keeps it if it is among the first.
    pub(crate) fn note_noise(&self, line: &[u8]) {
        if self.noise.fetch_add(1, Ordering::Relaxed) < KEPT_LINES as u64 {
            let head = line.get(..KEPT_CHARS * 4).unwrap_or(line);
            let line = sanitise::one_line(&String::from_utf8_lossy(head), KEPT_CHARS);
            self.lines
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push(line);
        }
    }

    /// A line for each count that is not zero. `noise` names what was no message.
    pub(crate) fn notes(&self, noise: &str) -> Vec<String> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let lines = self
            .lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut notes = Vec::new();
        if read(&self.noise) > 0 {
            notes.push(format!(
                "{noise} that are no messages, and were skipped: {}; the first: {}",
                read(&self.noise),
                lines
                    .iter()
                    .map(|line| format!("\"{line}\""))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        let counts = [
            (
                &self.unreadable,
                "replies that could not be read, each failing its own call",
            ),
            (
                &self.late,
                "replies that came late or twice, and were ignored",
            ),
            (
                &self.unknown_ids,
                "replies with an id that was never sent, and were ignored",
            ),
            (
                &self.unanswered,
                "requests of the server without an answer, as too many waited or the id was none",
            ),
        ];
        notes.extend(
            counts
                .iter()
                .filter(|(counter, _)| read(counter) > 0)
                .map(|(counter, words)| format!("{words}: {}", read(counter))),
        );
        notes
    }
}
