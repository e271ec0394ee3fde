//! Which tools there are: an immutable snapshot, and how a name finds its tool.

mod resolve;
mod snapshot;

pub use snapshot::{RegisteredTool, Snapshot, Source, ToolboxBroken};
