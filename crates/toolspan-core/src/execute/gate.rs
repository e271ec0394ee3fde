//! How many calls may be in flight, and how many may wait for a place.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::holding::Holding;
use crate::guard::outcome::Phase;
use crate::{Error, ErrorKind, Result};

/// A number of places. Who finds none waits in order; who finds too many waiting is turned away.
#[derive(Debug)]
pub struct Gate {
    places: Semaphore,
    size: usize,
    /// The config key that sets `size`, named in errors.
    key: &'static str,
    waiting: AtomicUsize,
    queue: usize,
}

impl Gate {
    /// A gate of `size` places, at least one, with a waiting room of `queue`; `key` is the config key
    /// of `size`.
    pub fn new(size: usize, queue: usize, key: &'static str) -> Self {
        let size = size.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            places: Semaphore::new(size),
            size,
            key,
            waiting: AtomicUsize::new(0),
            queue,
        }
    }

    /// Calls that hold a place now.
    pub fn in_flight(&self) -> usize {
        self.size.saturating_sub(self.places.available_permits())
    }

    /// Waits until no call holds a place, nor waits for one that came before.
    pub async fn idle(&self) {
        let all = u32::try_from(self.size).unwrap_or(u32::MAX);
        let _all_places = self.places.acquire_many(all).await;
    }

    async fn enter(&self) -> Result<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(place);
        }
        let _seat = Seat::take(self)?;
        self.places
            .acquire()
            .await
            .map_err(|_| self.full("the gate is closed"))
    }

    fn full(&self, why: &str) -> Error {
        Error::new(ErrorKind::Overloaded, Phase::Send, why)
            .with_hint(format!("wait for a call to end, or raise {}", self.key))
    }
}

/// A seat in a gate's waiting room, given back on drop.
struct Seat<'a>(&'a Gate);

impl<'a> Seat<'a> {
    fn take(gate: &'a Gate) -> Result<Self> {
        let taken = gate.waiting.fetch_add(1, Ordering::AcqRel);
        let seat = Self(gate);
        if taken < gate.queue {
            return Ok(seat);
        }
        Err(gate.full(&format!(
            "{} calls are in flight ({}) and {} more wait (limits.queue)",
            gate.size, gate.key, gate.queue
        )))
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The gates that one call passes: its toolbox's and its host's.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the two bounds of a call; built by hosts"
)]
pub struct Gates<'a> {
    /// Bounds the calls on one toolbox.
    pub toolbox: &'a Gate,
    /// Bounds the calls on the host.
    pub host: &'a Gate,
}

impl<'a> Gates<'a> {
    /// Takes a place at both; the toolbox's first, so that one full toolbox never fills the host.
    /// Where a call around this one has a place, that place is for both.
    pub(super) async fn enter(
        self,
        around: Option<&Holding>,
    ) -> Result<[Option<SemaphorePermit<'a>>; 2]> {
        let has_place = |gate| around.is_some_and(|around| around.has_place_at(gate));
        let toolbox = match has_place(self.toolbox) {
            true => None,
            false => Some(self.toolbox.enter().await?),
        };
        let host = match has_place(self.host) {
            true => None,
            false => Some(self.host.enter().await?),
        };
        Ok([toolbox, host])
    }
}
