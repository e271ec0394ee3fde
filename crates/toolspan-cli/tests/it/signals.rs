//! What happens on Ctrl-C and SIGTERM? The server is told, nothing is left, the exit code says so.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use toolspan_testkit::{Fault, Marker, marked_processes, wait_until};

use crate::cli::{Cli, Ran};

/// A call that is never answered, and what its server is sent.
struct Stuck {
    cli: Cli,
    child: Child,
    /// Every line that the server reads; it ends when no process has it open any more.
    record: BufReader<File>,
    marker: Marker,
}

impl Stuck {
    /// Starts the program and waits until its server has been started.
    fn start(fault: Fault, arguments: &[&str]) -> Self {
        let marker = Marker::new();
        let folder = Cli::bare();
        let fifo = folder.path("record");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).expect("a named pipe");
        let fault = fault.recording(&fifo).marked(&marker);
        let config = json!({"mcpServers": {"bad": fault.config_entry()}});
        folder.write("toolspan.json", &config.to_string());
        let child = folder.command(arguments).spawn().expect("it starts");
        // Opening waits for the server to open its end.
        let record = BufReader::new(File::open(&fifo).expect("the named pipe"));
        Self {
            cli: folder,
            child,
            record,
            marker,
        }
    }

    /// Starts a call and waits until its server has it.
    fn call(fault: Fault) -> Self {
        let mut stuck = Self::start(fault, &["call", "bad__echo", "text=a"]);
        stuck.read_until("tools/call");
        stuck
    }

    /// Reads what the server was sent up to a message with this in it.
    #[track_caller]
    fn read_until(&mut self, wanted: &str) {
        let mut line = String::new();
        while !line.contains(wanted) {
            line.clear();
            let length = self.record.read_line(&mut line).expect("a line");
            assert_ne!(length, 0, "the server ended without {wanted}");
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits for the end of the program, and of the server.
    fn end(mut self) -> Ran {
        let ran = self
            .cli
            .ran(self.child.wait_with_output().expect("it ends"));
        self.record
            .read_to_end(&mut Vec::new())
            .expect("the server ends");
        assert_eq!(marked_processes(&self.marker.assignment()), []);
        ran
    }
}

#[test]
fn ctrl_c_cancels_the_call_at_the_server_and_is_exit_130() {
    let mut stuck = Stuck::call(Fault::named("never_answer_call"));
    stuck.signal(Signal::INT);
    stuck.read_until("notifications/cancelled");
    insta::assert_snapshot!(stuck.end());
}

#[test]
fn sigterm_does_the_same_and_is_exit_143() {
    let mut stuck = Stuck::call(stubborn());
    assert_eq!(marked_processes(&stuck.marker.assignment()).len(), 2);
    stuck.signal(Signal::TERM);
    stuck.read_until("notifications/cancelled");
    assert_eq!(stuck.end().code, Some(143));
}

#[test]
fn a_second_ctrl_c_ends_the_program_at_once_and_still_leaves_no_server() {
    let mut stuck = Stuck::call(Fault::script([
        json!({"ignore_signals": ["TERM", "INT", "HUP"]}),
        json!("ignore_eof"),
        json!({"expect": "tools/call"}),
        json!("serve"),
    ]));
    stuck.signal(Signal::INT);
    stuck.read_until("notifications/cancelled");
    stuck.signal(Signal::INT);
    assert_eq!(stuck.end().code, Some(130));
}

/// A server that ends neither by itself nor by SIGTERM, with a descendant that left its session.
fn stubborn() -> Fault {
    Fault::script([
        json!({"ignore_signals": ["TERM", "INT", "HUP"]}),
        json!("ignore_eof"),
        json!({"spawn_grandchild": {"double_fork": true, "setsid": true, "ignore_signals": ["TERM", "INT", "HUP"]}}),
        json!({"expect": "tools/call"}),
        json!("serve"),
    ])
}

#[test]
fn a_killed_program_leaves_no_server_and_no_descendant() {
    let mut stuck = Stuck::call(stubborn());
    assert_eq!(marked_processes(&stuck.marker.assignment()).len(), 2);
    let began = Instant::now();
    stuck.child.kill().expect("it runs");
    let marker = stuck.marker.assignment();
    wait_until(Duration::from_secs(3), "what the watchdog promises", || {
        marked_processes(&marker).is_empty()
    });
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(stuck.end().code, None);
}

#[test]
fn ctrl_c_ends_a_stubborn_server_and_its_descendant_within_the_close_limit() {
    let stuck = Stuck::call(stubborn());
    assert_eq!(marked_processes(&stuck.marker.assignment()).len(), 2);
    let began = Instant::now();
    stuck.signal(Signal::INT);
    assert_eq!(stuck.end().code, Some(130));
    assert!(began.elapsed() < Duration::from_secs(6));
}

#[test]
fn ctrl_c_while_a_server_starts_is_exit_130_too() {
    let fault = Fault::named("never_answer_initialize");
    let mut stuck = Stuck::start(fault, &["tools", "--json"]);
    stuck.read_until("initialize");
    stuck.signal(Signal::INT);
    let ran = stuck.end();
    assert_eq!(
        (ran.code, &ran.json()["error"]["kind"]),
        (Some(130), &json!("cancelled"))
    );
}

#[test]
fn ctrl_c_ends_a_batch_that_waits_for_its_input() {
    let cli = Cli::with_demo();
    let mut command = cli.command(&["call", "--batch", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(b"{\"tool\": \"demo__now\"}\n")
        .expect("it reads");
    // The first result says that the batch is under way; the second line never comes.
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    stdout.read_line(&mut String::new()).expect("a result");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    drop(stdin);
}
