//! The runtime of all blocking hosts in a process.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::drive::Drive;
use super::wait;

/// The process that [`HOME`] belongs to; 0 before the first use. It is looked at before the mutex:
/// in a forked copy the mutex may be held for ever, by a thread that is not there.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// The runtime's thread, once it runs. Held while it is started, and for looking.
static HOME: Mutex<Option<Home>> = Mutex::new(None);

/// Whether this process has not forked for certain, so that it need not be asked for its number.
static NEVER_FORKED: AtomicBool = AtomicBool::new(false);

/// Says that [`announce_fork`] will come before each fork of this process. Until the first one, waits
/// then do not ask the system which process this is, which costs a short call one of its five visits
/// there.
pub fn expect_announced_forks() {
    NEVER_FORKED.store(true, Ordering::Release);
}

/// Says that this process is about to fork. To be called in it, before the fork.
pub fn announce_fork() {
    NEVER_FORKED.store(false, Ordering::Release);
}

/// The runtime that blocking callers wait on: one thread of the process, shared by all hosts. For
/// whoever makes the same for another language; others use [`blocking::Host`](super::Host).
///
/// Clones are cheap and mean the same runtime.
#[derive(Clone, Debug)]
pub struct Home {
    drive: Arc<Drive>,
    process: u32,
}

impl Home {
    /// The runtime of this process; its thread is started by the first use and lives as long as the
    /// process.
    ///
    /// # Errors
    ///
    /// `usage` in a process that was forked after the first use: the thread is not there.
    /// `internal` when the system gives no thread.
    pub fn get() -> Result<Self> {
        let process = std::process::id();
        let owner = match OWNER.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => process,
            Err(owner) => owner,
        };
        if owner != process {
            return Err(forked(owner));
        }
        let mut home = HOME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = &*home {
            return Ok(home.clone());
        }
        let drive = Drive::start().map_err(|error| {
            let message = format!("the runtime's thread cannot be started: {error}");
            Error::new(ErrorKind::Internal, Phase::Connect, message)
        })?;
        Ok(home.insert(Self { drive, process }).clone())
    }

    /// Whether this is the process that the runtime runs in, and not a forked copy of it. Never
    /// waits.
    pub fn is_here(&self) -> bool {
        NEVER_FORKED.load(Ordering::Acquire) || self.process == std::process::id()
    }

    /// The same home, for a process that is sure to be in it: what waits there does not ask again.
    ///
    /// # Errors
    ///
    /// `usage` in a forked copy of the process: the runtime is not there, and the servers are the
    /// original's.
    pub fn here(&self) -> Result<Here<'_>> {
        match self.is_here() {
            true => Ok(Here(self)),
            false => Err(forked(self.process)),
        }
    }

    /// Waits for a future on the caller's thread. It may use the runtime's timers and I/O, and wait
    /// in itself: what it calls back may call `block_on`.
    ///
    /// # Errors
    ///
    /// `usage` on a thread that runs tasks of a runtime: waiting there would stop them. `usage` in a
    /// forked copy of the process, as [`Home::here`].
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output> {
        wait::block_on(self.here()?, future)
    }

    /// Waits for a future and looks up from it. See [`Here::block_on_looking`].
    ///
    /// # Errors
    ///
    /// As [`Home::block_on`].
    pub fn block_on_looking<F: Future, B>(
        &self,
        future: Pin<Box<F>>,
        look: impl FnMut() -> ControlFlow<B>,
    ) -> Result<ControlFlow<B, F::Output>> {
        self.here()?.block_on_looking(future, look)
    }

    /// A runtime as a forked copy of its process finds it.
    #[cfg(test)]
    pub(super) fn left_behind(self) -> Self {
        Self { process: 0, ..self }
    }
}

/// A [`Home`] whose process this was a moment ago. Not to be kept while foreign code runs, which may
/// fork.
#[derive(Clone, Copy, Debug)]
pub struct Here<'home>(&'home Home);

impl<'home> Here<'home> {
    /// Waits for a future as [`Home::block_on`] does, and looks up from it: `look` is called between
    /// two polls of the future, never during one, and at least every 50 ms as long as the polls and
    /// `look` itself return. Its break ends the wait and drops the future, which cancels a call.
    ///
    /// `look` may wait in turn, for example call the same host. One that may fork has to break in the
    /// copy, where the wait would not end; there the future is not dropped, so that nothing is sent to
    /// servers of the original. It is in a box, since only on the heap it can be left alone for ever.
    ///
    /// # Errors
    ///
    /// `usage` on a thread that runs tasks of a runtime.
    pub fn block_on_looking<F: Future, B>(
        self,
        future: Pin<Box<F>>,
        look: impl FnMut() -> ControlFlow<B>,
    ) -> Result<ControlFlow<B, F::Output>> {
        wait::block_on_looking(self, future, look)
    }

    pub(super) fn home(self) -> &'home Home {
        self.0
    }

    /// The runtime.
    pub(super) fn drive(self) -> &'home Drive {
        &self.0.drive
    }
}

fn forked(owner: u32) -> Error {
    let message = format!("this process was forked from {owner}, which holds the running servers");
    Error::new(ErrorKind::Usage, Phase::Connect, message)
        .with_hint("make a new host after the fork, in a program that had none before")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_use_gives_the_same_runtime() {
        let (first, second) = (Home::get().unwrap(), Home::get().unwrap());
        assert_eq!(first.drive.handle().id(), second.drive.handle().id());
        assert!(first.is_here() && !first.left_behind().is_here());
    }
}
