//! How much of anything a host takes: the sizes and times of `limits` and `timeouts`.
//!
//! Field names are the config's keys. Every limit's error names its key.

use std::time::Duration;

/// Sizes and counts. One set holds for the host; a toolbox may have its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Largest message taken from a server, in bytes. Default 16 MiB.
    pub message_bytes: usize,
    /// Largest arguments object of a call, serialised, in bytes. Default 16 MiB.
    pub arguments_bytes: usize,
    /// Deepest nesting of arrays and objects in a message or in arguments. Default 64.
    pub json_depth: usize,
    /// Most tools taken from one toolbox. Default 1,000.
    pub tools: usize,
    /// Most pages of a tool list that are asked for. Default 100.
    pub pages: usize,
    /// Largest schema of one tool, in bytes. Default 256 KiB.
    pub schema_bytes: usize,
    /// Most characters of an observation that a model is given. Default 30,000.
    pub output_chars: usize,
    /// Bytes of a server's standard error that are kept, the last ones. Default 64 KiB.
    pub stderr_bytes: usize,
    /// Most calls in flight on one toolbox. Default 256 (stdio).
    pub max_in_flight: usize,
    /// Most calls in flight on a host. Default 1,024.
    pub in_flight_total: usize,
    /// Most calls of one toolbox that wait for a place; one more is `overloaded`. Default 256.
    pub queue: usize,
    /// Most calls of one batch that run at the same time. Counts for the host. Default 8.
    pub concurrency: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            arguments_bytes: 16 << 20,
            json_depth: 64,
            tools: 1_000,
            pages: 100,
            schema_bytes: 256 << 10,
            output_chars: 30_000,
            stderr_bytes: 64 << 10,
            max_in_flight: 256,
            in_flight_total: 1_024,
            queue: 256,
            concurrency: 8,
        }
    }
}

/// Times. In a config they are seconds, whole or with a fraction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// From the start of a server to its finished handshake; at the host, also how long a factory of a
    /// registry may take. Default 60 s (a cold `npx` is slow).
    pub connect: Duration,
    /// One listing of all tools, every page of it. Default 30 s.
    pub list: Duration,
    /// A call without any sign of life; progress starts it anew. Default 60 s.
    pub idle: Duration,
    /// A call as a whole, whatever progress says. Default 600 s.
    pub total: Duration,
    /// Closing a toolbox, until nothing of it is left. Default 5 s.
    pub close: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(60),
            list: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
            close: Duration::from_secs(5),
        }
    }
}
