//! What a host does around its calls, for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolspan_core::execute::{self, Gate, Gates, ResourceLocks, Resources, SecretAccess};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{
    BoxFuture, CallOptions, CallRequest, Context, Observation, RegisteredTool, Result,
    ToolExecutor, ValidCall,
};

use crate::support::{definition, tool_of};

/// The gates and locks of a host.
pub(crate) struct House {
    pub(crate) locks: Arc<ResourceLocks>,
    pub(crate) toolbox: Gate,
    pub(crate) host: Gate,
    pub(crate) secrets: Option<Arc<SecretAccess>>,
}

impl House {
    /// With so many places, and as many to wait.
    pub(crate) fn of(places: usize) -> Arc<Self> {
        Arc::new(Self::with_secrets(places, None))
    }

    pub(crate) fn with_secrets(places: usize, secrets: Option<Arc<SecretAccess>>) -> Self {
        Self {
            locks: Arc::new(ResourceLocks::new()),
            toolbox: Gate::new(places, places, "limits.max_in_flight"),
            host: Gate::new(places, places, "limits.in_flight_total"),
            secrets,
        }
    }

    pub(crate) fn context(&self, options: CallOptions) -> Context {
        let context = Context::new(options, &Timeouts::default());
        context
            .with_locks(&self.locks)
            .with_secrets(self.secrets.as_ref())
    }

    pub(crate) fn checked(&self, tool: &RegisteredTool, arguments: Value) -> Result<ValidCall> {
        let request = CallRequest::new(&*tool.name, arguments);
        let check = |request: CallRequest| request.validate(tool, &Limits::default());
        match &self.secrets {
            Some(secrets) => secrets.validate(request, check),
            None => check(request),
        }
    }

    pub(crate) async fn run(
        &self,
        tool: &RegisteredTool,
        call: &ValidCall,
        context: &Context,
    ) -> Result<Observation> {
        let gates = Gates {
            toolbox: &self.toolbox,
            host: &self.host,
        };
        execute::run(tool, call, context, gates)
            .await
            .map(|observation| *observation)
    }

    pub(crate) async fn call(
        &self,
        tool: &RegisteredTool,
        arguments: Value,
        options: CallOptions,
    ) -> Result<Observation> {
        let call = self.checked(tool, arguments)?;
        self.run(tool, &call, &self.context(options)).await
    }

    /// Whether no call has a place or a resource.
    pub(crate) fn is_idle(&self) -> bool {
        let in_flight = self.toolbox.in_flight() + self.host.in_flight();
        in_flight + self.locks.in_use() == 0
    }
}

/// What a tool declares of a call.
pub(crate) type Declare = fn(&ValidCall) -> Resources;

/// An executor made of closures.
struct Work<F> {
    work: F,
    resources: Declare,
    interrupts: Arc<AtomicUsize>,
}

impl<F> ToolExecutor for Work<F>
where
    F: for<'a> Fn(&'a ValidCall, &'a Context) -> BoxFuture<'a, Result<Observation>>
        + Send
        + Sync
        + 'static,
{
    fn call<'a>(
        &'a self,
        call: &'a ValidCall,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Observation>> {
        (self.work)(call, context)
    }

    fn resources(&self, call: &ValidCall) -> Resources {
        (self.resources)(call)
    }

    fn interrupt(&self) {
        self.interrupts.fetch_add(1, Ordering::Relaxed);
    }
}

/// A tool of this name that takes anything and does this.
pub(crate) fn worker<F>(name: &str, resources: Declare, work: F) -> RegisteredTool
where
    F: for<'a> Fn(&'a ValidCall, &'a Context) -> BoxFuture<'a, Result<Observation>>
        + Send
        + Sync
        + 'static,
{
    interruptible(name, resources, work).0
}

/// Such a tool, and how often it was interrupted.
pub(crate) fn interruptible<F>(
    name: &str,
    resources: Declare,
    work: F,
) -> (RegisteredTool, Arc<AtomicUsize>)
where
    F: for<'a> Fn(&'a ValidCall, &'a Context) -> BoxFuture<'a, Result<Observation>>
        + Send
        + Sync
        + 'static,
{
    let interrupts = Arc::<AtomicUsize>::default();
    let work = Work {
        work,
        resources,
        interrupts: Arc::clone(&interrupts),
    };
    let definition = definition(name, json!({"type": "object"}));
    (tool_of(definition, Arc::new(work)), interrupts)
}

/// The keys that a call names in its arguments: `{"keys": ["a", "b"]}`.
pub(crate) fn named_keys(call: &ValidCall) -> Resources {
    let keys = call.arguments().get("keys").and_then(Value::as_array);
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    Resources::of(keys)
}

pub(crate) fn undeclared(_: &ValidCall) -> Resources {
    Resources::Undeclared
}

pub(crate) fn nothing(_: &ValidCall) -> Resources {
    Resources::none()
}

/// Lets so much time pass on the tests' clock.
pub(crate) async fn pass(time: Duration) {
    let never = std::future::pending::<()>();
    let _ = tokio::time::timeout(time, never).await;
}
