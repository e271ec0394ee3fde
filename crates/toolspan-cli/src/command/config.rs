//! `toolspan config`: is the config right, what does it mean, and what may be in it?

use serde_json::{Value, json};
use toolspan::config::{Environment, Problem};
use toolspan::{Error, ErrorKind, Phase, Result};

use crate::exit::Code;
use crate::output::{Style, human};
use crate::session::Session;

/// Checks the config; any problem is exit 2. What is merely odd is said and does not count.
pub(super) fn check(session: &Session) -> Result<Code> {
    let output = &session.output;
    let config = session.config(&Environment::capture())?;
    let problems: Vec<&Problem> = config.problems().collect();
    let error = summary(&problems);
    if output.json {
        let all =
            |problems: &[&Problem]| -> Value { problems.iter().map(|it| it.to_json()).collect() };
        output.json(&json!({
            "error": error.as_ref().map(Error::to_json),
            "problems": all(&problems),
            "warnings": all(&config.warnings.iter().collect::<Vec<_>>()),
            "notes": all(&config.notes.iter().collect::<Vec<_>>()),
        }));
    } else {
        problems
            .iter()
            .for_each(|problem| output.line(&problem.to_string()));
    }
    config
        .warnings
        .iter()
        .for_each(|warning| output.warn(&warning.to_string()));
    config
        .notes
        .iter()
        .for_each(|note| output.note(&note.to_string()));
    if let Some(error) = error {
        human::error(output, &error);
        return Ok(Code::USAGE);
    }
    let disabled = config
        .toolboxes
        .iter()
        .filter(|toolbox| toolbox.disabled)
        .count();
    let source = config.source.as_ref().map_or_else(
        || "the command line".to_owned(),
        |file| file.display().to_string(),
    );
    output.talk(&format!(
        "{} {source}: {}, {disabled} disabled",
        output.paint_error(Style::Good, "ok"),
        counted(config.toolboxes.len(), "toolbox", "toolboxes"),
    ));
    Ok(Code::DONE)
}

/// The error of a config with problems.
fn summary(problems: &[&Problem]) -> Option<Error> {
    let message = match problems {
        [] => return None,
        problems => format!(
            "the config has {}",
            counted(problems.len(), "problem", "problems")
        ),
    };
    Some(Error::new(ErrorKind::Config, Phase::Config, message))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Shows what is read from the config, defaults filled in and secrets hidden.
pub(super) fn show(session: &Session) -> Result<Code> {
    let config = session.config(&Environment::capture())?;
    print(session, &config.to_json());
    Ok(Code::DONE)
}

/// Prints the JSON Schema of the config.
pub(super) fn schema(session: &Session) -> Result<Code> {
    print(session, &toolspan::config::schema());
    Ok(Code::DONE)
}

fn print(session: &Session, value: &Value) {
    match session.output.json {
        true => session.output.json(value),
        false => session.output.data(&format!("{value:#}\n")),
    }
}
