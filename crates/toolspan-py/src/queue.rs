//! How does what happens in the engine come to a thread of Python's side, without the engine waiting?

use std::collections::VecDeque;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue with one reader.
pub(crate) struct Queue<T> {
    /// Most things that wait; of more the oldest are left out.
    most: usize,
    /// Held for looking and changing only, never with Python's code inside.
    state: Mutex<State<T>>,
    /// Told of news and of the end.
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    left_out: usize,
    ended: bool,
}

/// What a reader finds.
pub(crate) struct Read<T> {
    pub(crate) things: VecDeque<T>,
    /// How many were left out before them.
    pub(crate) left_out: usize,
}

impl<T> Queue<T> {
    pub(crate) const fn new(most: usize) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            left_out: 0,
            ended: false,
        };
        Self {
            most,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Adds a thing. Never waits. After the end it is dropped.
    pub(crate) fn put(&self, thing: T) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        let oldest = match state.waiting.len() < self.most {
            true => None,
            false => state.waiting.pop_front(),
        };
        state.left_out += usize::from(oldest.is_some());
        state.waiting.push_back(thing);
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for things, and takes all that there are; `None` at the end.
    pub(crate) fn read(&self) -> Option<Read<T>> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.ended {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if state.ended {
            return None;
        }
        Some(Read {
            things: mem::take(&mut state.waiting),
            left_out: mem::take(&mut state.left_out),
        })
    }

    /// Ends it: what still waits is dropped.
    pub(crate) fn end(&self) {
        let waiting = {
            let mut state = self.lock();
            state.ended = true;
            mem::take(&mut state.waiting)
        };
        drop(waiting);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
