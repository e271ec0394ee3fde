//! What the demo is made of: a real MCP server in this binary, two native tools, and a stage.

mod clock;
pub(crate) mod native;
mod picture;
pub(crate) mod server;
pub(crate) mod stage;
