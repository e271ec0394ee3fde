//! What does one child need next: to be read, collected, signalled, or let go?

use std::io::{PipeReader, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::census::{self, Marks, Straggler};
use super::door::Adopted;
use super::own_child::{OwnChild, is_group_empty};
use crate::process::end_policy::EndPolicy;
use crate::process::exit_status::ExitStatus;
use crate::process::handle::Shared;

/// Bytes of standard error read in one turn, so that a child that floods cannot keep the others
/// waiting.
pub(super) const TURN_SIZE: usize = 64 * 1024;

/// Turns of reading when a child has exited: its pipe holds 64 KiB unless it asked for up to 1 MiB,
/// and a descendant may go on writing for ever.
const LAST_TURNS: usize = 16;

/// Time for what was killed to be gone. Only a process stuck in the kernel takes longer.
const KILL_GRACE: Duration = Duration::from_secs(1);

/// How often stragglers are looked for again: one may have started another meanwhile.
const RESCAN: Duration = Duration::from_millis(200);

/// How far the end has come. The instants are when the next step is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nobody asked for the end.
    Running,
    /// Its input has ended; it may exit by itself.
    Grace(Instant),
    /// The group, or what outlived the child, got SIGTERM.
    Terminating(Instant),
    /// The group, or what outlived the child, got SIGKILL.
    Killing(Instant),
    /// Nothing is left.
    Ended,
}

/// One child in the care of the thread.
pub(super) struct Charge {
    pub(super) shared: Arc<Shared>,
    /// There until the child has exited and was collected.
    pub(super) leader: Option<OwnChild>,
    /// There until its end was read or the child has ended.
    pub(super) stderr: Option<PipeReader>,
    step: Step,
    policy: EndPolicy,
    /// Members of the group seen when the leader was collected. While one of them lives the group's
    /// id cannot be given to another.
    anchors: Vec<Straggler>,
    /// What was found and signalled at the last look.
    pub(super) stragglers: Vec<Straggler>,
    /// When to look for stragglers; only once the leader is gone and the end was asked for.
    scan_at: Option<Instant>,
}

impl Charge {
    pub(super) fn new(adopted: Adopted) -> Self {
        Self {
            leader: Some(OwnChild::new(adopted.shared.pid)),
            shared: adopted.shared,
            stderr: Some(adopted.stderr),
            step: Step::Running,
            policy: EndPolicy::default(),
            anchors: Vec::new(),
            stragglers: Vec::new(),
            scan_at: None,
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.step == Step::Ended
    }

    /// Takes the steps that are due.
    pub(super) fn advance(&mut self, now: Instant) {
        let request = self.shared.request();
        if self.step == Step::Running && (request.end.is_some() || request.kill) {
            self.policy = request.end.unwrap_or_default();
            self.step = Step::Grace(now + self.policy.eof_grace);
        }
        match self.step {
            Step::Grace(_) | Step::Terminating(_) if request.kill => self.kill(now),
            // The child is gone; what it left has no input to see the end of.
            Step::Grace(until) if now >= until || self.leader.is_none() => self.terminate(now),
            Step::Terminating(until) if now >= until => self.kill(now),
            _ => {}
        }
    }

    fn terminate(&mut self, now: Instant) {
        self.step = Step::Terminating(now + self.policy.term_grace);
        self.signal_or_scan(Signal::TERM, now);
    }

    fn kill(&mut self, now: Instant) {
        self.step = Step::Killing(now + KILL_GRACE);
        self.signal_or_scan(Signal::KILL, now);
    }

    fn signal_or_scan(&mut self, signal: Signal, now: Instant) {
        match &self.leader {
            Some(leader) => leader.signal_group(signal),
            None => self.scan_at = Some(now),
        }
    }

    /// Collects the child if it has exited. Says whether it was collected now.
    pub(super) fn collect(&mut self, buffer: &mut [u8]) -> bool {
        let Some(leader) = &self.leader else {
            return false;
        };
        let pid = leader.pid();
        let Some(status) = leader.collect() else {
            return false;
        };
        self.leader = None;
        // If somebody else collected the child, its id may be in use again.
        if status != ExitStatus::UNKNOWN && !is_group_empty(pid) {
            self.anchors = census::members(pid);
        }
        self.drain(buffer);
        let now = Instant::now();
        match &mut self.step {
            Step::Running => {}
            Step::Killing(until) => {
                // What it left is killed from here on, and has its own time to be gone.
                *until = now + KILL_GRACE;
                self.scan_at = Some(now);
            }
            _ => self.scan_at = Some(now),
        }
        self.shared.exited.set(status);
        true
    }

    /// Reads what standard error holds, one turn. Says whether there may be more.
    pub(super) fn read_stderr(&mut self, buffer: &mut [u8]) -> bool {
        let Some(pipe) = &mut self.stderr else {
            return false;
        };
        match pipe.read(buffer) {
            Ok(count) if count > 0 => {
                self.shared
                    .stderr()
                    .push(buffer.get(..count).unwrap_or_default());
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => true,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => false,
            Ok(_) | Err(_) => {
                self.stderr = None;
                false
            }
        }
    }

    fn drain(&mut self, buffer: &mut [u8]) {
        for _ in 0..LAST_TURNS {
            if !self.read_stderr(buffer) {
                break;
            }
        }
    }

    /// Reads the last of standard error and lets go of it, whoever still holds the other end.
    pub(super) fn let_go(&mut self, buffer: &mut [u8]) {
        self.drain(buffer);
        self.stderr = None;
    }

    /// By what to look for stragglers, if that is due.
    pub(super) fn scan_due(&self, now: Instant) -> Option<Marks> {
        let early = !self.stragglers.is_empty() && self.stragglers.iter().all(Straggler::is_gone);
        let due = self.scan_at.is_some_and(|at| early || at <= now);
        due.then(|| Marks {
            cookie: self.shared.cookie,
            group: self.trusted_group(),
        })
    }

    /// The group, while somebody known to be in it keeps its id from being given away.
    fn trusted_group(&self) -> Option<Pid> {
        let lives = |anchor: &Straggler| anchor.exit_event().is_some() && !anchor.is_gone();
        self.anchors.iter().any(lives).then_some(self.shared.pid)
    }

    /// Signals what was found; nothing found is the end.
    pub(super) fn found(&mut self, found: Vec<Straggler>, now: Instant) {
        match self.step {
            Step::Killing(until) if now >= until && !found.is_empty() => {
                let pids: Vec<_> = found.iter().map(|straggler| straggler.pid).collect();
                tracing::warn!(server = ?self.shared.pid, ?pids, "processes survived SIGKILL");
                self.end();
            }
            _ if found.is_empty() => self.end(),
            Step::Killing(_) => found
                .iter()
                .for_each(|straggler| straggler.signal(Signal::KILL)),
            _ => found
                .iter()
                .filter(|new| !self.stragglers.iter().any(|known| known.pid == new.pid))
                .for_each(|straggler| straggler.signal(Signal::TERM)),
        }
        if !self.is_ended() {
            self.stragglers = found;
            self.scan_at = Some(now + RESCAN);
        }
    }

    fn end(&mut self) {
        self.step = Step::Ended;
        self.stragglers = Vec::new();
        self.anchors = Vec::new();
        self.scan_at = None;
    }

    /// When [`advance`](Self::advance) or a look for stragglers is due next.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let step = match self.step {
            Step::Grace(until) | Step::Terminating(until) => Some(until),
            // SIGKILL needs no second step; its grace is looked at with each scan.
            Step::Running | Step::Killing(_) | Step::Ended => None,
        };
        step.into_iter().chain(self.scan_at).min()
    }
}
