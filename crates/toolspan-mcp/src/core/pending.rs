//! The table of waiting calls of one connection, by request id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
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
    open: HashMap<u64, Arc<CallSlot>, BuildHasherDefault<IdHasher>>,
    closed: Option<Error>,
}

/// Spreads ids, which we number ourselves: no peer can choose one, so no key is needed.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    /// A multiplication by an odd number near 2^64 over the golden ratio: consecutive ids differ
    /// in their low bits and their high ones.
    fn write_u64(&mut self, id: u64) {
        self.0 = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a request, before its first byte is sent; gives how many wait then, this one included.
    ///
    /// # Errors
    ///
    /// The cause of the end, when the connection has ended.
    pub(crate) fn insert(&self, id: u64) -> Result<(Arc<CallSlot>, usize)> {
        let slot = Arc::new(CallSlot::new());
        let mut table = self.lock();
        if let Some(cause) = &table.closed {
            return Err(cause.clone());
        }
        table.open.insert(id, Arc::clone(&slot));
        Ok((slot, table.open.len()))
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
        let mut oldest_first: Vec<_> = open.into_iter().collect();
        oldest_first.sort_unstable_by_key(|(id, _)| *id);
        for (_, slot) in oldest_first {
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
