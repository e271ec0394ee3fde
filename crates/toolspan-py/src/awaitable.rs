//! How does a future of the engine become a future of a running `asyncio` loop?
//!
//! The engine's future runs on the home's runtime, as a task of this module. Its result goes through
//! one queue to one thread, which hands it over to the loop; there it is converted.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use toolspan::blocking::{Home, Task, Tasks};
use toolspan::{Error, ErrorKind, Phase};

use crate::queue::Queue;
use crate::wait::{self, Told};
use crate::{error, exit};

/// Results and progress on the way to their loops. As many as there are calls, which are bounded by
/// the limits of their hosts, so that none is left out.
static RESULTS: Queue<News> = Queue::new(usize::MAX);
/// Whether the thread that brings them runs. Held while it is started.
static RUNNING: Mutex<bool> = Mutex::new(false);
/// All calls that loops wait for. They end with their futures, or with the interpreter.
static TASKS: LazyLock<Tasks> = LazyLock::new(Tasks::default);
/// `asyncio.get_running_loop`.
static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What a result becomes, made on the thread of its loop.
type Converted = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// A future of a loop, and what it is to be told.
pub(crate) struct Ticket {
    event_loop: Py<PyAny>,
    /// There until the drop.
    future: Option<Py<PyAny>>,
    told: Option<Told>,
}

impl Drop for Ticket {
    /// At the end of the interpreter nothing is told any more, and who waits for the future, waits
    /// for ever: it is kept, for `asyncio` complains of a task that is gone before it is done.
    fn drop(&mut self) {
        if exit::is_ending() {
            std::mem::forget(self.future.take());
        }
    }
}

/// What happened to a future.
pub(crate) enum News {
    /// There is progress to be told.
    Progress(Arc<Ticket>),
    /// It has its result.
    Done(Arc<Ticket>, Converted),
    /// Nobody waits for it any more. Its objects are let go where that costs the engine nothing.
    GivenUp(Arc<Ticket>),
    /// The engine asks for something that no code of a program is run for.
    Asked(Ask),
}

/// What the engine asks for, where it may not ask for the interpreter's lock itself.
type Ask = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

impl News {
    fn ticket(&self) -> Option<&Arc<Ticket>> {
        match self {
            Self::Progress(ticket) | Self::Done(ticket, _) | Self::GivenUp(ticket) => Some(ticket),
            Self::Asked(_) => None,
        }
    }

    /// Tells the future, on the thread of its loop. One that was cancelled is told nothing.
    ///
    /// # Errors
    ///
    /// What a callback raises that is no `Exception`.
    fn tell(self, py: Python<'_>) -> PyResult<()> {
        let future = self.ticket().and_then(|ticket| ticket.future.as_ref());
        let Some(future) = future.map(|it| it.clone_ref(py)) else {
            return Ok(());
        };
        let future = future.bind(py);
        if future.call_method0(intern!(py, "done"))?.is_truthy()? {
            return Ok(());
        }
        match self {
            Self::Progress(ticket) => ticket.told.as_ref().map_or(Ok(()), |told| told.tell(py)),
            Self::Done(_, converted) => settle(future, converted(py)),
            Self::GivenUp(_) | Self::Asked(_) => Ok(()),
        }
    }
}

fn settle(future: &Bound<'_, PyAny>, result: PyResult<Py<PyAny>>) -> PyResult<()> {
    let py = future.py();
    match result {
        Ok(value) => future.call_method1(intern!(py, "set_result"), (value,))?,
        Err(raised) => {
            future.call_method1(intern!(py, "set_exception"), (raised.into_value(py),))?
        }
    };
    Ok(())
}

/// A running loop that a future is made for.
pub(crate) struct Door<'py> {
    event_loop: Bound<'py, PyAny>,
}

impl<'py> Door<'py> {
    /// The loop that runs on this thread, for work that is to be waited for.
    ///
    /// # Errors
    ///
    /// As [`Door::find`]; `ForkedProcess`; `ClosedError` when the interpreter ends on this thread.
    /// When it ends on another one, what is begun is never done.
    pub(crate) fn open(py: Python<'py>, home: &Home, synchronous: &str) -> PyResult<Self> {
        wait::refuse_forked(py, home)?;
        if !exit::is_left_behind() {
            exit::refuse_ending(py)?;
        }
        Self::find(py, synchronous)
    }

    /// The loop that runs on this thread.
    ///
    /// # Errors
    ///
    /// `RuntimeError` where none runs; names the synchronous method.
    pub(crate) fn find(py: Python<'py>, synchronous: &str) -> PyResult<Self> {
        let import = || {
            let _frame = exit::Frame::enter(py)?;
            let asyncio = PyModule::import(py, "asyncio")?;
            Ok::<_, PyErr>(asyncio.getattr("get_running_loop")?.unbind())
        };
        let running_loop = RUNNING_LOOP.get_or_try_init(py, import)?.bind(py);
        let event_loop = running_loop.call0().map_err(|raised| {
            let message = format!(
                "no event loop runs on this thread; await this within one, or use {synchronous}()"
            );
            let clear = PyRuntimeError::new_err(message);
            clear.set_cause(py, Some(raised));
            clear
        })?;
        Ok(Self { event_loop })
    }

    pub(crate) fn python(&self) -> Python<'py> {
        self.event_loop.py()
    }

    pub(crate) fn event_loop(&self) -> Py<PyAny> {
        self.event_loop.clone().unbind()
    }

    /// A future that is done; one that never is where the loop is left behind.
    pub(crate) fn ready(&self, result: PyResult<Py<PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(never) = self.left_behind()? {
            return Ok(never);
        }
        let _frame = exit::Frame::enter(self.python())?;
        let future = self.future()?;
        settle(&future, result)?;
        Ok(future)
    }

    /// A future that is never done, for a loop that lives on while the interpreter ends on another
    /// thread.
    pub(crate) fn left_behind(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !exit::is_left_behind() {
            return Ok(None);
        }
        let _wait = self.wait()?;
        let future = self.future()?;
        std::mem::forget(future.clone());
        Ok(Some(future))
    }

    /// For the methods of the loop: they are code of Python, in which the end of the interpreter would
    /// stop this thread. Whoever comes when that has been waited for stays here: a task that ended by
    /// `SystemExit` would be told of as one whose exception nobody looked at.
    fn wait(&self) -> PyResult<exit::Wait> {
        if let Some(wait) = exit::Wait::begin_late() {
            return Ok(wait);
        }
        self.python().detach(exit::stay_if_over);
        Err(exit::refusal(self.python()))
    }

    fn future(&self) -> PyResult<Bound<'py, PyAny>> {
        let name = intern!(self.event_loop.py(), "create_future");
        self.event_loop.call_method0(name)
    }

    /// Begins a work on the home's runtime, and gives the future of its result. Cancelling that drops
    /// the work, which cancels a call.
    pub(crate) fn begin<F, T>(
        &self,
        home: &Home,
        work: Work<
            impl FnOnce(Option<Sink>) -> F,
            impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
        >,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
        T: Send + 'static,
    {
        let py = self.event_loop.py();
        if let Some(never) = self.left_behind()? {
            return Ok(never);
        }
        let _wait = self.wait()?;
        start()?;
        let future = self.future()?;
        let wants_progress = work.told.is_some();
        let ticket = Arc::new(Ticket {
            event_loop: self.event_loop.clone().unbind(),
            future: Some(future.clone().unbind()),
            told: work.told,
        });
        let working = (work.make)(wants_progress.then(|| sink(&ticket)));
        let (begun, convert) = (Begun(Some(ticket)), work.convert);
        let task = TASKS.begin(home, async move {
            let result = working.await;
            begun.end(Box::new(move |py| match result {
                Ok(output) => convert(py, output),
                Err(failure) => Err(error::raised(py, failure)),
            }));
        });
        let task = task.map_err(|failure| error::raised(py, failure))?;
        future.call_method1(intern!(py, "add_done_callback"), (Cancel(task),))?;
        Ok(future)
    }
}

/// Takes the progress of a call, on the engine's side.
pub(crate) type Sink = Arc<dyn Fn(toolspan::Progress) + Send + Sync>;

/// What is to be done for a loop.
pub(crate) struct Work<M, C> {
    /// Who is told of progress, on the loop.
    pub(crate) told: Option<Told>,
    /// Makes the engine's future, with the sink of its progress if somebody is told.
    pub(crate) make: M,
    /// Makes what the loop's future gives, on the thread of the loop.
    pub(crate) convert: C,
}

fn sink(ticket: &Arc<Ticket>) -> Sink {
    let ticket = Arc::downgrade(ticket);
    Arc::new(move |progress| {
        let Some(ticket) = ticket.upgrade() else {
            return;
        };
        // Queued once for the latest: what comes before that is told takes its place.
        if ticket
            .told
            .as_ref()
            .is_some_and(|told| told.latest.set(progress))
        {
            RESULTS.put(News::Progress(ticket));
        }
    })
}

/// A future that the engine works on. Dropped without an end, it was cancelled or panicked.
struct Begun(Option<Arc<Ticket>>);

impl Begun {
    fn end(mut self, converted: Converted) {
        if let Some(ticket) = self.0.take() {
            RESULTS.put(News::Done(ticket, converted));
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Some(ticket) = self.0.take() else {
            return;
        };
        RESULTS.put(match std::thread::panicking() {
            true => News::Done(ticket, Box::new(|py| Err(error::raised(py, panicked())))),
            false => News::GivenUp(ticket),
        });
    }
}

fn panicked() -> Error {
    let message = "the call panicked";
    Error::new(ErrorKind::Internal, Phase::Call, message)
        .with_hint("this is a fault of this library; please report it")
}

/// Ends a task once its future is done: for one that was cancelled, that ends the call.
#[pyclass(frozen, module = "toolspan", name = "_Cancel")]
struct Cancel(Task);

#[pymethods]
impl Cancel {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        self.0.end();
    }

    /// What the `repr` of a future, and so of the task that waits for it, shows.
    fn __repr__(&self) -> &'static str {
        "<toolspan: ends the call>"
    }
}

/// News for one loop, told when the loop calls it.
#[pyclass(frozen, module = "toolspan", name = "_Batch")]
struct Batch(Mutex<Vec<News>>);

#[pymethods]
impl Batch {
    /// Tells all futures, and then raises the first thing that a callback raised.
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let news = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(wait) = exit::Wait::try_begin() else {
            return Ok(());
        };
        let told = news.into_iter().map(|news| news.tell(py));
        let told = told.fold(Ok(()), PyResult::and);
        // Who was told may have forked.
        wait.end_here();
        told
    }
}

/// Starts the thread that brings results to their loops, if it does not run.
///
/// # Errors
///
/// `OSError` when the system gives no thread.
fn start() -> PyResult<()> {
    let mut is_running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_running {
        let thread = std::thread::Builder::new().name("toolspan-results".to_owned());
        thread.spawn(run)?;
        *is_running = true;
    }
    Ok(())
}

/// Runs none of the program's own code, so that nothing holds up the results of others.
fn run() {
    while let Some(read) = RESULTS.read() {
        let Some(_wait) = exit::Wait::try_begin() else {
            return;
        };
        Python::attach(|py| deliver(py, read.things));
    }
}

/// Hands news over to their loops, one call for each loop.
fn deliver(py: Python<'_>, news: VecDeque<News>) {
    let mut loops: Vec<(Py<PyAny>, Vec<News>)> = Vec::new();
    for news in news {
        let news = match news {
            News::GivenUp(_) => continue,
            News::Asked(ask) => {
                if let Err(raised) = ask(py) {
                    raised.write_unraisable(py, None);
                }
                continue;
            }
            news => news,
        };
        let Some(ticket) = news.ticket() else {
            continue;
        };
        let event_loop = &ticket.event_loop;
        match loops.iter_mut().find(|(known, _)| known.is(event_loop)) {
            Some((_, batch)) => batch.push(news),
            None => loops.push((event_loop.clone_ref(py), vec![news])),
        }
    }
    for (event_loop, batch) in loops {
        let batch = Batch(Mutex::new(batch));
        let name = intern!(py, "call_soon_threadsafe");
        match event_loop.call_method1(py, name, (batch,)) {
            Ok(_) => {}
            // The loop was closed: nobody waits there any more.
            Err(raised) if raised.is_instance_of::<PyRuntimeError>(py) => {}
            Err(raised) => raised.write_unraisable(py, Some(event_loop.bind(py))),
        }
    }
}

/// Asks for something on the thread that brings results to their loops. Dropped where that thread
/// cannot be, or the interpreter ends.
pub(crate) fn ask(ask: impl FnOnce(Python<'_>) -> PyResult<()> + Send + 'static) {
    if !exit::is_ending() && start().is_ok() {
        RESULTS.put(News::Asked(Box::new(ask)));
    }
}

/// Ends all work for loops.
pub(crate) fn end_all() {
    TASKS.end();
}
