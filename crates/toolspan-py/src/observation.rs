//! What is a caller given of a tool's answer?

#![expect(
    clippy::too_many_arguments,
    reason = "pyo3 writes the functions that read the parameters of Python's"
)]

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use toolspan::Content;
use toolspan::guard::Limits;
use toolspan::observation::budget;
use toolspan::observation::{LlmContent, Text};

use crate::content::Block;
use crate::convert::{to_dict, to_python};
use crate::shown;

/// What a tool answered. Nothing of it is converted before it is asked for.
///
/// str(observation) is its text.
#[pyclass(frozen, module = "toolspan")]
pub(crate) struct Observation {
    inner: Arc<toolspan::Observation>,
    output_chars: usize,
}

impl Observation {
    /// An observation of a host whose `limits.output_chars` is `output_chars`; the toolbox's own
    /// comes first.
    pub(crate) fn new(
        observation: impl Into<Arc<toolspan::Observation>>,
        output_chars: usize,
    ) -> Self {
        let inner = observation.into();
        Self {
            output_chars: inner.output_chars.unwrap_or(output_chars),
            inner,
        }
    }
}

impl Observation {
    /// One that no host gives, within the default `limits.output_chars`.
    pub(crate) fn within_default(observation: toolspan::Observation) -> Self {
        Self::new(observation, Limits::default().output_chars)
    }

    /// What it is made of, shared.
    pub(crate) fn shared(&self) -> Arc<toolspan::Observation> {
        Arc::clone(&self.inner)
    }

    /// What it is made of.
    pub(crate) fn inner(&self) -> toolspan::Observation {
        (*self.inner).clone()
    }
}

#[pymethods]
impl Observation {
    /// All text blocks, joined with newlines; where there is none, the structured result as JSON.
    #[getter]
    fn text(&self) -> Cow<'_, str> {
        self.inner.text_seen()
    }

    /// The blocks in the order the tool gave them, each of the class of its kind.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Block::all(py, &self.inner)
    }

    /// Whether the tool says that it failed.
    #[getter]
    fn is_error(&self) -> bool {
        self.inner.is_error
    }

    /// The structured result as plain Python values; None where there is none.
    #[getter]
    fn structured<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let structured = self.inner.structured.as_ref();
        structured.map(|value| to_python(py, value)).transpose()
    }

    /// Every block as the server sent it, as plain Python values.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let blocks: Vec<_> = self
            .inner
            .content
            .iter()
            .map(|block| match block {
                // Most blocks are texts, and one need not become JSON first.
                Content::Text(text) => text_block(py, text).map(Bound::into_any),
                block => to_python(py, &block.to_json()),
            })
            .collect::<PyResult<_>>()?;
        PyList::new(py, blocks)
    }

    /// Further members of the result, such as _meta, as the server sent them.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.inner.extra)
    }

    /// Why the structured result does not match the tool's output schema; None where it does.
    #[getter]
    fn schema_violation(&self) -> Option<&str> {
        self.inner.schema_violation.as_deref()
    }

    /// What was set right in the arguments that a model gave, before they were checked again: dicts
    /// with pointer, kind and note.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let repairs = self.inner.repairs.iter();
        let repairs = repairs.map(|repair| to_python(py, &repair.to_json()));
        PyList::new(py, repairs.collect::<PyResult<Vec<_>>>()?)
    }

    /// What was decided of the call: a dict with level, verdict, rule and risk; None where nothing was
    /// decided.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let decision = self.inner.decision.as_ref();
        decision
            .map(|decision| to_python(py, &decision.to_json()))
            .transpose()
    }

    /// What a model is given: texts and images, with at most max_chars characters of text.
    ///
    /// None means the toolbox's limits.output_chars, 30,000 by default. Text past the bound is cut
    /// in the middle, with a notice of what is missing. Sound, files and links become a line that
    /// names them. What a tool reports as its failure begins with a line that says so. Notices
    /// count, but may pass a bound of less than 200.
    #[pyo3(signature = (max_chars=None))]
    fn to_llm_content<'py>(
        &self,
        py: Python<'py>,
        max_chars: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let parts = self.inner.to_llm_content(self.bound(max_chars));
        let mut given = toolspan::Observation::default();
        given.content = parts.into_iter().filter_map(block_of).collect();
        Block::all(py, &Arc::new(given))
    }

    /// The text, or that of what the tool chose for a model, within max_chars characters; None means
    /// the toolbox's limits.output_chars.
    ///
    /// Text past the bound is cut in the middle, with a notice of what is missing. The notice
    /// counts, but may pass a bound of less than twice its length.
    #[pyo3(signature = (max_chars=None))]
    fn to_llm_text(&self, max_chars: Option<usize>) -> String {
        budget::shorten(self.inner.text_for_model(), self.bound(max_chars))
    }

    /// The result as MCP writes it: content, structuredContent, isError and what else there was.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.to_mcp())
    }

    /// What a person is shown, safe for a terminal: what the tool chose, or the text. With ansi it has
    /// the control sequences of its styles.
    #[pyo3(signature = (*, ansi=false))]
    fn visualize(&self, ansi: bool) -> String {
        let shown = self.inner.visualize();
        match ansi {
            true => shown.to_ansi(),
            false => shown.to_plain(),
        }
    }

    fn __str__(&self) -> String {
        self.inner.text()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = shown::text(py, &self.inner.text())?;
        let (blocks, is_error) = (self.inner.content.len(), self.inner.is_error);
        let failed = if is_error { "is_error=True, " } else { "" };
        Ok(format!(
            "<Observation {failed}blocks={blocks}, text={text}>"
        ))
    }
}

impl Observation {
    fn bound(&self, max_chars: Option<usize>) -> usize {
        max_chars.unwrap_or(self.output_chars)
    }
}

/// A block of text as MCP writes it.
fn text_block<'py>(py: Python<'py>, block: &Text) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "type"), intern!(py, "text"))?;
    dict.set_item(intern!(py, "text"), &block.text)?;
    for (name, member) in &block.extra {
        dict.set_item(name, to_python(py, member)?)?;
    }
    Ok(dict)
}

fn block_of(part: LlmContent) -> Option<Content> {
    match part {
        LlmContent::Text(text) => Some(Content::text(text)),
        LlmContent::Image { data, mime_type } => Some(Content::image(data, mime_type)),
        _ => None,
    }
}
