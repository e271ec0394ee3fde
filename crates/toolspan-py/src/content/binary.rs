//! What is a block of an image or of sound?

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use toolspan::Content;

use super::block::{Block, decoded, hash_of};

/// An image.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct ImageContent(pub(super) Block);

#[pymethods]
impl ImageContent {
    /// The kind in MCP.
    #[classattr]
    fn r#type() -> &'static str {
        "image"
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("data", "mime_type")
    }

    /// Its bytes in base64, as the tool wrote them.
    #[getter]
    fn data(&self) -> &str {
        data_of(&self.0)
    }

    /// The media type as the tool wrote it, such as "image/png".
    #[getter]
    fn mime_type(&self) -> &str {
        mime_type_of(&self.0)
    }

    /// Its bytes. Raises ValueError where the data is no base64.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        decoded(py, self.data())
    }

    /// The block as MCP writes it, with every further member that the tool gave.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_dict(py)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.data())
    }

    fn __repr__(&self) -> String {
        self.0.shown("ImageContent", "image")
    }
}

/// Sound.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct AudioContent(pub(super) Block);

#[pymethods]
impl AudioContent {
    /// The kind in MCP.
    #[classattr]
    fn r#type() -> &'static str {
        "audio"
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("data", "mime_type")
    }

    /// Its bytes in base64, as the tool wrote them.
    #[getter]
    fn data(&self) -> &str {
        data_of(&self.0)
    }

    /// The media type as the tool wrote it, such as "audio/wav".
    #[getter]
    fn mime_type(&self) -> &str {
        mime_type_of(&self.0)
    }

    /// Its bytes. Raises ValueError where the data is no base64.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        decoded(py, self.data())
    }

    /// The block as MCP writes it, with every further member that the tool gave.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_dict(py)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.data())
    }

    fn __repr__(&self) -> String {
        self.0.shown("AudioContent", "audio")
    }
}

fn data_of(block: &Block) -> &str {
    match block.content() {
        Some(Content::Image(blob) | Content::Audio(blob)) => &blob.data,
        _ => "",
    }
}

fn mime_type_of(block: &Block) -> &str {
    match block.content() {
        Some(Content::Image(blob) | Content::Audio(blob)) => &blob.mime_type,
        _ => "",
    }
}
