//! A client for servers that speak the Model Context Protocol (MCP), made so that no server can
//! make a call hang.
//!
//! [`McpToolBox`] is the whole public face: a [`ToolBox`](toolspan_core::ToolBox) over one server.
//! Inside, bytes become events in `core` without I/O or a clock; a `connection` owns the two
//! tasks that read and write; a `supervisor` starts, restarts and ends connections.
//! No type of the wire leaves this crate.

mod connection;
mod content;
mod core;
mod dialect;
mod driver;
mod error;
mod inlet;
mod link;
mod masking;
mod outbox;
mod posts;
mod supervisor;
mod toolbox;
pub mod transport;
mod way;
mod wire;

pub use toolbox::{McpServer, McpToolBox};
pub use transport::Transport;

/// Parts for benchmarks of this workspace; not covered by any promise of compatibility.
#[doc(hidden)]
pub mod bench;
