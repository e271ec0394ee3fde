//! Which processes are there, who made them, and when is one gone? Read from `/proc`.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::wait::wait_until;

/// A line of the process table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// The id of its parent; 1 or that of a subreaper when the parent is gone.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// Its state as in proc(5): `R`, `S`, `Z` and so on.
    pub state: char,
    /// The name of its program, at most 15 bytes.
    pub name: String,
}

impl Process {
    /// Reads one process; nothing when there is none.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in brackets and may itself contain brackets and blanks.
        let (start, rest) = stat.rsplit_once(')')?;
        let (_, name) = start.split_once('(')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let mut next = || fields.next()?.parse::<u32>().ok();
        let (parent, group, session) = (next()?, next()?, next()?);
        Some(Self {
            pid,
            parent,
            group,
            session,
            state,
            name: name.to_owned(),
        })
    }

    /// Whether it has ended and waits to be reaped.
    #[must_use]
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// All processes, zombies included.
#[must_use]
pub fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

/// The direct children of a process, zombies included.
#[must_use]
pub fn children_of(pid: u32) -> Vec<Process> {
    let mut all = processes();
    all.retain(|process| process.parent == pid);
    all
}

/// The children of a process, their children and so on, zombies included. Those whose parent has
/// ended belong to another process by now: find them by a [`Marker`](crate::Marker).
#[must_use]
pub fn descendants_of(pid: u32) -> Vec<Process> {
    let all = processes();
    let mut family = HashSet::from([pid]);
    loop {
        let before = family.len();
        let parents: Vec<u32> = all
            .iter()
            .filter(|process| family.contains(&process.parent))
            .map(|process| process.pid)
            .collect();
        family.extend(parents);
        if family.len() == before {
            break;
        }
    }
    family.remove(&pid);
    all.into_iter()
        .filter(|process| family.contains(&process.pid))
        .collect()
}

/// The processes of a group, zombies included.
#[must_use]
pub fn group_members(group: u32) -> Vec<Process> {
    let mut all = processes();
    all.retain(|process| process.group == group);
    all
}

/// The processes of a session, zombies included.
#[must_use]
pub fn session_members(session: u32) -> Vec<Process> {
    let mut all = processes();
    all.retain(|process| process.session == session);
    all
}

/// The processes that were started with `assignment` (`NAME=value`) in their environment, this one
/// left out. `NAME=` alone finds every value. A zombie has no environment any more.
#[must_use]
pub fn marked_processes(assignment: &str) -> Vec<Process> {
    let wanted = assignment.as_bytes();
    let own = std::process::id();
    let mut all = processes();
    all.retain(|process| {
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        process.pid != own
            && environment.split(|byte| *byte == 0).any(|variable| {
                if wanted.ends_with(b"=") {
                    variable.starts_with(wanted)
                } else {
                    variable == wanted
                }
            })
    });
    all
}

/// Whether a process exists and has not ended; a zombie is not alive.
#[must_use]
pub fn pid_alive(pid: u32) -> bool {
    Process::read(pid).is_some_and(|process| !process.is_zombie())
}

/// Sends SIGKILL to a process, for tests that kill a server or clean up. No error when it is gone.
pub fn kill(pid: u32) {
    match kill_process(to_pid(pid), Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => panic!("cannot kill process {pid}: {error}"),
    }
}

/// Waits until a process has ended, reaped or not. Panics when it still runs after the time.
///
/// Works for any process, not only for children: a descriptor of it becomes readable at its end.
#[track_caller]
pub fn wait_gone(pid: u32, within: Duration) {
    let descriptor = match pidfd_open(to_pid(pid), PidfdFlags::empty()) {
        Ok(descriptor) => descriptor,
        Err(Errno::SRCH) => return,
        // A thread id, or a kernel without the call: look at /proc instead.
        Err(_) => {
            return wait_until(within, "the process is gone", || !pid_alive(pid));
        }
    };
    let deadline = Instant::now() + within;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).expect("a test waits less than 2^63 seconds");
        let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => panic!("not within {within:?}: process {pid} is gone"),
            Ok(_) => return,
            Err(Errno::INTR) => {}
            Err(error) => panic!("cannot wait for process {pid}: {error}"),
        }
    }
}

fn to_pid(pid: u32) -> Pid {
    i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id is above 0")
}
