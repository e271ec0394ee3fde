//! What are the arguments of a call that is written as `call(name, args, **arguments)`?

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};
use serde_json::{Map, Value};
use toolspan::guard::limits::Limits;
use toolspan::{Error, ErrorKind};

use super::bounds::Bounds;
use super::refused::{Refusal, Refused};
use super::to_json::{read_dict, read_mapping};

/// The arguments as one JSON object, within a host's limits: those of the mapping, then those that
/// are given by keyword.
///
/// # Errors
///
/// `TypeError` where `args` is no mapping, or names an argument that is given by keyword as well;
/// `InvalidArguments` that points to the first place that is no JSON.
pub(crate) fn arguments_within(
    args: Option<&Bound<'_, PyAny>>,
    kwargs: Option<&Bound<'_, PyDict>>,
    limits: &Limits,
) -> Result<Value, Refused> {
    let mut bounds = Bounds::new(limits);
    let not_json = |refusal: Refusal| refusal.of("the arguments");
    let mut arguments = match args.filter(|args| !args.is_none()) {
        None => Map::new(),
        Some(args) => read_positional(args, &mut bounds)?.map_err(not_json)?,
    };
    let Some(kwargs) = kwargs.filter(|kwargs| !kwargs.is_empty()) else {
        return Ok(Value::Object(arguments));
    };
    for (name, value) in read_dict(kwargs, &mut bounds).map_err(not_json)? {
        if arguments.contains_key(&name) {
            return Err(given_twice(&name));
        }
        arguments.insert(name, value);
    }
    Ok(Value::Object(arguments))
}

fn read_positional(
    args: &Bound<'_, PyAny>,
    bounds: &mut Bounds,
) -> Result<Result<Map<String, Value>, Refusal>, Refused> {
    if let Ok(dict) = args.cast_exact::<PyDict>() {
        return Ok(read_dict(dict, bounds));
    }
    if let Ok(mapping) = args.cast::<PyMapping>() {
        return Ok(read_mapping(mapping, bounds));
    }
    let kind = args.get_type().name().map_err(Refused::Raised)?;
    let message = format!("the arguments must be a mapping, such as a dict, not {kind}");
    Err(Refused::Raised(PyTypeError::new_err(message)))
}

/// Adds to the refusal of arguments that were given as one argument, such as `args={...}`, how to
/// give them.
pub(crate) fn not_wrapped(error: Error) -> Error {
    let is_wrapped = error.violations().iter().any(|violation| {
        let of = |name: &str| violation.found == format!("an object with `{name}`");
        of("args") || of("arguments")
    });
    if error.kind() != ErrorKind::InvalidArguments || !is_wrapped {
        return error;
    }
    let hint = "give the dict as the second argument: call(name, {...})";
    let hint = match error.hint() {
        Some(more) => format!("{hint}; {more}"),
        None => hint.to_owned(),
    };
    error.with_hint(hint)
}

fn given_twice(name: &str) -> Refused {
    let name: String = name.chars().take(100).collect();
    let message = format!("the argument {name:?} is given twice: in the mapping and by keyword");
    Refused::Raised(PyTypeError::new_err(message))
}
