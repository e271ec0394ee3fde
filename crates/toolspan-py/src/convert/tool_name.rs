//! What is the name of the tool that a program asks for?

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::tool::Tool;

/// The name of a tool, as a caller gives it.
pub(crate) struct ToolName<'a>(pub(crate) &'a str);

impl<'a, 'py> FromPyObject<'a, 'py> for ToolName<'a> {
    type Error = PyErr;

    /// # Errors
    ///
    /// `TypeError` for what is no text, with what to give instead of a tool.
    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyString>() {
            return given.extract().map(Self);
        }
        let message = match given.is_instance_of::<Tool>() {
            true => "a tool is called by its name: give tool.name instead of the tool".to_owned(),
            false => format!(
                "the name of a tool must be a str, not {}",
                given.get_type().name()?
            ),
        };
        Err(PyTypeError::new_err(message))
    }
}
