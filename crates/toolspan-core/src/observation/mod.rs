//! What came of a call: content blocks, whether the tool calls it an error, structured data.
//!
//! [`content`] holds the blocks, [`budget`] bounds what a model is given of them.

pub mod budget;
pub mod content;
mod masking;
mod reading;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::call::repair::Repair;
use crate::policy::Decision;
use crate::visual::{Style, Styled};

pub use content::{Blob, Content, Resource, ResourceBody, ResourceLink, Text};

/// The result of a tool that answered. A tool's own failure is an observation too, with
/// `is_error` set, so that a model can read it and try again.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The blocks in the order the tool gave them; every kind is kept.
    pub content: Vec<Content>,
    /// Whether the tool says it failed.
    pub is_error: bool,
    /// The structured result (`structuredContent` in MCP), any JSON value.
    pub structured: Option<Value>,
    /// Every further member of the result (`_meta` and unknown ones), untouched.
    pub extra: Map<String, Value>,
    /// Why the structured result does not match the tool's output schema, when it does not.
    pub schema_violation: Option<String>,
    /// How many characters of text a model is given of it, where its toolbox has a
    /// `limits.output_chars` of its own; `None` means the host's.
    pub output_chars: Option<usize>,
    /// What a model is given in place of the content, where the tool's author chose that.
    pub for_model: Option<Vec<LlmContent>>,
    /// What a person is shown in place of the content's text, where the tool's author chose that.
    pub visual: Option<Styled>,
    /// What the model gave under the tool's response schema, where it has one.
    pub response: Option<Value>,
    /// What was changed in the arguments that the model gave before they matched the schema.
    pub repairs: Vec<Repair>,
    /// What was decided about the call, and by which rule, where there is a policy.
    pub decision: Option<Decision>,
}

/// What a model is given of an observation: text and images, nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LlmContent {
    /// Plain text.
    Text(String),
    /// An image: its bytes in base64 and its media type.
    Image {
        /// Base64 (RFC 4648, section 4) of the image's bytes, as the tool gave it.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
}

/// First line of what a model is given of a failed call.
pub const ERROR_HEADER: &str = "[The tool reported an error]";

impl Observation {
    /// One block of text.
    pub fn text_of(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(text)],
            ..Self::default()
        }
    }

    /// A failure that a model can read.
    pub fn error_of(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text_of(text)
        }
    }

    /// Structured data, with its JSON text as the content for models that take only text.
    pub fn structured_of(value: Value) -> Self {
        let text = value.to_string();
        Self {
            structured: Some(value),
            ..Self::text_of(text)
        }
    }

    /// Adds a block.
    #[must_use]
    pub fn with_content(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// All text blocks joined with a newline; the structured result as JSON when there is no
    /// text block.
    pub fn text(&self) -> String {
        self.text_seen().into_owned()
    }

    /// [`Observation::text`], borrowed where it is one block.
    pub fn text_seen(&self) -> Cow<'_, str> {
        let mut texts = self.content.iter().filter_map(Content::as_text);
        match (texts.next(), texts.next(), &self.structured) {
            (None, _, None) => Cow::Borrowed(""),
            (None, _, Some(structured)) => Cow::Owned(structured.to_string()),
            (Some(only), None, _) => Cow::Borrowed(only),
            (Some(first), Some(second), _) => {
                let all: Vec<&str> = [first, second].into_iter().chain(texts).collect();
                Cow::Owned(all.join("\n"))
            }
        }
    }

    /// The text that a model is given where it takes nothing else: of what the tool's author chose,
    /// or all of it. Unbounded, and without a word for what is no text.
    pub fn text_for_model(&self) -> String {
        let Some(chosen) = &self.for_model else {
            return self.text();
        };
        let texts = chosen.iter().filter_map(|part| match part {
            LlmContent::Text(text) => Some(text.as_str()),
            LlmContent::Image { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What a person is shown: what the tool's author chose, or the text; a failure says so.
    pub fn visualize(&self) -> Styled {
        match (&self.visual, self.is_error) {
            (Some(visual), _) => visual.clone(),
            (None, false) => Styled::plain(self.text()),
            (None, true) => Styled::new().with(Style::Bad, self.text()),
        }
    }

    /// What a model is given: text and images in order, within `max_chars` characters of text.
    ///
    /// What the tool's author chose stands in place of the content; the first line of a failure
    /// stays in any case.
    ///
    /// Audio, blobs and links become a line that names them; binary never becomes text. Text past
    /// the bound is cut in the middle, with a notice of what is missing. Notices count, but may pass
    /// a bound of less than 200.
    pub fn to_llm_content(&self, max_chars: usize) -> Vec<LlmContent> {
        let mut parts = Vec::with_capacity(self.content.len() + 1);
        if self.is_error {
            parts.push(LlmContent::Text(ERROR_HEADER.to_owned()));
        }
        if let Some(chosen) = &self.for_model {
            parts.extend(chosen.iter().cloned());
            return budget::bound(parts, max_chars);
        }
        parts.extend(self.content.iter().map(Content::to_llm));
        if self.content.iter().all(|block| block.as_text().is_none())
            && let Some(structured) = &self.structured
        {
            parts.push(LlmContent::Text(structured.to_string()));
        }
        budget::bound(parts, max_chars)
    }

    /// The result object as MCP writes it (2025-11-25, `CallToolResult`).
    pub fn to_mcp(&self) -> Value {
        let mut result = Map::new();
        let blocks: Vec<Value> = self.content.iter().map(Content::to_json).collect();
        result.insert("content".into(), blocks.into());
        if let Some(structured) = &self.structured {
            result.insert("structuredContent".into(), structured.clone());
        }
        if self.is_error {
            result.insert("isError".into(), true.into());
        }
        for (key, value) in &self.extra {
            result.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        Value::Object(result)
    }
}
