//! In which forms do model APIs get the tools of a host and their results, and what does a form cost?

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use toolspan::llm::{Answered, Api, Form, Projection, Strict, openai};
use toolspan::{Host, Observation};

use crate::convert;

/// The tools of a host in the form of an API, with what the host asks a model for.
pub(crate) fn projected(host: &Host, api: Api, strict: bool) -> Projection {
    let strict = match strict {
        true => Strict::WherePossible,
        false => Strict::Off,
    };
    host.project(&Form::new(api).with_strict(strict))
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

/// The messages, items, blocks or parts that answer the calls of one turn of a model, in their order.
/// OpenAI's Chat Completions take images from a user only: a message with them follows the answers.
pub(crate) fn results(host: &Host, api: Api, answered: &[(Value, Arc<Observation>)]) -> Value {
    let answers = answered.iter();
    let answers = answers.map(|(call, seen)| host.tool_result(api, Answered::of(call), seen));
    let images = answered.iter().filter_map(|(call, seen)| {
        let id = Answered::of(call).call_id;
        (api == Api::OpenAi)
            .then(|| openai::images(id, seen))
            .flatten()
    });
    answers.chain(images).collect()
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
