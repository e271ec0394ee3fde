//! How does the owner of a process look at it and end it?

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Pid;

use super::cookie::Cookie;
use super::end_policy::EndPolicy;
use super::exit_status::ExitStatus;
use super::latch::Latch;
use super::pipes::{ChildStdin, ChildStdout};
use super::reaper;
use super::stderr_tail::StderrTail;

/// A process just started: its pipes, and the handle that ends it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Child {
    /// Write end of its standard input; to be dropped before the end is asked for.
    pub stdin: ChildStdin,
    /// Read end of its standard output.
    pub stdout: ChildStdout,
    /// The process itself.
    pub process: Process,
}

/// A running or ended process. Clones are cheap and mean the same process.
///
/// A thread of this crate collects the process when it exits, keeps the tail of its standard error
/// and carries out its end, so nothing here needs a runtime. When the last clone is dropped the
/// process is ended with the default [`EndPolicy`] behind the owner's back.
///
/// What a server left running when it exited is ended once the owner asks for the end or drops the
/// handle, not before.
///
/// In a copy of the host made by `fork` every method returns at once and does nothing: the process
/// belongs to the original.
#[derive(Clone)]
pub struct Process {
    owner: Arc<Owner>,
}

impl Process {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            owner: Arc::new(Owner { shared }),
        }
    }

    /// Its process id, which is also its session and its group. It may belong to another process
    /// once this one has exited.
    pub fn pid(&self) -> u32 {
        self.shared().pid.as_raw_pid().unsigned_abs()
    }

    /// Waits until the process itself has exited; what it wrote to standard error before is in the
    /// tail by then. Works on any executor and for any number of waiters.
    pub fn exited(&self) -> impl Future<Output = ExitStatus> + Send + use<> {
        let waiting = self
            .shared()
            .is_ours()
            .then(|| Arc::clone(&self.shared().exited).wait());
        async move {
            match waiting {
                Some(waiting) => waiting.await,
                None => ExitStatus::UNKNOWN,
            }
        }
    }

    /// How it exited, if it has.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.shared()
            .is_ours()
            .then(|| self.shared().exited.get())
            .flatten()
    }

    /// The newest bytes of its standard error, as text.
    pub fn stderr_tail(&self) -> String {
        match self.shared().is_ours() {
            true => self.shared().stderr().text(),
            false => String::new(),
        }
    }

    /// How many bytes of its standard error came before the tail and were let go of.
    pub fn stderr_dropped(&self) -> u64 {
        match self.shared().is_ours() {
            true => self.shared().stderr().dropped(),
            false => 0,
        }
    }

    /// Starts to end the process and all it started; returns at once. The caller closes its input
    /// first. The first policy given holds.
    ///
    /// The steps: `eof_grace` to exit by itself, SIGTERM to its group, `term_grace`, SIGKILL to its
    /// group. Whatever outlives the process itself, in its group or marked by its cookie, gets
    /// SIGTERM when the process has exited, and SIGKILL when `term_grace` is over.
    pub fn begin_end(&self, policy: EndPolicy) {
        self.shared().request_end(policy);
    }

    /// Kills the process and all it started, at once. May follow [`begin_end`](Self::begin_end).
    pub fn kill_now(&self) {
        self.shared().request_kill();
    }

    /// Waits until the process and all it started are gone and its standard error is drained.
    /// Somebody must have asked for the end. Works on any executor and for any number of waiters.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let waiting = self
            .shared()
            .is_ours()
            .then(|| Arc::clone(&self.shared().ended).wait());
        async move {
            if let Some(waiting) = waiting {
                waiting.await;
            }
        }
    }

    /// Waits like [`ended`](Self::ended) on this thread, at most `timeout`; says whether it ended.
    pub fn wait_ended_blocking(&self, timeout: Duration) -> bool {
        self.shared().is_ours() && self.shared().ended.wait_timeout(timeout).is_some()
    }

    fn shared(&self) -> &Shared {
        &self.owner.shared
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Process")
            .field("pid", &self.pid())
            .field("exit_status", &self.exit_status())
            .finish_non_exhaustive()
    }
}

/// What all clones share; its end is the end of the process.
struct Owner {
    shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.request_end(EndPolicy::default());
    }
}

/// What the handle and the reaper's thread share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pid: Pid,
    /// The process that started it.
    host: u32,
    pub(super) cookie: Cookie,
    pub(super) exited: Arc<Latch<ExitStatus>>,
    pub(super) ended: Arc<Latch<()>>,
    stderr: Mutex<StderrTail>,
    request: Mutex<Request>,
}

/// What was asked for and not yet seen by the reaper's thread, or is already under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Request {
    /// The first policy asked for.
    pub(super) end: Option<EndPolicy>,
    /// Whether to kill without grace.
    pub(super) kill: bool,
}

impl Shared {
    pub(super) fn new(pid: Pid, cookie: Cookie, stderr_bytes: usize) -> Self {
        Self {
            pid,
            host: std::process::id(),
            cookie,
            exited: Arc::new(Latch::new()),
            ended: Arc::new(Latch::new()),
            stderr: Mutex::new(StderrTail::new(stderr_bytes)),
            request: Mutex::default(),
        }
    }

    /// False in a forked copy of the host, where locks may be held for ever by threads that are not
    /// there.
    fn is_ours(&self) -> bool {
        self.host == std::process::id()
    }

    pub(super) fn stderr(&self) -> MutexGuard<'_, StderrTail> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn request(&self) -> Request {
        *self.lock_request()
    }

    fn request_end(&self, policy: EndPolicy) {
        self.ask(|request| {
            request
                .end
                .is_none()
                .then(|| request.end = Some(policy))
                .is_some()
        });
    }

    fn request_kill(&self) {
        self.ask(|request| !std::mem::replace(&mut request.kill, true));
    }

    /// Changes the request and wakes the reaper if it is news.
    fn ask(&self, change: impl FnOnce(&mut Request) -> bool) {
        if self.is_ours() && change(&mut self.lock_request()) {
            reaper::wake();
        }
    }

    fn lock_request(&self) -> MutexGuard<'_, Request> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::process::system::in_forked_copy;
    use crate::process::{Launch, SpawnError, WatchdogState, spawn, watchdog_state};

    #[test]
    fn a_forked_copy_of_the_host_leaves_the_process_alone_and_waits_for_nothing() {
        let child = spawn(&Launch::new("/bin/cat")).expect("it starts");
        let process = child.process.clone();
        let host = std::process::id();
        // A lock held while forking is held for ever in the copy.
        let held = process.shared().lock_request();
        assert!(in_forked_copy(|| {
            let mut context = Context::from_waker(Waker::noop());
            process.begin_end(EndPolicy::default());
            process.kill_now();
            drop(process.clone());
            process.exit_status().is_none()
                && process.stderr_tail().is_empty()
                && !process.wait_ended_blocking(Duration::from_secs(60))
                && pin!(process.ended()).poll(&mut context).is_ready()
                && pin!(process.exited()).poll(&mut context) == Poll::Ready(ExitStatus::UNKNOWN)
                && watchdog_state() == WatchdogState::Idle
                && matches!(
                    spawn(&Launch::new("/bin/cat")),
                    Err(SpawnError::ForkedProcess { owner }) if owner == host
                )
        }));
        drop(held);
        assert_eq!(process.exit_status(), None);
        drop((child.stdin, child.stdout));
        process.begin_end(EndPolicy::default());
        assert!(process.wait_ended_blocking(Duration::from_secs(20)));
        assert_eq!(process.exit_status(), Some(ExitStatus::exited(0)));
    }
}
