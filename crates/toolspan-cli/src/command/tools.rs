//! `toolspan tools`: which tools are there?

use toolspan::guard::sanitise;
use toolspan::llm::{Api, Form, Strict};
use toolspan::{Error, ErrorKind, Host, Phase, RegisteredTool, Result, Snapshot};

use crate::args::{Format, Tools};
use crate::exit::Code;
use crate::output::{json, losses, tools};
use crate::session::Session;

/// Lists the tools. What works is listed even if other toolboxes failed.
pub(super) async fn run(session: &Session, wanted: &Tools) -> Result<Code> {
    let form = form(wanted)?;
    session
        .with_host(async |host| {
            let failure = session.settle(host).await?;
            let snapshot = host.snapshot();
            match failure {
                Some(error) if session.output.json || snapshot.tools().is_empty() => {
                    Ok(session.start_failed(&error))
                }
                failure => {
                    match form {
                        None => print(session, wanted, &snapshot),
                        Some(form) => print_form(session, wanted, (host, form)),
                    }
                    session.report_faults(host, failure.as_ref());
                    Ok(failure.map_or(Code::DONE, |error| session.start_failed(&error)))
                }
            }
        })
        .await
}

/// The form that is wanted; none for the program's own.
///
/// # Errors
///
/// `usage` for options that mean nothing together.
fn form(wanted: &Tools) -> Result<Option<Form>> {
    let api = match wanted.format {
        Format::Native => None,
        Format::Mcp => Some(Api::Mcp),
        Format::Openai => Some(Api::OpenAi),
        Format::Responses => Some(Api::Responses),
        Format::Anthropic => Some(Api::Anthropic),
        Format::Gemini => Some(Api::Gemini),
        Format::GeminiOpenapi => Some(Api::GeminiOpenApi),
    };
    let refused = |message: &str, hint: &str| {
        let error = Error::new(ErrorKind::Usage, Phase::Config, message);
        Err(error.with_hint(hint))
    };
    let takes_strict = matches!(api, Some(Api::OpenAi | Api::Responses | Api::Anthropic));
    if wanted.strict && !takes_strict {
        let message = "--strict is for an API that holds a model to a schema";
        return refused(message, "add --format openai, responses or anthropic");
    }
    if wanted.losses && api.is_none() {
        let message = "--losses tells what the form of an API changes of the tools";
        let names = Api::ALL.map(Api::as_str).join(", ");
        return refused(message, &format!("add --format with one of {names}"));
    }
    let strict = match wanted.strict {
        true => Strict::WherePossible,
        false => Strict::Off,
    };
    Ok(api.map(|api| Form::new(api).with_strict(strict)))
}

/// Prints the tools in the form of an API, or what that costs.
fn print_form(session: &Session, wanted: &Tools, (host, form): (&Host, Form)) {
    let output = &session.output;
    let projection = host.project_some(&form, &|tool| is_wanted(wanted, tool));
    match wanted.losses {
        true if output.json => output.json(&losses::json(&form, &projection)),
        true => {
            for line in losses::lines(output, &form, &projection) {
                output.line(&line);
            }
        }
        false => {
            output.json(&projection.tools);
            for left_out in &projection.left_out {
                output.warn(&losses::left_out(&form, left_out));
            }
        }
    }
}

/// Whether the pattern, if there is one, means the tool.
fn is_wanted(wanted: &Tools, tool: &RegisteredTool) -> bool {
    let pattern = wanted.pattern.as_deref();
    pattern.is_none_or(|it| matches(it, &tool.name) || matches(it, &tool.definition.name))
}

fn print(session: &Session, wanted: &Tools, snapshot: &Snapshot) {
    let output = &session.output;
    let all = snapshot.tools().iter();
    let listed: Vec<_> = all.filter(|tool| is_wanted(wanted, tool)).collect();
    if output.json {
        output.json(&listed.into_iter().map(json::tool).collect());
    } else if listed.is_empty() {
        output.talk(&nothing_listed(wanted.pattern.as_deref(), snapshot));
    } else {
        print_table(session, &listed);
    }
}

fn nothing_listed(pattern: Option<&str>, snapshot: &Snapshot) -> String {
    match pattern {
        Some(pattern) if !snapshot.tools().is_empty() => {
            let pattern = sanitise::one_line(pattern, 100);
            format!(
                "none of the {} tools matches \"{pattern}\"",
                snapshot.tools().len()
            )
        }
        _ => "there are no tools".to_owned(),
    }
}

fn print_table(session: &Session, listed: &[&RegisteredTool]) {
    let output = &session.output;
    for line in tools::table(listed).lines(output.columns(), output.has_colour()) {
        output.line(&line);
    }
}

/// Whether a name matches: with `*` or `?` the whole of it, else any part; case does not count.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    if pattern.contains(['*', '?']) {
        matches_whole(&pattern, &name)
    } else {
        name.contains(&pattern)
    }
}

/// Matches `*` (any text) and `?` (one character) in time `pattern` times `name`.
fn matches_whole(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // For each length of the name's head: whether the pattern read so far matches that head.
    let mut heads = vec![false; name.len() + 1];
    if let Some(empty) = heads.first_mut() {
        *empty = true;
    }
    for wanted in pattern.chars() {
        let mut any_before = false;
        let before = heads.clone();
        for (length, head) in heads.iter_mut().enumerate() {
            any_before |= before.get(length).copied().unwrap_or_default();
            let shorter = length.checked_sub(1);
            let last = shorter.and_then(|index| name.get(index));
            let shorter_matches = shorter.and_then(|index| before.get(index)).copied();
            *head = match wanted {
                '*' => any_before,
                '?' => shorter_matches.unwrap_or_default(),
                wanted => last == Some(&wanted) && shorter_matches.unwrap_or_default(),
            };
        }
    }
    heads.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_part_of_the_name_or_a_glob_of_the_whole() {
        for (pattern, name, expected) in [
            ("time", "git__get_time", true),
            ("TIME", "time__now", true),
            ("*__now", "time__now", true),
            ("*now", "time__nowhere", false),
            ("t?me__*", "time__now", true),
            ("**", "", true),
            ("?", "é", true),
            ("a*b*c", "axxbxxc", true),
            ("a*b*c", "axxbxx", false),
            ("x", "time", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
