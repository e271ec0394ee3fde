//! Which further texts does a command have run: of `sh -c`, `eval`, a pipe into a shell?

use super::command::{Plain, Source, printed};
use super::shell::{Command, Script};

/// How many commands further a here-document is followed.
const STAGES: usize = 64;

/// What a command hands on.
enum Onward {
    Text(String),
    Words(Vec<String>),
}

/// Adds what the last command of a script hands on.
pub(super) fn follow(script: &mut Script) {
    for onward in last_onward(script) {
        match onward {
            Onward::Text(text) => script.add(&text, false),
            Onward::Words(words) => script.add_words(words),
        }
    }
}

/// Whether the last command hands on anything.
pub(super) fn leads_on(script: &Script) -> bool {
    !last_onward(script).is_empty()
}

fn last_onward(script: &Script) -> Vec<Onward> {
    let Some(command) = script.commands.last() else {
        return Vec::new();
    };
    let Some(plain) = Plain::of(&command.words) else {
        return Vec::new();
    };
    let mut onward = of_arguments(plain);
    if plain.executes_input() {
        match &command.input {
            Some(input) => onward.push(Onward::Text(input.clone())),
            None if command.piped => {
                onward.extend(before(script, command).into_iter().map(Onward::Text));
            }
            None => {}
        }
    }
    onward
}

/// Adds what runs a here-document that was read after its command.
pub(super) fn follow_input(script: &mut Script, index: usize) {
    let Some(command) = script.commands.get(index) else {
        return;
    };
    let Some(input) = command.input.clone() else {
        return;
    };
    let mut pipeline = script
        .commands
        .iter()
        .skip(index)
        .take(STAGES)
        .filter(|later| later.pipeline == command.pipeline);
    let runs =
        pipeline.any(|later| Plain::of(&later.words).is_some_and(|plain| plain.executes_input()));
    if runs {
        script.add(&input, false);
    }
}

/// What the command before gives, where that can be said.
fn before(script: &Script, command: &Command) -> Option<String> {
    let giver = script.commands.iter().rev().nth(1)?;
    (giver.pipeline == command.pipeline)
        .then(|| printed(giver))
        .flatten()
}

fn of_arguments(plain: Plain<'_>) -> Vec<Onward> {
    let text = |text: &str| vec![Onward::Text(text.to_owned())];
    if plain.is_shell() || plain.is_power_shell() {
        return match plain.source() {
            Some(Source::Text(code)) => text(code),
            _ => Vec::new(),
        };
    }
    if plain.is_interpreter() {
        return match plain.source() {
            Some(Source::Text(code)) => literals_of(code),
            _ => Vec::new(),
        };
    }
    if plain.is(&["eval", "iex", "invoke-expression"]) {
        return text(&plain.args.join(" "));
    }
    if plain.is(&["su", "script", "runuser"]) {
        return plain
            .values('c', &["command"])
            .into_iter()
            .map(|code| Onward::Text(code.to_owned()))
            .collect();
    }
    if plain.is(&["trap"]) {
        return plain
            .args
            .first()
            .map(|code| text(code))
            .unwrap_or_default();
    }
    if plain.is(&["alias"]) {
        let set = plain.args.iter().filter_map(|word| word.split_once('='));
        return set.map(|(_, code)| Onward::Text(code.to_owned())).collect();
    }
    if plain.is(&["ssh"]) {
        let after_host: Vec<&str> = plain.operands().skip(1).collect();
        return text(&after_host.join(" "));
    }
    if plain.is(&["cmd"]) {
        let code = plain
            .args
            .iter()
            .skip_while(|word| !word.eq_ignore_ascii_case("/c"));
        return text(
            &code
                .skip(1)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    if plain.is(&["docker", "podman", "kubectl"])
        && plain
            .args
            .iter()
            .any(|word| matches!(word.as_str(), "exec" | "run"))
    {
        return of_container(plain);
    }
    if plain.is(&["find", "fd"]) {
        return of_find(plain);
    }
    Vec::new()
}

/// A shell in a container: its text, which may reach what is mounted.
fn of_container(plain: Plain<'_>) -> Vec<Onward> {
    let at = plain
        .args
        .iter()
        .position(|word| matches!(word.as_str(), "sh" | "bash" | "/bin/sh" | "/bin/bash"));
    let words = at
        .and_then(|at| plain.args.get(at..))
        .map(<[String]>::to_vec);
    words.map(Onward::Words).into_iter().collect()
}

/// The commands of `-exec`.
fn of_find(plain: Plain<'_>) -> Vec<Onward> {
    const EXEC: [&str; 6] = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X"];
    let mut onward = Vec::new();
    let mut rest = plain.args;
    // Most searches run one command; each is as long as its own words.
    while let Some(at) = rest.iter().position(|word| EXEC.contains(&word.as_str())) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|word| matches!(word.as_str(), ";" | "+"));
        let words = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        onward.push(Onward::Words(words.to_vec()));
        rest = rest
            .get(end.map_or(rest.len(), |end| end + 1)..)
            .unwrap_or_default();
    }
    onward
}

/// Quoted texts in code that runs commands: one of them is the command.
fn literals_of(code: &str) -> Vec<Onward> {
    let runs = [
        "system",
        "popen",
        "subprocess",
        "exec",
        "spawn",
        "shell",
        "child_process",
        "qx",
    ];
    if !runs.iter().any(|word| code.contains(word)) {
        return Vec::new();
    }
    literals(code)
        .map(|literal| Onward::Text(literal.to_owned()))
        .collect()
}

/// The texts between quotes of one kind, at most 64 of them.
pub(super) fn literals(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let start = rest.find(['"', '\'', '`'])?;
        let quote = rest.get(start..)?.chars().next()?;
        let inner = rest.get(start + 1..)?;
        let (literal, after) = inner.split_once(quote).unwrap_or((inner, ""));
        rest = after;
        Some(literal)
    })
    .take(64)
}
