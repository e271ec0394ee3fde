//! In which forms do model APIs get the tools of a host, and what does a form cost?

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use toolspan::Snapshot;
use toolspan::llm::{Api, Form, Projection, Strict};

use crate::convert;

/// The tools of a snapshot in the form of an API.
pub(crate) fn projected(snapshot: &Snapshot, api: Api, strict: bool) -> Projection {
    let strict = match strict {
        true => Strict::WherePossible,
        false => Strict::Off,
    };
    snapshot.project(&Form::new(api).with_strict(strict))
}

/// The API of a name.
///
/// # Errors
///
/// `ValueError` for no such API, with the names that there are.
pub(crate) fn api_of(name: &str) -> PyResult<Api> {
    let known = Api::ALL.into_iter().find(|api| api.as_str() == name);
    known.ok_or_else(|| {
        let names: Vec<&str> = Api::ALL.into_iter().map(Api::as_str).collect();
        PyValueError::new_err(format!("the API is one of {}", names.join(", ")))
    })
}

/// What a form changed of the tools, and which it left out.
pub(crate) fn losses<'py>(py: Python<'py>, projection: &Projection) -> PyResult<Bound<'py, PyAny>> {
    let changed = projection.losses.iter().map(|loss| {
        json!({
            "tool": &*loss.tool,
            "pointer": loss.pointer,
            "effect": loss.effect.as_str(),
            "what": loss.what,
            "why": loss.why,
        })
    });
    let left_out = projection.left_out.iter().map(|left_out| {
        json!({
            "tool": &*left_out.tool,
            "pointer": "",
            "effect": "left_out",
            "what": "the tool is left out",
            "why": left_out.reason,
        })
    });
    convert::to_python(py, &Value::Array(changed.chain(left_out).collect()))
}
