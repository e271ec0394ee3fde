//! How is one call made and its answer printed?

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolspan::guard::sanitise;
use toolspan::{Error, ErrorKind, Host, Observation, RegisteredTool, Result};

use super::save::Folder;
use super::{arguments, input};
use crate::approval::Typed;
use crate::args::Call;
use crate::concern::Concern;
use crate::exit::Code;
use crate::output::json::{self, Answer};
use crate::output::progress::Activity;
use crate::output::{Style, human, observation};
use crate::session::Session;

/// Calls a tool and prints what it answers. The tool's own error goes to stdout, as its answers
/// do; a line on stderr and the exit code say that it is one.
pub(super) async fn run(
    session: &Session,
    tool: &str,
    call: &Call,
    files: Option<&Folder>,
) -> Result<Code> {
    arguments::check(&call.arguments)?;
    let whole = call.args.as_deref().map(input::json).transpose()?;
    session
        .with_host_approved(Concern::Tool(tool), Some(Arc::new(Typed)), async |host| {
            let tool = find(session, host, tool).await?;
            let arguments = arguments::build(whole, &call.arguments, &tool.definition.input)?;
            match once(session, host, &tool, arguments).await {
                Ok(answered) => print(
                    session,
                    &Printing {
                        tool: &tool,
                        answered,
                        files,
                        call,
                    },
                ),
                Err(error) => failed(session, error),
            }
        })
        .await
}

/// An answer and how long it took.
pub(super) struct Answered {
    pub(super) observation: Observation,
    pub(super) took: Duration,
}

/// Calls a tool under the options of the command line.
pub(super) async fn once(
    session: &Session,
    host: &Host,
    tool: &RegisteredTool,
    arguments: Value,
) -> Result<Answered> {
    let activity = Activity::new(&session.output, format!("calling {}", tool.name));
    let options = session.call_options(&activity);
    let started = Instant::now();
    let call = host.call_with(&tool.name, arguments, options);
    let observation = activity.during(call).await?;
    for repair in &observation.repairs {
        let place = sanitise::one_line(&repair.pointer, 200);
        let note = sanitise::one_line(&repair.note, 300);
        let text = format!("the arguments were repaired at \"{place}\": {note}");
        session.output.detail(1, &text);
    }
    Ok(Answered {
        observation,
        took: started.elapsed(),
    })
}

/// The tool that a name means; where none is found, the toolboxes that failed are named too.
pub(super) async fn find(session: &Session, host: &Host, name: &str) -> Result<RegisteredTool> {
    let activity = Activity::new(&session.output, "starting the server");
    let found = activity
        .during(session.interrupt.or(host.find(name)))
        .await?;
    drop(activity);
    if found
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::ToolNotFound)
    {
        session.report_faults(host, None);
    }
    found
}

/// What is printed, and how.
struct Printing<'a> {
    tool: &'a RegisteredTool,
    answered: Answered,
    files: Option<&'a Folder>,
    call: &'a Call,
}

/// Prints an answer, and then says what is wrong with it.
fn print(session: &Session, printing: &Printing<'_>) -> Result<Code> {
    let Printing {
        tool,
        answered,
        files,
        call,
    } = printing;
    let (output, observation) = (&session.output, &answered.observation);
    // What could not be saved is printed all the same: the tool may not answer so again.
    let (saved, not_saved) = match files
        .map(|files| files.save(&tool.name, observation))
        .transpose()
    {
        Ok(saved) => (saved, None),
        Err(error) => (
            None,
            Some(error.in_toolbox(&tool.toolbox).in_tool(&tool.name)),
        ),
    };
    if output.json {
        let answer = Answer {
            tool,
            observation,
            took: answered.took,
            limit: call.limit,
            saved: saved.as_deref(),
            not_saved: not_saved.as_ref(),
        };
        output.json(&json::answer(&answer));
    } else if observation::print(output, observation, saved.as_deref(), call.limit) {
        output.talk("the text is cut; without --limit it is whole");
    }
    if let Some(reason) = &observation.schema_violation {
        let reason = sanitise::one_line(reason, 1_000);
        output.warn(&format!(
            "the result does not match the tool's own output schema: {reason}"
        ));
    }
    if let Some(error) = not_saved {
        human::error(output, &error);
        return Ok(Code::of(&error));
    }
    if observation.is_error {
        let label = output.paint_error(Style::Bad, "error:");
        output.error_line(&format!("{label} the tool reported an error"));
        return Ok(Code::TOOL_ERROR);
    }
    Ok(Code::DONE)
}

/// Reports a call without an answer. The error of a server's protocol has the exit code of a tool's
/// error, so with `--json` its line has that shape as well.
fn failed(session: &Session, error: Error) -> Result<Code> {
    if error.kind() != ErrorKind::RemoteError {
        return Err(error);
    }
    if session.output.json {
        session.output.json(&json::failed_call(&error));
    }
    human::error(&session.output, &error);
    Ok(Code::of(&error))
}
