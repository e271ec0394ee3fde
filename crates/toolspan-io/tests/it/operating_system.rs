//! What does the operating system say about processes, and how do tests wait for it?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::time::timeout;
use toolspan_io::lines::{Line, LineDecoder};
use toolspan_io::process::{AsyncStdout, Child, ChildStdout, Launch, spawn};

/// Longer than anything takes: a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn parent_env() -> Arc<BTreeMap<OsString, OsString>> {
    Arc::new([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into())
}

/// A server that is a shell script.
pub(crate) fn script(text: &str) -> Launch {
    Launch::new("sh")
        .with_args(["-c", text])
        .with_parent_env(parent_env())
}

pub(crate) fn start(text: &str) -> Child {
    spawn(&script(text)).expect("the shell starts")
}

/// Lines of a server's output.
pub(crate) struct Output {
    stdout: AsyncStdout,
    decoder: LineDecoder,
}

impl Output {
    pub(crate) fn new(stdout: ChildStdout) -> Self {
        let stdout = stdout.into_async().expect("the pipe is watched");
        Self {
            stdout,
            decoder: LineDecoder::new(1 << 20),
        }
    }

    /// The next line, or `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(Line::Complete(line)) = self.decoder.next_line() {
                return Some(String::from_utf8_lossy(line).into_owned());
            }
            let reading = self.stdout.read(self.decoder.space());
            let count = timeout(PATIENCE, reading)
                .await
                .expect("a line in time")
                .expect("a read");
            if count == 0 {
                return None;
            }
            self.decoder.filled(count);
        }
    }

    pub(crate) async fn pid(&mut self) -> Pid {
        let line = self.line().await.expect("a process id");
        pid(line.trim().parse().expect("a number"))
    }

    pub(crate) async fn all(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.line().await {
            lines.push(line);
        }
        lines
    }
}

pub(crate) fn pid(number: u32) -> Pid {
    i32::try_from(number)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id")
}

/// Waits until a process has exited (a zombie has), at most until `deadline`.
pub(crate) fn is_gone_by(pid: Pid, deadline: Instant) -> bool {
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let mut asked = [PollFd::new(&pidfd, PollFlags::IN)];
    poll(&mut asked, Some(&until(deadline))).expect("poll works") == 1
}

pub(crate) fn is_alive(pid: Pid) -> bool {
    !is_gone_by(pid, Instant::now())
}

/// Asks again every 2 ms until it holds, at most until `deadline`.
pub(crate) fn holds_by(deadline: Instant, mut holds: impl FnMut() -> bool) -> bool {
    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: 2_000_000,
    };
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        poll(&mut [], Some(&moment)).expect("poll works");
    }
}

fn until(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now());
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).expect("a short time"),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}
