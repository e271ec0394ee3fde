//! The untyped twin of a typed tool, and the toolbox that native tools live in.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::Value;

use super::{Action, Tool, ToolExecutor, ToolOutput};
use crate::call::ValidCall;
use crate::definition::ToolDefinition;
use crate::execute::{Context, Resources};
use crate::guard::outcome::Phase;
use crate::observation::Observation;
use crate::schema::Schema;
use crate::toolbox::{BrokenTool, Discovery, ToolBox, ToolBoxState, ToolboxTool};
use crate::visual::Styled;
use crate::{BoxFuture, Error, ErrorKind, Result, name};

/// Erases a typed tool.
///
/// # Errors
///
/// `schema_rejected` when the schema of its action or result cannot be used.
pub fn native<T: Tool>(tool: T) -> Result<ToolboxTool> {
    let name = tool.name();
    let rejected = |error: crate::schema::SchemaRejected| {
        Error::new(
            ErrorKind::SchemaRejected,
            Phase::Discover,
            error.to_string(),
        )
        .in_toolbox(name::NATIVE)
        .in_tool(&name)
    };
    let input = schemars::schema_for!(T::Action).to_value();
    let input = Schema::for_arguments(input).map_err(rejected)?;
    let output = T::Observation::schema()
        .map(Schema::for_output)
        .transpose()
        .map_err(rejected)?;
    let mut definition = ToolDefinition::new(name.clone(), tool.description(), Arc::new(input));
    definition.output = output.map(Arc::new);
    definition.annotations = tool.annotations();
    Ok(ToolboxTool::new(
        Arc::new(definition),
        Arc::new(Erased(tool)),
    ))
}

struct Erased<T>(T);

impl<T: Tool> Erased<T> {
    fn action(call: &ValidCall) -> Result<T::Action> {
        let arguments = Value::Object(call.arguments().clone());
        serde_json::from_value(arguments).map_err(|error| {
            let message = format!("the tool cannot read its arguments: {error}");
            Error::new(ErrorKind::InvalidArguments, Phase::Validate, message)
        })
    }
}

impl<T: Tool> ToolExecutor for Erased<T> {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let action = Self::action(call)?;
            context.note_sent();
            Ok(match self.0.call(action, context).await {
                Ok(output) => observation(output),
                Err(failure) => Observation::error_of(failure.message),
            })
        })
    }

    fn visualize(&self, call: &ValidCall) -> Option<Styled> {
        Self::action(call).ok()?.visualize()
    }

    fn resources(&self, call: &ValidCall) -> Resources {
        self.0.resources(call)
    }

    fn interrupt(&self) {
        self.0.interrupt();
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.close())
    }
}

/// The observation of a typed result, with what its type wants a model and a person to see. The tool
/// has done its work: a form that panics is left out, and the content stands in its place.
fn observation(output: impl ToolOutput) -> Observation {
    let for_model = catch_unwind(AssertUnwindSafe(|| output.to_llm_content())).unwrap_or_default();
    let visual = catch_unwind(AssertUnwindSafe(|| output.visualize())).unwrap_or_default();
    let mut observation = output.into_observation();
    observation.for_model = for_model.or(observation.for_model);
    observation.visual = visual.or(observation.visual);
    observation
}

/// The toolbox of the tools that the host's own program brings.
pub struct NativeToolBox {
    tools: Vec<ToolboxTool>,
    /// Those whose names are taken.
    left_out: Vec<ToolboxTool>,
    broken: Vec<BrokenTool>,
    closed: AtomicBool,
}

impl NativeToolBox {
    /// A toolbox of these tools, in this order. A second tool of the same name is broken.
    pub fn new(tools: Vec<ToolboxTool>) -> Self {
        let mut names = HashSet::with_capacity(tools.len());
        let is_first = |tool: &ToolboxTool| names.insert(tool.definition.name.clone());
        let (tools, left_out): (Vec<_>, Vec<_>) = tools.into_iter().partition(is_first);
        let reason = "another native tool has this name; give one of them another name";
        let broken = left_out
            .iter()
            .map(|tool| BrokenTool::new(&tool.definition.name, reason));
        Self {
            broken: broken.collect(),
            tools,
            left_out,
            closed: AtomicBool::new(false),
        }
    }
}

impl NativeToolBox {
    /// Adds tools that were asked for and cannot be used, and why.
    #[must_use]
    pub fn with_broken(mut self, broken: Vec<BrokenTool>) -> Self {
        self.broken.extend(broken);
        self
    }

    /// What is to be closed: each executor once, though several tools may share it.
    fn executors(&self) -> Vec<&Arc<dyn ToolExecutor>> {
        let mut known = HashSet::new();
        let all = self.tools.iter().chain(&self.left_out);
        let executors = all.map(|tool| &tool.executor);
        executors
            .filter(|executor| known.insert(Arc::as_ptr(executor).addr()))
            .collect()
    }

    /// Its tools, as it lists them.
    pub fn listed(&self) -> Discovery {
        Discovery {
            tools: self.tools.clone(),
            broken: self.broken.clone(),
            incomplete: None,
        }
    }
}

impl ToolBox for NativeToolBox {
    fn kind(&self) -> &str {
        name::NATIVE
    }

    fn discover(&self) -> BoxFuture<'_, Result<Discovery>> {
        Box::pin(std::future::ready(Ok(self.listed())))
    }

    fn state(&self) -> ToolBoxState {
        if self.closed.load(Ordering::Acquire) {
            ToolBoxState::Closed
        } else {
            ToolBoxState::Ready
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if !self.closed.swap(true, Ordering::AcqRel) {
                let closing = self.executors().into_iter().map(|executor| {
                    // A tool that hangs or panics keeps no other one from its end.
                    AssertUnwindSafe(async { executor.close().await }).catch_unwind()
                });
                join_all(closing).await;
            }
        })
    }
}
