//! `toolspan trust`: what would the config of this folder's project start, and may it?

use std::path::Path;

use serde_json::{Value, json};
use toolspan::config::{
    Change, ConfigFile, Environment, Found, Line, Origin, PROJECT_FILES, Standing, TrustStore, find,
};
use toolspan::guard::sanitise;
use toolspan::{Error, ErrorKind, Phase, Result};

use crate::args::Trust;
use crate::exit::Code;
use crate::output::{Output, Style, human};
use crate::question::Questions;
use crate::session::Session;

/// Longest path that is shown, in characters; the system allows no longer ones.
const LONGEST_PATH: usize = 4_096;

/// Shows the config of the project and approves it; or takes that back; or lists what is approved.
pub(super) fn run(session: &Session, trust: &Trust) -> Result<Code> {
    let environment = Environment::capture();
    if trust.list {
        return list(session, &environment);
    }
    if trust.revoke {
        return revoke(session, &environment);
    }
    match find(session.global.config.as_deref(), &environment)? {
        Some(found) if found.origin == Origin::Project => {
            let file = session.config_file(found, &environment)?;
            let case = Case {
                standing: file.standing(&environment)?,
                path: file.key(&environment)?.display().to_string(),
                file,
            };
            case.decide(session, trust, &environment)
        }
        found => Ok(nothing_to_approve(&session.output, found.as_ref())),
    }
}

/// The config of a project, and whether it was approved.
struct Case {
    file: ConfigFile,
    path: String,
    standing: Standing,
}

impl Case {
    fn decide(self, session: &Session, trust: &Trust, environment: &Environment) -> Result<Code> {
        let output = &session.output;
        if self.is_settled() {
            if output.json {
                output.json(&self.to_json(true, None));
            }
            output.talk(&format!("{} is approved as it is", shown_path(&self.path)));
            return Ok(Code::DONE);
        }
        if !output.json {
            self.show(output);
        }
        let refusal = match trust.yes {
            true => None,
            false => self.ask(session)?,
        };
        if refusal.is_none() {
            self.file.approve(environment)?;
        }
        if output.json {
            output.json(&self.to_json(refusal.is_none(), refusal.as_ref()));
        }
        match refusal {
            None => {
                let done = output.paint_error(Style::Good, "approved");
                output.talk(&format!("{done}; `toolspan trust --revoke` takes it back"));
                Ok(Code::DONE)
            }
            Some(error) => {
                human::error(output, &error);
                Ok(Code::of(&error))
            }
        }
    }

    /// Whether there is nothing to ask.
    fn is_settled(&self) -> bool {
        matches!(&self.standing, Standing::Approved { replaced } if replaced.is_empty())
    }

    /// Why it is not approved, if it is not.
    fn ask(&self, session: &Session) -> Result<Option<Error>> {
        let refused =
            |message: &str| Error::new(ErrorKind::ApprovalRequired, Phase::Config, message);
        let questions = Questions::new(&session.output, &session.interrupt);
        let answer = match session.output.json {
            true => None,
            false => questions.is_yes("start this from now on?"),
        };
        questions.finish()?;
        Ok(match answer {
            Some(true) => None,
            Some(false) => Some(refused("it was not approved, so nothing of it is started")),
            None => Some(
                refused("there is no terminal to ask on whether this may be started")
                    .with_hint("look at what is shown, then `toolspan trust --yes`"),
            ),
        })
    }

    fn show(&self, output: &Output) {
        output.line(&output.paint(Style::Strong, &shown_path(&self.path)));
        match &self.standing {
            Standing::Changed { difference } if !difference.is_empty() => {
                output.line("has changed since it was approved:");
                changes(output, difference);
            }
            Standing::Changed { .. } => {
                output.line(
                    "has changed since it was approved, in secrets, in the files of envFile or in the\norder of its entries, which are not compared here; all that it says:",
                );
                self.lines(output);
            }
            Standing::Approved { replaced } => {
                output.line("is approved, but files that it runs are not what they were then:");
                for path in replaced {
                    output.line(&format!("  {}", shown_path(&path.display().to_string())));
                }
                self.lines(output);
            }
            _ => self.lines(output),
        }
        for line in &self.file.view().warnings {
            let label = output.paint(Style::Caution, "warning:");
            output.line(&format!("{label} {line}"));
        }
    }

    fn lines(&self, output: &Output) {
        let lines = &self.file.view().lines;
        if lines.is_empty() {
            output.line("  says nothing");
        }
        let mut entry = "";
        for line in lines {
            if line.entry != entry {
                entry = &line.entry;
                if !entry.is_empty() {
                    output.line(&format!("  {}", output.paint(Style::Strong, entry)));
                }
            }
            let indent = if line.entry.is_empty() { "  " } else { "    " };
            output.line(&format!("{indent}{}", line.text));
        }
    }

    fn to_json(&self, is_approved: bool, error: Option<&Error>) -> Value {
        let texts = |lines: &[Line]| -> Value { lines.iter().map(Line::to_string).collect() };
        let (state, difference) = match &self.standing {
            Standing::Trusted => ("trusted", Vec::new()),
            Standing::Approved { .. } => ("approved", Vec::new()),
            Standing::Changed { difference } => ("changed", signed(difference)),
            _ => ("new", Vec::new()),
        };
        json!({
            "file": self.path,
            "before": state,
            "approved": is_approved,
            "lines": texts(&self.file.view().lines),
            "warnings": texts(&self.file.view().warnings),
            "difference": difference,
            "error": error.map(Error::to_json),
        })
    }
}

fn changes(output: &Output, difference: &[Change]) {
    for (change, line) in difference.iter().zip(signed(difference)) {
        let style = if change.is_new {
            Style::Good
        } else {
            Style::Bad
        };
        output.line(&format!("  {}", output.paint(style, &line)));
    }
}

fn signed(difference: &[Change]) -> Vec<String> {
    let sign = |change: &Change| if change.is_new { '+' } else { '-' };
    let signed = |change: &Change| format!("{} {}", sign(change), change.line);
    difference.iter().map(signed).collect()
}

/// Says why nothing is to be approved.
fn nothing_to_approve(output: &Output, found: Option<&Found>) -> Code {
    let [first, second] = PROJECT_FILES;
    let none = format!("there is no {first} and no {second} in this folder");
    let why = match found {
        None => none,
        Some(found) => {
            let path = shown_path(&found.path.display().to_string());
            match found.origin {
                Origin::Named => format!("{path} was named with --config, so it is trusted"),
                Origin::Variable => format!("TOOLSPAN_CONFIG names {path}, so it is trusted"),
                _ => format!("{none}; {path} is your own, so it is trusted"),
            }
        }
    };
    if output.json {
        let file = found.map(|found| found.path.to_string_lossy());
        let before = if found.is_some() { "trusted" } else { "none" };
        output.json(&json!({"file": file, "before": before, "approved": false, "error": null}));
    }
    output.talk(&format!("nothing to approve: {why}"));
    Code::DONE
}

fn list(session: &Session, environment: &Environment) -> Result<Code> {
    let store = TrustStore::of(environment)?;
    let files = store.files()?;
    if session.output.json {
        let all: Value = files.iter().map(|file| json!({"file": file})).collect();
        session.output.json(&all);
    } else {
        for file in &files {
            session
                .output
                .line(&shown_path(&file.display().to_string()));
        }
    }
    if files.is_empty() {
        session.output.talk("nothing is approved");
    }
    Ok(Code::DONE)
}

fn revoke(session: &Session, environment: &Environment) -> Result<Code> {
    let store = TrustStore::of(environment)?;
    let output = &session.output;
    let mut revoked = Vec::new();
    let named = session.global.config.as_deref();
    let files = match named {
        Some(file) => vec![file],
        None => PROJECT_FILES.iter().map(Path::new).collect(),
    };
    for file in files {
        if store.revoke(file, environment)? {
            output.talk(&format!(
                "{} is not approved any more",
                shown_path(&file.display().to_string())
            ));
            revoked.push(json!({"file": file}));
        }
    }
    if revoked.is_empty() {
        output.talk("nothing in this folder was approved");
    }
    if output.json {
        output.json(&Value::from(revoked));
    }
    Ok(Code::DONE)
}

fn shown_path(path: &str) -> String {
    sanitise::one_line(path, LONGEST_PATH)
}
