//! How does a function of Python become a native tool, and how does the engine run it?

mod context;
mod executor;
mod held;
mod job;
mod kept;
mod names;
mod passing;
mod rules;

pub(crate) use context::{CallContext, CallState, options_within};
pub(crate) use executor::{Parts, native_tool};
pub(crate) use held::{Held, hold};
pub(crate) use job::{Job, made_observation};
pub(crate) use kept::Kept;
pub(crate) use names::{Names, tool_name};
pub(crate) use passing::{Passing, Question, Verdict};
pub(crate) use rules::{Counts, key, with_rules};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Ends what tools of Python run and hold, where there were any. Called when the interpreter ends.
pub(crate) fn end(py: Python<'_>) {
    let end = || {
        let modules = PyModule::import(py, intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
        let modules = modules.cast_into::<PyDict>()?;
        match modules.get_item(intern!(py, "toolspan._run"))? {
            Some(run) => run.call_method0(intern!(py, "end")).map(drop),
            None => Ok(()),
        }
    };
    if let Err(raised) = end() {
        raised.write_unraisable(py, None);
    }
}
