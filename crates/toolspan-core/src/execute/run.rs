//! How does a valid call come to its one end?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt;

use super::context::Context;
use super::deadline::within;
use super::gate::Gates;
use super::holding::Holding;
use super::locks::Turn;
use super::panics;
use crate::call::ValidCall;
use crate::guard::outcome::Outcome;
use crate::observation::Observation;
use crate::registry::RegisteredTool;
use crate::tool::ToolExecutor;
use crate::{Error, ErrorKind, Result};

/// Runs a call to its one end: an observation or an error that names toolbox, tool, phase and
/// outcome, both without the secrets that were given out. An observation tells the call's repairs. It
/// is in a box, since each layer that hands it on would else copy it whole.
///
/// The call waits for its places, then for the resources that its tool declares, where the context
/// has the host's locks. Dropping the future cancels the call; the executor then tells the other
/// side, and is interrupted if it had begun.
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
) -> Result<Box<Observation>> {
    if !Arc::ptr_eq(&tool.definition, call.definition()) {
        return Err(of_another_tool(tool, call));
    }
    let call = call.real();
    // In one place, since each layer around it would else hold it once more.
    let work = Box::pin(in_its_place(tool, call, context, gates));
    // An executor may panic before it gives its future, too.
    let work = AssertUnwindSafe(work).catch_unwind().map(caught);
    let ended = within(work, context).await;
    let ended = ended
        .map(|mut observation| {
            observation.repairs.extend_from_slice(call.repairs());
            check_output(&mut observation, tool);
            observation
        })
        .map_err(|error| error.in_toolbox(&tool.toolbox).in_tool(&tool.name));
    match context.secrets() {
        None => ended,
        Some(_) => {
            let ended = context.without_secrets(ended.map(|observation| *observation));
            ended.map(Box::new)
        }
    }
}

/// Runs a call once it has its places and its resources.
async fn in_its_place(
    tool: &RegisteredTool,
    call: &ValidCall,
    context: &Context,
    gates: Gates<'_>,
) -> Result<Box<Observation>> {
    let around = context.around();
    let _places = gates.enter(around.as_deref()).await?;
    let turn = turn(tool, call, context, around.as_deref()).await;
    let holding = Holding::new(around, turn, [gates.toolbox, gates.host]);
    let work = async {
        let mut begun = Begun {
            executor: &*tool.executor,
            context,
            has_ended: false,
        };
        let ended = tool.executor.call(call, context).await;
        begun.has_ended = true;
        ended.map(Box::new)
    };
    holding
        .around(|holding| context.note_holding(holding), work)
        .await
}

/// The call's turn at what its tool must have for itself; `None` when there is nothing to wait for.
async fn turn(
    tool: &RegisteredTool,
    call: &ValidCall,
    context: &Context,
    around: Option<&Holding>,
) -> Option<Turn> {
    let locks = context.locks()?;
    let resources = match tool.executor.resources_later(call) {
        Some(resources) => resources.await,
        None => tool.executor.resources(call),
    };
    let mut keys = resources.keys(&tool.name);
    if let Some(around) = around {
        keys.retain(|key| !around.has(locks, key));
    }
    if keys.is_empty() {
        return None;
    }
    let turn = Turn::join(locks, keys);
    if !turn.has_come() {
        context.note_queued(true);
        let mut waiting = Waiting {
            turn: &turn,
            context,
            has_ended: false,
        };
        turn.come().await;
        waiting.has_ended = true;
        drop(waiting);
        context.note_queued(false);
    }
    Some(turn)
}

/// A wait for a turn. One that is given up says what it waited for, while it still knows.
struct Waiting<'a> {
    turn: &'a Turn,
    context: &'a Context,
    has_ended: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.context.note_waited_for(self.turn.waits_for());
        }
    }
}

/// A call that its executor has begun. One that is dropped before its end is interrupted.
struct Begun<'a> {
    executor: &'a dyn ToolExecutor,
    context: &'a Context,
    has_ended: bool,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        self.context.note_over();
        if self.context.outcome() == Outcome::Unknown {
            // What it panics with is of no use to anyone: the call has its end.
            let _ = catch_unwind(AssertUnwindSafe(|| self.executor.interrupt()));
        }
    }
}

/// The error of a call that was checked against another tool's schema.
fn of_another_tool(tool: &RegisteredTool, call: &ValidCall) -> Error {
    let message = format!("the call was checked for {}", call.exposed_name());
    Error::new(ErrorKind::Usage, crate::Phase::Validate, message)
        .in_toolbox(&tool.toolbox)
        .in_tool(&tool.name)
        .with_hint("validate the request for the tool that is to run it")
}

/// What came of a tool's work, be it a panic.
fn caught<T>(ended: std::thread::Result<Result<T>>) -> Result<T> {
    ended.unwrap_or_else(|panic| {
        let error = panics::of("the tool", &*panic);
        Err(error.with_hint("this is a fault in the tool's code; other tools are not affected"))
    })
}

/// Marks a structured result that breaks the tool's own output schema; it is kept all the same.
fn check_output(observation: &mut Observation, tool: &RegisteredTool) {
    if let (Some(schema), Some(structured)) = (&tool.definition.output, &observation.structured)
        && !observation.is_error
        && let Err(error) = schema.check(structured)
    {
        observation.schema_violation = Some(error.to_string());
    }
}
