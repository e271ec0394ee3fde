//! What is a block of text?

use pyo3::prelude::*;
use toolspan::Content;

use super::block::{Block, hash_of};
use crate::shown;

/// A block of text.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct TextContent(pub(super) Block);

#[pymethods]
impl TextContent {
    /// A block of a text.
    #[new]
    fn of_text(text: String) -> Self {
        Self(Block::made(Content::text(text)))
    }

    /// The kind in MCP.
    #[classattr]
    fn r#type() -> &'static str {
        "text"
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("text",)
    }

    /// The text as the tool wrote it; not safe for a terminal.
    #[getter]
    fn text(&self) -> &str {
        match self.0.content() {
            Some(Content::Text(text)) => &text.text,
            _ => "",
        }
    }

    /// The block as MCP writes it, with every further member that the tool gave.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_dict(py)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.text())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "TextContent(text={})",
            shown::text(py, self.text())?
        ))
    }
}
