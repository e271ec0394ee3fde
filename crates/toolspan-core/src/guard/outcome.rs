//! What is known of a call that did not end well: how far it came, and whether it may have run.

use serde::{Deserialize, Serialize};

/// Whether the tool may have run. This is what a caller needs to decide on a second try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Not one byte of the call reached the tool: it did not run.
    NotSent,
    /// The call was sent, in part or whole, and no answer came: it may have run.
    Unknown,
    /// The other side answered, with a result or an error of its own.
    Answered,
}

impl Outcome {
    /// The name used in JSON, Python and error texts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Unknown => "unknown",
            Self::Answered => "answered",
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The step of the data flow in which something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// Reading and resolving the configuration.
    Config,
    /// Starting the process or opening the connection.
    Connect,
    /// The protocol's first exchange (`initialize` in MCP).
    Handshake,
    /// Listing the tools.
    Discover,
    /// Finding the tool that a name means.
    Resolve,
    /// Checking arguments against the tool's schema.
    Validate,
    /// Deciding by the policy whether the call may run.
    Decide,
    /// Waiting for room to send: a full pipe or too many calls in flight.
    Send,
    /// Waiting for the answer.
    Call,
    /// Reading what came back.
    Observe,
    /// Closing.
    Close,
}

impl Phase {
    /// The name used in JSON, Python and error texts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Connect => "connect",
            Self::Handshake => "handshake",
            Self::Discover => "discover",
            Self::Resolve => "resolve",
            Self::Validate => "validate",
            Self::Decide => "decide",
            Self::Send => "send",
            Self::Call => "call",
            Self::Observe => "observe",
            Self::Close => "close",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
