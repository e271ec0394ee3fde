//! What does a function of Python see of a call that passes, and how does it say what it thinks?

#![expect(
    clippy::too_many_arguments,
    reason = "pyo3 writes the functions that read the parameters of Python's"
)]

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use toolspan::blocking::Home;
use toolspan::{Error, ErrorKind, Phase, Result};

use super::job::Link;
use crate::awaitable::{Door, Work};
use crate::convert::{self, to_dict};
use crate::exit::Frame;
use crate::observation::Observation;
use crate::{error, exit, wait};

/// What a function says.
pub(super) enum Ruled {
    /// The observation that the call ends with.
    Observed(Box<toolspan::Observation>),
    /// A word, or nothing.
    Words(Option<String>),
    /// The call must not run; why.
    Refused(String),
    /// The function failed; how.
    Failed(String),
}

/// What a function is asked about.
pub(super) enum Asked {
    Call(Passing),
    Question(Box<toolspan::policy::Question>),
}

impl Asked {
    pub(super) fn into_object(
        self,
        py: Python<'_>,
        proceed: Option<mpsc::Sender<Proceed>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Self::Call(mut call) => {
                call.proceed = proceed;
                Py::new(py, call)?.into_any()
            }
            Self::Question(question) => Py::new(py, Question(question))?.into_any(),
        })
    }
}

/// An interceptor wants the call to go on.
pub(super) struct Proceed {
    arguments: Option<Value>,
    reply: oneshot::Sender<Result<toolspan::Observation>>,
}

impl Proceed {
    pub(super) fn arguments(&self) -> Option<Value> {
        self.arguments.clone()
    }

    pub(super) fn answer(self, result: Result<toolspan::Observation>) {
        // Whoever asked is gone: what came of the call is told all the same.
        let _ = self.reply.send(result);
    }

    pub(super) fn refuse(self) {
        let message = "the call went on already: an interceptor may let it go on once";
        self.answer(Err(Error::new(ErrorKind::Usage, Phase::Send, message)));
    }
}

/// A checked call on its way to its tool.
#[pyclass(frozen, module = "toolspan", name = "InterceptedCall")]
pub(crate) struct Passing {
    tool: Arc<str>,
    toolbox: Arc<str>,
    arguments: Map<String, Value>,
    /// `None` for who may only look.
    proceed: Option<mpsc::Sender<Proceed>>,
}

impl Passing {
    pub(super) fn new(tool: &Arc<str>, toolbox: &Arc<str>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: Arc::clone(tool),
            toolbox: Arc::clone(toolbox),
            arguments,
            proceed: None,
        }
    }

    fn going_on(
        &self,
        arguments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<impl Future<Output = Result<toolspan::Observation>> + Send + use<>> {
        let arguments = arguments.map(|arguments| {
            let read = convert::to_json(arguments, "the arguments");
            read.map_err(|refused| refused.raised(arguments.py()))
        });
        let arguments = arguments.transpose()?;
        let proceed = self.proceed.clone();
        Ok(async move {
            let (reply, result) = oneshot::channel();
            let wanted = Proceed { arguments, reply };
            let sent = match proceed {
                Some(proceed) => proceed.send(wanted).await.is_ok(),
                None => false,
            };
            match (sent, result.await) {
                (true, Ok(result)) => result,
                _ => Err(over()),
            }
        })
    }
}

fn over() -> Error {
    let message = "nobody waits for the call any more, or it cannot be let go on from here";
    Error::new(ErrorKind::Cancelled, Phase::Send, message)
}

fn home(py: Python<'_>) -> PyResult<Home> {
    Home::get().map_err(|failure| error::raised(py, failure))
}

#[pymethods]
impl Passing {
    /// The name of the tool that is called.
    #[getter]
    fn tool(&self) -> &str {
        &self.tool
    }

    /// The toolbox of the tool, as the config writes its key.
    #[getter]
    fn toolbox(&self) -> &str {
        &self.toolbox
    }

    /// The arguments, which match the tool's schema.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.arguments)
    }

    /// Lets the call go on, with other arguments where some are given, and gives what comes of it. For
    /// interceptors, once.
    #[pyo3(signature = (arguments=None, /))]
    fn run(&self, py: Python<'_>, arguments: Option<&Bound<'_, PyAny>>) -> PyResult<Observation> {
        let _frame = Frame::enter(py)?;
        let going_on = self.going_on(arguments)?;
        let observation = wait::wait_for(py, &home(py)?, None, Box::pin(going_on))?;
        Ok(Observation::within_default(observation))
    }

    /// run() for asynchronous code: the future gives the observation.
    #[pyo3(signature = (arguments=None, /))]
    fn arun<'py>(
        &self,
        py: Python<'py>,
        arguments: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let home = home(py)?;
        let door = Door::open(py, &home, "run")?;
        let going_on = self.going_on(arguments)?;
        let work = Work {
            told: None,
            make: |_| going_on,
            convert: |py: Python<'_>, observation| {
                let observation = Observation::within_default(observation);
                Ok(Bound::new(py, observation)?.into_any().unbind())
            },
        };
        door.begin(&home, work)
    }

    fn __repr__(&self) -> String {
        format!("<InterceptedCall of {}>", self.tool)
    }
}

/// What is asked about one call, before it may run.
#[pyclass(frozen, module = "toolspan")]
pub(crate) struct Question(Box<toolspan::policy::Question>);

#[pymethods]
impl Question {
    /// The name of the tool that is called.
    #[getter]
    fn tool(&self) -> &str {
        &self.0.tool
    }

    /// The toolbox of the tool, as the config writes its key.
    #[getter]
    fn toolbox(&self) -> &str {
        &self.0.toolbox
    }

    /// The arguments as the JSON text that is sent.
    #[getter]
    fn arguments(&self) -> &str {
        &self.0.arguments
    }

    /// The level of the call, from 0 to 4.
    #[getter]
    fn level(&self) -> u8 {
        self.0.level.number()
    }

    /// The risk: "unknown", "low", "medium" or "high".
    #[getter]
    fn risk(&self) -> String {
        self.0.risk.to_string().to_lowercase()
    }

    /// The rule that led to the question.
    #[getter]
    fn rule(&self) -> &str {
        &self.0.rule
    }

    /// The whole question, for a person: several lines, safe for a terminal.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    fn __repr__(&self) -> String {
        format!("<Question about {}>", self.0.tool)
    }
}

/// Takes what a function says. Dropped without a word, it said nothing.
#[pyclass(frozen, module = "toolspan._toolspan", name = "_Verdict")]
pub(crate) struct Verdict(Arc<Link<Ruled>>);

impl Verdict {
    pub(super) fn new(link: Arc<Link<Ruled>>) -> Self {
        Self(link)
    }

    fn end(&self, ruled: Ruled) {
        self.0.end(ruled);
    }
}

impl Drop for Verdict {
    fn drop(&mut self) {
        drop(self.0.give_up());
    }
}

#[pymethods]
impl Verdict {
    /// Answers the call in its tool's place.
    fn observed(&self, observation: &Bound<'_, Observation>) {
        self.end(Ruled::Observed(Box::new(observation.get().inner())));
    }

    /// Says a word, or nothing.
    #[pyo3(signature = (word=None))]
    fn words(&self, word: Option<String>) {
        self.end(Ruled::Words(word));
    }

    /// Refuses the call.
    fn refused(&self, why: String) {
        self.end(Ruled::Refused(why));
    }

    /// Says that the function failed.
    fn failed(&self, how: String) {
        self.end(Ruled::Failed(how));
    }

    /// Sets what is called, on another thread, when nobody waits for the call any more.
    fn on_cancel(&self, cancel: Py<PyAny>) {
        self.0.on_cancel(cancel);
    }

    /// Whether nobody waits for it any more.
    #[getter]
    fn is_over(&self) -> bool {
        exit::is_ending() || self.0.is_over()
    }
}
