//! `toolspan status`: how is each toolbox?

use toolspan::guard::sanitise;
use toolspan::toolbox::ToolBoxState;
use toolspan::{Error, Result, ToolboxStatus};

use crate::exit::Code;
use crate::output::table::{Cell, Table};
use crate::output::{Output, Style, human};
use crate::session::Session;

/// Shows the state of each toolbox. A failed one is a finding, not a failure of this command,
/// unless it is required: then the exit code says so, beside the whole status.
pub(super) async fn run(session: &Session) -> Result<Code> {
    session
        .with_host(async |host| {
            // A failure is in the status itself.
            session.settle(host).await?;
            let status = host.status();
            match session.output.json {
                true => session
                    .output
                    .json(&status.iter().map(ToolboxStatus::to_json).collect()),
                false => print(&session.output, &status),
            }
            Ok(required_failure(&status).map_or(Code::DONE, |error| Code::of_start(&error)))
        })
        .await
}

/// The error of the first required toolbox that failed.
fn required_failure(status: &[ToolboxStatus]) -> Option<Error> {
    let mut required = status.iter().filter(|status| status.required);
    required.find_map(|status| match &status.state {
        ToolBoxState::Failed(error) => Some(error.clone()),
        _ => None,
    })
}

fn print(output: &Output, status: &[ToolboxStatus]) {
    let mut table = Table::new(&["TOOLBOX", "KIND", "STATE", "TOOLS", "NOTE"]);
    for status in status {
        table.row([
            Cell::styled(sanitise::one_line(&status.toolbox, 40), Style::Strong),
            status.kind.as_str().into(),
            Cell::styled(status.state.as_str(), style(&status.state)),
            status.tools.to_string().into(),
            status
                .state
                .error()
                .map(human::one_line)
                .unwrap_or_default()
                .into(),
        ]);
    }
    for line in table.lines(output.columns(), output.has_colour()) {
        output.line(&line);
    }
    for status in status {
        for broken in &status.broken {
            let (toolbox, name) = (sanitise::one_line(&status.toolbox, 40), &broken.name);
            let reason = sanitise::one_line(&broken.reason, 500);
            let name = sanitise::one_line(name, 100);
            output.line(&format!(
                "\ncannot be used: {name} of {toolbox}\n  {reason}"
            ));
        }
    }
    let failed = status
        .iter()
        .find(|it| matches!(it.state, ToolBoxState::Failed(_)));
    if let Some(failed) = failed {
        let label = output.paint_error(Style::Hint, "hint:");
        let toolbox = sanitise::one_line(&failed.toolbox, 200);
        output.talk(&format!(
            "{label} `toolspan doctor {toolbox}` shows the start step by step"
        ));
    }
}

fn style(state: &ToolBoxState) -> Style {
    match state {
        ToolBoxState::Ready => Style::Good,
        ToolBoxState::Degraded(_) | ToolBoxState::Connecting => Style::Caution,
        ToolBoxState::Failed(_) => Style::Bad,
        _ => Style::Faint,
    }
}
