//! What an executor is given beside the arguments, and what it tells back while it runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::options::{CallOptions, Progress};
use crate::guard::Secret;
use crate::guard::limits::Timeouts;
use crate::guard::outcome::{Outcome, Phase};

/// The surroundings of one running call.
#[derive(Debug)]
pub struct Context {
    options: CallOptions,
    started: Instant,
    total: Duration,
    idle: Duration,
    /// Nanoseconds from `started` to the last sign of life.
    last_sign: AtomicU64,
    /// An [`Outcome`] as a number; only grows: not sent, unknown, answered.
    outcome: AtomicU8,
    /// Whether the whole call has left; until then a time limit ends it in the phase `send`.
    sent: AtomicBool,
}

impl Context {
    /// The surroundings of a call that starts now.
    ///
    /// The caller's timeout stands in for both `total` and `idle`.
    pub fn new(options: CallOptions, timeouts: &Timeouts) -> Self {
        let total = options.timeout.unwrap_or(timeouts.total);
        let idle = options.timeout.unwrap_or(timeouts.idle);
        Self {
            options,
            started: Instant::now(),
            total,
            idle,
            last_sign: AtomicU64::new(0),
            outcome: AtomicU8::new(0),
            sent: AtomicBool::new(false),
        }
    }

    /// Members that the caller wants in the request's `_meta`.
    pub fn meta(&self) -> &Map<String, Value> {
        &self.options.meta
    }

    /// HTTP headers that the caller wants for this call, name and value. Who does not speak HTTP
    /// ignores them.
    pub fn headers(&self) -> &[(String, Secret)] {
        &self.options.headers
    }

    /// Whether the caller listens to progress.
    pub fn wants_progress(&self) -> bool {
        self.options.on_progress.is_some()
    }

    /// Tells the caller of progress, and starts the idle limit anew. A panic of the caller's sink is
    /// not the tool's: it ends here, and the call goes on.
    pub fn report(&self, progress: Progress) {
        self.note_life();
        if let Some(sink) = &self.options.on_progress {
            let _ = catch_unwind(AssertUnwindSafe(|| sink(progress)));
        }
    }

    /// Starts the idle limit anew.
    pub fn note_life(&self) {
        let since = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last_sign.fetch_max(since, Ordering::Relaxed);
    }

    /// Says how far the call has come. An earlier outcome never replaces a later one.
    pub fn note_outcome(&self, outcome: Outcome) {
        let rank = match outcome {
            Outcome::NotSent => 0,
            Outcome::Unknown => 1,
            Outcome::Answered => 2,
        };
        self.outcome.fetch_max(rank, Ordering::AcqRel);
    }

    /// Says that the whole call has left, or runs: what is waited for now is the answer.
    pub fn note_sent(&self) {
        self.note_outcome(Outcome::Unknown);
        self.sent.store(true, Ordering::Release);
    }

    /// How long the call may still take if there is no further sign of life.
    pub fn time_left(&self) -> Duration {
        let (deadline, _) = self.deadline();
        deadline.saturating_duration_since(Instant::now())
    }

    /// What is waited for now: room to send, or the answer.
    pub fn phase(&self) -> Phase {
        if self.sent.load(Ordering::Acquire) {
            Phase::Call
        } else {
            Phase::Send
        }
    }

    /// How far the call has come.
    pub fn outcome(&self) -> Outcome {
        match self.outcome.load(Ordering::Acquire) {
            0 => Outcome::NotSent,
            1 => Outcome::Unknown,
            _ => Outcome::Answered,
        }
    }

    /// When the call ends if there is no further sign of life, and by which limit.
    pub(super) fn deadline(&self) -> (Instant, Limit) {
        let last_sign = Duration::from_nanos(self.last_sign.load(Ordering::Relaxed));
        let (total, idle) = (
            later(self.started, self.total),
            later(self.started + last_sign, self.idle),
        );
        match (self.options.timeout.is_some(), total <= idle) {
            (true, _) => (total, Limit::Caller(self.total)),
            (false, true) => (total, Limit::Total(self.total)),
            (false, false) => (idle, Limit::Idle(self.idle)),
        }
    }

    pub(super) fn cancel(&self) -> Option<&CancellationToken> {
        self.options.cancel.as_ref()
    }
}

/// The instant so much later. A limit of more than 30 years is taken as 30 years: what lies beyond
/// is more than a clock can tell.
fn later(instant: Instant, limit: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 3_600);
    instant + limit.min(LONGEST)
}

/// Which limit a call ran into, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Caller(Duration),
    Total(Duration),
    Idle(Duration),
}
