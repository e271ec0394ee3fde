//! How does a thread of Python wait for a future?

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use toolspan::Error;
use toolspan::blocking::Home;

use crate::progress::Progress;
use crate::{callback, error, exit, native};

/// How often a waiting thread looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// The latest progress of a call that nobody was told of yet. Held for setting and taking only.
#[derive(Clone, Default)]
pub(crate) struct Latest(Arc<Mutex<Option<toolspan::Progress>>>);

impl Latest {
    /// Takes news in. Gives whether the news before were taken out.
    pub(crate) fn set(&self, progress: toolspan::Progress) -> bool {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.replace(progress).is_none()
    }

    fn is_set(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    fn take(&self) -> Option<toolspan::Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The progress of one call, and who is told of it.
pub(crate) struct Told {
    pub(crate) latest: Latest,
    pub(crate) callback: Py<PyAny>,
}

impl Told {
    pub(crate) fn new(callback: Py<PyAny>) -> Self {
        let latest = Latest::default();
        Self { latest, callback }
    }

    /// Tells the callback of the latest progress, if there is news. What it raises is shown by
    /// `sys.unraisablehook`.
    ///
    /// # Errors
    ///
    /// What it raises that is no `Exception`, such as `KeyboardInterrupt`.
    pub(crate) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let Some(progress) = self.latest.take() else {
            return Ok(());
        };
        let progress = Bound::new(py, Progress::new(progress))?;
        callback::call(self.callback.bind(py), (progress,))
    }
}

/// Waits for a future on this thread, without the interpreter's lock. Signals are noticed, and
/// `told` is told of progress, on this thread. The future is in a box from the start, since each layer
/// would else copy it whole.
///
/// # Errors
///
/// What a handler of a signal raises, and what `told` raises that is no `Exception`: the future is
/// dropped then, which cancels a call. `ForkedProcess`; [`exit::refusal`] when the interpreter ends;
/// `UsageError` on a thread that runs asynchronous tasks of Rust.
pub(crate) fn wait<F>(
    py: Python<'_>,
    home: &Home,
    told: Option<&Told>,
    future: Pin<Box<F>>,
) -> PyResult<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    let here = home.here().map_err(|_| error::forked(py))?;
    let wait = exit::Wait::begin(py)?;
    let _holding = native::hold();
    let ended = py.detach(|| {
        let mut due = None;
        let look = || {
            let now = Instant::now();
            let is_due = now >= *due.get_or_insert_with(|| now + SIGNALS);
            let has_news = told.is_some_and(|told| told.latest.is_set());
            if !is_due && !has_news {
                return ControlFlow::Continue(());
            }
            due = Some(now + SIGNALS);
            look(home, told)
        };
        let ended = here.block_on_looking(future, look);
        exit::stay_if_over();
        ended
    });
    let output = match ended {
        Ok(ControlFlow::Continue(output)) if exit::is_ending() => Ok(output),
        Ok(ControlFlow::Break(raised)) => Err(raised),
        Err(_) if exit::is_ending() => Err(exit::refusal(py)),
        Ok(ControlFlow::Continue(output)) => {
            let told = told.map_or(Ok(()), |told| told.tell(py));
            told.map(|()| output)
        }
        Err(error) => Err(error::raised(py, error)),
    };
    // Who was told may have forked.
    if (output.is_err() || told.is_some()) && !home.is_here() {
        wait.leave_behind();
    }
    output
}

/// As [`wait`], for what may fail.
///
/// # Errors
///
/// As [`wait`], and the future's own.
pub(crate) fn wait_for<F, T>(
    py: Python<'_>,
    home: &Home,
    told: Option<&Told>,
    future: Pin<Box<F>>,
) -> PyResult<T>
where
    F: Future<Output = Result<T, Error>> + Send,
    T: Send,
{
    wait(py, home, told, future)?.map_err(|error| match exit::is_ending() {
        true => exit::refusal(py),
        false => error::raised(py, error),
    })
}

/// Looks for signals and tells of progress. Both run code of the program, which may fork.
fn look(home: &Home, told: Option<&Told>) -> ControlFlow<PyErr> {
    exit::stay_if_over();
    let looked = Python::attach(|py| {
        py.check_signals()?;
        told.map_or(Ok(()), |told| told.tell(py))?;
        refuse_forked(py, home)
    });
    match looked {
        Ok(()) => ControlFlow::Continue(()),
        Err(raised) => ControlFlow::Break(raised),
    }
}

/// # Errors
///
/// `ForkedProcess` in a process that was forked from the one the host belongs to.
pub(crate) fn refuse_forked(py: Python<'_>, home: &Home) -> PyResult<()> {
    match home.is_here() {
        true => Ok(()),
        false => Err(error::forked(py)),
    }
}
