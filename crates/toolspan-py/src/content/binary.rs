//! What is a block of an image or of sound?

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use toolspan::Content;

use super::block::{Block, Data, decoded, hash_of};

/// An image.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct ImageContent(pub(super) Block);

#[pymethods]
impl ImageContent {
    /// A block of an image: its bytes, or base64 of them.
    #[new]
    fn of_data(data: Data, mime_type: String) -> PyResult<Self> {
        let data = data.into_base64()?;
        Ok(Self(Block::made(Content::image(data, mime_type))))
    }

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
    /// A block of sound: its bytes, or base64 of them.
    #[new]
    fn of_data(data: Data, mime_type: String) -> PyResult<Self> {
        let data = data.into_base64()?;
        let written = json!({"type": "audio", "data": data, "mimeType": mime_type});
        Ok(Self(Block::made(Content::from_json(written))))
    }

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
