//! What runs a tool that takes a response beside its own arguments?

use std::sync::Arc;

use serde_json::Value;

use super::{ResponseSchema, ToolExecutor};
use crate::call::ValidCall;
use crate::definition::ToolDefinition;
use crate::execute::{Context, Resources};
use crate::observation::Observation;
use crate::visual::Styled;
use crate::{BoxFuture, Result};

/// Gives the tool behind it its own arguments, and the observation the response.
pub(super) struct Responding {
    pub(super) inner: Arc<dyn ToolExecutor>,
    /// The tool as it was before it was extended.
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) response: Arc<ResponseSchema>,
}

impl Responding {
    /// The call with the tool's own arguments alone.
    fn own(&self, call: &ValidCall) -> ValidCall {
        let given = call.arguments().iter();
        let own = given.filter(|(name, _)| !self.response.has(name));
        let own = own.map(|(name, value)| (name.clone(), value.clone()));
        call.onward(&self.definition, own.collect())
    }

    async fn run(&self, call: &ValidCall, context: &Context) -> Result<Observation> {
        // The joined schema is read in the tool's dialect, the response's own may be another.
        let arguments = Value::Object(call.arguments().clone());
        let response = self.response.parse(&arguments)?;
        let own = self.own(call);
        let mut observation = self.inner.call(&own, context).await?;
        observation.response = Some(response);
        Ok(observation)
    }
}

impl ToolExecutor for Responding {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(self.run(call, context))
    }

    fn visualize(&self, call: &ValidCall) -> Option<Styled> {
        self.inner.visualize(&self.own(call))
    }

    fn resources(&self, call: &ValidCall) -> Resources {
        self.inner.resources(&self.own(call))
    }

    fn resources_later<'a>(&'a self, call: &'a ValidCall) -> Option<BoxFuture<'a, Resources>> {
        // Asked at first with all arguments, to know whether it has to be waited for.
        drop(self.inner.resources_later(call)?);
        Some(Box::pin(async move {
            let own = self.own(call);
            match self.inner.resources_later(&own) {
                Some(resources) => resources.await,
                None => self.inner.resources(&own),
            }
        }))
    }

    fn interrupt(&self) {
        self.inner.interrupt();
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}
