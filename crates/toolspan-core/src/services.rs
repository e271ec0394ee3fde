//! What a toolbox may ask of the host that holds it.

use crate::toolbox::ToolBoxState;

/// Something that happened in a toolbox outside any call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The toolbox came to another state.
    State(ToolBoxState),
    /// The source says that its tools changed; a refresh of the host lists them anew.
    ToolsChanged,
    /// A log message of the source (MCP `notifications/message`).
    Log {
        /// The level as the source wrote it: `debug`, `info`, `warning`, `error`, …
        level: String,
        /// The message, not safe for a terminal.
        text: String,
    },
}

/// What a host does for its toolboxes. Given at connect; every method has a quiet default, so a
/// host answers only what it can.
pub trait Services: Send + Sync + 'static {
    /// Takes note of an event. Must return at once: it may run on a thread that reads replies.
    fn event(&self, toolbox: &str, event: Event) {
        let _ = (toolbox, event);
    }
}

/// A host that does nothing for its toolboxes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoServices;

impl Services for NoServices {}
