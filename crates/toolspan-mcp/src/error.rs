//! How the faults of a connection become the one error of the house.

use std::time::Duration;

use toolspan_core::guard::outcome::{Outcome, Phase};
use toolspan_core::guard::sanitise;
use toolspan_core::{Error, ErrorKind};
use toolspan_io::process::SpawnError;

/// An answer came and breaks the protocol.
pub(crate) fn protocol(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Protocol, Phase::Observe, message).with_outcome(Outcome::Answered)
}

/// The connection is gone; calls that were under way may have run.
pub(crate) fn closed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Closed, Phase::Call, message).with_outcome(Outcome::Unknown)
}

/// A line or message over the limit; the server did its work.
pub(crate) fn too_large(limit: usize) -> Error {
    let message = format!("the answer is larger than limits.message_bytes ({limit} bytes)");
    Error::new(ErrorKind::ResponseTooLarge, Phase::Observe, message)
        .with_outcome(Outcome::Answered)
        .with_hint("raise limits.message_bytes, or ask the tool for less")
}

/// The server answered a request with an error object (JSON-RPC 2.0, section 5.1).
pub(crate) fn remote(code: i64, message: &str) -> Error {
    let words = sanitise::one_line(message, 2_000);
    let message = if words.is_empty() {
        format!("error {code}")
    } else {
        words
    };
    Error::new(ErrorKind::RemoteError, Phase::Call, message)
        .with_outcome(Outcome::Answered)
        .with_code(code)
}

/// The process could not be started.
pub(crate) fn spawn(error: &SpawnError) -> Error {
    Error::new(ErrorKind::Startup, Phase::Connect, error.to_string())
}

/// A step took longer than its limit.
pub(crate) fn timeout(phase: Phase, what: &str, after: Duration, key: &str) -> Error {
    let message = format!("{what} within {after:?} ({key})");
    Error::new(ErrorKind::Timeout, phase, message)
}
