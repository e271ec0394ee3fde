//! How does JSON become a Python value?

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::{Map, Number, Value};

/// Arrays and objects inside one another that are converted. No config and no parser lets through
/// more than 128.
const DEEPEST: usize = 256;

/// A JSON value as `None`, `bool`, `int`, `float`, `str`, `list` or `dict`, its order kept.
///
/// # Errors
///
/// `RecursionError` for a value nested more than 256 deep, which none is that was read.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    convert(py, value, DEEPEST)
}

/// A JSON object as a `dict`.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    members: &Map<String, Value>,
) -> PyResult<Bound<'py, PyDict>> {
    object(py, members, DEEPEST)
}

fn convert<'py>(py: Python<'py>, value: &Value, depth_left: usize) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => Ok(PyBool::new(py, *flag).to_owned().into_any()),
        Value::Number(number) => convert_number(py, number),
        Value::String(text) => Ok(PyString::new(py, text).into_any()),
        Value::Array(items) => {
            let inner = deeper(depth_left)?;
            let items: Vec<_> = items
                .iter()
                .map(|item| convert(py, item, inner))
                .collect::<PyResult<_>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Object(members) => Ok(object(py, members, depth_left)?.into_any()),
    }
}

fn object<'py>(
    py: Python<'py>,
    members: &Map<String, Value>,
    depth_left: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let inner = deeper(depth_left)?;
    let dict = PyDict::new(py);
    for (key, member) in members {
        dict.set_item(PyString::new(py, key), convert(py, member, inner)?)?;
    }
    Ok(dict)
}

fn convert_number<'py>(py: Python<'py>, number: &Number) -> PyResult<Bound<'py, PyAny>> {
    if let Some(number) = number.as_i64() {
        Ok(PyInt::new(py, number).into_any())
    } else if let Some(number) = number.as_u64() {
        Ok(PyInt::new(py, number).into_any())
    } else {
        Ok(PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any())
    }
}

fn deeper(depth_left: usize) -> PyResult<usize> {
    depth_left
        .checked_sub(1)
        .ok_or_else(|| PyRecursionError::new_err("the value is nested too deeply"))
}
