//! How do these tests talk to a server?

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use toolspan_testkit::Fault;

/// More than any of these tests needs, also on a loaded machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A running server; killed and reaped when dropped.
pub(crate) struct Session {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Session {
    pub(crate) fn start(fault: &Fault) -> Self {
        let mut command = fault.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            input: child.stdin.take(),
            output,
            child,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input
            .as_mut()
            .expect("open")
            .write_all(line.as_bytes())
            .expect("it reads");
    }

    pub(crate) fn call(&mut self, id: u32, text: &str) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"text": text}}}));
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("readable");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Closes the input; an honest server then ends.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It may have ended already; either way it is reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
