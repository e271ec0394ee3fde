//! Why did a task stop, and what can the person in front of it do?

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The one error of the tasks. Its text is what the person reads last.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A program that the task needs is not installed.
    Missing {
        /// The program as typed.
        program: String,
        /// How to get it.
        remedy: String,
    },
    /// A program ran and did not end well.
    Command {
        /// The command line, shortened.
        command: String,
        /// How it ended: `exit status: 1` or a signal.
        ended: String,
        /// The last lines it wrote, where they were not already on the terminal.
        output: String,
    },
    /// A file could not be read or written.
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A step of `cargo xtask test` failed; its own words are already on the terminal.
    Step {
        /// The step's name in the table.
        step: String,
    },
    /// The house rules are broken in so many places.
    Untidy {
        /// How many findings were printed.
        findings: usize,
    },
    /// Something that was read is not what it should be.
    Unexpected {
        /// What, and where.
        what: String,
    },
}

impl Failure {
    /// Adds the path to an error of the file system.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { program, remedy } => {
                write!(formatter, "{program} is needed and was not found: {remedy}")
            }
            Self::Command {
                command,
                ended,
                output,
            } if output.is_empty() => {
                write!(formatter, "`{command}` failed ({ended})")
            }
            Self::Command {
                command,
                ended,
                output,
            } => {
                write!(formatter, "`{command}` failed ({ended}):\n{output}")
            }
            Self::File { path, source } => write!(formatter, "{}: {source}", path.display()),
            Self::Step { step } => write!(formatter, "stopped at the step \"{step}\""),
            Self::Untidy { findings } => {
                write!(
                    formatter,
                    "{findings} findings; each line above says what and why"
                )
            }
            Self::Unexpected { what } => formatter.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}
