//! Which processes on this machine belong to a child that is being ended?

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, Signal};

use super::own_child::open_pidfd;
use crate::process::cookie::Cookie;

/// By what a child's descendants are known.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "there is no `/proc` to look in")
)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// In the environment of each.
    pub(super) cookie: Cookie,
    /// Their group, when it is certain that the id still means the child's group.
    pub(super) group: Option<Pid>,
}

/// A process found, held so that its id cannot come to mean another.
#[derive(Debug)]
pub(super) struct Straggler {
    pub(super) pid: Pid,
    /// Missing where the system has no pidfd.
    pidfd: Option<OwnedFd>,
}

impl Straggler {
    /// What becomes readable when it exits.
    pub(super) fn exit_event(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Whether it has exited, asked without waiting; false when that cannot be known.
    pub(super) fn is_gone(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(pidfd) = &self.pidfd else {
            return false;
        };
        let mut asked = [PollFd::new(pidfd, PollFlags::IN)];
        poll(
            &mut asked,
            Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            }),
        ) == Ok(1)
    }

    /// Sends a signal to this very process.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = match &self.pidfd {
            Some(pidfd) => send(pidfd.as_fd(), signal),
            None => rustix::process::kill_process(self.pid, signal),
        };
    }
}

#[cfg(target_os = "linux")]
fn send(pidfd: BorrowedFd<'_>, signal: Signal) -> rustix::io::Result<()> {
    rustix::process::pidfd_send_signal(pidfd, signal)
}

#[cfg(not(target_os = "linux"))]
fn send(_: BorrowedFd<'_>, _: Signal) -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}

/// Finds the living processes with one of the marks: one list for each, in the order given. Takes
/// one pass over `/proc`, some 10 µs for each process on the machine.
pub(super) fn find(marks: &[Marks]) -> Vec<Vec<Straggler>> {
    let mut found: Vec<Vec<Straggler>> = marks.iter().map(|_| Vec::new()).collect();
    let mut reader = proc::Reader::default();
    for pid in proc::all() {
        let Some(owner) = reader.owner(pid, marks) else {
            continue;
        };
        let straggler = Straggler {
            pid,
            pidfd: open_pidfd(pid),
        };
        // Between the two looks the id may have been given to another process; now it is held.
        if reader.owner(pid, marks) == Some(owner)
            && let Some(list) = found.get_mut(owner)
        {
            list.push(straggler);
        }
    }
    found
}

/// The living members of a group whose leader was collected just now.
pub(super) fn members(group: Pid) -> Vec<Straggler> {
    proc::all()
        .into_iter()
        .filter(|pid| proc::living_group(*pid) == Some(group))
        .map(|pid| Straggler {
            pid,
            pidfd: open_pidfd(pid),
        })
        .filter(|straggler| proc::living_group(straggler.pid) == Some(group))
        .collect()
}

#[cfg(target_os = "linux")]
mod proc {
    //! What does `/proc` say about a process?

    use std::fs::File;
    use std::io::Read;

    use rustix::process::Pid;

    use super::Marks;
    use crate::process::cookie::Cookie;
    use crate::process::launch::COOKIE_VARIABLE;

    /// Bytes read of one environment; Linux allows 2 MiB of arguments and environment by default.
    const ENVIRONMENT_SIZE: u64 = 1024 * 1024;

    /// Bytes read of a `stat` line; it has some 50 numbers and a name of 15 bytes.
    const STAT_SIZE: u64 = 4096;

    /// All processes of this machine but ourselves.
    pub(super) fn all() -> Vec<Pid> {
        let own = rustix::process::getpid();
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(to_pid))
            .filter(|pid| *pid != own)
            .collect()
    }

    /// The group of a process that lives, zombies not counted.
    pub(super) fn living_group(pid: Pid) -> Option<Pid> {
        let mut line = Vec::new();
        read(pid, "stat", STAT_SIZE, &mut line)?;
        parse_living_group(&line)
    }

    /// `pid (name) state parent group ...`, where the name may hold blanks and brackets.
    fn parse_living_group(line: &[u8]) -> Option<Pid> {
        let after_name = line.rsplit(|byte| *byte == b')').next()?;
        let text = std::str::from_utf8(after_name).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let state = fields.next()?;
        // A process that is being collected has the group -1.
        let group = fields.nth(1)?.parse().ok().and_then(to_pid)?;
        (!matches!(state, "Z" | "X" | "x")).then_some(group)
    }

    fn to_pid(number: u32) -> Option<Pid> {
        i32::try_from(number).ok().and_then(Pid::from_raw)
    }

    /// Reads environments into one buffer.
    #[derive(Default)]
    pub(super) struct Reader {
        environment: Vec<u8>,
    }

    impl Reader {
        /// Which of the marks a process bears.
        pub(super) fn owner(&mut self, pid: Pid, marks: &[Marks]) -> Option<usize> {
            if let Some(cookie) = self.cookie(pid) {
                return marks.iter().position(|marks| marks.cookie == cookie);
            }
            if marks.iter().all(|marks| marks.group.is_none()) {
                return None;
            }
            let group = living_group(pid)?;
            marks.iter().position(|marks| marks.group == Some(group))
        }

        fn cookie(&mut self, pid: Pid) -> Option<Cookie> {
            self.environment.clear();
            read(pid, "environ", ENVIRONMENT_SIZE, &mut self.environment)?;
            parse_cookie(&self.environment)
        }
    }

    fn parse_cookie(environment: &[u8]) -> Option<Cookie> {
        environment.split(|byte| *byte == 0).find_map(|variable| {
            let value = variable
                .strip_prefix(COOKIE_VARIABLE.as_bytes())?
                .strip_prefix(b"=")?;
            Cookie::parse(value)
        })
    }

    fn read(pid: Pid, file: &str, size: u64, into: &mut Vec<u8>) -> Option<usize> {
        let path = format!("/proc/{}/{file}", pid.as_raw_nonzero());
        File::open(path).ok()?.take(size).read_to_end(into).ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_with_blanks_and_brackets_does_not_shift_the_fields() {
            let group = |line: &str| parse_living_group(line.as_bytes()).map(Pid::as_raw_pid);
            assert_eq!(group("7 (a) b) 1 (c)) S 1 42 42 0 -1"), Some(42));
            assert_eq!(group("7 (gone) Z 1 42 42 0 -1"), None);
            assert_eq!(group("7 (gone) S 0 -1 -1 0 -1"), None);
            assert_eq!(group("7 (cut"), None);
            assert_eq!(group(""), None);
        }

        #[test]
        fn a_cookie_is_found_anywhere_in_an_environment() {
            let cookie = Cookie::new();
            let environment =
                format!("A=1\0X{COOKIE_VARIABLE}=no\0{COOKIE_VARIABLE}={cookie}\0B=2\0");
            assert_eq!(parse_cookie(environment.as_bytes()), Some(cookie));
            assert_eq!(parse_cookie(b"A=1\0B=2\0"), None);
            assert_eq!(parse_cookie(b""), None);
        }

        #[test]
        fn this_machine_has_a_living_process_with_a_group() {
            assert!(all().into_iter().any(|pid| living_group(pid).is_some()));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod proc {
    //! What is known where there is no `/proc`? Nothing.

    use rustix::process::Pid;

    use super::Marks;

    pub(super) fn all() -> Vec<Pid> {
        Vec::new()
    }

    pub(super) fn living_group(_: Pid) -> Option<Pid> {
        None
    }

    #[derive(Default)]
    pub(super) struct Reader {}

    impl Reader {
        pub(super) fn owner(&mut self, _: Pid, _: &[Marks]) -> Option<usize> {
            None
        }
    }
}
