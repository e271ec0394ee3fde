//! Does the program do to its process what a script says? What the operating system shows.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::stage::session;

/// No play of a test lasts longer, in seconds; a hanging test ends by it.
const LIFETIME: &str = "60";

/// A running server; killed when dropped.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
}

impl Server {
    fn start<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "this test is about the process itself"
        )]
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolspan-faults"));
        command.args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("piped")),
            errors: BufReader::new(child.stderr.take().expect("piped")),
            child,
        }
    }

    fn playing(steps: &Value) -> Self {
        Self::start(["--lifetime", LIFETIME, "--steps", &steps.to_string()])
    }

    fn named(fault: &str) -> Self {
        Self::start(["--lifetime", LIFETIME, "--fault", fault])
    }

    fn say(&mut self, text: &str) {
        self.input
            .as_mut()
            .expect("open")
            .write_all(text.as_bytes())
            .expect("it reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("readable");
        line.trim_end().to_owned()
    }

    fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).expect("readable");
        line.trim_end().to_owned()
    }

    fn close_input(&mut self) {
        self.input = None;
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("our child").is_none()
    }

    /// Closes the input and waits for the end.
    fn end(&mut self) -> ExitStatus {
        self.close_input();
        self.child.wait().expect("our child")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; either way it is reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that is nobody's child here; killed when dropped.
struct Stray(i32);

impl Stray {
    fn parse(pid: &str) -> Self {
        Self(pid.parse().expect("a process id"))
    }

    /// State, parent, group and session, fields 3 to 6 of proc(5).
    fn stat(&self) -> (String, [i32; 3]) {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0)).expect("it runs");
        let (_, rest) = text.rsplit_once(") ").expect("a name in brackets");
        let fields: Vec<&str> = rest.split(' ').collect();
        (
            fields[0].to_owned(),
            [1, 2, 3].map(|at| fields[at].parse().expect("a number")),
        )
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.0).expect("above 0"), signal).expect("it runs");
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

pub(crate) fn fifo(folder: &Path, name: &str) -> (PathBuf, File) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let path = folder.join(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a new FIFO");
    let file = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("both directions");
    (path, file)
}

#[test]
fn exit_codes_and_the_error_stream_are_the_scripts() {
    let mut server = Server::named("exit_with_stderr");
    assert_eq!(server.end().code(), Some(3));
    assert_eq!(
        server.error_line(),
        "cannot open the database: no such file"
    );
    assert_eq!(Server::named("honest").end().code(), Some(0));
}

#[test]
fn what_cannot_be_run_exits_with_125_and_says_why() {
    for (arguments, why) in [
        (
            ["--fault", "nope"],
            "toolspan-faults: there is no fault named `nope`",
        ),
        (["--steps", "[1]"], "toolspan-faults: step 1 is not a step"),
        (
            ["--script", "/nowhere"],
            "toolspan-faults: cannot read script /nowhere",
        ),
        (
            ["--steps", "[\"close_stdout\",{\"send\":1}]"],
            "toolspan-faults: step 2 failed",
        ),
    ] {
        let mut server = Server::start(arguments);
        assert_eq!(server.end().code(), Some(125));
        let said = server.error_line();
        assert!(said.starts_with(why), "{said}");
    }
}

#[test]
fn it_kills_itself_by_the_named_signal() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("ABRT", 6)] {
        let steps = json!([{"ignore_signals": ["TERM"]}, {"kill_self": {"signal": name}}]);
        assert_eq!(Server::playing(&steps).end().signal(), Some(number));
    }
}

#[test]
fn an_unplayable_signal_is_an_error() {
    let mut server = Server::playing(&json!([{"ignore_signals": ["KILL"]}]));
    assert_eq!(server.end().code(), Some(125));
    assert!(
        server
            .error_line()
            .contains("step 1 failed: cannot ignore signals")
    );
}

#[test]
fn ignored_signals_and_the_end_of_input_do_not_end_it() {
    let mut server = Server::named("ignore_eof_and_term");
    server.say(&session());
    assert!(server.line().contains("\"id\":1"));
    server.signal(Signal::TERM);
    server.say("{\"id\":77,\"method\":\"ping\"}\n");
    while !server.line().contains("\"id\":77") {}
    server.close_input();
    assert_eq!(server.error_line(), "stays until it is killed");
    server.signal(Signal::TERM);
    assert!(server.is_running());
    server.signal(Signal::KILL);
    assert_eq!(server.end().signal(), Some(9));
}

#[test]
fn a_closed_input_breaks_the_clients_pipe() {
    let mut server = Server::playing(&json!(["handshake", "close_stdin", {"send": "closed"}]));
    server.say(&session());
    while server.line() != "\"closed\"" {}
    let error = server
        .input
        .as_mut()
        .unwrap()
        .write_all(b"more\n")
        .expect_err("nobody reads");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert!(server.is_running());
}

#[test]
fn a_closed_output_ends_while_the_process_goes_on() {
    let mut server = Server::named("close_stdout_on_call");
    server.say(&session());
    let mut rest = String::new();
    server.output.read_to_string(&mut rest).expect("readable");
    assert_eq!(rest.lines().count(), 3);
    assert!(server.is_running());
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_server_that_does_not_read_lets_its_pipe_fill_up() {
    let mut server = Server::named("never_reads");
    server.say(&session());
    assert_eq!(server.error_line(), "stays until it is killed");
    let input = server.input.as_mut().unwrap();
    rustix::io::ioctl_fionbio(&*input, true).expect("a pipe");
    let error = std::iter::repeat_with(|| input.write_all(&[b'x'; 4096]).err())
        .flatten()
        .next();
    assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::WouldBlock));
    assert!(server.is_running());
}

#[test]
fn a_hold_waits_for_its_release_and_a_release_may_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let (hold_path, mut hold) = fifo(folder.path(), "hold");
    let (reached_path, mut reached) = fifo(folder.path(), "reached");
    let step = json!({"hold": {"fifo": hold_path, "reached": reached_path}});
    let mut server =
        Server::playing(&json!([{"send": 1}, step, step, {"send": 2}, {"exit": {"code": 0}}]));
    assert_eq!(server.line(), "1", "what was sent before a hold is written");
    reached.read_exact(&mut [0]).unwrap();
    assert!(server.is_running());
    hold.write_all(b"ab").unwrap();
    reached.read_exact(&mut [0]).unwrap();
    assert_eq!(server.line(), "2");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_hold_passes_when_its_only_writer_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let (hold_path, hold) = fifo(folder.path(), "hold");
    let (reached_path, mut reached) = fifo(folder.path(), "reached");
    drop(hold);
    let step = json!({"hold": {"fifo": hold_path, "reached": reached_path}});
    let mut server = Server::playing(&json!([step, {"send": 1}]));
    reached.read_exact(&mut [0]).unwrap();
    assert!(
        server.is_running(),
        "a writer is waited for even when there is none yet"
    );
    drop(File::options().write(true).open(hold_path).unwrap());
    assert_eq!(server.line(), "1");
}

#[test]
fn a_grandchild_keeps_the_pipes_of_its_dead_parent() {
    let mut server = Server::named("grandchild");
    let said = server.error_line();
    let stray = Stray::parse(said.strip_prefix("grandchild ").expect("its id"));
    let parent = i32::try_from(server.child.id()).unwrap();
    assert_eq!(stray.stat().1[0], parent);
    let link = |pid: i32, descriptor: &str| fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
    let ours = link(i32::try_from(std::process::id()).unwrap(), &{
        use std::os::fd::AsRawFd;
        server.output.get_ref().as_raw_fd().to_string()
    });
    assert_eq!(server.end().code(), Some(0));
    let (state, [parent_now, ..]) = stray.stat();
    assert_ne!(state, "Z");
    assert_ne!(parent_now, parent);
    let ours = ours.unwrap();
    let holds = (3..32).any(|number| link(stray.0, &number.to_string()).is_ok_and(|it| it == ours));
    assert!(holds, "the grandchild holds {}", ours.display());
}

#[test]
fn a_detached_grandchild_is_as_the_step_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let steps = json!([{"spawn_grandchild": {"double_fork": true, "setsid": true,
        "ignore_signals": ["TERM"], "close_streams": true, "pid_file": file}}, {"send": 1}]);
    let mut server = Server::playing(&steps);
    assert_eq!(server.line(), "1");
    let stray = Stray::parse(&fs::read_to_string(&file).unwrap());
    assert_eq!(server.end().code(), Some(0));
    let mut rest = String::new();
    server.output.read_to_string(&mut rest).unwrap();
    server.errors.read_to_string(&mut rest).unwrap();
    assert_eq!(
        rest, "",
        "both streams end, since the grandchild let go of them"
    );
    let (_, [parent, group, session]) = stray.stat();
    assert_ne!(u32::try_from(parent).unwrap(), server.child.id());
    assert_eq!([group, session], [stray.0, stray.0]);
    stray.signal(Signal::TERM);
    assert_ne!(stray.stat().0, "Z");
}

#[test]
fn a_play_ends_with_its_lifetime() {
    let mut server = Server::start(["--lifetime", "1", "--steps", "[\"stop_reading\"]"]);
    assert_eq!(server.child.wait().unwrap().signal(), Some(14));
}

#[test]
fn the_program_records_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record");
    let mut server = Server::start(["--record", file.to_str().unwrap(), "--fault", "honest"]);
    server.say(&session());
    server.end();
    assert_eq!(fs::read_to_string(file).unwrap(), session());
}

#[test]
fn the_list_and_a_script_can_be_printed_and_played_again() {
    let mut server = Server::start(["--list"]);
    let mut list = String::new();
    server.output.read_to_string(&mut list).unwrap();
    assert!(list.contains("\nexit_on_call "), "{list}");
    let mut server = Server::start(["--show", "exit_at_start"]);
    let mut text = String::new();
    server.output.read_to_string(&mut text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.jsonl");
    fs::write(&file, text).unwrap();
    let mut server = Server::start([OsStr::new("--script"), file.as_os_str()]);
    assert_eq!(server.end().code(), Some(3));
}

#[test]
fn the_null_server_answers_a_thousand_calls_in_order() {
    let mut server = Server::start(["--null-server"]);
    server.say(&session());
    let ids: Vec<Value> = (0..5)
        .map(|_| serde_json::from_str::<Value>(&server.line()).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    let calls: String = (0..1000)
        .map(|id| format!("{}\n", crate::stage::call(id, "x")))
        .collect();
    server.say(&calls);
    for id in 0..1000 {
        let reply: Value = serde_json::from_str(&server.line()).unwrap();
        let expected = json!({"jsonrpc": "2.0", "id": id,
            "result": {"content": [{"type": "text", "text": "ok"}], "isError": false}});
        assert_eq!(reply, expected);
    }
    assert_eq!(server.end().code(), Some(0));
}
