//! How does a test run the program? In a folder of its own, with an environment of its own.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolspan_testkit::{Fault, Marker, marked_processes};

/// The program that is tested.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_toolspan");

/// A folder with a config, and the program run in it. After each run nothing of a faulty server may
/// be left, and no temporary file.
pub(crate) struct Cli {
    folder: TempDir,
    /// Where the program and its servers put temporary files.
    temporary: TempDir,
    /// In the environment of every faulty server.
    marker: Marker,
}

/// How the program ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The entry of a config for the demo's own server.
pub(crate) fn demo_server() -> Value {
    json!({"command": BINARY, "args": ["demo-server"]})
}

impl Cli {
    /// A folder without a config.
    pub(crate) fn bare() -> Self {
        let folder = || tempfile::tempdir().expect("a temporary folder");
        Self {
            folder: folder(),
            temporary: folder(),
            marker: Marker::new(),
        }
    }

    /// A folder with these servers in its config.
    pub(crate) fn with_servers(servers: Value) -> Self {
        let cli = Self::bare();
        cli.write_servers(&servers);
        cli
    }

    fn write_servers(&self, servers: &Value) {
        // Indented, so that lines and columns in errors do not depend on where the programs are.
        let config = json!({"mcpServers": servers});
        self.write("toolspan.json", &format!("{config:#}"));
    }

    /// A folder with the demo's server.
    pub(crate) fn with_demo() -> Self {
        Self::with_servers(json!({"demo": demo_server()}))
    }

    /// A folder with one server that misbehaves.
    pub(crate) fn with_fault(fault: &Fault) -> Self {
        Self::with_faults([("bad", fault.clone())])
    }

    /// A folder with servers that may misbehave, in this order.
    pub(crate) fn with_faults<'a>(faults: impl IntoIterator<Item = (&'a str, Fault)>) -> Self {
        let cli = Self::bare();
        let entry = |(key, fault): (&str, Fault)| {
            let entry = fault.marked(&cli.marker).config_entry();
            (key.to_owned(), entry)
        };
        cli.write_servers(&faults.into_iter().map(entry).collect());
        cli
    }

    /// A folder with an honest server whose tools have these definitions.
    pub(crate) fn with_tools(tools: &Value) -> Self {
        let steps = [json!({"set": {"tools": tools}}), json!("serve")];
        Self::with_faults([("box", Fault::script(steps))])
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file that nobody else may read, whatever the machine does by itself.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the folder is writable");
        let permissions = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&path, permissions).expect("it is ours");
    }

    /// The program, not yet started: without input, in the folder, with its config if there is one.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test starts the program that it tests"
    )]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .current_dir(self.folder())
            .env_clear()
            .env("HOME", self.folder())
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", self.temporary.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if self.path("toolspan.json").exists() {
            command.env("TOOLSPAN_CONFIG", "toolspan.json");
        }
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = self
            .command(arguments)
            .output()
            .expect("the program starts");
        self.ran(output)
    }

    /// Runs the program with this on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        let mut child: Child = command
            .stdin(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::scope(|scope| {
            // A program that ends without reading all is seen by its exit code.
            scope.spawn(move || drop(stdin.write_all(input)));
            self.ran(child.wait_with_output().expect("the program ends"))
        })
    }

    /// How the program ended, once it is sure that nothing is left of what it started.
    #[track_caller]
    pub(crate) fn ran(&self, output: Output) -> Ran {
        assert_eq!(marked_processes(&self.marker.assignment()), []);
        let left = std::fs::read_dir(self.temporary.path()).expect("it is there");
        assert_eq!(left.count(), 0, "temporary files are left");
        let text = |bytes: Vec<u8>| self.steady(&String::from_utf8(bytes).expect("UTF-8"));
        Ran {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The text without what differs from run to run: paths, times, process ids.
    fn steady(&self, text: &str) -> String {
        let faults = toolspan_testkit::faults_binary();
        let canonical = self.folder().canonicalize().expect("it is there");
        let text = text
            .replace(&*canonical.to_string_lossy(), "[FOLDER]")
            .replace(&*faults.to_string_lossy(), "[FAULTS]")
            .replace(BINARY, "[TOOLSPAN]")
            .replace(&*self.folder().to_string_lossy(), "[FOLDER]")
            .replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
        let text = number(&text, "\"duration_ms\":", "");
        let text = number(&text, "", " ms");
        // Reports that come between two turns of the caller may come as one.
        let text = number(&text, "; ", " progress reports");
        number(&text, "process ", "")
    }
}

/// The text with the numbers between these words replaced by `[N]`; so are the blanks that line
/// them up in columns.
fn number(text: &str, before: &str, after: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    while let Some(digits) = rest.find(|char: char| char.is_ascii_digit()) {
        let (head, tail) = rest.split_at(digits);
        let length = tail.find(|char: char| !(char.is_ascii_digit() || char == '.'));
        let (value, tail) = tail.split_at(length.unwrap_or(tail.len()));
        if head.ends_with(before) && tail.starts_with(after) {
            let trimmed = head.trim_end_matches(' ');
            let blank = if trimmed == head { "" } else { " " };
            steady.push_str(&format!("{trimmed}{blank}[N]"));
        } else {
            steady.push_str(head);
            steady.push_str(value);
        }
        rest = tail;
    }
    steady + rest
}

impl Ran {
    /// The only line of stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line: {self}");
        self.json_lines().remove(0)
    }

    /// Each line of stdout as JSON.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        // Numbers that differ from run to run are no JSON any more.
        let parse = |line: &str| serde_json::from_str(&line.replace("[N]", "0"));
        self.stdout
            .lines()
            .map(|line| parse(line).expect("a line of JSON"))
            .collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self
            .code
            .map_or("by a signal".to_owned(), |code| code.to_string());
        write!(formatter, "exit {code}\n--- stdout\n{}", self.stdout)?;
        write!(formatter, "--- stderr\n{}", self.stderr)
    }
}

/// A `--server` line that plays a ready-made fault.
pub(crate) fn server_line(fault: &str) -> String {
    format!(
        "'{}' --fault {fault}",
        toolspan_testkit::faults_binary().display()
    )
}
