//! What does a call have while it runs, so that the calls it makes in turn need not wait for it?
//!
//! A tool may call other tools, or itself. Such a call would wait for ever for a place or a resource
//! that the call around it has; so it takes part in what that one has. A call made in the same task
//! is known by it; for one from another task or thread, the tool passes
//! [`Context::nested`](super::Context::nested) on.

use std::sync::Arc;

use super::gate::Gate;
use super::locks::{Key, ResourceLocks, Turn};

tokio::task_local! {
    /// What the call has whose tool runs in this task now.
    static AROUND: Arc<Holding>;
}

/// What a running call has, and the call around it. The resources are free again when the call and
/// every call it made have ended.
pub(super) struct Holding {
    around: Option<Arc<Self>>,
    turn: Option<Turn>,
    /// Addresses of the gates where it has a place.
    gates: [usize; 2],
}

impl Holding {
    pub(super) fn new(around: Option<Arc<Self>>, turn: Option<Turn>, gates: [&Gate; 2]) -> Self {
        Self {
            around,
            turn,
            gates: gates.map(address),
        }
    }

    /// The call around whatever is polled in this task now.
    pub(super) fn of_task() -> Option<Arc<Self>> {
        AROUND.try_with(Arc::clone).ok()
    }

    /// Does the work of a tool as part of the call.
    pub(super) async fn around<F: Future>(
        self,
        note: impl FnOnce(&Arc<Self>),
        work: F,
    ) -> F::Output {
        let holding = Arc::new(self);
        note(&holding);
        AROUND.scope(holding, work).await
    }

    /// Whether it, or a call around it, has a place at this gate. While it runs, those gates exist:
    /// an address means the same gate.
    pub(super) fn has_place_at(&self, gate: &Gate) -> bool {
        let wanted = address(gate);
        self.chain().any(|holding| holding.gates.contains(&wanted))
    }

    /// Whether it, or a call around it, has this resource.
    pub(super) fn has(&self, locks: &Arc<ResourceLocks>, key: &Key) -> bool {
        let mut turns = self.chain().filter_map(|holding| holding.turn.as_ref());
        turns.any(|turn| turn.has(locks, key))
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |holding| holding.around.as_deref())
    }
}

fn address(gate: &Gate) -> usize {
    std::ptr::from_ref(gate).addr()
}
