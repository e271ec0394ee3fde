//! How is a process started?

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::process::Pid;

use super::cookie::Cookie;
use super::environment::child_environment;
use super::error::SpawnError;
use super::handle::{Child, Process, Shared};
use super::launch::{COOKIE_VARIABLE, Launch};
use super::pipes::{ChildStdin, ChildStdout};
use super::program::{missing_interpreter, resolve};
use super::reaper::{self, Adopted};
use super::system::{above_standard, isolate};

/// Waits between tries to execute a file that is open for writing: 62 ms in all.
const BUSY_WAITS: [Duration; 5] = [
    Duration::from_millis(2),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(16),
    Duration::from_millis(32),
];

/// Starts a process in a session and group of its own, with three pipes and no other descriptor.
///
/// Blocks only for the fork; needs no runtime. The program is found before the directory changes.
/// A script without a `#!` line is run by `/bin/sh`, as everywhere.
///
/// # Errors
/// See [`SpawnError`]; nothing was started then.
pub fn spawn(launch: &Launch) -> Result<Child, SpawnError> {
    let cookie = Cookie::new();
    let (mut command, program) = prepare(launch, cookie)?;
    let Pipes {
        stdin,
        stdout,
        stderr,
    } = connect(&mut command).map_err(|source| SpawnError::System {
        step: "make pipes",
        source,
    })?;
    isolate(&mut command, launch.umask);
    let place = reaper::reserve(cookie)?;
    let pid = start(&mut command).map_err(|source| explain(source, program))?;
    let shared = Arc::new(Shared::new(pid, cookie, launch.stderr_bytes));
    place.adopt(Adopted {
        shared: Arc::clone(&shared),
        stderr,
    });
    Ok(Child {
        stdin,
        stdout,
        process: Process::new(shared),
    })
}

/// Forks and executes. A program that was just written may still be open for writing in a child that
/// another thread is starting, until that child executes too: this is worth a few more tries.
fn start(command: &mut Command) -> io::Result<Pid> {
    for wait in BUSY_WAITS {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                let wait = Timespec {
                    tv_sec: 0,
                    tv_nsec: i64::from(wait.subsec_nanos()),
                };
                // An interrupted wait is a shorter one.
                let _ = poll(&mut [], Some(&wait));
            }
            other => return other.map(|child| Pid::from_child(&child)),
        }
    }
    command.spawn().map(|child| Pid::from_child(&child))
}

/// Checks everything that can be checked before the fork.
fn prepare(launch: &Launch, cookie: Cookie) -> Result<(Command, PathBuf), SpawnError> {
    let mut environment = child_environment(launch)?;
    let nul = |argument: &OsString| argument.as_bytes().contains(&0);
    if let Some(position) = launch.args.iter().position(nul) {
        return Err(SpawnError::BadArgument {
            index: position + 1,
        });
    }
    if let Some(directory) = &launch.cwd {
        check_directory(directory)?;
    }
    let program = resolve(&launch.program, search_path(launch, &environment))?;
    environment.insert(COOKIE_VARIABLE.into(), cookie.to_string().into());
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door through which processes go"
    )]
    let mut command = Command::new(&program);
    command.args(&launch.args).env_clear().envs(&environment);
    if let Some(directory) = &launch.cwd {
        command.current_dir(directory);
    }
    Ok((command, program))
}

/// The child's own `PATH`, else the parent's.
fn search_path<'a>(
    launch: &'a Launch,
    environment: &'a BTreeMap<OsString, OsString>,
) -> Option<&'a OsStr> {
    let name = OsStr::new("PATH");
    environment
        .get(name)
        .or_else(|| launch.parent_env.get(name))
        .map(OsString::as_os_str)
}

fn check_directory(directory: &Path) -> Result<(), SpawnError> {
    let problem = match directory.metadata() {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "is not a directory".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "does not exist".to_owned(),
        Err(error) => format!("cannot be used ({error})"),
    };
    Err(SpawnError::BadDirectory {
        path: directory.to_owned(),
        problem,
    })
}

/// Our ends, non-blocking. The flag belongs to an end, not to the pipe: the child's ends block.
struct Pipes {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: io::PipeReader,
}

fn connect(command: &mut Command) -> io::Result<Pipes> {
    let (input, stdin) = pipe()?;
    let (stdout, output) = pipe()?;
    let (stderr, error) = pipe()?;
    rustix::io::ioctl_fionbio(&stdin, true)?;
    rustix::io::ioctl_fionbio(&stdout, true)?;
    rustix::io::ioctl_fionbio(&stderr, true)?;
    command
        .stdin(Stdio::from(OwnedFd::from(input)))
        .stdout(Stdio::from(OwnedFd::from(output)))
        .stderr(Stdio::from(OwnedFd::from(error)));
    Ok(Pipes {
        stdin: ChildStdin::new(stdin),
        stdout: ChildStdout::new(stdout),
        stderr,
    })
}

fn pipe() -> io::Result<(io::PipeReader, io::PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    Ok((above_standard(reader)?, above_standard(writer)?))
}

fn explain(source: io::Error, program: PathBuf) -> SpawnError {
    match source.kind() {
        io::ErrorKind::NotFound if program.exists() => missing_interpreter(program),
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { path: program },
        _ => SpawnError::System {
            step: "start the program",
            source,
        },
    }
}
