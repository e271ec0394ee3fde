//! How does a task run another program? The only file here that starts processes.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use crate::failure::Failure;

/// How many of a program's last lines are shown when it failed out of sight.
const SHOWN_LINES: usize = 30;

/// One program to run, in the workspace's root unless another folder is named.
#[derive(Debug)]
pub(crate) struct Run {
    command: Command,
    shown: String,
}

impl Run {
    /// A program, by path or by name in `PATH`. Its standard input is empty.
    #[expect(
        clippy::disallowed_methods,
        reason = "tasks of the build start programs; no library code passes through here"
    )]
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref();
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        let name = Path::new(program).file_name().unwrap_or(program);
        Self {
            command,
            shown: name.to_string_lossy().into_owned(),
        }
    }

    /// Adds arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        for argument in arguments {
            self.shown.push(' ');
            self.shown.push_str(&argument.as_ref().to_string_lossy());
            self.command.arg(argument);
        }
        self
    }

    /// Runs it in this folder.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Gives it a variable on top of those of this process.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Keeps a variable of this process from it.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it on the terminal: what it says is seen as it says it.
    pub(crate) fn seen(mut self) -> Result<(), Failure> {
        let status = self
            .command
            .status()
            .map_err(|source| self.not_started(&source))?;
        self.judge(status, "")
    }

    /// Runs it out of sight and returns its standard output; when it fails, the last lines of
    /// both its outputs are in the failure.
    pub(crate) fn captured(mut self) -> Result<String, Failure> {
        let Output {
            status,
            stdout,
            stderr,
        } = self
            .command
            .output()
            .map_err(|source| self.not_started(&source))?;
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        let said = format!("{stdout}{}", String::from_utf8_lossy(&stderr));
        self.judge(status, &last_lines(&said)).map(|()| stdout)
    }

    fn judge(&self, status: ExitStatus, output: &str) -> Result<(), Failure> {
        if status.success() {
            return Ok(());
        }
        Err(Failure::Command {
            command: self.shown.clone(),
            ended: status.to_string(),
            output: output.to_owned(),
        })
    }

    fn not_started(&self, source: &io::Error) -> Failure {
        Failure::Missing {
            program: self.command.get_program().to_string_lossy().into_owned(),
            remedy: format!("it could not be started ({source})"),
        }
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(SHOWN_LINES);
    lines.into_iter().skip(from).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Failure, Run};

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = Run::new("no-such-program-here").captured().unwrap_err();
        assert!(
            matches!(&failure, Failure::Missing { program, .. } if program == "no-such-program-here")
        );
    }

    #[test]
    fn a_failure_out_of_sight_brings_the_last_words() {
        let script = "echo first; echo why >&2; exit 3";
        let failure = Run::new("sh").args(["-c", script]).captured().unwrap_err();
        let Failure::Command { ended, output, .. } = failure else {
            panic!("{failure}")
        };
        assert_eq!(
            (ended.as_str(), output.as_str()),
            ("exit status: 3", "first\nwhy")
        );
    }

    #[test]
    fn standard_output_is_returned_alone() {
        let text = Run::new("sh")
            .args(["-c", "echo out; echo err >&2"])
            .captured()
            .unwrap();
        assert_eq!(text, "out\n");
    }
}
