//! Which tools there are: an immutable snapshot of them, and how a name finds its tool.
//!
//! [`Snapshot`] holds the tools of a host as they are now. [`ToolRegistry`] knows how native tools
//! are made, for whoever asks for one by a [`ToolSpec`]. [`Shaping`] says what a model sees of a
//! toolbox's tools.

pub(crate) mod alias;
mod catalogue;
mod pattern;
mod registration;
mod resolve;
mod shaping;
mod snapshot;
mod spec;
mod supplied;
mod supplying;

pub use catalogue::ToolRegistry;
pub use pattern::NamePattern;
pub use registration::Registration;
pub use shaping::{Shaping, ToolShape};
pub use snapshot::{RegisteredTool, Snapshot, Source, ToolboxBroken};
pub use spec::ToolSpec;
