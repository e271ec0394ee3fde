//! What a caller may say about one call.

use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::holding::Holding;
use crate::guard::Secret;

/// What a conversation keeps between its calls, of whatever type its agent chose.
pub type State = Arc<dyn Any + Send + Sync>;

/// How far a call has come, as its tool says.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Work done so far, in the tool's own unit.
    pub progress: f64,
    /// All the work, in the same unit, where it is known.
    pub total: Option<f64>,
    /// What is being done, not safe for a terminal.
    pub message: Option<String>,
}

impl Progress {
    /// So much of so much.
    pub fn new(progress: f64, total: Option<f64>) -> Self {
        Self {
            progress,
            total,
            message: None,
        }
    }

    /// Adds what is being done.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// Takes a call's progress. Runs on the caller's own thread or task; must not block. A panic in it
/// is caught, and the call goes on.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Options of one call. The default says nothing: the host's timeouts hold.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Longest time for the whole call, instead of `timeouts.total` and `timeouts.idle`. With no
    /// time at all nothing is sent.
    pub timeout: Option<Duration>,
    /// Cancels the call, here and at the server.
    pub cancel: Option<CancellationToken>,
    /// Is told of progress. Several reports between two turns of the caller may come as the last
    /// one alone.
    pub on_progress: Option<ProgressSink>,
    /// Members for the request's `_meta` (MCP), beside the ones the protocol needs.
    pub meta: Map<String, Value>,
    /// HTTP headers for this one call, name and value, in place of the server's own of the same
    /// name. Toolboxes that do not speak HTTP ignore them.
    pub headers: Vec<(String, Secret)>,
    /// The state of the conversation that the call belongs to, for tools that know its type
    /// ([`Context::state`](super::Context::state)).
    pub state: Option<State>,
    /// The call in whose course this one is made, as long as it runs.
    pub(super) around: Option<Weak<Holding>>,
}

impl CallOptions {
    /// Sets the longest time for the whole call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets what cancels the call.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Sets what is told of progress.
    #[must_use]
    pub fn with_progress(mut self, sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(sink));
        self
    }

    /// Sets members for the request's `_meta`.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }

    /// Sets the HTTP headers for this one call.
    #[must_use]
    pub fn with_headers<N: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.headers = headers
            .into_iter()
            .map(|(name, value)| (name.into(), Secret::new(value)))
            .collect();
        self
    }

    /// Sets the state of the conversation that the call belongs to.
    #[must_use]
    pub fn with_state(mut self, state: State) -> Self {
        self.state = Some(state);
        self
    }
}

impl std::fmt::Debug for CallOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("cancel", &self.cancel.is_some())
            .field("on_progress", &self.on_progress.is_some())
            .field("headers", &headers)
            .field("state", &self.state.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_shown_by_its_name_alone() {
        let options = CallOptions::default().with_headers([("X-Tenant", "hunter2-hunter2")]);
        let shown = format!("{options:?}");
        assert!(shown.contains("X-Tenant"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
        let values: Vec<&str> = options
            .headers
            .iter()
            .map(|(_, value)| value.reveal())
            .collect();
        assert_eq!(values, ["hunter2-hunter2"]);
    }
}
