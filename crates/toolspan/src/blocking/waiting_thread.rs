//! How is a thread woken that waits for a future?

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};
use std::thread::{self, Thread};

/// A thread that waits: parked, or turning the runtime until it is woken.
#[derive(Debug)]
pub(super) struct WaitingThread {
    thread: Thread,
    is_woken: AtomicBool,
    /// It turns the runtime and has to be told there.
    leads: AtomicBool,
    /// What tells it there; the same at all times, since a process has one such runtime.
    look_up: OnceLock<Waker>,
}

impl WaitingThread {
    /// The calling thread.
    pub(super) fn current() -> Self {
        Self {
            thread: thread::current(),
            is_woken: AtomicBool::new(false),
            leads: AtomicBool::new(false),
            look_up: OnceLock::new(),
        }
    }

    /// Forgets that it was woken: before a future is polled.
    pub(super) fn begin(&self) {
        self.is_woken.store(false, SeqCst);
    }

    /// Whether it was woken since.
    pub(super) fn is_woken(&self) -> bool {
        self.is_woken.load(SeqCst)
    }

    /// From now on it turns the runtime, and `look_up` makes it look up from that.
    pub(super) fn lead(&self, look_up: &Waker) {
        self.look_up.get_or_init(|| look_up.clone());
        self.leads.store(true, SeqCst);
    }

    /// From now on it does not.
    pub(super) fn follow(&self) {
        self.leads.store(false, SeqCst);
    }
}

impl Wake for WaitingThread {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        match self.look_up.get() {
            Some(look_up) if self.leads.load(SeqCst) => look_up.wake_by_ref(),
            _ => self.thread.unpark(),
        }
    }
}
