//! Which tools there are: an immutable snapshot of them, and how a name finds its tool.
//!
//! [`Snapshot`] holds the tools of a host as they are now. [`ToolRegistry`] knows how native tools
//! are made, for whoever asks for one by a [`ToolSpec`].

mod alias;
mod catalogue;
mod registration;
mod resolve;
mod snapshot;
mod spec;

pub use catalogue::ToolRegistry;
pub use registration::Registration;
pub use snapshot::{RegisteredTool, Snapshot, Source, ToolboxBroken};
pub use spec::ToolSpec;
