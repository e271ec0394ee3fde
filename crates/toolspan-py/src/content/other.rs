//! What is a block of a kind that this version does not know?

use pyo3::prelude::*;
use serde_json::Value;
use toolspan::Content;

use super::block::{Block, hash_of};

/// A block of a kind that this version does not know, or that breaks the rules of its kind, as it
/// came.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct OtherContent(pub(super) Block);

#[pymethods]
impl OtherContent {
    /// The kind as the tool wrote it; empty where it gave none.
    #[getter]
    fn r#type(&self) -> &str {
        match self.0.content() {
            Some(Content::Other(raw)) => raw.get("type").and_then(Value::as_str),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// The block as it came: a dict, unless the tool sent something else.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_dict(py)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.r#type())
    }

    fn __repr__(&self) -> String {
        self.0.shown("OtherContent", "content of an unknown kind:")
    }
}
