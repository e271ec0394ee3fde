//! How is the result of a call given back to a model?

use serde_json::Value;

use super::form::Api;
use super::{anthropic, gemini, openai, responses};
use crate::call::model;
use crate::observation::{ERROR_HEADER, LlmContent, Observation};

/// Which call of a model a result answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what every API needs to tell one call from another; built by callers"
)]
pub struct Answered<'a> {
    /// The call's id as the model's API gave it; empty where it gave none, as Gemini may.
    pub call_id: &'a str,
    /// The name that the model called: the tool's name in the form.
    pub name: &'a str,
}

impl<'a> Answered<'a> {
    /// The call as the model's API gave it, in any of the forms that
    /// [`CallRequest::from_model`](crate::CallRequest::from_model) takes, and also where its arguments
    /// cannot be read. Empty texts for what it does not say.
    pub fn of(call: &'a Value) -> Self {
        let (call_id, name) = model::id_and_name(call);
        Self { call_id, name }
    }
}

/// The answer to a call in the form of an API, its text within `max_chars` characters (see
/// [`Observation::to_llm_content`]).
///
/// | API | what it is | images |
/// |---|---|---|
/// | OpenAI Chat | a message of role `tool` | named in a line; [`openai::images`] gives the message that follows the turn's answers |
/// | OpenAI Responses | a `function_call_output` item | `input_image` parts |
/// | Anthropic | a `tool_result` block for a user message | blocks, of the four kinds that it takes |
/// | Gemini | a `functionResponse` part for a user content | `inlineData` in its `parts` |
/// | MCP | a `CallToolResult`, whole: `max_chars` bounds what a model is given, and this is for a program | as they are |
///
/// Gemini alone asks for the name. Where an API cannot take an
/// image, a line of text names it: no binary becomes text.
pub fn tool_result(
    api: Api,
    Answered { call_id, name }: Answered<'_>,
    observation: &Observation,
    max_chars: usize,
) -> Value {
    let parts = || Parts::of(observation, max_chars);
    match api {
        Api::OpenAi => openai::tool_result(call_id, &parts()),
        Api::Responses => responses::tool_result(call_id, &parts()),
        Api::Anthropic => anthropic::tool_result(call_id, &parts().without_header()),
        Api::Gemini | Api::GeminiOpenApi => {
            gemini::tool_result((call_id, name), &parts().without_header())
        }
        Api::Mcp => observation.to_mcp(),
    }
}

/// What a model is given of an observation.
pub(super) struct Parts {
    pub(super) is_error: bool,
    parts: Vec<LlmContent>,
}

/// One text or image.
#[derive(Clone, Copy)]
pub(super) enum Piece<'p> {
    Text(&'p str),
    Image { data: &'p str, mime_type: &'p str },
}

impl Piece<'_> {
    /// A line that names an image; a text itself.
    pub(super) fn named(self) -> String {
        match self {
            Piece::Text(text) => text.to_owned(),
            Piece::Image { mime_type, .. } => {
                format!(
                    "[image {}]",
                    crate::guard::sanitise::one_line(mime_type, 100)
                )
            }
        }
    }
}

impl Parts {
    pub(super) fn of(observation: &Observation, max_chars: usize) -> Self {
        Self {
            is_error: observation.is_error,
            parts: observation.to_llm_content(max_chars),
        }
    }

    /// Without the line that says that the tool failed, for an API that has a field for it.
    fn without_header(mut self) -> Self {
        let header = LlmContent::Text(ERROR_HEADER.to_owned());
        if self.is_error && self.parts.first() == Some(&header) {
            self.parts.remove(0);
        }
        self
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.parts.iter().map(|part| match part {
            LlmContent::Text(text) => Piece::Text(text),
            LlmContent::Image { data, mime_type } => Piece::Image { data, mime_type },
        })
    }

    /// Data and media type of each image.
    pub(super) fn images(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pieces().filter_map(|piece| match piece {
            Piece::Image { data, mime_type } => Some((data, mime_type)),
            Piece::Text(_) => None,
        })
    }

    /// All texts, one below the other, and a line for each image.
    pub(super) fn text_with_images_named(&self) -> String {
        let lines: Vec<String> = self.pieces().map(Piece::named).collect();
        lines.join("\n")
    }

    /// All texts, one below the other.
    pub(super) fn text(&self) -> String {
        let texts = self.pieces().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Image { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// An image as a URL of its own.
pub(super) fn data_url(data: &str, mime_type: &str) -> String {
    format!("data:{mime_type};base64,{data}")
}
