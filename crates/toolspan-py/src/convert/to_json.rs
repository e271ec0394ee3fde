//! How does a Python value become JSON?

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet,
    PyString, PyTuple, PyType,
};
use serde_json::{Map, Number, Value};
use toolspan::guard::limits::Limits;

use super::bounds::Bounds;
use super::refused::{Refusal, Refused, kind_of};

/// `pathlib.PurePath`, which is imported for the first value that may be one.
static PATH: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A Python value as JSON, within the default limits. `what` says in messages what it is, such as
/// `the config`.
///
/// Takes `None`, `bool`, `int`, `float`, `str`, `list`, `tuple`, `dict` and any `Mapping`, with their
/// subclasses, pydantic models, and paths of `pathlib` as text. Keys are `str`; their order is kept.
///
/// # Errors
///
/// `invalid_arguments` that points to the first place that is no JSON.
pub(crate) fn to_json(value: &Bound<'_, PyAny>, what: &str) -> Result<Value, Refused> {
    to_json_within(value, what, &Limits::default())
}

/// [`to_json`] within a host's limits.
pub(crate) fn to_json_within(
    value: &Bound<'_, PyAny>,
    what: &str,
    limits: &Limits,
) -> Result<Value, Refused> {
    read(value, &mut Bounds::new(limits)).map_err(|refusal| refusal.of(what))
}

/// Reads a value. Recurses no deeper than the bounds let it nest.
pub(super) fn read(value: &Bound<'_, PyAny>, bounds: &mut Bounds) -> Result<Value, Refusal> {
    if let Some(read) = read_plain(value, bounds) {
        return read;
    }
    if let Some(read) = read_container(value, bounds) {
        return read;
    }
    bounds.enter_model(value)?;
    let plain = dumped(value)?;
    let read = match read_plain(&plain, bounds).or_else(|| read_container(&plain, bounds)) {
        Some(read) => read?,
        None => return Err(unknown(&plain)),
    };
    bounds.leave_model();
    Ok(read)
}

/// Reads what holds no other value; `None` when it is something else.
fn read_plain(value: &Bound<'_, PyAny>, bounds: &mut Bounds) -> Option<Result<Value, Refusal>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Some(read_text(text, bounds).map(Value::String));
    }
    if value.is_none() {
        return Some(bounds.take(4).map(|()| Value::Null));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Some(bounds.take(4).map(|()| Value::Bool(flag.is_true())));
    }
    if let Ok(number) = value.cast::<PyInt>() {
        return Some(bounds.take(1).and_then(|()| read_int(number)));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Some(bounds.take(3).and_then(|()| read_float(number.value())));
    }
    None
}

/// Reads what holds others; `None` when it is something else.
fn read_container(value: &Bound<'_, PyAny>, bounds: &mut Bounds) -> Option<Result<Value, Refusal>> {
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        return Some(read_dict(dict, bounds).map(Value::Object));
    }
    if let Ok(list) = value.cast::<PyList>() {
        return Some(read_items(value, list.iter(), bounds));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Some(read_items(value, tuple.iter(), bounds));
    }
    let mapping = value.cast::<PyMapping>().ok()?;
    Some(read_mapping(mapping, bounds).map(Value::Object))
}

fn read_text(text: &Bound<'_, PyString>, bounds: &mut Bounds) -> Result<String, Refusal> {
    let text = text.to_str().map_err(|_| {
        let hint = "send bytes as base64 text; the str may have been decoded wrongly";
        Refusal::new("Unicode text", "a str with a lone surrogate", hint)
    })?;
    bounds.take(text.len() + 2)?;
    Ok(text.to_owned())
}

fn read_int(number: &Bound<'_, PyInt>) -> Result<Value, Refusal> {
    if let Ok(number) = number.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = number.extract::<u64>() {
        return Ok(number.into());
    }
    let bits = number
        .call_method0(intern!(number.py(), "bit_length"))
        .and_then(|bits| bits.extract::<u64>());
    let found = match bits {
        Ok(bits) => format!("an int of {bits} bits"),
        Err(_) => "an int beyond that".to_owned(),
    };
    let hint = "send it as a str, or as a float where that is exact enough";
    Err(Refusal::new("an int from -2**63 to 2**64 - 1", found, hint))
}

fn read_float(number: f64) -> Result<Value, Refusal> {
    Number::from_f64(number).map(Value::Number).ok_or_else(|| {
        let found = match number {
            number if number.is_nan() => "nan",
            number if number > 0.0 => "inf",
            _ => "-inf",
        };
        Refusal::new(
            "a finite number",
            found,
            "JSON has none such; send None or a str",
        )
    })
}

fn read_items<'py>(
    value: &Bound<'py, PyAny>,
    items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
    bounds: &mut Bounds,
) -> Result<Value, Refusal> {
    bounds.take(2)?;
    bounds.hold(items.len())?;
    bounds.enter(value)?;
    let mut read_items = Vec::with_capacity(items.len());
    for (index, item) in items.enumerate() {
        read_items.push(read(&item, bounds).map_err(|refusal| refusal.below(index))?);
    }
    bounds.leave();
    Ok(Value::Array(read_items))
}

/// Reads a `dict`, though not a subclass of it, which may say otherwise what it holds.
pub(super) fn read_dict(
    dict: &Bound<'_, PyDict>,
    bounds: &mut Bounds,
) -> Result<Map<String, Value>, Refusal> {
    bounds.take(2)?;
    bounds.hold(dict.len())?;
    bounds.enter(dict)?;
    // A copy of the references, since reading a value may run its code, which may change the dict.
    let members: Vec<_> = dict.iter().collect();
    let mut read_members = Map::with_capacity(members.len());
    for (key, value) in &members {
        read_member(&mut read_members, (key, value), bounds)?;
    }
    bounds.leave();
    Ok(read_members)
}

/// Reads what says by `items()` what it holds. It is asked for one member after the other, so that
/// one without an end comes to a bound.
pub(super) fn read_mapping(
    mapping: &Bound<'_, PyMapping>,
    bounds: &mut Bounds,
) -> Result<Map<String, Value>, Refusal> {
    let raised = |error| Refusal::of_code(mapping, error);
    bounds.take(2)?;
    bounds.enter(mapping)?;
    let mut read_members = Map::new();
    let members = mapping
        .call_method0(intern!(mapping.py(), "items"))
        .map_err(raised)?;
    for member in members.try_iter().map_err(raised)? {
        let member = member.map_err(raised)?;
        let (key, value) = member.extract().map_err(raised)?;
        bounds.hold(1)?;
        read_member(&mut read_members, (&key, &value), bounds)?;
    }
    bounds.leave();
    Ok(read_members)
}

fn read_member(
    members: &mut Map<String, Value>,
    (key, value): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    bounds: &mut Bounds,
) -> Result<(), Refusal> {
    let Ok(text) = key.cast::<PyString>() else {
        let found = format!("{} as a key", kind_of(key));
        return Err(Refusal::new(
            "keys of the type str",
            found,
            "write str(key) for each key",
        ));
    };
    let key = read_text(text, bounds)?;
    if members.contains_key(&key) {
        let refusal = Refusal::new("each key once", "it twice", "give each key once");
        return Err(refusal.below(key));
    }
    let value = read(value, bounds).map_err(|refusal| refusal.below(&key))?;
    members.insert(key, value);
    Ok(())
}

/// What a pydantic model says that it is in JSON, or the text of a path.
fn dumped<'py>(value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Refusal> {
    let py = value.py();
    // Not all that has `__fspath__`: a mock has it, too.
    let path = PATH.import(py, "pathlib", "PurePath");
    if path.is_ok_and(|path| value.is_instance(path).unwrap_or(false)) {
        let text = value.call_method0(intern!(py, "__fspath__"));
        return text.map_err(|error| Refusal::of_code(value, error));
    }
    let name = intern!(py, "model_dump");
    if value.is_instance_of::<PyType>() || value.get_type().getattr(name).is_err() {
        return Err(unknown(value));
    }
    let options = PyDict::new(py);
    options
        .set_item(intern!(py, "mode"), intern!(py, "json"))
        .and_then(|()| value.call_method(name, (), Some(&options)))
        .map_err(|error| Refusal::of_code(value, error))
}

fn unknown(value: &Bound<'_, PyAny>) -> Refusal {
    let has = |name: &str| value.get_type().hasattr(name).unwrap_or(false);
    let hint = if value.is_instance_of::<PyType>() {
        "this is a class; send an object of it"
    } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        "send bytes as base64 text: base64.b64encode(data).decode()"
    } else if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
        "send a list: sorted(value)"
    } else if has("__dataclass_fields__") {
        "send a dict: dataclasses.asdict(value)"
    } else if has("__fspath__") {
        "send text: os.fspath(value)"
    } else if has("isoformat") {
        "send text: value.isoformat()"
    } else if has("__next__") || has("__iter__") {
        "send a list: list(value)"
    } else {
        "send what it holds, as a str, a number, a list or a dict"
    };
    Refusal::new("a JSON value", kind_of(value), hint)
}
