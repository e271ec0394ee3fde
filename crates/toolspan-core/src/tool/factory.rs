//! How are tools made that need parameters, or state of their own?

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{ConversationState, Tool, ToolFailure, native, type_identifier};
use crate::toolbox::ToolboxTool;
use crate::{Result, name};

/// A type that makes tools from the `params` of a [`ToolSpec`](crate::registry::ToolSpec).
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
/// use toolspan_core::Context;
/// use toolspan_core::registry::{Registration, ToolRegistry, ToolSpec};
/// use toolspan_core::tool::{Action, ConversationState, Tool, ToolFactory, ToolFailure};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { by: i64 }
/// impl Action for Add {}
///
/// struct CounterTool { count: AtomicI64 }
///
/// impl Tool for CounterTool {
///     type Action = Add;
///     type Observation = String;
///     fn description(&self) -> &str { "Adds to the counter" }
///     async fn call(&self, add: Add, _: &Context) -> Result<String, ToolFailure> {
///         let before = self.count.fetch_add(add.by, Ordering::Relaxed);
///         Ok(before.wrapping_add(add.by).to_string())
///     }
/// }
///
/// #[derive(Deserialize)]
/// struct Params { start: i64 }
///
/// impl ToolFactory for CounterTool {
///     type Params = Params;
///     type Tools = Self;
///     fn create(params: Params, _: &ConversationState) -> Result<Self, ToolFailure> {
///         Ok(Self { count: params.start.into() })
///     }
/// }
///
/// let mut registry = ToolRegistry::new();
/// registry.register(Registration::of_type::<CounterTool>())?;
/// let params = json!({"start": 5}).as_object().cloned().unwrap_or_default();
/// let tools = registry.resolve(&ToolSpec::new("counter", params), &ConversationState::none())?;
/// assert_eq!(tools.len(), 1);
/// # Ok::<(), toolspan_core::Error>(())
/// ```
pub trait ToolFactory: 'static {
    /// The `params` of a spec. [`NoParams`] takes none; `serde_json::Map<String, Value>` takes them
    /// as they are.
    type Params: DeserializeOwned;
    /// What is made: a [`Tool`], or several tools as `Vec<ToolboxTool>`.
    type Tools: IntoTools;

    /// The name that specs use. Default: the type's name in snake_case without a final `Tool`.
    fn registered_name() -> String {
        name::from_type(type_identifier::<Self>())
    }

    /// Whether the tools can be used here at all, such as whether a program that they need is
    /// installed. A panic means no.
    fn is_usable() -> bool {
        true
    }

    /// Makes the tools. May take its time: several specs are resolved side by side, each on a
    /// thread of its own. A panic becomes an error of kind `internal`.
    ///
    /// # Errors
    ///
    /// What is wrong with the parameters or the surroundings, in words for whoever wrote the spec.
    fn create(
        params: Self::Params,
        conversation: &ConversationState,
    ) -> Result<Self::Tools, ToolFailure>;
}

/// The parameters of a factory that takes none: any parameter is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NoParams {}

/// What a factory may make: one tool, or several.
pub trait IntoTools {
    /// The tools, in order.
    ///
    /// # Errors
    ///
    /// `schema_rejected` when the schema of a tool's action or result cannot be used.
    fn into_tools(self) -> Result<Vec<ToolboxTool>>;
}

impl<T: Tool> IntoTools for T {
    fn into_tools(self) -> Result<Vec<ToolboxTool>> {
        Ok(vec![native(self)?])
    }
}

impl IntoTools for ToolboxTool {
    fn into_tools(self) -> Result<Vec<ToolboxTool>> {
        Ok(vec![self])
    }
}

impl IntoTools for Vec<ToolboxTool> {
    fn into_tools(self) -> Result<Vec<ToolboxTool>> {
        Ok(self)
    }
}
