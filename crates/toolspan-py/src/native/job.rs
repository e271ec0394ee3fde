//! What is handed to Python to run a function once, and how does its result come back?

#![expect(
    clippy::too_many_arguments,
    reason = "pyo3 writes the functions that read the parameters of Python's"
)]

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use toolspan::guard::Limits;
use toolspan::{Content, Error, ErrorKind, Phase, Styled};

use super::context::CallContext;
use crate::awaitable;
use crate::convert::{self, to_dict};
use crate::exit::Frame;
use crate::observation::Observation;

/// Bytes of a result in JSON, at most: 64 MiB.
const LARGEST_RESULT: usize = 64 << 20;

/// What a job ends with.
pub(super) type Answer = Result<toolspan::Observation, Error>;

/// What the work in Python and the future in the engine share.
pub(super) struct Link<T> {
    /// Held for looking and changing only.
    state: Mutex<LinkState<T>>,
}

struct LinkState<T> {
    answer: Option<oneshot::Sender<T>>,
    cancel: Option<Py<PyAny>>,
}

impl<T> Link<T> {
    pub(super) fn new(answer: oneshot::Sender<T>) -> Self {
        let state = LinkState {
            answer: Some(answer),
            cancel: None,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// Ends it, if nobody did before.
    pub(super) fn end(&self, answer: T) {
        if let (Some(sender), _) = self.take() {
            // Whoever waited is gone: the call was cancelled, or took too long.
            let _ = sender.send(answer);
        }
    }

    /// Gives up the answer. Gives what cancels the work, if that was said.
    pub(super) fn give_up(&self) -> Option<Py<PyAny>> {
        self.take().1
    }

    /// Whether it ended, or nobody waits for its end.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.answer.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    /// Sets what cancels the work, where somebody still waits for it.
    pub(super) fn on_cancel(&self, cancel: Py<PyAny>) {
        let mut state = self.lock();
        let before = match state.answer {
            Some(_) => state.cancel.replace(cancel),
            None => Some(cancel),
        };
        drop(state);
        drop(before);
    }

    fn take(&self) -> (Option<oneshot::Sender<T>>, Option<Py<PyAny>>) {
        let mut state = self.lock();
        (state.answer.take(), state.cancel.take())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LinkState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work under way in Python. Dropped before its end it is cancelled there.
pub(super) struct Running<T>(pub(super) Arc<Link<T>>);

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.give_up() {
            awaitable::ask(move |py| cancel.call0(py).map(drop));
        }
    }
}

/// One call of a function that is a tool. Dropped without an end it fails.
#[pyclass(frozen, module = "toolspan._toolspan", name = "_Job")]
pub(crate) struct Job {
    link: Arc<Link<Answer>>,
    arguments: Map<String, Value>,
    context: Py<CallContext>,
    event_loop: Option<Py<PyAny>>,
}

impl Job {
    pub(super) fn new(
        link: Arc<Link<Answer>>,
        arguments: Map<String, Value>,
        context: Py<CallContext>,
        event_loop: Option<Py<PyAny>>,
    ) -> Self {
        Self {
            link,
            arguments,
            context,
            event_loop,
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.link.end(Err(failed("the function was not run")));
    }
}

#[pymethods]
impl Job {
    /// The arguments, which match the schema of the tool.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.arguments)
    }

    /// The surroundings of the call.
    #[getter]
    fn context(&self, py: Python<'_>) -> Py<CallContext> {
        self.context.clone_ref(py)
    }

    /// The loop that waits for the call; None where none does.
    #[getter]
    fn event_loop(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.event_loop.as_ref().map(|it| it.clone_ref(py))
    }

    /// Ends the call. A second end does nothing.
    fn end(&self, observation: &Bound<'_, Observation>) {
        self.link.end(Ok(observation.get().inner()));
    }

    /// Ends the call as one that failed for no fault of the function's.
    fn fail(&self, message: &str) {
        self.link.end(Err(failed(message)));
    }

    /// Sets what is called, on another thread, when nobody waits for the call any more.
    fn on_cancel(&self, cancel: Py<PyAny>) {
        self.link.on_cancel(cancel);
    }
}

fn failed(message: &str) -> Error {
    Error::new(ErrorKind::Cancelled, Phase::Call, message)
}

/// An observation of blocks as MCP writes them, of a structured result, or of both; without blocks
/// its text is the result's JSON. for_model are the blocks that a model is given in their place,
/// visual is what people are shown.
#[pyfunction]
#[pyo3(
    name = "_observation",
    signature = (blocks, structured, is_error, for_model=None, visual=None)
)]
pub(crate) fn made_observation(
    py: Python<'_>,
    blocks: Option<&Bound<'_, PyAny>>,
    structured: &Bound<'_, PyAny>,
    is_error: bool,
    for_model: Option<&Bound<'_, PyAny>>,
    visual: Option<String>,
) -> PyResult<Observation> {
    let _frame = Frame::enter(py)?;
    let mut made = match (structured.is_none(), blocks) {
        (true, Some(_)) => toolspan::Observation::default(),
        _ => toolspan::Observation::structured_of(read(structured)?),
    };
    if let Some(blocks) = blocks {
        made.content = content(blocks)?;
    }
    if let Some(blocks) = for_model {
        let blocks = content(blocks)?;
        let mut given = toolspan::Observation::default();
        given.content = blocks;
        made.for_model = Some(given.to_llm_content(usize::MAX));
    }
    made.visual = visual.map(Styled::plain);
    made.is_error = is_error;
    Ok(Observation::within_default(made))
}

fn content(blocks: &Bound<'_, PyAny>) -> PyResult<Vec<Content>> {
    match read(blocks)? {
        Value::Array(blocks) => Ok(blocks.into_iter().map(Content::from_json).collect()),
        _ => Err(PyTypeError::new_err("blocks must be a list")),
    }
}

/// A part of a result as JSON.
fn read(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let mut limits = Limits::default();
    limits.arguments_bytes = LARGEST_RESULT;
    let read = convert::to_json_within(value, "the result", &limits);
    read.map_err(|refused| refused.raised_of_result(value.py()))
}
