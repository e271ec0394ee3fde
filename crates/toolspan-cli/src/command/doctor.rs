//! `toolspan doctor`: what happens, step by step, when a toolbox is started?

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolspan::guard::sanitise;
use toolspan::toolbox::{Diagnosis, Step, ToolBoxState};
use toolspan::{Error, ErrorKind, Host, Phase, Result};
use unicode_width::UnicodeWidthStr;

use crate::args::Doctor;
use crate::concern::Concern;
use crate::exit::Code;
use crate::output::progress::Activity;
use crate::output::table::cut;
use crate::output::{Output, Style, human, json, next_step};
use crate::session::Session;

/// Last lines of a server's standard error that are shown.
const STDERR_LINES: usize = 20;
/// Columns of a step's name.
const STEP_COLUMNS: usize = 56;

/// Starts each toolbox, or the named one, and shows what came of it.
pub(super) async fn run(session: &Session, doctor: &Doctor) -> Result<Code> {
    let named = doctor.toolbox.as_deref();
    session
        .with_host_for(named.map_or(Concern::All, Concern::Toolbox), async |host| {
            let mut examined = Vec::new();
            for toolbox in chosen(host, named)? {
                let title = format!("starting {}", sanitise::one_line(&toolbox, 40));
                let activity = Activity::new(&session.output, title);
                let diagnosis = activity.during(session.interrupt.or(examine(host, &toolbox)));
                let mut diagnosis = diagnosis.await?;
                drop(activity);
                let results = diagnosis.steps.iter_mut().map(|step| &mut step.result);
                for error in results.filter_map(|result| result.as_mut().err()) {
                    *error = next_step::within(session.output.timeout, error.clone());
                }
                if !session.output.json {
                    print(&session.output, &toolbox, &diagnosis);
                    print_broken(&session.output, host, &toolbox);
                    session.output.line("");
                }
                examined.push((toolbox, diagnosis));
            }
            let failed = examined
                .iter()
                .find_map(|(toolbox, it)| failure(it, toolbox));
            if session.output.json {
                session.output.json(&to_json(&examined, failed.as_ref()));
            }
            Ok(failed.map_or(Code::DONE, |_| Code::SERVER))
        })
        .await
}

/// The keys of the toolboxes to look at: all that are switched on, or the named one.
fn chosen(host: &Host, wanted: Option<&str>) -> Result<Vec<Arc<str>>> {
    let status = host.status();
    let Some(wanted) = wanted else {
        let enabled = status
            .iter()
            .filter(|it| !matches!(it.state, ToolBoxState::Disabled));
        return Ok(enabled.map(|status| Arc::clone(&status.toolbox)).collect());
    };
    match status.iter().find(|status| &*status.toolbox == wanted) {
        Some(status) => Ok(vec![Arc::clone(&status.toolbox)]),
        None => {
            let wanted = sanitise::one_line(wanted, 100);
            let all: Vec<&str> = status.iter().map(|status| &*status.toolbox).collect();
            let message = format!("there is no toolbox called \"{wanted}\"");
            let hint = format!("the toolboxes are: {}", all.join(", "));
            Err(Error::new(ErrorKind::Usage, Phase::Config, message).with_hint(hint))
        }
    }
}

/// Starts a toolbox. That its entry in the config cannot be used is a failed first step.
async fn examine(host: &Host, toolbox: &str) -> Diagnosis {
    host.diagnose(toolbox).await.unwrap_or_else(|error| {
        let mut diagnosis = Diagnosis::default();
        diagnosis
            .steps
            .push(Step::new("read the config", Duration::ZERO, Err(error)));
        diagnosis
    })
}

/// The error of the step that failed, if one did.
fn failure(diagnosis: &Diagnosis, toolbox: &str) -> Option<Error> {
    let failed = diagnosis
        .steps
        .iter()
        .find_map(|step| step.result.as_ref().err());
    failed.map(|error| error.clone().in_toolbox(toolbox))
}

/// `{"toolboxes": […], "error": …}`; the error is there on every exit but 0, as in every command.
fn to_json(examined: &[(Arc<str>, Diagnosis)], failed: Option<&Error>) -> Value {
    let step = |step: &Step| {
        json!({
            "what": step.what,
            "ok": step.result.is_ok(),
            "result": step.result.as_ref().ok(),
            "error": step.result.as_ref().err().map(Error::to_json),
            "duration_ms": json::milliseconds(step.took),
        })
    };
    let toolboxes: Vec<Value> = examined
        .iter()
        .map(|(toolbox, diagnosis)| {
            json!({
                "toolbox": &**toolbox,
                "steps": diagnosis.steps.iter().map(step).collect::<Vec<_>>(),
                "notes": diagnosis.notes,
                "stderr": human::last_lines(&diagnosis.stderr, STDERR_LINES),
            })
        })
        .collect();
    json!({"toolboxes": toolboxes, "error": failed.map(Error::to_json)})
}

fn print(output: &Output, toolbox: &str, diagnosis: &Diagnosis) {
    output.line(&output.paint(Style::Strong, &sanitise::one_line(toolbox, 200)));
    let names: Vec<String> = diagnosis
        .steps
        .iter()
        .map(|step| cut(&sanitise::one_line(&step.what, 200), STEP_COLUMNS))
        .collect();
    let widest = names
        .iter()
        .map(|name| name.width())
        .max()
        .unwrap_or_default();
    for (step, name) in diagnosis.steps.iter().zip(&names) {
        let padding = " ".repeat(widest - name.width());
        print_step(output, step, &format!("{name}{padding}"));
    }
    for note in &diagnosis.notes {
        let label = output.paint(Style::Faint, "note");
        output.line(&format!("  {label}   {}", sanitise::one_line(note, 500)));
    }
    let stderr = human::last_lines(&diagnosis.stderr, STDERR_LINES);
    if !stderr.is_empty() {
        output.line(&format!(
            "  {}",
            output.paint(Style::Faint, "its last words on standard error:")
        ));
        for line in stderr {
            output.line(&format!("    {line}"));
        }
    }
    let mut failed = diagnosis
        .steps
        .iter()
        .filter_map(|step| step.result.as_ref().err());
    if let Some(hint) = failed.find_map(next_step::after) {
        let label = output.paint(Style::Hint, "next");
        output.line(&format!("  {label}   {}", sanitise::one_line(&hint, 500)));
    }
}

/// The listed tools that cannot be called, and why.
fn print_broken(output: &Output, host: &Host, toolbox: &str) {
    let statuses = host.status();
    let its_own = statuses.iter().filter(|status| &*status.toolbox == toolbox);
    for broken in its_own.flat_map(|status| &status.broken) {
        let label = output.paint(Style::Caution, "tool");
        let name = sanitise::one_line(&broken.name, 100);
        let reason = sanitise::one_line(&broken.reason, 500);
        output.line(&format!("  {label}   {name} cannot be used: {reason}"));
    }
}

fn print_step(output: &Output, step: &Step, name: &str) {
    let (mark, result) = match &step.result {
        Ok(result) => (
            output.paint(Style::Good, "ok  "),
            sanitise::one_line(result, 300),
        ),
        Err(error) => (output.paint(Style::Bad, "FAIL"), human::one_line(error)),
    };
    let took = format!("{:.1} ms", json::milliseconds(step.took));
    output.line(&format!("  {mark}   {name}  {took:>11}   {result}"));
}
