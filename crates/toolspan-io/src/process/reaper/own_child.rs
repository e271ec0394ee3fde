//! How is a direct child watched, signalled and collected without ever meaning another process?

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

use crate::process::exit_status::ExitStatus;

/// A direct child that was not collected yet, so that its id cannot mean another process.
#[derive(Debug)]
pub(super) struct OwnChild {
    pid: Pid,
    /// Readable when the child has exited; missing where the system has no pidfd.
    pidfd: Option<OwnedFd>,
}

impl OwnChild {
    /// Watches a child that was just started and that nothing has collected.
    pub(super) fn new(pid: Pid) -> Self {
        Self {
            pid,
            pidfd: open_pidfd(pid),
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// What becomes readable when it exits.
    pub(super) fn exit_event(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Collects it if it has exited; its id is free from then on.
    pub(super) fn collect(&self) -> Option<ExitStatus> {
        match rustix::io::retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::NOHANG)) {
            Ok(Some((_, status))) => {
                Some(match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => ExitStatus::exited(code),
                    (None, Some(signal)) => ExitStatus::signalled(signal),
                    (None, None) => return None,
                })
            }
            Ok(None) => None,
            // Somebody else in the host collected it, or SIGCHLD is ignored.
            Err(_) => Some(ExitStatus::UNKNOWN),
        }
    }

    /// Signals the group it leads.
    pub(super) fn signal_group(&self, signal: Signal) {
        let _ = kill_process_group(self.pid, signal);
    }

    /// Kills the child alone.
    pub(super) fn kill(&self) {
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

/// Whether a group has no member left. Asked right after its leader was collected, when the id
/// cannot have been given away again yet.
pub(super) fn is_group_empty(leader: Pid) -> bool {
    rustix::process::test_kill_process_group(leader) == Err(Errno::SRCH)
}

/// A descriptor that means this very process for ever.
#[cfg(target_os = "linux")]
pub(super) fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_pidfd(_: Pid) -> Option<OwnedFd> {
    None
}
