//! The messages of MCP as they are on the wire, read leniently: what is not understood is kept.

pub(crate) mod id;
pub(crate) mod initialize;
pub(crate) mod message;
pub(crate) mod tools;
pub(crate) mod version;
