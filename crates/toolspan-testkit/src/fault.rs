//! How does a test launch a server that misbehaves?

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::faults_binary;
use crate::fault_running::RunningFault;
use crate::marker::Marker;

/// Program, arguments and environment of a misbehaving server.
///
/// ```no_run
/// use serde_json::json;
/// use toolspan_testkit::Fault;
///
/// let ready_made = Fault::named("exit_on_call").on_call(2);
/// let own = Fault::script([
///     json!({"expect": "tools/call"}),
///     json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {}}}),
///     json!({"kill_self": {"signal": "KILL"}}),
/// ]);
/// assert_ne!(ready_made.arguments(), own.arguments());
/// ```
///
/// Started over HTTP it is a [`RunningFault`].
///
/// What the steps and names are: `toolspan-faults --list`, and the docs of `toolspan_faults::Step`.
#[derive(Debug, Clone)]
pub struct Fault {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, String)>,
}

impl Fault {
    /// A ready-made fault. An unknown name makes the server exit with 125 and say so.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::with(["--fault", name])
    }

    /// A script given step by step.
    #[must_use]
    pub fn script(steps: impl IntoIterator<Item = Value>) -> Self {
        let steps: Value = steps.into_iter().collect();
        Self::with(["--steps", &steps.to_string()])
    }

    /// A script in a JSON Lines file.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        let mut fault = Self::with([]);
        fault.arguments.extend(["--script".into(), path.into()]);
        fault
    }

    /// A server that behaves.
    #[must_use]
    pub fn honest() -> Self {
        Self::named("honest")
    }

    /// A server that behaves and costs as little as possible, for benchmarks.
    #[must_use]
    pub fn null_server() -> Self {
        Self::with(["--null-server"])
    }

    /// Starts it over streamable HTTP: all requests at `/mcp`. Panics where it cannot be started, or
    /// where the script cannot be played over HTTP; `toolspan-faults --list` says what can.
    #[must_use]
    pub fn over_http(self) -> RunningFault {
        RunningFault::start(self, "--http")
    }

    /// Starts it over the older HTTP+SSE: a stream at `/sse` that names the endpoint for messages.
    /// Panics as [`over_http`](Self::over_http).
    #[must_use]
    pub fn over_sse(self) -> RunningFault {
        RunningFault::start(self, "--sse")
    }

    /// A server over streamable HTTP that behaves and costs as little as possible, for benchmarks. It
    /// keeps no sessions, offers no stream, and records nothing.
    #[must_use]
    pub fn null_http_server() -> RunningFault {
        RunningFault::start(Self::with(["--null-http-server"]), "")
    }

    /// Moves the misbehaviour to the `nth` call (from 1); earlier ones are answered honestly.
    #[must_use]
    pub fn on_call(self, nth: u32) -> Self {
        self.and("--on-call", nth.to_string())
    }

    /// Adds every line the server reads to a file, as soon as it is read.
    #[must_use]
    pub fn recording(self, file: &Path) -> Self {
        self.and("--record", file)
    }

    /// Ends the server after so many seconds whatever happens; 600 unless changed, 0 means never.
    #[must_use]
    pub fn lifetime(self, seconds: u32) -> Self {
        self.and("--lifetime", seconds.to_string())
    }

    /// Puts a marker into [`environment`](Self::environment), so that a
    /// [`Census`](crate::Census) finds the server and its descendants.
    #[must_use]
    pub fn marked(mut self, marker: &Marker) -> Self {
        let (name, value) = marker.variable();
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The program to start.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its arguments.
    #[must_use]
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// Its arguments as text, for a config file. Panics when a path is not UTF-8.
    #[must_use]
    pub fn text_arguments(&self) -> Vec<String> {
        self.arguments
            .iter()
            .map(|argument| argument.to_str().expect("test paths are UTF-8").to_owned())
            .collect()
    }

    /// The variables to add to its environment. It needs no others.
    #[must_use]
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// As an entry of `mcpServers` in a config file: `command`, `args` and, when marked, `env`.
    #[must_use]
    pub fn config_entry(&self) -> Value {
        let command = self.program.to_str().expect("test paths are UTF-8");
        let mut entry = serde_json::json!({"command": command, "args": self.text_arguments()});
        if !self.environment.is_empty() {
            let variables: serde_json::Map<_, _> = self
                .environment
                .iter()
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect();
            entry["env"] = Value::Object(variables);
        }
        entry
    }

    /// As a command for tests that talk to the server themselves; streams are not set.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a test may start the server it tests with"
    )]
    pub fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().cloned());
        command
    }

    fn with<const N: usize>(arguments: [&str; N]) -> Self {
        Self {
            program: faults_binary(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: Vec::new(),
        }
    }

    fn and(mut self, option: &str, value: impl Into<OsString>) -> Self {
        self.arguments.extend([option.into(), value.into()]);
        self
    }
}
