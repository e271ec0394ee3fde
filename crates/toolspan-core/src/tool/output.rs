//! What a typed tool may return, and what its failure says.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::observation::{LlmContent, Observation};
use crate::visual::Styled;

/// A typed result that can become an observation.
///
/// A result with a form of its own for models and for people:
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use toolspan_core::Observation;
/// use toolspan_core::observation::LlmContent;
/// use toolspan_core::tool::{Json, ToolOutput};
/// use toolspan_core::visual::{Style, Styled};
///
/// #[derive(Serialize, JsonSchema)]
/// struct Listing { files: Vec<String> }
///
/// impl ToolOutput for Listing {
///     fn schema() -> Option<serde_json::Value> { Json::<Self>::schema() }
///     fn into_observation(self) -> Observation { Json(self).into_observation() }
///     fn to_llm_content(&self) -> Option<Vec<LlmContent>> {
///         Some(vec![LlmContent::Text(self.files.join("\n"))])
///     }
///     fn visualize(&self) -> Option<Styled> {
///         Some(Styled::plain("found ").with(Style::Strong, self.files.len().to_string()))
///     }
/// }
/// ```
pub trait ToolOutput: Send + 'static {
    /// The schema of the structured result, where there is one.
    fn schema() -> Option<Value> {
        None
    }

    /// What a model is given in place of the observation's content. Default: the content.
    fn to_llm_content(&self) -> Option<Vec<LlmContent>> {
        None
    }

    /// What a person is shown of it. Default: the content's text.
    fn visualize(&self) -> Option<Styled> {
        None
    }

    /// The observation that a host gives.
    fn into_observation(self) -> Observation;
}

impl ToolOutput for Observation {
    fn into_observation(self) -> Observation {
        self
    }
}

impl ToolOutput for String {
    fn into_observation(self) -> Observation {
        Observation::text_of(self)
    }
}

impl ToolOutput for &'static str {
    fn into_observation(self) -> Observation {
        Observation::text_of(self)
    }
}

impl ToolOutput for () {
    fn into_observation(self) -> Observation {
        Observation::default()
    }
}

/// A structured result: any serialisable value. Its JSON text is the content for models that take
/// only text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a wrapper that authors build and take apart"
)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for Json<T> {
    fn schema() -> Option<Value> {
        Some(schemars::schema_for!(T).to_value())
    }

    fn into_observation(self) -> Observation {
        match serde_json::to_value(&self.0) {
            Ok(value) => Observation::structured_of(value),
            Err(error) => Observation::error_of(format!("the result is not JSON: {error}")),
        }
    }
}

/// Why a typed tool could not do its work, in words for the model that called it.
///
/// Any error converts into it, so `?` works in a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolFailure {
    /// What the model reads.
    pub message: String,
}

impl ToolFailure {
    /// A failure and what the model reads of it.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl<E: std::error::Error> From<E> for ToolFailure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
