//! How does what happens in the engine come to Python, without the engine waiting for Python?
//!
//! A queue and a thread that empties it. The thread alone asks for the interpreter's lock.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;

/// A queue for a thread of Python's side. What is put in is bounded by whoever puts it in.
pub(crate) struct Delivery<T: 'static> {
    /// The thread's name.
    name: &'static str,
    /// Brings what was queued to Python.
    deliver: fn(Python<'_>, Vec<T>),
    /// Held for looking and changing only, never with Python's code inside.
    state: Mutex<State<T>>,
    /// Told of news, of the order to stop, and of the thread's end.
    changed: Condvar,
}

struct State<T> {
    queued: Vec<T>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Running,
    Stopping,
    Ended,
}

impl<T: Send> Delivery<T> {
    pub(crate) const fn new(name: &'static str, deliver: fn(Python<'_>, Vec<T>)) -> Self {
        let state = State {
            queued: Vec::new(),
            phase: Phase::Idle,
        };
        Self {
            name,
            deliver,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Starts the thread, if it does not run.
    ///
    /// # Errors
    ///
    /// `OSError` when the system gives no thread.
    pub(crate) fn start(&'static self) -> PyResult<()> {
        let mut state = self.lock();
        if state.phase == Phase::Idle {
            std::thread::Builder::new()
                .name(self.name.to_owned())
                .spawn(|| self.run())?;
            state.phase = Phase::Running;
        }
        Ok(())
    }

    /// Queues a thing. Never waits. After the end it is dropped.
    pub(crate) fn put(&self, thing: T) {
        let mut state = self.lock();
        if state.phase == Phase::Running {
            state.queued.push(thing);
            self.changed.notify_all();
        }
    }

    /// Ends the thread, and waits for it until the instant given. What it has begun to deliver it
    /// delivers; what is still queued is dropped. Called without the interpreter's lock.
    pub(crate) fn stop(&self, until: Instant) {
        let mut state = self.lock();
        state.phase = match state.phase {
            Phase::Running => Phase::Stopping,
            _ => Phase::Ended,
        };
        self.changed.notify_all();
        while state.phase != Phase::Ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self) {
        while let Some(queued) = self.next() {
            if Python::try_attach(|py| (self.deliver)(py, queued)).is_none() {
                break;
            }
        }
        self.lock().phase = Phase::Ended;
        self.changed.notify_all();
    }

    /// Waits for things to deliver; `None` at the end.
    fn next(&self) -> Option<Vec<T>> {
        let mut state = self.lock();
        loop {
            if state.phase != Phase::Running {
                return None;
            }
            if !state.queued.is_empty() {
                return Some(mem::take(&mut state.queued));
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
