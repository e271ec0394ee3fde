//! What differs on a terminal: text is made harmless, lines fit, progress is shown.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::cli::Cli;

/// Columns of the terminal.
const COLUMNS: u16 = 60;

/// Which streams of the program are the terminal.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Stdout,
    Stderr,
}

/// What a person sees of a run: every byte that reaches the terminal.
fn on_a_terminal(cli: &Cli, seen: Seen, arguments: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&master).expect("it may be used");
    unlockpt(&master).expect("it is unlocked");
    let size = Winsize {
        ws_row: 24,
        ws_col: COLUMNS,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).expect("it has a size");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let name = name.into_string().expect("a plain name");
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .expect("the other end");
    let mut command = cli.command(arguments);
    command.env("TERM", "xterm");
    match seen {
        Seen::Stdout => command.stdout(Stdio::from(slave)).stderr(Stdio::null()),
        Seen::Stderr => command.stderr(Stdio::from(slave)).stdout(Stdio::null()),
    };
    let mut child = command.spawn().expect("the program starts");
    // Holds the terminal's other end.
    drop(command);
    let mut bytes = Vec::new();
    // The end of a pseudo terminal is an error; what came before it is kept.
    let _end = File::from(master).read_to_end(&mut bytes);
    child.wait().expect("the program ends");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_tools_text_cannot_steer_the_terminal() {
    let arguments = [
        "call",
        "echo",
        "text=a\u{1b}[2Jb\u{1b}]0;title\u{7}c\u{202e}",
        "--color=never",
    ];
    let seen = on_a_terminal(&Cli::with_demo(), Seen::Stdout, &arguments);
    assert_eq!(seen, "abc<U+202E>\r\n");
}

#[test]
fn a_table_fits_the_terminal() {
    let tools = json!([{
        "name": "long",
        "description": "A description that goes on and on until no terminal could hold it in a line",
        "inputSchema": {"type": "object"},
    }]);
    let arguments = ["tools", "--color=never"];
    let seen = on_a_terminal(&Cli::with_tools(&tools), Seen::Stdout, &arguments);
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines.len(), 2, "{seen}");
    assert!(lines[1].ends_with('…'), "{seen}");
    assert!(
        lines
            .iter()
            .all(|line| line.chars().count() <= usize::from(COLUMNS)),
        "{seen}"
    );
}

#[test]
fn the_progress_of_a_slow_tool_is_shown_and_wiped() {
    let cli = Cli::with_demo();
    let arguments = ["call", "demo__countdown", "from=10"];
    let seen = on_a_terminal(&cli, Seen::Stderr, &arguments);
    assert!(seen.contains("/10 "), "{seen:?}");
    assert!(seen.contains(" to go"), "{seen:?}");
    assert!(seen.ends_with("\u{1b}[2K"), "{seen:?}");
    let quiet = on_a_terminal(&cli, Seen::Stderr, &[&arguments[..], &["-q"]].concat());
    assert_eq!(quiet, "");
}
