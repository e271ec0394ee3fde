//! What is a log callback given?

use pyo3::prelude::*;

/// A log message of a server.
#[pyclass(frozen, module = "toolspan")]
pub(crate) struct LogMessage {
    toolbox: String,
    level: String,
    text: String,
}

impl LogMessage {
    pub(crate) fn new(toolbox: String, level: String, text: String) -> Self {
        Self {
            toolbox,
            level,
            text,
        }
    }
}

#[pymethods]
impl LogMessage {
    /// The server's toolbox, as the config writes its key.
    #[getter]
    fn toolbox(&self) -> &str {
        &self.toolbox
    }

    /// The level as the server wrote it, such as "info", "warning" or "error".
    #[getter]
    fn level(&self) -> &str {
        &self.level
    }

    /// The message as the server wrote it; not safe for a terminal.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [toolbox, level, text] =
            [&self.toolbox, &self.level, &self.text].map(|part| crate::shown::text(py, part));
        let (toolbox, level, text) = (toolbox?, level?, text?);
        Ok(format!(
            "LogMessage(toolbox={toolbox}, level={level}, text={text})"
        ))
    }
}
