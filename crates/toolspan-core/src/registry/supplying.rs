//! What runs a tool some of whose arguments the host supplies?

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::call::ValidCall;
use crate::definition::ToolDefinition;
use crate::execute::{Context, Resources};
use crate::guard::outcome::Phase;
use crate::observation::Observation;
use crate::schema::{CheckFailed, Violation};
use crate::tool::ToolExecutor;
use crate::visual::Styled;
use crate::{BoxFuture, Error, ErrorKind, Result};

/// Adds arguments on the way to the tool, and checks the whole against the tool's own schema.
pub(super) struct Supplying {
    pub(super) inner: Arc<dyn ToolExecutor>,
    /// The tool as its source lists it.
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) hidden: Map<String, Value>,
    pub(super) defaults: Map<String, Value>,
}

impl Supplying {
    fn whole(&self, call: &ValidCall) -> ValidCall {
        let mut arguments = call.arguments().clone();
        for (name, value) in &self.defaults {
            arguments
                .entry(name.as_str())
                .or_insert_with(|| value.clone());
        }
        for (name, value) in &self.hidden {
            arguments.insert(name.clone(), value.clone());
        }
        call.onward(&self.definition, arguments)
    }

    async fn run(&self, call: &ValidCall, context: &Context) -> Result<Observation> {
        let whole = self.whole(call);
        let arguments = Value::Object(whole.arguments().clone());
        self.definition
            .input
            .check(&arguments)
            .map_err(|failed| self.refused(failed))?;
        self.inner.call(&whole, context).await
    }

    /// Says nothing of what the model does not see.
    fn refused(&self, failed: CheckFailed) -> Error {
        let violations = match failed {
            CheckFailed::Violations(violations) => violations.into_vec(),
            CheckFailed::Schema(problem) => {
                let message = format!("the tool's schema cannot be used: {problem}");
                return Error::new(ErrorKind::SchemaRejected, Phase::Validate, message);
            }
        };
        let is_seen = |violation: &Violation| {
            let argument = violation.pointer.strip_prefix('/');
            let argument = argument.and_then(|rest| rest.split('/').next());
            argument.is_some_and(|name| !self.hidden.contains_key(name))
        };
        let seen: Vec<Violation> = violations.into_iter().filter(is_seen).collect();
        let message = "the arguments do not go with those that the host adds";
        let told: Vec<String> = seen.iter().map(ToString::to_string).collect();
        let message = match told.is_empty() {
            true => message.to_owned(),
            false => format!("{message}: {}", told.join("; ")),
        };
        Error::new(ErrorKind::InvalidArguments, Phase::Validate, message).with_violations(seen)
    }
}

impl ToolExecutor for Supplying {
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(self.run(call, context))
    }

    /// A tool that shows its whole call to people is not asked: what is hidden may be a secret.
    fn visualize(&self, call: &ValidCall) -> Option<Styled> {
        match self.hidden.is_empty() {
            true => self.inner.visualize(&self.whole(call)),
            false => None,
        }
    }

    fn resources(&self, call: &ValidCall) -> Resources {
        self.inner.resources(&self.whole(call))
    }

    fn resources_later<'a>(&'a self, call: &'a ValidCall) -> Option<BoxFuture<'a, Resources>> {
        // Asked at first without the arguments that are supplied, to know whether it has to be waited for.
        drop(self.inner.resources_later(call)?);
        Some(Box::pin(async move {
            let whole = self.whole(call);
            match self.inner.resources_later(&whole) {
                Some(resources) => resources.await,
                None => self.inner.resources(&whole),
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
