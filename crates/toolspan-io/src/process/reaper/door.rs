//! How do callers on any thread hand a child to the one thread that looks after all?

use std::io::{PipeReader, PipeWriter};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::thread;
use super::watchdog::{SHELL, Watchdog};
use crate::process::cookie::Cookie;
use crate::process::error::SpawnError;
use crate::process::handle::Shared;
use crate::process::system::{above_standard, write_without_signal};
use crate::process::watchdog_state::WatchdogState;

/// The process whose thread looks after children; 0 while there is none. A forked copy of the host
/// sees another number than its own here and keeps its hands off `STATE`.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Held for short sections only; the longest is the start of the watchdog, once for the first of
/// the children.
static STATE: Mutex<State> = Mutex::new(State {
    wake: None,
    reserved: 0,
    adopted: Vec::new(),
    watchdog: Watchdog::new(SHELL),
});

/// What callers and the thread share.
pub(super) struct State {
    /// There while the thread runs: a byte written here wakes it.
    wake: Option<PipeWriter>,
    /// Spawns under way, each with a place in the watchdog's list.
    pub(super) reserved: usize,
    /// Children the thread has not seen yet: at most as many as were spawned since its last turn.
    pub(super) adopted: Vec<Adopted>,
    pub(super) watchdog: Watchdog,
}

impl State {
    fn wake(&self) {
        if let Some(pipe) = &self.wake {
            // A full pipe wakes as well; nothing else can go wrong while the thread runs.
            let _ = write_without_signal(pipe, &[0]);
        }
    }

    /// Says that the thread ends. The next spawn starts another.
    pub(super) fn thread_ends(&mut self) {
        self.wake = None;
        OWNER.store(0, Ordering::SeqCst);
    }

    fn start_thread(&mut self) -> std::io::Result<()> {
        let (asleep, wake): (PipeReader, PipeWriter) = std::io::pipe()?;
        let (asleep, wake) = (above_standard(asleep)?, above_standard(wake)?);
        rustix::io::ioctl_fionbio(&asleep, true)?;
        rustix::io::ioctl_fionbio(&wake, true)?;
        std::thread::Builder::new()
            .name("toolspan-reaper".to_owned())
            .spawn(move || thread::run(asleep))?;
        self.wake = Some(wake);
        Ok(())
    }
}

/// A child and the pipe its standard error comes from.
pub(in crate::process) struct Adopted {
    pub(in crate::process) shared: Arc<Shared>,
    pub(in crate::process) stderr: PipeReader,
}

/// A place for a child about to be started: thread and watchdog are there and know its cookie.
pub(in crate::process) struct Place {
    cookie: Cookie,
    used: bool,
}

/// Makes sure that thread and watchdog run, before a child is started. A missing watchdog is no
/// error.
pub(in crate::process) fn reserve(cookie: Cookie) -> Result<Place, SpawnError> {
    let host = std::process::id();
    if let Err(owner) = OWNER.compare_exchange(0, host, Ordering::SeqCst, Ordering::SeqCst)
        && owner != host
    {
        return Err(SpawnError::ForkedProcess { owner });
    }
    let mut state = lock();
    if state.wake.is_none() {
        state.start_thread().map_err(|source| SpawnError::System {
            step: "start a thread",
            source,
        })?;
        // The thread before may have ended between the exchange above and the lock.
        OWNER.store(host, Ordering::SeqCst);
    }
    state.reserved += 1;
    state.watchdog.add(cookie);
    Ok(Place {
        cookie,
        used: false,
    })
}

impl Place {
    /// Hands the child over.
    pub(in crate::process) fn adopt(mut self, child: Adopted) {
        self.used = true;
        let mut state = lock();
        state.reserved -= 1;
        state
            .watchdog
            .set_group(self.cookie, Some(child.shared.pid));
        state.adopted.push(child);
        state.wake();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.used {
            let mut state = lock();
            state.reserved -= 1;
            state.watchdog.remove(self.cookie);
            state.wake();
        }
    }
}

/// Makes the thread look at all requests. To be called in the owning process only.
pub(in crate::process) fn wake() {
    lock().wake();
}

/// Whether a watchdog would act if this process were killed now.
pub fn watchdog_state() -> WatchdogState {
    match OWNER.load(Ordering::SeqCst) == std::process::id() {
        true => lock().watchdog.state(),
        false => WatchdogState::Idle,
    }
}

pub(super) fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
