//! What an era of the protocol looks like on the wire: the only place that writes messages.
//!
//! [`handshake`] is the era with `initialize` (2024-11-05 to 2025-11-25). The engine asks a
//! [`Dialect`] for frames and never spells a method itself, so that another era is another variant
//! here and nothing else.

pub(crate) mod handshake;

use serde_json::{Map, Value};

use crate::wire::version::Version;

/// A tool call as the wire needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// The tool's name as its server gave it.
    pub(crate) name: &'a str,
    /// The arguments as JSON text on one line.
    pub(crate) arguments: &'a str,
    /// Members that the caller wants in `_meta`.
    pub(crate) meta: &'a Map<String, Value>,
}

/// The era and revision that a connection has settled on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `initialize`, then requests and notifications both ways.
    Handshake(Version),
}

impl Dialect {
    /// The frame of a tool call.
    pub(crate) fn call(self, id: u64, call: &Call<'_>) -> Vec<u8> {
        match self {
            Self::Handshake(_) => handshake::call(id, call),
        }
    }

    /// The frame that asks for a page of the tool list.
    pub(crate) fn list_tools(self, id: u64, cursor: Option<&str>) -> Vec<u8> {
        match self {
            Self::Handshake(_) => handshake::list_tools(id, cursor),
        }
    }

    /// The frame that tells the server that a call is no longer waited for.
    pub(crate) fn cancelled(self, id: u64, reason: &str) -> Vec<u8> {
        match self {
            Self::Handshake(_) => handshake::cancelled(id, reason),
        }
    }
}
