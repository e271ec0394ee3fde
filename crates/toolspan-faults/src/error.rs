//! What can go wrong while a script is read or played?

use std::path::PathBuf;

/// Why a script could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The script file could not be opened or read.
    #[error("cannot read script {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line of a JSON Lines script is not a step.
    #[error("line {line} (step {step}) is not a step: {source}")]
    Line {
        /// Counted from 1, comments and blank lines included.
        line: usize,
        /// Counted from 1, steps only.
        step: usize,
        /// Why; its own column is that of the line.
        source: serde_json::Error,
    },
    /// An inline script is not a JSON array.
    #[error("the steps are not a JSON array: {source}; write them as [\"handshake\", \"serve\"]")]
    NotAnArray {
        /// Why.
        source: serde_json::Error,
    },
    /// An element of an inline script is not a step.
    #[error("step {step} is not a step: {source}")]
    Element {
        /// Counted from 1.
        step: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A step is well formed but cannot be played.
    #[error("step {step} cannot be played: {reason}")]
    Unplayable {
        /// Counted from 1; a step inside a loop counts as that loop.
        step: usize,
        /// Why, and what to write instead.
        reason: String,
    },
    /// There is no ready-made fault of that name.
    #[error("there is no fault named `{name}`; `--list` shows all of them")]
    UnknownFault {
        /// The name asked for.
        name: String,
    },
}

/// Why a script that was read could not be played to its end.
#[derive(Debug, thiserror::Error)]
#[error("step {step} failed: {reason}")]
#[non_exhaustive]
pub struct PlayError {
    /// Counted from 1; a step inside a loop counts as that loop. One past the last step is the
    /// reading that follows it.
    pub step: usize,
    /// What happened.
    pub reason: PlayFailure,
}

/// What happened in the step that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayFailure {
    /// A step reads, but the script has closed the input or stopped reading.
    #[error("nothing can be read after `close_stdin` or `stop_reading`")]
    NoInput,
    /// A step writes, but the script has closed the output.
    #[error("nothing can be written after `close_stdout`")]
    NoOutput,
    /// The step is about requests and responses, which streams do not have.
    #[error("`{step}` needs HTTP; start with `--http` or `--sse`")]
    HttpOnly {
        /// The step's name.
        step: &'static str,
    },
    /// The step is about the standard streams, which carry no messages over HTTP.
    #[error("`{step}` is about the standard streams; start without `--http` and `--sse`")]
    StreamsOnly {
        /// The step's name.
        step: &'static str,
    },
    /// A step sends or responds over HTTP, but no request was expected that is still open.
    #[error("`{step}` answers a request, but none is open; put an `expect` before it")]
    NoRequest {
        /// The step's name.
        step: &'static str,
    },
    /// An incoming line is longer than [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES).
    #[error("an incoming line has more than {limit} bytes")]
    LineTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The operating system refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
}
