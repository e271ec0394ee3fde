//! How a valid call runs: a place among the calls in flight, a deadline, a way out, no panic.
//!
//! `context` is what the executor is given, `gate` bounds the calls in flight, `deadline`
//! ends a call that takes too long or is cancelled, with a timer or, for a caller that polls by
//! itself, without one (`unaided`). Everything else is [`run`].

mod context;
mod deadline;
mod gate;
mod options;
mod unaided;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;

pub use context::Context;
pub use deadline::within;
pub use gate::{Gate, Gates};
pub use options::{CallOptions, Progress, ProgressSink};
pub use unaided::poll_unaided;

use crate::call::ValidCall;
use crate::guard::outcome::Outcome;
use crate::observation::Observation;
use crate::registry::RegisteredTool;
use crate::{Error, ErrorKind, Result};

/// Runs a call to its one end: an observation or an error that names toolbox, tool, phase and
/// outcome.
///
/// Dropping the future cancels the call; the executor then tells the other side.
///
/// # Errors
///
/// `overloaded` when there is no place, `timeout`, `cancelled`, `internal` when the tool panics,
/// `usage` when the call was checked for another tool, and whatever the executor gives.
pub async fn run(
    tool: &RegisteredTool,
    call: &ValidCall,
    context: &Context,
    gates: Gates<'_>,
) -> Result<Observation> {
    if !Arc::ptr_eq(&tool.definition, call.definition()) {
        return Err(of_another_tool(tool, call));
    }
    let work = async {
        let _places = gates.enter().await?;
        // An executor may panic before it gives its future, too.
        let work = async { tool.executor.call(call, context).await };
        AssertUnwindSafe(work)
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| Err(panicked(&*panic)))
    };
    let observation = deadline::within(work, context)
        .await
        .map_err(|error| error.in_toolbox(&tool.toolbox).in_tool(&tool.name))?;
    Ok(with_output_checked(observation, tool))
}

/// The error of a call that was checked against another tool's schema.
fn of_another_tool(tool: &RegisteredTool, call: &ValidCall) -> Error {
    let message = format!("the call was checked for {}", call.exposed_name());
    Error::new(ErrorKind::Usage, crate::Phase::Validate, message)
        .in_toolbox(&tool.toolbox)
        .in_tool(&tool.name)
        .with_hint("validate the request for the tool that is to run it")
}

/// The error of a tool that panicked, with the panic's own words where they are text.
fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    Error::new(
        ErrorKind::Internal,
        crate::Phase::Call,
        format!("the tool panicked: {words}"),
    )
    .with_outcome(Outcome::Unknown)
    .with_hint("this is a fault in the tool's code; other tools are not affected")
}

/// Marks a structured result that breaks the tool's own output schema; it is kept all the same.
fn with_output_checked(mut observation: Observation, tool: &RegisteredTool) -> Observation {
    if let (Some(schema), Some(structured)) = (&tool.definition.output, &observation.structured)
        && !observation.is_error
        && let Err(error) = schema.check(structured)
    {
        observation.schema_violation = Some(error.to_string());
    }
    observation
}
