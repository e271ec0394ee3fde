//! Which thread turns the runtime of the blocking hosts: its keeper, or the caller that waits?
//!
//! The keeper is a thread of its own. An answer that it reads costs a caller one more switch of
//! threads, half of what a short call takes. So in a run of short calls, one at a time, the keeper
//! steps aside and the caller leads: it fetches its answer where that comes from, or turns the
//! runtime while it waits, at least once in a while. The keeper comes back as soon as there is a
//! second caller, a call takes longer, or no call comes.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::task::{Poll, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::runtime::{Handle, Runtime};
use toolspan_core::execute::Source;

use super::waiting_thread::WaitingThread;

/// How many waits in a row must have been alone before the keeper steps aside: going and coming
/// costs about as much as two of them lose by its presence.
const ALONE: u32 = 8;
/// Longest time that nobody turns the runtime after a call, and about the longest that a caller does:
/// what a server says between two calls is heard this much later.
///
/// A caller that fetches its answer sees anything else, such as a cancel, about twice as much later,
/// and so long a task that is ready may have to wait.
const LULL: Duration = Duration::from_millis(2);

/// A runtime and whose turn it is.
pub(super) struct Drive {
    runtime: Runtime,
    /// Makes the thread that turns the runtime look up.
    look_up: Waker,
    keeper: OnceLock<Thread>,
    /// Held by the thread that turns the runtime.
    seat: Mutex<()>,
    /// The keeper has left the seat, or is about to.
    is_away: AtomicBool,
    /// The keeper wants the seat back.
    is_called: AtomicBool,
    /// Threads that wait now.
    waiting: AtomicUsize,
    /// Waits in a row that were alone from begin to end, while the keeper was there.
    alone: AtomicU32,
    /// Waits, or parts of one, in which a caller led.
    led: AtomicU64,
    /// The caller that leads has to turn the runtime next.
    is_due: AtomicBool,
    /// Where the caller that leads fetches now. Held for changing it and for interrupting.
    fetched: Mutex<Option<Arc<dyn Source>>>,
}

impl Drive {
    /// Makes the runtime and starts its keeper, which lives as long as the process.
    ///
    /// # Errors
    ///
    /// When the system gives no thread, or refuses what the runtime watches.
    pub(super) fn start() -> std::io::Result<Arc<Self>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let look_up = runtime.block_on(poll_fn(|task| Poll::Ready(task.waker().clone())));
        let drive = Arc::new(Self {
            runtime,
            look_up,
            keeper: OnceLock::new(),
            seat: Mutex::default(),
            is_away: AtomicBool::new(false),
            is_called: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            alone: AtomicU32::new(0),
            led: AtomicU64::new(0),
            is_due: AtomicBool::new(false),
            fetched: Mutex::default(),
        });
        let kept = Arc::clone(&drive);
        let keeper = thread::Builder::new()
            .name("toolspan-home".to_owned())
            .spawn(move || kept.keep())?;
        // Nobody else sets it.
        let _ = drive.keeper.set(keeper.thread().clone());
        Ok(drive)
    }

    /// What tasks are begun with.
    pub(super) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Sees to it that the runtime is turned although no thread waits.
    pub(super) fn attend(&self) {
        if self.is_away.load(SeqCst) {
            self.call_keeper();
        }
    }

    /// Counts a thread that waits, until the guard is dropped.
    pub(super) fn wait(&self) -> Presence<'_> {
        if self.waiting.fetch_add(1, SeqCst) > 0 {
            self.alone.store(0, SeqCst);
            self.attend();
        }
        Presence {
            drive: self,
            has_waited: Cell::new(false),
        }
    }

    /// Fetches what `thread` waits for, or turns the runtime, until `thread` was woken or the keeper
    /// wants the seat. False when it is not this thread's turn.
    fn lead(&self, thread: &WaitingThread, source: Option<Arc<dyn Source>>) -> bool {
        if !self.is_away.load(SeqCst) || self.is_called.load(SeqCst) {
            return false;
        }
        let Some(_seat) = self.try_seat() else {
            // The keeper is about to leave, or another thread leads: neither stays for this one.
            self.call_keeper();
            return false;
        };
        // The keeper may have come and gone, or be there again and about to leave.
        if !self.is_away.load(SeqCst) {
            return false;
        }
        match source {
            Some(source) if !self.is_due.load(SeqCst) => self.fetch(thread, source),
            _ => self.turn(thread),
        }
        true
    }

    /// Fetches once, and turns the runtime if that was not all.
    fn fetch(&self, thread: &WaitingThread, source: Arc<dyn Source>) {
        *self.fetched() = Some(Arc::clone(&source));
        // Who wants the seat says so first and looks for a source to interrupt then.
        if !thread.is_woken() && !self.is_called.load(SeqCst) {
            source.fetch();
        }
        self.fetched().take();
        match thread.is_woken() || self.is_called.load(SeqCst) {
            true => {
                self.count_led();
            }
            false => self.turn(thread),
        }
    }

    fn fetched(&self) -> MutexGuard<'_, Option<Arc<dyn Source>>> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the thread that leads or turns the runtime look up.
    fn rouse(&self) {
        self.look_up.wake_by_ref();
        let fetched = self.fetched().clone();
        if let Some(source) = fetched {
            source.interrupt();
        }
    }

    /// Turns the runtime until `thread` was woken or the keeper wants the seat.
    fn turn(&self, thread: &WaitingThread) {
        self.is_due.store(false, SeqCst);
        thread.lead(&self.look_up);
        self.runtime.block_on(poll_fn(|_| {
            match thread.is_woken() || self.is_called.load(SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        thread.follow();
        self.count_led();
    }

    /// The seat is held: nobody else counts.
    fn count_led(&self) {
        let led = self.led.load(Relaxed);
        self.led.store(led.wrapping_add(1), Relaxed);
    }

    /// The keeper's life.
    fn keep(&self) {
        loop {
            let seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
            self.is_away.store(false, SeqCst);
            self.is_called.store(false, SeqCst);
            self.runtime.block_on(poll_fn(|_| self.poll_leave()));
            drop(seat);
            self.stay_away();
            self.alone.store(0, SeqCst);
            self.is_called.store(true, SeqCst);
            self.rouse();
        }
    }

    /// Ready when the keeper has left: one caller at a time, and none right now, which would not
    /// know.
    fn poll_leave(&self) -> Poll<()> {
        if self.alone.load(SeqCst) < ALONE {
            return Poll::Pending;
        }
        self.is_away.store(true, SeqCst);
        if self.waiting.load(SeqCst) == 0 {
            return Poll::Ready(());
        }
        self.is_away.store(false, SeqCst);
        Poll::Pending
    }

    /// Returns when the keeper is called, no call comes, or one takes longer.
    fn stay_away(&self) {
        loop {
            let led = self.led.load(SeqCst);
            thread::park_timeout(LULL);
            if self.is_called.load(SeqCst) || self.led.load(SeqCst) == led {
                return;
            }
            self.is_due.store(true, SeqCst);
        }
    }

    fn call_keeper(&self) {
        if !self.is_called.swap(true, SeqCst) {
            self.rouse();
            if let Some(keeper) = self.keeper.get() {
                keeper.unpark();
            }
        }
    }

    fn try_seat(&self) -> Option<MutexGuard<'_, ()>> {
        match self.seat.try_lock() {
            Ok(seat) => Some(seat),
            Err(TryLockError::Poisoned(seat)) => Some(seat.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl std::fmt::Debug for Drive {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Drive").finish_non_exhaustive()
    }
}

/// A thread that waits, or looks up from it.
pub(super) struct Presence<'drive> {
    drive: &'drive Drive,
    has_waited: Cell<bool>,
}

impl Presence<'_> {
    /// Waits until `thread`, which is this one, was woken, by what comes from `source` as a rule.
    /// Leads meanwhile if it is this thread's turn, for about [`LULL`] at most, and else sleeps, at
    /// most `longest`. May return before.
    pub(super) fn wait_for(
        &self,
        thread: &WaitingThread,
        source: Option<Arc<dyn Source>>,
        longest: impl FnOnce() -> Duration,
    ) {
        self.has_waited.set(true);
        if !self.drive.lead(thread, source) {
            thread::park_timeout(longest());
        }
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        let drive = self.drive;
        let was_last = drive.waiting.fetch_sub(1, SeqCst) == 1;
        if !was_last || !self.has_waited.get() || drive.is_away.load(SeqCst) {
            return;
        }
        if drive.alone.fetch_add(1, SeqCst) + 1 >= ALONE {
            drive.look_up.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests;
