//! Inputs of a config are asked for on a terminal, and nowhere else.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;

use insta::assert_snapshot;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::tcgetattr;
use serde_json::json;

use crate::cli::{BINARY, Cli};

/// A project whose server needs two inputs.
fn project() -> Cli {
    let cli = Cli::bare();
    let config = json!({
        "inputs": [
            {"type": "promptString", "id": "api-token", "description": "Token of the \u{1b}[2Jdemo",
             "password": true},
            {"type": "pickString", "id": "zone", "options": ["eu", "us"], "default": "eu"},
        ],
        "servers": {"demo": {
            "command": BINARY,
            "args": ["demo-server"],
            "env": {"TOKEN": "${input:api-token}", "ZONE": "${input:zone}", "AGAIN": "${input:zone}"},
        }},
    });
    cli.write("toolspan.json", &format!("{config:#}"));
    cli
}

/// What a person sees and what the program writes to stdout.
struct Talk {
    seen: String,
    stdout: String,
    code: Option<i32>,
    /// Whether the terminal is afterwards as it was before.
    is_restored: bool,
}

/// Runs the program with a terminal for its input and its talk; answers one question after another.
fn on_a_terminal(cli: &Cli, arguments: &[&str], answers: &[&[u8]]) -> Talk {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&master).expect("it may be used");
    unlockpt(&master).expect("it is unlocked");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let name = name.into_string().expect("a plain name");
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .expect("the other end");
    let end = || Stdio::from(slave.try_clone().expect("a second handle"));
    let modes = || tcgetattr(&slave).expect("a terminal").local_modes;
    let before = modes();
    let mut command = cli.command(arguments);
    command.env("NO_COLOR", "1").stdin(end()).stderr(end());
    let child = command.spawn().expect("the program starts");
    drop(command);
    let mut terminal = File::from(master);
    let mut seen = Vec::new();
    for answer in answers {
        seen.extend(question(&mut terminal));
        terminal.write_all(answer).expect("it reads");
    }
    let output = child.wait_with_output().expect("the program ends");
    let is_restored = modes() == before;
    drop(slave);
    // The end of a pseudo terminal is an error; what came before it is kept.
    let _end = terminal.read_to_end(&mut seen);
    Talk {
        seen: String::from_utf8(seen).expect("UTF-8"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        code: output.status.code(),
        is_restored,
    }
}

/// What is shown up to the end of the line of the next question.
fn question(terminal: &mut File) -> Vec<u8> {
    let mut shown = Vec::new();
    let mut byte = [0];
    loop {
        terminal.read_exact(&mut byte).expect("a question");
        shown.extend(byte);
        let line = shown
            .rsplit(|byte| *byte == b'\n')
            .nth(1)
            .unwrap_or_default();
        if shown.ends_with(b"\n") && (line.starts_with(b"input: ") || line.starts_with(b"run it?"))
        {
            return shown;
        }
    }
}

#[test]
fn a_password_is_asked_for_and_never_shown() {
    let arguments = ["config", "show"];
    let talk = on_a_terminal(&project(), &arguments, &[b"typed-secret\n", b"2\n"]);
    assert_eq!(
        (talk.code, talk.is_restored),
        (Some(0), true),
        "{}",
        talk.seen
    );
    assert!(!talk.seen.contains("typed-secret"), "{}", talk.seen);
    assert!(!talk.stdout.contains("typed-secret"), "{}", talk.stdout);
    assert!(talk.stdout.contains("\"ZONE\": \"us\""), "{}", talk.stdout);
    assert_snapshot!(talk.seen.replace('\r', ""));
}

#[test]
fn the_answers_reach_the_server_and_an_empty_one_is_the_default() {
    let cli = project();
    let talk = on_a_terminal(
        &cli,
        &["call", "demo__echo", "text=hi"],
        &[b"typed\n", b"\n"],
    );
    assert_eq!(
        (talk.code, &*talk.stdout),
        (Some(0), "hi\n"),
        "{}",
        talk.seen
    );
    let show = ["config", "show"];
    let talk = on_a_terminal(&cli, &show, &[b"typed\n", b"\n"]);
    assert!(talk.stdout.contains("\"ZONE\": \"eu\""), "{}", talk.stdout);
}

#[test]
fn an_answer_that_is_none_of_the_options_is_asked_for_again() {
    let answers: [&[u8]; 3] = [b"typed\n", b"mars\n", b"us\n"];
    let talk = on_a_terminal(&project(), &["config", "show"], &answers);
    let again = talk
        .seen
        .replace('\r', "")
        .matches("warning: this is none of the list\n  1  eu\n  2  us\n")
        .count();
    assert_eq!((talk.code, again), (Some(0), 1), "{}", talk.seen);
    assert!(talk.stdout.contains("\"ZONE\": \"us\""), "{}", talk.stdout);
}

#[test]
fn ctrl_c_ends_the_program_and_leaves_the_terminal_as_it_was() {
    let arguments = ["tools"];
    let talk = on_a_terminal(&project(), &arguments, &[b"half\x03"]);
    assert_eq!(
        (talk.code, talk.is_restored),
        (Some(130), true),
        "{}",
        talk.seen
    );
    assert_snapshot!(talk.seen.replace('\r', ""));
}

/// The project with another server, which shares an input and has one with a default.
fn project_of_two() -> Cli {
    let cli = project();
    let config = json!({
        "inputs": [
            {"id": "own", "description": "The own value"},
            {"id": "other", "description": "The other value", "default": "given"},
        ],
        "servers": {
            "demo": {"command": BINARY, "args": ["demo-server"], "env": {"OWN": "${input:own}"}},
            "another one": {
                "command": BINARY,
                "args": ["demo-server"],
                "env": {"OTHER": "${input:other}", "OWN": "${input:own}"},
                "required": true,
            },
        },
    });
    cli.write("toolspan.json", &format!("{config:#}"));
    cli
}

/// How often each of the two is asked for.
fn asked(talk: &Talk) -> [usize; 2] {
    ["input: The own value", "input: The other value"].map(|it| talk.seen.matches(it).count())
}

#[test]
fn what_is_about_one_server_asks_for_the_inputs_of_that_one_alone() {
    let cli = project_of_two();
    for arguments in [
        &["call", "demo__echo", "text=hi"][..],
        &["describe", "demo.echo"],
        &["doctor", "demo"],
    ] {
        let talk = on_a_terminal(&cli, arguments, &[b"typed\n"]);
        assert_eq!(talk.code, Some(0), "{arguments:?}: {}", talk.seen);
        assert_eq!(asked(&talk), [1, 0], "{arguments:?}");
        assert!(!talk.seen.contains("warning"), "{}", talk.seen);
    }
    for arguments in [&["doctor"][..], &["tools"]] {
        let talk = on_a_terminal(&cli, arguments, &[b"typed\n", b"typed\n"]);
        assert_eq!(talk.code, Some(0), "{arguments:?}: {}", talk.seen);
        assert_eq!(asked(&talk), [1, 1], "{arguments:?}");
    }
    // Nobody can say what a server that does not exist would need.
    let talk = on_a_terminal(&cli, &["doctor", "none"], &[]);
    assert_eq!(
        (talk.code, asked(&talk)),
        (Some(2), [0, 0]),
        "{}",
        talk.seen
    );
}

#[test]
fn a_server_whose_inputs_were_not_asked_for_is_not_started_with_their_defaults() {
    let cli = project_of_two();
    let talk = on_a_terminal(&cli, &["call", "demo__nothing"], &[b"typed\n"]);
    assert_eq!(asked(&talk), [1, 0]);
    assert_snapshot!(talk.seen.replace('\r', ""));
}

#[test]
fn without_a_terminal_the_entry_says_how_the_value_is_given() {
    let cli = project();
    assert_snapshot!(cli.run(&["config", "check"]));
    let mut command = cli.command(&["call", "demo__echo", "text=hi"]);
    command.env("TOOLSPAN_INPUT_API_TOKEN", "given");
    let ran = cli.ran(command.output().expect("the program starts"));
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "hi\n"), "{ran}");
}

/// A project whose calls are confirmed, and a batch of calls.
fn confirmed() -> Cli {
    let cli = Cli::bare();
    let config = json!({
        "mcpServers": {"demo": {"command": BINARY, "args": ["demo-server"]}},
        "policy": {"confirm": "always", "deny": ["demo__add"]},
    });
    cli.write("toolspan.json", &config.to_string());
    let line = |text: &str| format!("{{\"tool\": \"echo\", \"args\": {{\"text\": \"{text}\"}}}}\n");
    cli.write(
        "calls.ndjson",
        &[line("one"), line("two"), line("three")].concat(),
    );
    cli
}

#[test]
fn a_call_of_a_batch_is_asked_about_and_what_is_shown_is_what_is_sent() {
    let arguments = ["-c", "toolspan.json", "call", "--batch", "calls.ndjson"];
    let talk = on_a_terminal(&confirmed(), &arguments, &[b"y\n", b"no\n", b"yes\n"]);
    assert_eq!(
        (talk.code, talk.is_restored),
        (Some(8), true),
        "{}",
        talk.seen
    );
    let texts: Vec<bool> = ["one", "two", "three"]
        .iter()
        .map(|text| talk.stdout.contains(&format!("\"text\":\"{text}\"")))
        .collect();
    assert_eq!(texts, [true, false, true], "{}", talk.stdout);
    assert!(talk.stdout.contains("policy_denied"), "{}", talk.stdout);
    assert!(
        talk.seen.contains("arguments: {\"text\":\"two\"}"),
        "{}",
        talk.seen
    );
    assert!(talk.seen.contains("demo-server"), "{}", talk.seen);
}

#[test]
fn ctrl_c_as_the_answer_ends_the_batch() {
    let arguments = ["-c", "toolspan.json", "call", "--batch", "calls.ndjson"];
    let talk = on_a_terminal(&confirmed(), &arguments, &[b"\x03"]);
    assert_eq!(
        (talk.code, talk.is_restored),
        (Some(130), true),
        "{}",
        talk.seen
    );
    assert!(!talk.stdout.contains("three"), "{}", talk.stdout);
}

#[test]
fn without_a_terminal_a_batch_is_refused_and_a_typed_call_is_approved_unless_it_is_denied() {
    let cli = confirmed();
    let batch = cli.run(&["-c", "toolspan.json", "call", "--batch", "calls.ndjson"]);
    assert_eq!(batch.code, Some(8), "{}", batch.stderr);
    assert!(
        batch.stdout.contains("approval_required"),
        "{}",
        batch.stdout
    );
    let typed = cli.run(&["-c", "toolspan.json", "call", "echo", "text=a"]);
    assert_eq!(
        (typed.code, typed.stdout.as_str()),
        (Some(0), "a\n"),
        "{}",
        typed.stderr
    );
    let denied = cli.run(&["-c", "toolspan.json", "call", "add", "a=1", "b=2"]);
    assert_eq!(denied.code, Some(8), "{}", denied.stderr);
    assert!(denied.stderr.contains("policy.deny"), "{}", denied.stderr);
}
