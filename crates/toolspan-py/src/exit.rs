//! What happens at the end of the interpreter while hosts are open and calls under way?
//!
//! A thread that wants the interpreter's lock while the interpreter ends is stopped for ever or
//! brings the process down. So before it ends, all hosts are closed, all waits of threads come to
//! their end, and the threads of this module stop; later calls are refused before they wait. The
//! threads of the program that live so long are daemons, of which nothing more is heard: what is
//! raised in them is `SystemExit`, which ends a thread in silence; what they await never comes, so
//! that a loop of theirs stays as it is.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toolspan::blocking::Home;

use crate::{awaitable, callback, error, native};

/// How long the end waits, beyond the closing of the hosts, for threads to leave their calls and for
/// callbacks to return. More than the slices in which a thread looks up.
const PATIENCE: Duration = Duration::from_secs(1);

/// The process that hosts were made in; 0 when there was none.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// Whether this is a forked copy of a process that hosts were made in.
static COPIED: AtomicBool = AtomicBool::new(false);
/// Set when the end begins: what would wait is refused.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Set when the end has been waited for: whoever is still in a call stays there.
static OVER: AtomicBool = AtomicBool::new(false);
/// Held for looking and changing only. Never touched in a forked copy of the process.
static STATE: Mutex<State> = Mutex::new(State::new());
/// The thread on which the interpreter ends, once it does.
static LAST_THREAD: OnceLock<ThreadId> = OnceLock::new();
/// Told when a thread leaves a wait.
static LEFT: Condvar = Condvar::new();

struct State {
    /// Waits of all threads.
    waits: usize,
    /// The number of the next host.
    next: u64,
    /// The hosts that are open, by their numbers.
    open: BTreeMap<u64, toolspan::Host>,
}

impl State {
    const fn new() -> Self {
        Self {
            waits: 0,
            next: 0,
            open: BTreeMap::new(),
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A time in which a thread gives the interpreter's lock back and asks for it again, or asks for it
/// from outside. The end waits for it.
pub(crate) struct Wait(());

impl Wait {
    /// Says that this thread is going to wait.
    ///
    /// # Errors
    ///
    /// [`refusal`] when the interpreter ends.
    pub(crate) fn begin(py: Python<'_>) -> PyResult<Self> {
        Self::try_begin().ok_or_else(|| refusal(py))
    }

    /// Says that a thread of this module is going to ask for the interpreter's lock; `None` when the
    /// interpreter ends.
    pub(crate) fn try_begin() -> Option<Self> {
        let mut state = state();
        if is_ending() {
            return None;
        }
        state.waits += 1;
        Some(Self(()))
    }
}

impl Wait {
    /// As [`Wait::try_begin`], for code of Python that this module runs on a thread of the program, and
    /// also once the end has begun: until the end has been waited for.
    pub(crate) fn begin_late() -> Option<Self> {
        let mut state = state();
        if OVER.load(Ordering::Acquire) {
            return None;
        }
        state.waits += 1;
        Some(Self(()))
    }

    /// Leaves the wait to the process that this one was forked from in the middle of it, if it was.
    pub(crate) fn end_here(self) {
        if !is_here() {
            self.leave_behind();
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut state = state();
        state.waits = state.waits.saturating_sub(1);
        // Nobody else listens, and to tell costs a call to the system.
        if is_ending() {
            LEFT.notify_all();
        }
    }
}

impl Wait {
    /// Leaves the wait to the process that this one was forked from in the middle of it.
    pub(crate) fn leave_behind(self) {
        std::mem::forget(self);
    }
}

/// A frame of this module in which code of Python runs, or the interpreter's lock is given back: the
/// end of the interpreter waits until it is left. Once it has begun, no other thread enters one than
/// the last, which nobody stops.
pub(crate) struct Frame(Option<Wait>);

impl Frame {
    /// Enters a frame, with the interpreter's lock.
    ///
    /// # Errors
    ///
    /// [`refusal`] when the interpreter ends on another thread.
    pub(crate) fn enter(py: Python<'_>) -> PyResult<Self> {
        // A process without hosts has no end of its own, and a forked copy may not look at the state.
        if !is_here() {
            return Ok(Self(None));
        }
        match Wait::try_begin() {
            None if is_left_behind() => Err(refusal(py)),
            wait => Ok(Self(wait)),
        }
    }

    /// Does a work without the interpreter's lock.
    pub(crate) fn detach<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        let is_stopped = self.0.is_some();
        py.detach(|| {
            let done = work();
            if is_stopped {
                stay_if_over();
            }
            done
        })
    }
}

impl Drop for Frame {
    /// The code that ran may have forked.
    fn drop(&mut self) {
        if let Some(wait) = self.0.take() {
            wait.end_here();
        }
    }
}

/// A host's place among those that the end closes. Given up on drop.
pub(crate) struct Place(u64);

impl Place {
    /// A place for a host that was just made. [`watch_forks`] was called before.
    pub(crate) fn take(host: &toolspan::Host) -> Self {
        let mut state = state();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, host.clone());
        Self(number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if is_here() {
            let host = state().open.remove(&self.0);
            drop(host);
        }
    }
}

/// Prepares for the first host of this process: says that it is the one that hosts are made in, and
/// sees to it that forked copies of it do not hold up the end of its servers.
pub(crate) fn watch_forks(py: Python<'_>) -> PyResult<()> {
    let process = std::process::id();
    let owner = OWNER.swap(process, Ordering::AcqRel);
    if owner == process {
        return Ok(());
    }
    let _frame = Frame::enter(py)?;
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(announce_fork, py)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(let_go, py)?)?;
    let system = PyModule::import(py, "os")?;
    // Systems without forks have no such function.
    if let Ok(register) = system.getattr("register_at_fork") {
        register.call((), Some(&hooks))?;
        // A copy of a process that had hosts asks on, since it holds those.
        if owner == 0 {
            toolspan::blocking::expect_announced_forks();
        }
    }
    Ok(())
}

#[pyfunction]
fn announce_fork() {
    toolspan::blocking::announce_fork();
}

#[pyfunction]
fn let_go() {
    COPIED.store(true, Ordering::Release);
    toolspan::blocking::let_go_after_fork();
}

/// Whether this is the process that hosts were made in, and not a forked copy of it. A copy that the
/// interpreter was not told of runs no code of Python, so that the system need not be asked.
fn is_here() -> bool {
    OWNER.load(Ordering::Acquire) != 0 && !COPIED.load(Ordering::Acquire)
}

/// # Errors
///
/// [`refusal`] when the interpreter ends.
pub(crate) fn refuse_ending(py: Python<'_>) -> PyResult<()> {
    match is_ending() {
        true => Err(refusal(py)),
        false => Ok(()),
    }
}

/// What is raised when the interpreter ends: `ClosedError` where the program says farewell, and
/// `SystemExit` in every other thread. No Python code runs for that one: the thread could be stopped
/// in it.
pub(crate) fn refusal(py: Python<'_>) -> PyErr {
    match is_left_behind() {
        true => PySystemExit::new_err(()),
        false => error::closed(py),
    }
}

/// Whether the interpreter ends on another thread than this one, of which nothing more is heard.
pub(crate) fn is_left_behind() -> bool {
    let last = LAST_THREAD.get();
    last.is_some_and(|last| *last != thread::current().id())
}

/// Whether the end of the interpreter has begun.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Keeps a thread that comes too late from asking for the interpreter's lock: it stays here until
/// the process is gone. Called without the lock.
pub(crate) fn stay_if_over() {
    while OVER.load(Ordering::Acquire) {
        thread::park();
    }
}

/// Ends everything: closes all hosts at once, within their own limits, and waits until no thread is
/// in a call and no thread of this module asks for the interpreter's lock. The interpreter calls it
/// when it ends. In a forked copy of the process it does nothing.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    let _ = LAST_THREAD.set(thread::current().id());
    ENDING.store(true, Ordering::Release);
    if !is_here() {
        return;
    }
    error::prepare(py);
    py.detach(close_all);
    callback::leave_all(py);
    native::end(py);
    py.detach(|| {
        awaitable::end_all();
        wait_for_waits();
    });
}

fn close_all() {
    let hosts: Vec<toolspan::Host> = state().open.values().cloned().collect();
    let Ok(home) = Home::get() else {
        return;
    };
    let limits = hosts.iter().map(toolspan::Host::close_limit);
    let longest = limits.max().unwrap_or_default().saturating_add(PATIENCE);
    let begun = Instant::now();
    let closing = async {
        let mut closing = tokio::task::JoinSet::new();
        for host in hosts {
            closing.spawn(async move { host.close().await });
        }
        while closing.join_next().await.is_some() {}
    };
    // Closing keeps to the limits of each host by itself; nothing that goes wrong there holds up the
    // end of the process, whose watchdog then ends the servers.
    let _ = home.block_on_looking(Box::pin(closing), || match begun.elapsed() >= longest {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
}

fn wait_for_waits() {
    let mut state = state();
    let until = Instant::now() + PATIENCE;
    while state.waits > 0 {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let waited = LEFT.wait_timeout(state, left);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    // Before the lock is given back, so that no wait begins in between.
    OVER.store(true, Ordering::Release);
    drop(state);
}
