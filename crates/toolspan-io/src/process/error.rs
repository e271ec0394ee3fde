//! Why could a process not be started?

use std::io;
use std::path::PathBuf;

/// Why a process was not started. Nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No directory of `PATH` holds the program, or the path names nothing.
    #[error(
        "program {program:?} was not found{}",
        not_found_detail(program, searched)
    )]
    NotFound {
        /// What was asked for.
        program: String,
        /// The paths that were tried or, for a name, the directories searched, in order.
        searched: Vec<PathBuf>,
    },
    /// The path names a directory.
    #[error("program {path:?} is a directory; name the file to run in it")]
    IsDirectory {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// The path names something that may not be run.
    #[error("program {path:?} may not be executed; check its type and run `chmod +x` on it")]
    NotExecutable {
        /// The path, made absolute.
        path: PathBuf,
    },
    /// The file is there, but what its first line names, or its loader, is not.
    #[error(
        "program {path:?} needs the interpreter {interpreter:?}, which was not found; install it \
         or correct the first line of the program"
    )]
    BadInterpreter {
        /// The program.
        path: PathBuf,
        /// What its `#!` line names; "dynamic loader" for a binary.
        interpreter: String,
    },
    /// The directory to run in is missing or is not a directory.
    #[error("working directory {path:?} {problem}; create it or correct `cwd`")]
    BadDirectory {
        /// The directory asked for.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A variable's name is empty or holds `=` or a NUL byte, or its value holds a NUL byte. The
    /// value is not shown.
    #[error("environment variable {name:?} {problem}; correct it in `env`")]
    BadVariable {
        /// The variable's name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The program or an argument holds a NUL byte. The argument is not shown.
    #[error("argument {index} holds a NUL byte, which no argument can; remove it")]
    BadArgument {
        /// Which one; 0 is the program.
        index: usize,
    },
    /// The host forked after it had started processes: the thread that looks after them exists in
    /// the process `owner` only.
    #[error(
        "this process was forked from {owner}, which owns the running servers; start a new \
         program instead of forking (in Python: the multiprocessing start method \"spawn\")"
    )]
    ForkedProcess {
        /// The process that owns the servers.
        owner: u32,
    },
    /// Processes cannot be started on this system.
    #[error("starting servers as processes is not supported on this system; use a network server")]
    Unsupported,
    /// The operating system refused.
    #[error("the system refused to {step}: {source}")]
    System {
        /// What was being done.
        step: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

fn not_found_detail(program: &str, searched: &[PathBuf]) -> String {
    let mut detail = if program.contains('/') {
        String::new()
    } else if searched.is_empty() {
        "; PATH names no directory to search".to_owned()
    } else {
        let list: Vec<String> = searched
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        format!("; searched {}", list.join(", "))
    };
    if program.contains(char::is_whitespace) {
        detail.push_str("; it contains spaces: put arguments in args");
    } else {
        detail.push_str("; install it or give its full path");
    }
    detail
}
