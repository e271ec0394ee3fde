//! Who ends the children when the host is killed and can do nothing any more?

use std::io::{self, PipeWriter};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use rustix::process::Pid;

use super::own_child::OwnChild;
use crate::process::cookie::Cookie;
use crate::process::system::{above_standard, isolate, replace_descriptor, write_without_signal};
use crate::process::watchdog_state::WatchdogState;

/// Reads lines about children, and ends them at the end of its input.
const SCRIPT: &str = include_str!("watchdog.sh");

/// Where every Unix has it; only the barest containers do not.
pub(super) const SHELL: &str = "/bin/sh";

/// Bytes kept for a watchdog that does not read: some 10,000 children. Beyond that it is given up.
const UNSENT_SIZE: usize = 1024 * 1024;

/// The number of the pipe's write end while there is one, and -1: what a forked copy looks at, which
/// keeps its hands off everything that is locked.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// The process that [`PIPE`] is of.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Lets a forked copy of the host go its own way: the watchdog then notices the host's death even while
/// the copy lives. To be called in the copy, best at once after the fork; takes no lock, and does
/// nothing in the host itself. A fork in the moment in which the watchdog is started may be missed.
pub fn let_go_after_fork() {
    let process = PROCESS.load(Ordering::Acquire);
    if process == 0 || process == std::process::id() {
        return;
    }
    let number = PIPE.swap(-1, Ordering::AcqRel);
    if number >= 0 {
        // Where it fails, the watchdog waits for this copy, too.
        let _ = replace_descriptor(number);
    }
}

/// The watchdog and what it was told.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// One for each child: its cookie, and its group while the group's id is certain.
    entries: Vec<(Cookie, Option<Pid>)>,
    shell: Option<Shell>,
    /// The shell to run.
    program: &'static str,
}

#[derive(Debug)]
struct Shell {
    child: Arc<OwnChild>,
    /// The only write end there is: its end is our end. Never inherited by anyone.
    pipe: Arc<PipeWriter>,
    /// Lines that did not fit into the pipe, at most `UNSENT_SIZE` bytes.
    unsent: Vec<u8>,
}

/// What the thread needs to wait for a watchdog.
pub(super) struct Running {
    pub(super) child: Arc<OwnChild>,
    pub(super) pipe: Arc<PipeWriter>,
    /// Whether to wait for room in the pipe.
    pub(super) has_unsent: bool,
}

impl Watchdog {
    pub(super) const fn new(program: &'static str) -> Self {
        Self {
            entries: Vec::new(),
            shell: None,
            program,
        }
    }

    /// Makes known a child about to be started, and starts the shell if there is none.
    pub(super) fn add(&mut self, cookie: Cookie) {
        self.entries.push((cookie, None));
        if self.shell.is_some() {
            self.tell(&set_line(cookie, None));
            return;
        }
        match Shell::start(self.program) {
            Ok(shell) => self.shell = Some(shell),
            Err(error) => tracing::warn!(%error, "no watchdog: a killed host may leave servers"),
        }
        let lines: String = self
            .entries
            .iter()
            .map(|(cookie, group)| set_line(*cookie, *group))
            .collect();
        self.tell(&lines);
    }

    /// Makes known the group of a child, or that its id is no longer certain.
    pub(super) fn set_group(&mut self, cookie: Cookie, group: Option<Pid>) {
        if let Some(entry) = self.entries.iter_mut().find(|(other, _)| *other == cookie) {
            entry.1 = group;
            self.tell(&set_line(cookie, group));
        }
    }

    /// Makes known that nothing is left of a child.
    pub(super) fn remove(&mut self, cookie: Cookie) {
        self.entries.retain(|(other, _)| *other != cookie);
        self.tell(&format!("drop {cookie}\n"));
    }

    pub(super) fn state(&self) -> WatchdogState {
        match &self.shell {
            Some(shell) => WatchdogState::Running {
                pid: shell.child.pid().as_raw_pid().unsigned_abs(),
            },
            None if self.entries.is_empty() => WatchdogState::Idle,
            None => WatchdogState::Missing,
        }
    }

    pub(super) fn running(&self) -> Option<Running> {
        self.shell.as_ref().map(|shell| Running {
            child: Arc::clone(&shell.child),
            pipe: Arc::clone(&shell.pipe),
            has_unsent: !shell.unsent.is_empty(),
        })
    }

    /// Sends what did not fit before.
    pub(super) fn flush(&mut self) {
        self.tell("");
    }

    /// Notices that the shell has exited, which it never does by itself while we live.
    pub(super) fn collect(&mut self) {
        if self
            .shell
            .as_ref()
            .is_some_and(|shell| shell.child.collect().is_some())
        {
            self.shell = None;
            tracing::warn!("the watchdog was killed; the next spawn starts another");
        }
    }

    /// Ends its input, upon which it exits; its exit is still to be collected. It must know of no
    /// child any more: if it could not be told, it is killed instead.
    pub(super) fn retire(&mut self) -> Option<Arc<OwnChild>> {
        let shell = self.shell.take()?;
        if !shell.unsent.is_empty() {
            shell.child.kill();
        }
        Some(Arc::clone(&shell.child))
    }

    fn tell(&mut self, lines: &str) {
        if let Some(shell) = &mut self.shell {
            shell.unsent.extend_from_slice(lines.as_bytes());
            shell.send();
        }
    }
}

impl Shell {
    fn start(program: &str) -> io::Result<Self> {
        let (input, pipe) = io::pipe()?;
        let (input, pipe) = (above_standard(input)?, above_standard(pipe)?);
        rustix::io::ioctl_fionbio(&pipe, true)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the door through which processes go"
        )]
        let mut command = Command::new(program);
        command
            .args(["-c", SCRIPT, "toolspan-watchdog"])
            // Without our cookie, should the host itself be somebody's child: it must outlive us.
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(input)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        isolate(&mut command, None);
        let child = OwnChild::new(Pid::from_child(&command.spawn()?));
        PROCESS.store(std::process::id(), Ordering::Release);
        PIPE.store(pipe.as_raw_fd(), Ordering::Release);
        Ok(Self {
            child: Arc::new(child),
            pipe: Arc::new(pipe),
            unsent: Vec::new(),
        })
    }

    /// Sends what fits. A shell that is dead or does not read is noticed by its exit.
    fn send(&mut self) {
        while !self.unsent.is_empty() {
            match write_without_signal(&self.pipe, &self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count.min(self.unsent.len()))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.unsent.clear(),
            }
        }
        if self.unsent.len() > UNSENT_SIZE {
            self.child.kill();
            self.unsent.clear();
        }
    }
}

impl Drop for Shell {
    /// Before the pipe is closed, so that its number is never that of something else.
    fn drop(&mut self) {
        PIPE.store(-1, Ordering::Release);
    }
}

fn set_line(cookie: Cookie, group: Option<Pid>) -> String {
    match group {
        Some(group) => format!("set {cookie} {}\n", group.as_raw_nonzero()),
        None => format!("set {cookie}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::system::in_forked_copy;

    #[test]
    fn without_a_shell_the_state_says_so_and_nothing_else_changes() {
        let mut watchdog = Watchdog::new("/no/such/shell");
        assert_eq!(watchdog.state(), WatchdogState::Idle);
        let cookie = Cookie::new();
        watchdog.add(cookie);
        watchdog.set_group(cookie, None);
        assert_eq!(watchdog.state(), WatchdogState::Missing);
        assert!(watchdog.retire().is_none());
        watchdog.remove(cookie);
        assert_eq!(watchdog.state(), WatchdogState::Idle);
    }

    #[test]
    fn a_forked_copy_that_lets_go_no_longer_holds_the_pipe() {
        let mut watchdog = Watchdog::new(SHELL);
        watchdog.add(Cookie::new());
        let writes = || {
            let running = watchdog.running();
            running.is_some_and(|running| write_without_signal(&running.pipe, b"\n").is_ok())
        };
        assert!(in_forked_copy(writes));
        assert!(in_forked_copy(|| {
            let_go_after_fork();
            !writes()
        }));
        // The original lets nothing go.
        let_go_after_fork();
        assert!(writes());
        watchdog.running().expect("it runs").child.kill();
    }

    #[test]
    fn a_watchdog_that_reads_nothing_is_given_up_after_a_megabyte() {
        let mut watchdog = Watchdog::new(SHELL);
        watchdog.add(Cookie::new());
        let child = Arc::clone(&watchdog.running().expect("the shell starts").child);
        child.signal_group(rustix::process::Signal::STOP);
        let line = set_line(Cookie::new(), None);
        for _ in 0..2 * UNSENT_SIZE / line.len() {
            watchdog.tell(&line);
        }
        let event = child.exit_event().expect("the system has pidfds");
        let flags = rustix::event::PollFlags::IN;
        let mut asked = [rustix::event::PollFd::from_borrowed_fd(event, flags)];
        rustix::event::poll(&mut asked, None).expect("poll works");
        watchdog.collect();
        assert_eq!(watchdog.state(), WatchdogState::Missing);
    }
}
