//! How does a test reach a real MCP server over HTTP?
//!
//! The server is told to listen at port 0, so that no two tests can want the same port; which one it
//! got is asked of the kernel. It belongs to the process group of the test: whatever ends the test
//! ends it, too.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::listening::listening_port;
use super::{RealServer, real_server};
use crate::marker::Marker;
use crate::process::{descendants_of, kill, marked_processes};
use crate::wait::wait_until;

/// The longest that a server takes to listen: seconds on a quiet machine.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often a restart tries to get its port back: another process may hold it for a moment.
const RESTARTS: usize = 5;

/// What is shown of the output of a server that fails: its last bytes.
const SHOWN_BYTES: usize = 16 << 10;

/// A real server that listens. Dropping it ends it with all its descendants.
#[derive(Debug)]
pub struct RunningServer {
    name: String,
    launch: RealServer,
    port: u16,
    marker: Marker,
    /// None between [`kill`](Self::kill) and [`restart`](Self::restart).
    child: Option<Child>,
    /// Both outputs: a file without a name needs no thread that drains it.
    output: File,
}

/// Starts a server that `cargo xtask setup` installed, and returns once it listens:
/// `everything-http`, `everything-sse`, `fastmcp-http`, `fastmcp-sse`, `mcp-sdk-http`,
/// `mcp-sdk-http-json`, `mcp-sdk-http-stateless`.
///
/// Panics where it cannot be started, with what it wrote.
#[must_use]
pub fn remote_server(name: &str) -> RunningServer {
    remote_server_with(name, &[])
}

/// As [`remote_server`], with variables of the test's own.
#[must_use]
pub fn remote_server_with(name: &str, variables: &[(&str, &str)]) -> RunningServer {
    let mut launch = real_server(name);
    assert!(launch.path.is_some(), "\"{name}\" is no server over HTTP");
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    launch.env.extend(variables);
    let mut server = RunningServer {
        name: name.to_owned(),
        launch,
        port: 0,
        marker: Marker::new(),
        child: None,
        output: tempfile::tempfile().expect("a file for the server's output"),
    };
    if let Err(reason) = server.start() {
        server.fail(&reason);
    }
    server
}

impl RunningServer {
    /// Where it serves, such as `http://127.0.0.1:40123/mcp`. The same after a restart.
    #[must_use]
    pub fn url(&self) -> String {
        let path = self.launch.path.as_deref().unwrap_or_default();
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What it wrote so far to both outputs, the last 16 KiB.
    #[must_use]
    pub fn output(&self) -> String {
        let length = self.output.metadata().map_or(0, |file| file.len());
        let from = length.saturating_sub(SHOWN_BYTES as u64);
        let mut written = vec![0; SHOWN_BYTES];
        // At a place of its own: the file's position is where the server writes.
        let count = self.output.read_at(&mut written, from).unwrap_or(0);
        String::from_utf8_lossy(&written[..count]).into_owned()
    }

    /// Ends it with its descendants at once, as a crash would, and reaps it. Nothing when it is
    /// ended already.
    pub fn kill(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        for process in descendants_of(child.id()) {
            kill(process.pid);
        }
        kill(child.id());
        child.wait().expect("a child can be waited for");
        // Those whose parent had ended before.
        for process in marked_processes(&self.marker.assignment()) {
            kill(process.pid);
        }
    }

    /// Ends it and starts it anew at the same URL, without the sessions it had.
    ///
    /// Panics where it does not get its port back, with what it wrote.
    pub fn restart(&mut self) {
        self.kill();
        for _ in 1..RESTARTS {
            if self.start().is_ok() {
                return;
            }
        }
        if let Err(reason) = self.start() {
            self.fail(&reason);
        }
    }

    /// Starts it at its port, any free one where that is 0, and waits until it listens.
    fn start(&mut self) -> Result<(), String> {
        let mut child = self.command().spawn().map_err(|error| error.to_string())?;
        let (pid, began) = (child.id(), Instant::now());
        let mut found = Err(format!("it does not listen after {START_LIMIT:?}"));
        wait_until(2 * START_LIMIT, "a real server listens or ends", || {
            if let Some(port) = listening_port(pid) {
                found = Ok(port);
            } else if let Some(status) = child.try_wait().expect("a child can be asked") {
                found = Err(format!("it ended with {status}"));
            } else {
                return began.elapsed() > START_LIMIT;
            }
            true
        });
        self.child = Some(child);
        match found {
            Ok(port) => self.port = port,
            Err(reason) => {
                self.kill();
                return Err(reason);
            }
        }
        Ok(())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a server of a test, which no part of the client starts"
    )]
    fn command(&self) -> Command {
        let port = self.port.to_string();
        let filled = |text: &String| text.replace("{port}", &port);
        let output = || self.output.try_clone().expect("a descriptor");
        let mut command = Command::new(&self.launch.command);
        let variables = self.launch.env.iter();
        let (mark, value) = self.marker.variable();
        command
            .args(self.launch.args.iter().map(filled))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(variables.map(|(name, value)| (name, filled(value))))
            .env(mark, value)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output());
        command
    }

    fn fail(&self, reason: &str) -> ! {
        panic!(
            "the real server \"{}\" cannot be used: {reason}; it wrote:\n{}",
            self.name,
            self.output()
        )
    }
}

impl Drop for RunningServer {
    #[expect(
        clippy::disallowed_methods,
        reason = "what a failed test shows of its server"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() && self.child.is_some() {
            let shown = format!("the server \"{}\" wrote:\n{}\n", self.name, self.output());
            drop(std::io::stderr().write_all(shown.as_bytes()));
        }
        self.kill();
    }
}
