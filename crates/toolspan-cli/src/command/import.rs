//! `toolspan config import`: which servers does another program have, and what becomes of them?

use serde_json::{Value, json};
use toolspan::Result;
use toolspan::config::Environment;
use toolspan::config::import::{Change, ChangeState, Import, Note, Plan, target};
use toolspan::guard::sanitise;

use crate::args;
use crate::exit::Code;
use crate::output::table::{Cell, Table};
use crate::output::{Output, Style};
use crate::session::Session;

/// Characters of a key in the table.
const LONGEST_KEY: usize = 200;
/// Characters of a command line or a URL in the table.
const LONGEST_WHAT: usize = 300;
/// What is said of a server whose key the config has for another one.
const LEFT_ALONE: &str = "left alone: the config has another one of this key";

/// Takes the servers over into the config. With `--dry-run` nothing is written, and what would be
/// added is printed, secrets hidden.
pub(super) fn run(session: &Session, wanted: &args::Import) -> Result<Code> {
    let environment = Environment::capture();
    let import = Import::read(wanted.app, wanted.from.as_deref(), &environment)?;
    let to = wanted.to.as_ref().or(session.global.config.as_ref());
    let to = target(to.map(AsRef::as_ref), &environment)?;
    let plan = import.plan(&to, &environment)?;
    if !wanted.dry_run {
        plan.write(&environment)?;
    }
    if session.output.json {
        session
            .output
            .json(&to_json(&import, &plan, wanted.dry_run));
    } else {
        print(&session.output, &import, &plan, wanted.dry_run);
    }
    Ok(Code::DONE)
}

fn to_json(import: &Import, plan: &Plan, is_dry: bool) -> Value {
    let from: Vec<_> = import.files.iter().map(|it| it.to_string_lossy()).collect();
    let server = |change: &Change| json!({"key": change.key, "state": change.state.as_str()});
    json!({
        "app": import.app.name(),
        "from": from,
        "to": plan.file.to_string_lossy(),
        "written": plan.is_change() && !is_dry,
        "servers": plan.changes.iter().map(server).collect::<Vec<_>>(),
        "fragment": plan.shown,
        "notes": plan.notes.iter().map(Note::to_json).collect::<Vec<_>>(),
    })
}

/// What became of each server goes to stdout; in a dry run that is what would be added, and the
/// rest is talk.
fn print(output: &Output, import: &Import, plan: &Plan, is_dry: bool) {
    if is_dry {
        output.data(&format!("{:#}\n", plan.shown));
    }
    let columns = if is_dry { None } else { output.columns() };
    for line in table(plan).lines(columns, output.has_colour()) {
        match is_dry {
            true => output.talk(&line),
            false => output.line(&line),
        }
    }
    for note in &plan.notes {
        output.note(&sanitise::for_people(&note.to_string()));
    }
    output.talk(&summary(output, import, plan, is_dry));
}

fn table(plan: &Plan) -> Table {
    let mut table = Table::new(&["SERVER", "STATE", "WHAT"]);
    for change in &plan.changes {
        let (style, state, what) = match change.state {
            ChangeState::Added => (Style::Good, "added", what(plan, &change.key)),
            ChangeState::AlreadyThere => (Style::Faint, "already there", String::new()),
            ChangeState::Differs => (Style::Caution, "differs", LEFT_ALONE.to_owned()),
            _ => (Style::Faint, change.state.as_str(), String::new()),
        };
        table.row([
            Cell::styled(sanitise::one_line(&change.key, LONGEST_KEY), Style::Strong),
            Cell::styled(state, style),
            what.into(),
        ]);
    }
    table
}

/// What an added server starts or connects to, secrets hidden.
fn what(plan: &Plan, key: &str) -> String {
    let servers = plan.shown.get("mcpServers");
    let entry = servers.and_then(|servers| servers.get(key));
    let member = |name| entry.and_then(|entry| entry.get(name));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let words: Vec<String> = match (
        member("command").and_then(text),
        member("url").and_then(text),
    ) {
        (Some(command), _) => {
            let arguments = member("args").and_then(Value::as_array);
            let arguments = arguments.into_iter().flatten();
            std::iter::once(command)
                .chain(arguments.filter_map(text))
                .collect()
        }
        (None, url) => url.into_iter().collect(),
    };
    sanitise::one_line(&words.join(" "), LONGEST_WHAT)
}

fn summary(output: &Output, import: &Import, plan: &Plan, is_dry: bool) -> String {
    let is_added = |change: &&Change| change.state == ChangeState::Added;
    let count = plan.changes.iter().filter(is_added).count();
    let noun = if count == 1 { "server" } else { "servers" };
    let to = sanitise::one_line(&plan.file.to_string_lossy(), 1_000);
    let app = import.app;
    let label = output.paint_error(Style::Good, "ok");
    match (plan.is_change(), is_dry) {
        (false, _) => format!("{label} nothing of {app} to add to {to}"),
        (true, false) => format!("{label} {count} {noun} of {app} added to {to}"),
        (true, true) => {
            format!("{count} {noun} of {app} would be added to {to}; nothing is written")
        }
    }
}
