//! How a tool is written: the typed trait of an author, and the untyped executor behind every tool.
//!
//! An author implements [`Tool`] or uses [`tool_fn`]; a toolbox crate implements
//! [`ToolExecutor`] for tools whose types it learns at run time. Both end as a
//! [`ToolboxTool`](crate::ToolboxTool), so that a host sees no difference.

mod client;
mod closure;
mod conversation;
mod factory;
mod output;
mod respond;
mod response;
mod typed;

use serde::de::DeserializeOwned;

pub use client::{ClientCall, ClientCalls, ClientToolSpec, ClientTools};
pub use closure::{ToolFn, tool_fn};
pub use conversation::ConversationState;
pub use factory::{IntoTools, NoParams, ToolFactory};
pub use output::{Json, ToolFailure, ToolOutput};
pub use response::ResponseSchema;
pub use typed::{NativeToolBox, native};

use crate::annotations::ToolAnnotations;
use crate::call::ValidCall;
use crate::execute::{Context, Resources};
use crate::observation::Observation;
use crate::visual::Styled;
use crate::{BoxFuture, Result, name};

/// The validated input of a typed tool.
///
/// The schema that a model is given comes from `JsonSchema`; arguments are checked against it
/// before `Deserialize` sees them.
pub trait Action: DeserializeOwned + schemars::JsonSchema + Send + 'static {
    /// What a person is shown before the call runs. `None`: the tool's name and arguments.
    fn visualize(&self) -> Option<Styled> {
        None
    }
}

/// A tool with typed input and output.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use toolspan_core::tool::{Action, Json, Tool, ToolFailure};
/// use toolspan_core::Context;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: i64, b: i64 }
/// impl Action for Add {}
///
/// #[derive(Serialize, JsonSchema)]
/// struct Sum { sum: i64 }
///
/// struct AddTool;
/// impl Tool for AddTool {
///     type Action = Add;
///     type Observation = Json<Sum>;
///     fn description(&self) -> &str { "Adds two whole numbers" }
///     async fn call(&self, add: Add, _context: &Context) -> Result<Json<Sum>, ToolFailure> {
///         let sum = add.a.checked_add(add.b).ok_or_else(|| ToolFailure::new("the sum is too large"))?;
///         Ok(Json(Sum { sum }))
///     }
/// }
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The typed arguments.
    type Action: Action;
    /// The typed result.
    type Observation: ToolOutput;

    /// The exposed name. Default: the type's name in snake_case without a final `Tool`.
    fn name(&self) -> String {
        name::from_type(type_identifier::<Self>())
    }

    /// What the tool does, in words for a model.
    fn description(&self) -> &str;

    /// Hints about effects. Default: nothing said.
    fn annotations(&self) -> Option<ToolAnnotations> {
        None
    }

    /// What a call must have for itself while it runs. Unless it says so here, the tool's calls run
    /// one after the other; with [`Resources::none`] they run at the same time.
    fn resources(&self, call: &ValidCall) -> Resources {
        let _ = call;
        Resources::Undeclared
    }

    /// Does the work. A failure that the model can read is a [`ToolFailure`]; a panic becomes an
    /// error of kind `internal`. The future is dropped when the call is cancelled or times out.
    fn call(
        &self,
        action: Self::Action,
        context: &Context,
    ) -> impl Future<Output = Result<Self::Observation, ToolFailure>> + Send;

    /// Tells the tool to stop what it is doing. Called from any thread, any number of times, also
    /// when nothing is under way; must return at once. Default: nothing, as the call's future is
    /// dropped in any case; needed by work that goes on elsewhere.
    fn interrupt(&self) {}

    /// Frees what the tool holds. Called once, when the host closes.
    fn close(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// A type's own name, without its path and what it is generic over.
pub(crate) fn type_identifier<T: ?Sized>() -> &'static str {
    let path = std::any::type_name::<T>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

/// What does the work of a tool whose types are known at run time only.
pub trait ToolExecutor: Send + Sync + 'static {
    /// Runs a call. The future is dropped when the call is cancelled or times out: what is under
    /// way must then be told to stop. `context` says when the call was sent, so that the error of
    /// a call that was cut short can say whether the tool may have run.
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>>;

    /// What a person is shown before the call runs. `None`: the tool's name and arguments.
    fn visualize(&self, call: &ValidCall) -> Option<Styled> {
        let _ = call;
        None
    }

    /// What the call must have for itself while it runs. Unless it says so here, the tool's calls run
    /// one after the other.
    fn resources(&self, call: &ValidCall) -> Resources {
        let _ = call;
        Resources::Undeclared
    }

    /// The same of an executor that cannot say it at once, such as one whose code runs elsewhere;
    /// [`ToolExecutor::resources`] is then not asked. The wait counts as a part of the call.
    fn resources_later<'a>(&'a self, call: &'a ValidCall) -> Option<BoxFuture<'a, Resources>> {
        let _ = call;
        None
    }

    /// Tells the executor to stop what it is doing. Called from any thread, any number of times,
    /// also when nothing is under way; must return at once.
    fn interrupt(&self) {}

    /// Frees what the executor holds. Called once, when the host closes, also where several tools
    /// share the executor.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
