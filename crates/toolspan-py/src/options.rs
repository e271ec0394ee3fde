//! What do the calls of one view of a host say about themselves?

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyMapping, PyString};
use serde_json::{Map, Value};
use toolspan::CallOptions;
use toolspan::guard::Secret;

use crate::convert;
use crate::native::{self, CallState};
use crate::wait::Told;

/// The options of all calls of one view of a host.
#[derive(Default)]
pub(crate) struct Options {
    timeout: Option<Duration>,
    /// Each name once, whatever its case.
    headers: Vec<(String, Secret)>,
    meta: Map<String, Value>,
    /// Held for looking and changing only.
    on_progress: Mutex<Option<Py<PyAny>>>,
    /// As `on_progress`.
    conversation: Mutex<Option<Py<PyAny>>>,
    /// Whether a synchronous call within a running loop goes without a warning.
    pub(crate) quiet: bool,
}

/// Options as a caller writes them.
pub(crate) struct Given<'py> {
    pub(crate) timeout: Option<Bound<'py, PyAny>>,
    pub(crate) headers: Option<Bound<'py, PyAny>>,
    pub(crate) meta: Option<Bound<'py, PyAny>>,
    pub(crate) on_progress: Option<Bound<'py, PyAny>>,
    pub(crate) conversation: Option<Bound<'py, PyAny>>,
}

impl Options {
    /// Those of a host that was just connected.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            ..Self::default()
        }
    }

    /// A copy of these.
    pub(crate) fn copy(&self, py: Python<'_>) -> Self {
        let on_progress = self.on_progress().as_ref().map(|it| it.clone_ref(py));
        Self {
            timeout: self.timeout,
            headers: self.headers.clone(),
            meta: self.meta.clone(),
            on_progress: Mutex::new(on_progress),
            conversation: Mutex::new(self.conversation().as_ref().map(|it| it.clone_ref(py))),
            quiet: self.quiet,
        }
    }

    /// These with others on top: of headers and members of `_meta` each for itself.
    ///
    /// # Errors
    ///
    /// `TypeError` and `ValueError` for what is no such option, `InvalidArguments` for a `meta` that
    /// is no JSON.
    pub(crate) fn with(&self, py: Python<'_>, given: &Given<'_>) -> PyResult<Self> {
        let mut options = self.copy(py);
        if let Some(timeout) = &given.timeout {
            options.timeout = Some(seconds(timeout)?);
        }
        if let Some(headers) = &given.headers {
            for (name, value) in pairs(headers)? {
                let other = |(known, _): &(String, Secret)| !known.eq_ignore_ascii_case(&name);
                options.headers.retain(other);
                options.headers.push((name, Secret::new(value)));
            }
        }
        if let Some(meta) = &given.meta {
            let meta = convert::to_json(mapping(meta, "meta")?, "meta");
            let Value::Object(members) = meta.map_err(|refused| refused.raised(py))? else {
                return Err(PyTypeError::new_err(
                    "meta must be a mapping, such as a dict",
                ));
            };
            options.meta.extend(members);
        }
        if let Some(callback) = &given.on_progress {
            if !callback.is_callable() {
                return Err(PyTypeError::new_err("on_progress must be callable"));
            }
            options.on_progress = Mutex::new(Some(callback.clone().unbind()));
        }
        if let Some(conversation) = &given.conversation {
            options.conversation = Mutex::new(Some(conversation.clone().unbind()));
        }
        Ok(options)
    }

    /// Those of one call that this loop waits for, without the progress.
    pub(crate) fn of_call(&self, py: Python<'_>, event_loop: Option<Py<PyAny>>) -> CallOptions {
        let mut options = native::options_within(py);
        options.timeout = self.timeout;
        // A copy of nothing takes time, too.
        if !self.meta.is_empty() {
            options.meta.clone_from(&self.meta);
        }
        options.headers.clone_from(&self.headers);
        let conversation = self.conversation().as_ref().map(|it| it.clone_ref(py));
        options.state = match (event_loop, conversation) {
            (None, None) => None,
            (event_loop, conversation) => Some(Arc::new(CallState {
                event_loop,
                conversation,
            })),
        };
        options
    }

    /// Who is to be told of a call's progress.
    pub(crate) fn told(&self, py: Python<'_>) -> Option<Told> {
        let callback = self.on_progress().as_ref().map(|it| it.clone_ref(py));
        callback.map(Told::new)
    }

    /// Shows the collector of cycles what these hold.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for held in [&self.on_progress, &self.conversation] {
            if let Ok(held) = held.try_lock() {
                visit.call(&*held)?;
            }
        }
        Ok(())
    }

    /// Lets go what may hold the host.
    pub(crate) fn clear(&self) {
        let callback = self.on_progress().take();
        drop(callback);
        let conversation = self.conversation().take();
        drop(conversation);
    }

    fn conversation(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.conversation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn on_progress(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.on_progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number of seconds.
fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let not_a_number = || {
        let kind = value.get_type().name().map(|name| name.to_string());
        let kind = kind.unwrap_or_default();
        PyTypeError::new_err(format!("timeout must be a number of seconds, not {kind}"))
    };
    if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyString>() {
        return Err(not_a_number());
    }
    let out_of_range =
        || PyValueError::new_err("timeout must be a number of seconds from 0 on, and finite");
    let seconds: f64 = value.extract().map_err(|raised: PyErr| {
        // An int that is larger than any float.
        match raised.is_instance_of::<PyOverflowError>(value.py()) {
            true => out_of_range(),
            false => not_a_number(),
        }
    })?;
    Duration::try_from_secs_f64(seconds).map_err(|_| out_of_range())
}

fn mapping<'a, 'py>(value: &'a Bound<'py, PyAny>, name: &str) -> PyResult<&'a Bound<'py, PyAny>> {
    match value.cast::<PyMapping>() {
        Ok(_) => Ok(value),
        Err(_) => {
            let message = format!("{name} must be a mapping, such as a dict");
            Err(PyTypeError::new_err(message))
        }
    }
}

/// The headers of a mapping from names to values.
fn pairs(headers: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let not_text = || PyTypeError::new_err("headers must be a mapping from str to str");
    let headers = headers.cast::<PyMapping>().map_err(|_| not_text())?;
    let items = headers.items()?;
    let pairs = items.iter().map(|item| {
        let (name, value): (String, String) = item.extract().map_err(|_| not_text())?;
        Ok((name, value))
    });
    pairs.collect()
}
