//! What is a progress callback given?

use pyo3::prelude::*;

/// How far a call has come, as its tool says.
#[pyclass(frozen, module = "toolspan")]
pub(crate) struct Progress(toolspan::Progress);

impl Progress {
    pub(crate) fn new(progress: toolspan::Progress) -> Self {
        Self(progress)
    }
}

#[pymethods]
impl Progress {
    /// Work done so far, in the tool's own unit.
    #[getter]
    fn progress(&self) -> f64 {
        self.0.progress
    }

    /// All the work, in the same unit; None where the tool does not say.
    #[getter]
    fn total(&self) -> Option<f64> {
        self.0.total
    }

    /// What is being done, as the tool wrote it; None where it does not say.
    #[getter]
    fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let number = |number: f64| format!("{number:?}");
        let total = self.0.total.map_or_else(|| "None".to_owned(), number);
        let message = match &self.0.message {
            Some(message) => crate::shown::text(py, message)?,
            None => "None".to_owned(),
        };
        let progress = number(self.0.progress);
        Ok(format!(
            "Progress(progress={progress}, total={total}, message={message})"
        ))
    }
}
