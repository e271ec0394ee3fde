//! What does a tool of Python learn of the call that it is in, and what may it say?

#![expect(
    clippy::too_many_arguments,
    reason = "pyo3 writes the functions that read the parameters of Python's"
)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use toolspan::guard::Secret;
use toolspan::{CallOptions, CancellationToken, Context, Progress, Result};

use crate::convert::to_dict;
use crate::{error, exit};

/// Whether there was a tool of Python: before, no call can be made within one.
static ANY: AtomicBool = AtomicBool::new(false);
/// The context variable that holds the call within which code of Python runs.
static CURRENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What a caller in Python gives a call beside its options.
#[derive(Default)]
pub(crate) struct CallState {
    /// The loop that waits for the call.
    pub(crate) event_loop: Option<Py<PyAny>>,
    pub(crate) conversation: Option<Py<PyAny>>,
}

/// Progress on its way from a tool to the engine: the latest alone.
#[derive(Default)]
pub(super) struct Reports {
    /// Held for setting and taking only.
    latest: Mutex<Option<Progress>>,
    pub(super) news: Notify,
}

impl Reports {
    pub(super) fn take(&self) -> Option<Progress> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn set(&self, progress: Progress) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        self.news.notify_one();
    }
}

/// Gives a secret of a call by its name.
type SecretReader = Box<dyn Fn(&str) -> Result<Secret> + Send + Sync>;

/// The surroundings of one call of a tool that is written in Python.
#[pyclass(frozen, module = "toolspan")]
pub(crate) struct CallContext {
    tool: String,
    meta: Map<String, Value>,
    over: CancellationToken,
    nested: CallOptions,
    reports: Arc<Reports>,
    secrets: SecretReader,
    conversation: Option<Py<PyAny>>,
}

impl CallContext {
    pub(super) fn new(py: Python<'_>, parts: ContextParts) -> Self {
        let conversation = parts.state.as_ref();
        let conversation = conversation.and_then(|state| state.conversation.as_ref());
        Self {
            conversation: conversation.map(|it| it.clone_ref(py)),
            tool: parts.tool,
            meta: parts.meta,
            over: parts.over,
            nested: parts.nested,
            reports: parts.reports,
            secrets: parts.secrets,
        }
    }
}

/// What a context is made of, without the interpreter's lock.
pub(super) struct ContextParts {
    pub(super) tool: String,
    pub(super) state: Option<Arc<CallState>>,
    meta: Map<String, Value>,
    over: CancellationToken,
    nested: CallOptions,
    pub(super) reports: Arc<Reports>,
    secrets: SecretReader,
}

impl ContextParts {
    pub(super) fn of(tool: &str, context: &Context) -> Self {
        ANY.store(true, Ordering::Release);
        Self {
            tool: tool.to_owned(),
            state: context.state(),
            meta: context.meta().clone(),
            over: context.over(),
            nested: context.nested(),
            reports: Arc::default(),
            secrets: Box::new(context.secret_reader()),
        }
    }
}

#[pymethods]
impl CallContext {
    /// The name by which the tool was called.
    #[getter]
    fn tool(&self) -> &str {
        &self.tool
    }

    /// What the caller gave in the _meta of the call.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.meta)
    }

    /// The conversation that the caller gave by with_options(); None where it gave none.
    #[getter]
    fn conversation(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.conversation.as_ref().map(|it| it.clone_ref(py))
    }

    /// Whether nobody waits for the call any more: it was cancelled, or took too long. A function that
    /// takes its time looks at it now and then; one that is asynchronous is cancelled by itself.
    #[getter]
    fn cancelled(&self) -> bool {
        self.over.is_cancelled() || exit::is_ending()
    }

    /// A secret by its name, where the tool may have it: connect() says which. From then on its value is
    /// hidden in all results, errors, progress and logs of the host, unless it has under eight bytes.
    ///
    /// Raises PolicyDenied where the tool may not have it, UsageError where there is none.
    fn secret(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let given = (self.secrets)(name).map_err(|failure| error::raised(py, failure))?;
        Ok(given.reveal().to_owned())
    }

    /// Tells the caller how far the call has come, and begins its timeouts.idle anew.
    #[pyo3(signature = (progress, total=None, message=None))]
    fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) -> PyResult<()> {
        let is_finite = progress.is_finite() && total.is_none_or(f64::is_finite);
        if !is_finite {
            return Err(PyValueError::new_err("progress is a finite number"));
        }
        let told = Progress::new(progress, total);
        self.reports.set(match message {
            Some(message) => told.with_message(message),
            None => told,
        });
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<CallContext of {}>", self.tool)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.conversation)
    }
}

/// The options that a call begins with: where it is made within a call of a tool of Python, those of
/// a call within that one.
pub(crate) fn options_within(py: Python<'_>) -> CallOptions {
    if !ANY.load(Ordering::Acquire) {
        return CallOptions::default();
    }
    let current = || {
        let current = CURRENT.import(py, "toolspan._run", "CURRENT")?;
        current.call_method0(intern!(py, "get"))
    };
    match current() {
        Ok(context) => match context.cast::<CallContext>() {
            Ok(context) => context.get().nested.clone(),
            Err(_) => CallOptions::default(),
        },
        Err(_) => CallOptions::default(),
    }
}
