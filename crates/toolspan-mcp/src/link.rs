//! What connects a connection to its server's calls and to its owner, whatever way it goes.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use toolspan_core::Error;
use toolspan_core::guard::{Limits, Redactor};

use crate::core::counters::Counters;
use crate::core::pending::Pending;
use crate::core::receive::Receiver;

/// What a connection tells its owner, on the reading task; must return at once.
pub(crate) trait Listener: Send + Sync + 'static {
    /// The server says that its tools changed.
    fn tools_changed(&self);
    /// The server logs something.
    fn log(&self, level: String, text: String);
    /// The connection has ended by itself; all its calls have been told.
    fn ended(&self, cause: &Error);
}

/// What a connection is opened with.
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) next_id: Arc<AtomicU64>,
    pub(crate) listener: Arc<dyn Listener>,
    /// What must not appear in reports of progress.
    pub(crate) credentials: Redactor,
}

/// What a connection's messages are routed by.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) pending: Arc<Pending>,
    pub(crate) counters: Arc<Counters>,
    /// The next request's id. Shared by all connections of a server: ids never come twice.
    pub(crate) next_id: Arc<AtomicU64>,
    pub(crate) limits: Limits,
    pub(crate) listener: Arc<dyn Listener>,
    pub(crate) credentials: Redactor,
}

impl Link {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            pending: Arc::default(),
            counters: Arc::default(),
            next_id: setup.next_id,
            limits: setup.limits,
            listener: setup.listener,
            credentials: setup.credentials,
        }
    }

    /// Routes one stream of messages.
    pub(crate) fn receiver(&self) -> Receiver {
        Receiver::new(
            Arc::clone(&self.pending),
            Arc::clone(&self.counters),
            Arc::clone(&self.next_id),
            self.limits.clone(),
        )
    }
}
