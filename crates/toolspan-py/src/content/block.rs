//! What do the blocks of all kinds have in common?

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use toolspan::{Content, Observation};

use super::{
    AudioContent, EmbeddedResource, ImageContent, OtherContent, ResourceLink, TextContent,
};
use crate::convert::to_python;
use crate::exit::Frame;

/// A block of an observation, by its place: nothing is copied before it is asked for.
#[derive(Clone)]
pub(crate) struct Block {
    observation: Arc<Observation>,
    index: usize,
}

impl Block {
    /// A block that a program makes.
    pub(super) fn made(content: Content) -> Self {
        let mut observation = Observation::default();
        observation.content.push(content);
        let observation = Arc::new(observation);
        Self {
            observation,
            index: 0,
        }
    }

    /// All blocks of an observation, each an object of its kind's class.
    pub(crate) fn all<'py>(
        py: Python<'py>,
        observation: &Arc<Observation>,
    ) -> PyResult<Bound<'py, PyList>> {
        let blocks: Vec<_> = observation
            .content
            .iter()
            .enumerate()
            .map(|(index, content)| {
                let observation = Arc::clone(observation);
                Self { observation, index }.into_object(py, content)
            })
            .collect::<PyResult<_>>()?;
        PyList::new(py, blocks)
    }

    fn into_object<'py>(self, py: Python<'py>, content: &Content) -> PyResult<Bound<'py, PyAny>> {
        Ok(match content {
            Content::Text(_) => Bound::new(py, TextContent(self))?.into_any(),
            Content::Image(_) => Bound::new(py, ImageContent(self))?.into_any(),
            Content::Audio(_) => Bound::new(py, AudioContent(self))?.into_any(),
            Content::Resource(_) => Bound::new(py, EmbeddedResource(self))?.into_any(),
            Content::ResourceLink(_) => Bound::new(py, ResourceLink(self))?.into_any(),
            _ => Bound::new(py, OtherContent(self))?.into_any(),
        })
    }

    /// The block itself. The class of the object that holds it says of which kind it is.
    pub(super) fn content(&self) -> Option<&Content> {
        self.observation.content.get(self.index)
    }

    /// The block as MCP writes it.
    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let block = self.content().map(Content::to_json);
        to_python(py, &block.unwrap_or_default())
    }

    /// A `repr`: the class, what the block is and its size. `kind` is how the summary of a block
    /// begins, which the class says already.
    pub(super) fn shown(&self, class: &str, kind: &str) -> String {
        let summary = self.content().map(Content::summary).unwrap_or_default();
        let about = summary.strip_prefix(kind).unwrap_or(&summary);
        format!("<{class} {}>", about.trim_start())
    }
}

/// The union of the classes of all kinds, as `TextContent | ImageContent | …` makes it.
pub(crate) fn union(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let mut union = py.get_type::<TextContent>().into_any();
    for class in [
        py.get_type::<ImageContent>(),
        py.get_type::<AudioContent>(),
        py.get_type::<EmbeddedResource>(),
        py.get_type::<ResourceLink>(),
        py.get_type::<OtherContent>(),
    ] {
        union = union.bitor(class)?;
    }
    Ok(union)
}

/// Equal when all that the blocks say is the same, wherever they are.
impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.observation, &other.observation) && self.index == other.index;
        same || self.content() == other.content()
    }
}

/// The hash of what a block is mainly about.
pub(super) fn hash_of(main: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    main.hash(&mut hasher);
    hasher.finish()
}

/// Data that a program gives: bytes, or base64 of them.
#[derive(FromPyObject)]
pub(super) enum Data {
    #[pyo3(annotation = "str")]
    Base64(String),
    #[pyo3(annotation = "bytes")]
    Bytes(Vec<u8>),
}

impl Data {
    /// The data in base64 (RFC 4648, section 4).
    ///
    /// # Errors
    ///
    /// `ValueError` for a text that is none.
    pub(super) fn into_base64(self) -> PyResult<String> {
        match self {
            Self::Bytes(bytes) => Ok(STANDARD.encode(bytes)),
            Self::Base64(text) => match STANDARD.decode(&text) {
                Ok(_) => Ok(text),
                Err(error) => Err(no_base64(text.len(), &error)),
            },
        }
    }
}

fn no_base64(length: usize, error: &base64::DecodeError) -> PyErr {
    PyValueError::new_err(format!(
        "the {length} characters of data are no base64: {error}"
    ))
}

/// The bytes that a block has in base64 (RFC 4648, section 4).
///
/// # Errors
///
/// `ValueError` where it is none.
pub(super) fn decoded<'py>(py: Python<'py>, data: &str) -> PyResult<Bound<'py, PyBytes>> {
    let frame = Frame::enter(py)?;
    let bytes = frame.detach(py, || STANDARD.decode(data));
    let bytes = bytes.map_err(|error| no_base64(data.len(), &error))?;
    Ok(PyBytes::new(py, &bytes))
}
