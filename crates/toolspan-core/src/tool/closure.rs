//! A tool from a closure.

use std::marker::PhantomData;

use super::{Action, Tool, ToolFailure, ToolOutput};
use crate::annotations::ToolAnnotations;
use crate::call::ValidCall;
use crate::execute::{Context, Resources};

/// A tool made by [`tool_fn`].
pub struct ToolFn<F, A> {
    name: String,
    description: String,
    annotations: Option<ToolAnnotations>,
    resources: Resources,
    function: F,
    action: PhantomData<fn(A)>,
}

/// A tool from a name, words for a model and an async closure.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use toolspan_core::tool::{Action, ToolFailure, tool_fn};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Shout { text: String }
/// impl Action for Shout {}
///
/// let tool = tool_fn("shout", "Says it louder", |shout: Shout| async move {
///     Ok::<_, ToolFailure>(shout.text.to_uppercase())
/// });
/// ```
pub fn tool_fn<F, A, O, R>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: F,
) -> ToolFn<F, A>
where
    F: Fn(A) -> R + Send + Sync + 'static,
    A: Action,
    O: ToolOutput,
    R: Future<Output = Result<O, ToolFailure>> + Send,
{
    ToolFn {
        name: name.into(),
        description: description.into(),
        annotations: None,
        resources: Resources::Undeclared,
        function,
        action: PhantomData,
    }
}

impl<F, A> ToolFn<F, A> {
    /// Adds hints about effects.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Lets its calls run at the same time. Unless this or [`ToolFn::with_resources`] says so, they
    /// run one after the other.
    #[must_use]
    pub fn parallel(self) -> Self {
        self.with_resources(Resources::none())
    }

    /// Says what each call must have for itself while it runs.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }
}

impl<F, A, O, R> Tool for ToolFn<F, A>
where
    F: Fn(A) -> R + Send + Sync + 'static,
    A: Action,
    O: ToolOutput,
    R: Future<Output = Result<O, ToolFailure>> + Send,
{
    type Action = A;
    type Observation = O;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn annotations(&self) -> Option<ToolAnnotations> {
        self.annotations.clone()
    }

    fn resources(&self, _call: &ValidCall) -> Resources {
        self.resources.clone()
    }

    async fn call(&self, action: A, _context: &Context) -> Result<O, ToolFailure> {
        (self.function)(action).await
    }
}
