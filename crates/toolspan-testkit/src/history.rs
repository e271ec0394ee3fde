//! Did every call end exactly once, and with its own reply? (I1 and I2 of the fault tests.)

use std::fmt;
use std::sync::Mutex;

/// The number of a call in its history; also a good nonce to send along and expect back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallNumber(usize);

impl CallNumber {
    /// Text that no other call of this history has, to send as the argument that is echoed.
    #[must_use]
    pub fn nonce(self) -> String {
        format!("nonce-{}", self.0)
    }
}

impl fmt::Display for CallNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "call {}", self.0)
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// A result with this text.
    Reply(String),
    /// An error of this kind.
    Failed(String),
    /// Cancelled or dropped by its caller.
    Cancelled,
}

/// What the calls of a history came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Calls that got their reply.
    pub replies: usize,
    /// Calls that failed.
    pub failures: usize,
    /// Calls that were cancelled.
    pub cancellations: usize,
}

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// I1: the call has no end.
    NeverEnded(CallNumber),
    /// I1: the call ended more than once, in these ways.
    EndedAgain(CallNumber, Vec<End>),
    /// I2: the reply does not carry the nonce of the call.
    WrongOwner {
        /// The call.
        call: CallNumber,
        /// The text of its reply.
        reply: String,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverEnded(call) => write!(formatter, "{call} never ended"),
            Self::EndedAgain(call, ends) => write!(formatter, "{call} ended again: {ends:?}"),
            Self::WrongOwner { call, reply } => {
                let start: String = reply.chars().take(200).collect();
                write!(formatter, "{call} got the reply of another call: {start:?}")
            }
        }
    }
}

/// A record of calls and their ends; shared by reference between threads and tasks.
///
/// ```
/// use toolspan_testkit::{End, History};
///
/// let history = History::new();
/// let call = history.invoke();
/// let reply = call.nonce(); // send `call.nonce()` to an echo tool and take its reply
/// history.end(call, End::Reply(reply));
/// assert_eq!(history.assert_sound().replies, 1);
/// ```
#[derive(Debug, Default)]
pub struct History {
    /// The ends of each call, in the order of the calls; held only for a push or a scan.
    calls: Mutex<Vec<Vec<End>>>,
}

impl History {
    /// A history without calls.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that a call begins.
    pub fn invoke(&self) -> CallNumber {
        let mut calls = self.lock();
        calls.push(Vec::new());
        CallNumber(calls.len() - 1)
    }

    /// Records an end of a call. A second end is recorded, too, and found by [`check`](Self::check).
    pub fn end(&self, call: CallNumber, end: End) {
        let mut calls = self.lock();
        calls
            .get_mut(call.0)
            .expect("the call is from this history")
            .push(end);
    }

    /// Records the outcome of a call: the text of its reply, or an error by its `Debug` form.
    pub fn outcome<E: fmt::Debug>(&self, call: CallNumber, outcome: Result<String, E>) {
        let end = match outcome {
            Ok(reply) => End::Reply(reply),
            Err(error) => End::Failed(format!("{error:?}")),
        };
        self.end(call, end);
    }

    /// Counts the ends, or tells everything that is wrong.
    pub fn check(&self) -> Result<Tally, Vec<Violation>> {
        let mut tally = Tally::default();
        let mut violations = Vec::new();
        for (number, ends) in self.lock().iter().enumerate() {
            let call = CallNumber(number);
            match ends.as_slice() {
                [] => violations.push(Violation::NeverEnded(call)),
                [_] => {}
                _ => violations.push(Violation::EndedAgain(call, ends.clone())),
            }
            for end in ends {
                match end {
                    End::Reply(reply) if has_nonce(reply, &call.nonce()) => tally.replies += 1,
                    End::Reply(reply) => {
                        violations.push(Violation::WrongOwner {
                            call,
                            reply: reply.clone(),
                        });
                    }
                    End::Failed(_) => tally.failures += 1,
                    End::Cancelled => tally.cancellations += 1,
                }
            }
        }
        if violations.is_empty() {
            Ok(tally)
        } else {
            Err(violations)
        }
    }

    /// As [`check`](Self::check), but panics with all violations, one a line.
    #[track_caller]
    pub fn assert_sound(&self) -> Tally {
        self.check().unwrap_or_else(|violations| {
            let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
            panic!("the history is not sound:\n{}", lines.join("\n"))
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<End>>> {
        // A panic while the lock is held leaves a whole history: nothing is half pushed.
        self.calls
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whether the text contains the nonce, not only the start of a longer one (`nonce-1` in
/// `nonce-12`).
fn has_nonce(text: &str, nonce: &str) -> bool {
    text.match_indices(nonce).any(|(at, found)| {
        let after = text.get(at + found.len()..).unwrap_or_default();
        !after.starts_with(|next: char| next.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sound_history_is_counted() {
        let history = History::new();
        let calls: Vec<CallNumber> = (0..3).map(|_| history.invoke()).collect();
        history.end(calls[1], End::Cancelled);
        history.outcome::<()>(calls[0], Ok(format!("text {}", calls[0].nonce())));
        history.outcome(calls[2], Err("closed"));
        let tally = Tally {
            replies: 1,
            failures: 1,
            cancellations: 1,
        };
        assert_eq!(history.check(), Ok(tally));
    }

    #[test]
    fn a_missing_a_second_and_a_foreign_end_are_found() {
        let history = History::new();
        let calls: Vec<CallNumber> = (0..13).map(|_| history.invoke()).collect();
        for call in &calls[3..] {
            history.end(*call, End::Cancelled);
        }
        history.end(calls[1], End::Reply(calls[12].nonce()));
        let twice = vec![End::Cancelled, End::Reply(calls[2].nonce())];
        for end in &twice {
            history.end(calls[2], end.clone());
        }
        let expected = vec![
            Violation::NeverEnded(calls[0]),
            Violation::WrongOwner {
                call: calls[1],
                reply: calls[12].nonce(),
            },
            Violation::EndedAgain(calls[2], twice),
        ];
        assert_eq!(history.check(), Err(expected));
    }

    #[test]
    #[should_panic(expected = "call 0 never ended")]
    fn an_unsound_history_panics_with_its_violations() {
        let history = History::new();
        history.invoke();
        history.assert_sound();
    }
}
