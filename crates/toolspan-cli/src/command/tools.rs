//! `toolspan tools`: which tools are there?

use serde_json::Value;
use toolspan::guard::sanitise;
use toolspan::{RegisteredTool, Result, Snapshot};

use crate::args::{Format, Tools};
use crate::exit::Code;
use crate::output::{json, tools};
use crate::session::Session;

/// Lists the tools. What works is listed even if other toolboxes failed.
pub(super) async fn run(session: &Session, wanted: &Tools) -> Result<Code> {
    session
        .with_host(async |host| {
            let failure = session.settle(host).await?;
            let snapshot = host.snapshot();
            match failure {
                Some(error) if session.output.json || snapshot.tools().is_empty() => {
                    Ok(session.start_failed(&error))
                }
                failure => {
                    print(session, wanted, &snapshot);
                    session.report_faults(host, failure.as_ref());
                    Ok(failure.map_or(Code::DONE, |error| session.start_failed(&error)))
                }
            }
        })
        .await
}

fn print(session: &Session, wanted: &Tools, snapshot: &Snapshot) {
    let output = &session.output;
    let matching = |tool: &RegisteredTool| {
        let pattern = wanted.pattern.as_deref();
        pattern.is_none_or(|it| matches(it, &tool.name) || matches(it, &tool.definition.name))
    };
    let projected = |all: Value| -> Value {
        let Value::Array(all) = all else { return all };
        let kept = all
            .into_iter()
            .zip(snapshot.tools())
            .filter(|(_, tool)| matching(tool));
        kept.map(|(projected, _)| projected).collect()
    };
    match wanted.format {
        Format::Mcp => output.json(&projected(snapshot.to_mcp())),
        Format::Openai => output.json(&projected(snapshot.to_openai())),
        Format::Native if output.json => {
            output.json(
                &snapshot
                    .tools()
                    .iter()
                    .filter(|it| matching(it))
                    .map(json::tool)
                    .collect(),
            );
        }
        Format::Native => {
            let listed: Vec<_> = snapshot.tools().iter().filter(|it| matching(it)).collect();
            if listed.is_empty() {
                output.talk(&nothing_listed(wanted.pattern.as_deref(), snapshot));
            } else {
                print_table(session, &listed);
            }
        }
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
