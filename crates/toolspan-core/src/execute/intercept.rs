//! Who may look at a call on its way, change it, answer it or refuse it?

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;

use super::context::Context;
use super::deadline::within;
use super::panics;
use crate::call::{CallRequest, ValidCall};
use crate::guard::limits::Limits;
use crate::guard::outcome::Phase;
use crate::observation::Observation;
use crate::registry::RegisteredTool;
use crate::{BoxFuture, Error, ErrorKind, Result};

/// Something around every call of a host. It sees the checked call before it is decided on and run,
/// and the result after, with no secret in either.
///
/// ```
/// use toolspan_core::execute::{InterceptedCall, Interceptor, Next};
/// use toolspan_core::{BoxFuture, Observation, Result};
///
/// /// Answers calls of tools that do not exist yet.
/// struct Stub;
///
/// impl Interceptor for Stub {
///     fn name(&self) -> &str { "stub" }
///     fn around<'a>(&'a self, call: InterceptedCall<'a>, next: Next<'a>) -> BoxFuture<'a, Result<Observation>> {
///         Box::pin(async move {
///             match call.arguments().get("dry_run") {
///                 Some(_) => Ok(Observation::text_of("nothing was done")),
///                 None => next.run(call).await,
///             }
///         })
///     }
/// }
/// ```
pub trait Interceptor: Send + Sync + 'static {
    /// What errors call it.
    fn name(&self) -> &str;

    /// Lets the call go on (`next.run(call)`), changed where it wants
    /// ([`InterceptedCall::with_arguments`]), answers in its place, or refuses it with an error
    /// ([`InterceptedCall::refused`]). A panic is the error of this call alone. Its time is the
    /// call's own.
    fn around<'a>(
        &'a self,
        call: InterceptedCall<'a>,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<Observation>>;
}

/// A checked call on its way to its tool.
#[derive(Debug)]
pub struct InterceptedCall<'a> {
    tool: &'a RegisteredTool,
    call: ValidCall,
    context: &'a Context,
    limits: &'a Limits,
}

impl<'a> InterceptedCall<'a> {
    /// A call of this tool, with the limits that changed arguments are checked by.
    pub fn new(
        tool: &'a RegisteredTool,
        call: ValidCall,
        context: &'a Context,
        limits: &'a Limits,
    ) -> Self {
        Self {
            tool,
            call,
            context,
            limits,
        }
    }

    /// The tool that is called.
    pub fn tool(&self) -> &'a RegisteredTool {
        self.tool
    }

    /// The arguments; references to secrets, never their values.
    pub fn arguments(&self) -> &serde_json::Map<String, Value> {
        self.call.arguments()
    }

    /// The call.
    pub fn call(&self) -> &ValidCall {
        &self.call
    }

    /// The call alone.
    pub fn into_call(self) -> ValidCall {
        self.call
    }

    /// The surroundings of the call.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// The same call with other arguments, checked as the first ones were. What was repaired in the
    /// first ones, and what the model said of the call, stays with it.
    ///
    /// # Errors
    ///
    /// As [`CallRequest::validate`] and
    /// [`SecretAccess::validate`](super::SecretAccess::validate).
    pub fn with_arguments(self, arguments: Value) -> Result<Self> {
        let request = CallRequest::new(&*self.tool.name, arguments);
        let check = |request: CallRequest| request.validate(self.tool, self.limits);
        let call = match self.context.secrets() {
            Some(secrets) => secrets.validate(request, check)?,
            None => check(request)?,
        };
        let call = call.in_place_of(&self.call);
        Ok(Self { call, ..self })
    }

    /// The error of a call that is refused, in words for the model.
    pub fn refused(&self, why: impl Into<String>) -> Error {
        Error::new(ErrorKind::PolicyDenied, Phase::Validate, why)
            .in_toolbox(&self.tool.toolbox)
            .in_tool(&self.tool.name)
    }
}

/// The end of the way: what decides on a call and runs it.
type End<'a> =
    Box<dyn FnOnce(InterceptedCall<'a>) -> BoxFuture<'a, Result<Observation>> + Send + 'a>;

/// What is left of a call's way: the interceptors that come after, and the tool.
pub struct Next<'a> {
    rest: &'a [Arc<dyn Interceptor>],
    end: End<'a>,
}

impl std::fmt::Debug for Next<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Next({} interceptors)", self.rest.len())
    }
}

impl<'a> Next<'a> {
    /// Lets the call go on; at most once.
    ///
    /// # Errors
    ///
    /// Whatever comes of the call, `usage` when it is the call of another tool now.
    pub fn run(self, call: InterceptedCall<'a>) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(async move {
            let Some((interceptor, rest)) = self.rest.split_first() else {
                // A panic here is no interceptor's.
                let work = async { (self.end)(call).await };
                let ended = AssertUnwindSafe(work).catch_unwind().await;
                return ended.unwrap_or_else(|panic| Err(panics::of("the call", &*panic)));
            };
            let (tool, context) = (call.tool, call.context);
            let next = Self {
                rest,
                end: self.end,
            };
            // It may panic before it gives its future, too.
            let work = async { interceptor.around(call, next).await };
            let ended = AssertUnwindSafe(work).catch_unwind().await;
            let ended = ended.unwrap_or_else(|panic| {
                let what = format!("the interceptor {}", interceptor.name());
                let error = panics::of(&what, &*panic).with_outcome(context.outcome());
                Err(error.in_toolbox(&tool.toolbox).in_tool(&tool.name))
            });
            // It may have asked for a secret of the toolbox.
            context.without_secrets(ended)
        })
    }
}

/// Sends a call through the interceptors, the first one outermost, to its end, which decides on it
/// and runs it. The time limits of the call hold for all of it.
///
/// # Errors
///
/// What an interceptor or the end gives; `internal` when an interceptor panics; `timeout` and
/// `cancelled` as [`within`].
pub async fn intercepted<'a, F, W>(
    interceptors: &'a [Arc<dyn Interceptor>],
    call: InterceptedCall<'a>,
    end: F,
) -> Result<Observation>
where
    F: FnOnce(InterceptedCall<'a>) -> W + Send + 'a,
    W: Future<Output = Result<Observation>> + Send + 'a,
{
    if interceptors.is_empty() {
        return end(call).await;
    }
    let (tool, context) = (call.tool, call.context);
    let next = Next {
        rest: interceptors,
        end: Box::new(|call| Box::pin(end(call))),
    };
    let ended = within(next.run(call), context).await;
    ended.map_err(|error| error.in_toolbox(&tool.toolbox).in_tool(&tool.name))
}
