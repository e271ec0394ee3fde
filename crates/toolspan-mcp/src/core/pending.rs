//! The table of waiting calls of one connection, by request id.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::value::RawValue;
use toolspan_core::{Error, Progress, Result};

use super::slot::Slot;

/// The reply to a request: the result as it came, or why there is none.
pub(crate) type Reply = Result<Box<RawValue>>;
/// A waiting request.
pub(crate) type CallSlot = Slot<Progress, Reply>;

/// Waiting requests by id. Once closed it stays closed and refuses every further one with the
/// cause, which all waiting ones got too. Its size is bounded by the calls in flight.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Held for single map operations only.
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Ordered, so that an end is told to the oldest call first; and no table that once was large
    /// stays so.
    open: BTreeMap<u64, Arc<CallSlot>>,
    closed: Option<Error>,
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a request, before its first byte is sent.
    ///
    /// # Errors
    ///
    /// The cause of the end, when the connection has ended.
    pub(crate) fn insert(&self, id: u64) -> Result<Arc<CallSlot>> {
        let slot = Arc::new(CallSlot::new());
        let mut table = self.lock();
        if let Some(cause) = &table.closed {
            return Err(cause.clone());
        }
        table.open.insert(id, Arc::clone(&slot));
        Ok(slot)
    }

    /// Takes a request out: it has its reply, or its caller went away.
    pub(crate) fn remove(&self, id: u64) -> Option<Arc<CallSlot>> {
        self.lock().open.remove(&id)
    }

    /// A waiting request.
    pub(crate) fn get(&self, id: u64) -> Option<Arc<CallSlot>> {
        self.lock().open.get(&id).cloned()
    }

    /// Ends one request with a reply. Gives false when it is not waiting.
    pub(crate) fn complete(&self, id: u64, reply: Reply) -> bool {
        self.remove(id).is_some_and(|slot| slot.complete(reply))
    }

    /// Ends every waiting request; the table stays open.
    pub(crate) fn fail_all(&self, error: &Error) {
        let open = std::mem::take(&mut self.lock().open);
        for slot in open.into_values() {
            slot.complete(Err(error.clone()));
        }
    }

    /// Ends every waiting request and refuses further ones. The first cause stays.
    pub(crate) fn close(&self, cause: Error) {
        let cause = self.lock().closed.get_or_insert(cause).clone();
        self.fail_all(&cause);
    }

    /// Why the connection ended, once it has.
    pub(crate) fn closed(&self) -> Option<Error> {
        self.lock().closed.clone()
    }

    /// Whether the connection still takes requests.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().closed.is_none()
    }

    /// How many requests wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().open.len()
    }
}
