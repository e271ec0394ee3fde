//! Which form of its tools does a caller want?

use crate::call::injected::Injection;

/// An API that takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI's Chat Completions and what speaks like it.
    OpenAi,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini, by `parametersJsonSchema`.
    Gemini,
    /// Google's Gemini, by `parameters`: a subset of OpenAPI 3.0, for what has no better field.
    GeminiOpenApi,
    /// The Model Context Protocol: the tools as a server lists them.
    Mcp,
}

impl Api {
    /// Every API, in a fixed order.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::Responses,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiOpenApi,
        Self::Mcp,
    ];

    /// `openai`, `responses`, `anthropic`, `gemini`, `gemini-openapi`, `mcp`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiOpenApi => "gemini-openapi",
            Self::Mcp => "mcp",
        }
    }
}

/// Whether an API is to hold the model to the schema while it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strict {
    /// Never. The schema stays as its author wrote it wherever the API takes it so.
    #[default]
    Off,
    /// Each tool that can be; the others are given without, and the reason is recorded. OpenAI's
    /// and Anthropic's APIs have it, the others never do.
    WherePossible,
}

/// The form in which tools are given to an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Form {
    /// The API.
    pub api: Api,
    /// Whether tools are strict. Default off.
    pub strict: Strict,
    /// Fields that the model is asked for beside each tool's own. Default none; MCP never has them.
    pub injection: Injection,
    /// The greatest number of characters of a tool's description; longer ones are cut in the
    /// middle. Default none: no API of these documents a bound, but some deployments of OpenAI's
    /// refuse more than 1,024.
    pub description_chars: Option<usize>,
}

impl Form {
    /// The form of an API: not strict, nothing injected, descriptions whole.
    pub const fn new(api: Api) -> Self {
        Self {
            api,
            strict: Strict::Off,
            injection: Injection::NONE,
            description_chars: None,
        }
    }

    /// Sets whether tools are strict.
    #[must_use]
    pub const fn with_strict(mut self, strict: Strict) -> Self {
        self.strict = strict;
        self
    }

    /// Sets which fields the model is asked for.
    #[must_use]
    pub const fn with_injection(mut self, injection: Injection) -> Self {
        self.injection = injection;
        self
    }

    /// Bounds each tool's description.
    #[must_use]
    pub const fn with_description_chars(mut self, characters: usize) -> Self {
        self.description_chars = Some(characters);
        self
    }
}
