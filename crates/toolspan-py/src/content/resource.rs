//! What is a block of a resource, or of a link to one?

use pyo3::prelude::*;
use toolspan::Content;
use toolspan::observation::{Resource, ResourceBody};

use super::block::{Block, hash_of};

/// A resource with its contents: either text or bytes.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct EmbeddedResource(pub(super) Block);

impl EmbeddedResource {
    fn resource(&self) -> Option<&Resource> {
        match self.0.content() {
            Some(Content::Resource(resource)) => Some(resource),
            _ => None,
        }
    }
}

#[pymethods]
impl EmbeddedResource {
    /// The kind in MCP.
    #[classattr]
    fn r#type() -> &'static str {
        "resource"
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("uri",)
    }

    /// The resource's address.
    #[getter]
    fn uri(&self) -> &str {
        self.resource().map_or("", |resource| &resource.uri)
    }

    /// Its media type; None where the tool does not say.
    #[getter]
    fn mime_type(&self) -> Option<&str> {
        self.resource()?.mime_type.as_deref()
    }

    /// Its contents where they are text, else None.
    #[getter]
    fn text(&self) -> Option<&str> {
        match &self.resource()?.body {
            ResourceBody::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its contents in base64 where they are bytes, else None.
    #[getter]
    fn blob(&self) -> Option<&str> {
        match &self.resource()?.body {
            ResourceBody::Blob(blob) => Some(blob),
            _ => None,
        }
    }

    /// The block as MCP writes it, with every further member that the tool gave.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_dict(py)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.uri())
    }

    fn __repr__(&self) -> String {
        self.0.shown("EmbeddedResource", "resource")
    }
}

/// A resource by its address. It is never fetched unasked.
#[pyclass(frozen, eq, module = "toolspan")]
#[derive(PartialEq)]
pub(crate) struct ResourceLink(pub(super) Block);

#[pymethods]
impl ResourceLink {
    /// The kind in MCP.
    #[classattr]
    fn r#type() -> &'static str {
        "resource_link"
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("uri", "name")
    }

    /// The resource's address.
    #[getter]
    fn uri(&self) -> &str {
        match self.0.content() {
            Some(Content::ResourceLink(link)) => &link.uri,
            _ => "",
        }
    }

    /// Its name; empty where the tool gave none.
    #[getter]
    fn name(&self) -> &str {
        match self.0.content() {
            Some(Content::ResourceLink(link)) => &link.name,
            _ => "",
        }
    }

    /// The block as MCP writes it, with every further member that the tool gave.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_dict(py)
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.uri())
    }

    fn __repr__(&self) -> String {
        self.0.shown("ResourceLink", "link to")
    }
}
