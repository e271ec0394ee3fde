//! Where are the interpreters, the programs and our module?

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::options::Options;
use crate::server;

/// The environment with ovos-tool-adapters and OPM, which our toolbox needs, too.
pub(crate) const ADAPTERS: &str = "python-ovos";
/// The environment with FastMCP and the second generation of the official SDK.
pub(crate) const SDK: &str = "python";

/// The environment with pydantic-ai and FastMCP's types, and no server.
pub(crate) const SCHEMAS: &str = "python-schemas";

/// A program of `benches/python/` and the environment that it runs in.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// A folder of `.tools/`.
    pub(crate) environment: &'static str,
    /// The file.
    pub(crate) file: &'static str,
    /// Whether it imports our module.
    pub(crate) ours: bool,
    /// Its arguments; without them, the call and the command of the echo server.
    pub(crate) told: Option<Vec<String>>,
}

impl Program {
    /// A program of a peer.
    pub(crate) const fn of(environment: &'static str, file: &'static str) -> Self {
        let ours = false;
        Self {
            environment,
            file,
            ours,
            told: None,
        }
    }

    /// A program of a peer that calls no server, with its arguments.
    pub(crate) const fn told(
        environment: &'static str,
        file: &'static str,
        words: Vec<String>,
    ) -> Self {
        Self {
            environment,
            file,
            ours: false,
            told: Some(words),
        }
    }

    /// A program that imports our module.
    pub(crate) const fn ours(file: &'static str) -> Self {
        Self {
            environment: ADAPTERS,
            file,
            ours: true,
            told: None,
        }
    }

    /// Its command, with pipes for both ends.
    pub(super) fn command(&self, options: &Options) -> Result<Command, Failure> {
        let mut command = interpreter(options, self.environment, self.ours)?;
        command.arg(file(self.file)?);
        match &self.told {
            Some(words) => command.args(words),
            None => command
                .arg(String::from_utf8_lossy(&server::frame()).as_ref())
                .args(echo_server(options)?),
        };
        Ok(command)
    }
}

/// The command of the server that every contestant calls.
fn echo_server(options: &Options) -> Result<[PathBuf; 2], Failure> {
    Ok([path(options, ADAPTERS)?, file("echo_server.py")?])
}

/// An interpreter with pipes for both ends; `ours` where it can import the measured module.
#[expect(
    clippy::disallowed_methods,
    reason = "what is measured is a process that no part of ours has started"
)]
pub(super) fn interpreter(
    options: &Options,
    environment: &str,
    ours: bool,
) -> Result<Command, Failure> {
    let mut command = Command::new(path(options, environment)?);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    if ours && let Some(module) = &options.module {
        command.env(
            "PYTHONPATH",
            there(module, "`cargo xtask bench` builds it")?,
        );
    } else {
        command.env_remove("PYTHONPATH");
    }
    Ok(command)
}

fn path(options: &Options, environment: &str) -> Result<PathBuf, Failure> {
    let path = options.tools.join(environment).join("bin/python");
    there(&path, "run `cargo xtask setup`")
}

fn file(name: &str) -> Result<PathBuf, Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    there(&folder.join(name), "build this program again")
}

/// The path, absolute, links in it left as they are: an environment is found by its own.
fn there(path: &Path, remedy: &'static str) -> Result<PathBuf, Failure> {
    if path.exists() {
        return Ok(std::path::absolute(path)?);
    }
    let path = path.to_owned();
    Err(Failure::NotThere { path, remedy })
}
