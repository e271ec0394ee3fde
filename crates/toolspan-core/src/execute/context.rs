//! What an executor is given beside the arguments, and what it tells back while it runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::holding::Holding;
use super::locks::ResourceLocks;
use super::options::{CallOptions, Progress};
use super::secrets::SecretAccess;
use crate::guard::Secret;
use crate::guard::limits::Timeouts;
use crate::guard::outcome::{Outcome, Phase};
use crate::observation::Observation;

/// The surroundings of one running call.
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
    locks: Option<Arc<ResourceLocks>>,
    secrets: Option<Arc<SecretAccess>>,
    /// Whether it waits for its turn at a resource: no sign of life can come then.
    queued: AtomicBool,
    /// How many people are asked now, and nanoseconds for which people were asked so far.
    asking: AtomicU32,
    asked: AtomicU64,
    /// Cancelled when the call is over; made when someone wants it.
    over: OnceLock<CancellationToken>,
    rare: Mutex<Rare>,
}

/// What few look at.
#[derive(Default)]
struct Rare {
    /// The resource that the call waited for in vain.
    waited_for: Option<String>,
    /// What the call has while it runs.
    holding: Weak<Holding>,
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
            locks: None,
            secrets: None,
            queued: AtomicBool::new(false),
            asking: AtomicU32::new(0),
            asked: AtomicU64::new(0),
            over: OnceLock::new(),
            rare: Mutex::default(),
        }
    }

    /// Lets the call wait for the resources that its tool declares, among the calls of one host.
    #[must_use]
    pub fn with_locks(mut self, locks: &Arc<ResourceLocks>) -> Self {
        self.locks = Some(Arc::clone(locks));
        self
    }

    /// Gives the call the secrets of its toolbox.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Option<&Arc<SecretAccess>>) -> Self {
        self.secrets = secrets.map(Arc::clone);
        self
    }

    /// The state of the conversation that the call belongs to; `None` when the caller gave none, or
    /// one of another type.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::downcast(Arc::clone(self.options.state.as_ref()?)).ok()
    }

    /// A secret by its name, where the tool's toolbox may have it. What it gives is hidden in every
    /// result and error from then on.
    ///
    /// # Errors
    ///
    /// As [`SecretAccess::secret`]; `policy_denied` when the toolbox has no secrets at all.
    pub fn secret(&self, name: &str) -> crate::Result<Secret> {
        self.secret_reader()(name)
    }

    /// [`Context::secret`] for a tool that runs elsewhere, such as code of another language.
    pub fn secret_reader(
        &self,
    ) -> impl Fn(&str) -> crate::Result<Secret> + Send + Sync + 'static + use<> {
        let secrets = self.secrets.clone();
        move |name| match &secrets {
            Some(secrets) => secrets.secret(name),
            None => Err(super::secrets::no_secrets(name)),
        }
    }

    /// Options for a call that the tool makes in turn. Such a call has the same state, ends with
    /// this one, and does not wait for places and resources that this one has.
    ///
    /// A call that the tool awaits itself needs them only to end in time; one from a thread or task
    /// of its own needs them lest it wait for this call while this call waits for it.
    pub fn nested(&self) -> CallOptions {
        let mut options = CallOptions::default();
        options.state = self.options.state.clone();
        options.cancel = Some(self.over());
        options.around = Some(self.rare().holding.clone());
        options
    }

    /// Is cancelled once nobody waits for the call any more: it was answered, cancelled or dropped,
    /// or ran into a limit. For work that goes on in a thread or task of its own.
    pub fn over(&self) -> CancellationToken {
        self.over.get_or_init(CancellationToken::new).clone()
    }

    /// Waits for a person's answer with the clock stopped: neither `timeouts.total` nor
    /// `timeouts.idle` counts the time. The caller's own timeout does.
    pub async fn asking<F: Future>(&self, answer: F) -> F::Output {
        let _asking = Asking::begin(self);
        answer.await
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

    /// Tells the caller of progress, without the secrets that were given out, and starts the idle
    /// limit anew. A panic of the caller's sink is not the tool's: it ends here, and the call goes on.
    pub fn report(&self, mut progress: Progress) {
        self.note_life();
        if let Some(sink) = &self.options.on_progress {
            if let (Some(secrets), Some(message)) = (&self.secrets, &mut progress.message) {
                *message = secrets.redactor().redact(message).into_owned();
            }
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
        if self.options.timeout.is_some() {
            return (later(self.started, self.total), Limit::Caller(self.total));
        }
        if self.asking.load(Ordering::Acquire) > 0 {
            return (later(Instant::now(), LONGEST), Limit::Total(self.total));
        }
        let asked = Duration::from_nanos(self.asked.load(Ordering::Acquire));
        let last_sign = Duration::from_nanos(self.last_sign.load(Ordering::Relaxed));
        let (total, idle) = (
            later(self.started + asked, self.total),
            later(self.started + last_sign, self.idle),
        );
        match (self.queued.load(Ordering::Relaxed), total <= idle) {
            (true, _) => (total, Limit::Total(self.total)),
            (false, true) => (total, Limit::Total(self.total)),
            (false, false) => (idle, Limit::Idle(self.idle)),
        }
    }

    pub(super) fn cancel(&self) -> Option<&CancellationToken> {
        self.options.cancel.as_ref()
    }

    pub(super) fn locks(&self) -> Option<&Arc<ResourceLocks>> {
        self.locks.as_ref()
    }

    pub(super) fn secrets(&self) -> Option<&Arc<SecretAccess>> {
        self.secrets.as_ref()
    }

    /// What came of the call, without the secrets that were given out so far.
    pub(super) fn without_secrets(
        &self,
        ended: crate::Result<Observation>,
    ) -> crate::Result<Observation> {
        let Some(secrets) = &self.secrets else {
            return ended;
        };
        let redactor = secrets.redactor();
        ended
            .map(|observation| observation.redacted(&redactor))
            .map_err(|error| error.redacted(&redactor))
    }

    /// The call in whose course this one is made.
    pub(super) fn around(&self) -> Option<Arc<Holding>> {
        let told = self.options.around.as_ref().and_then(Weak::upgrade);
        told.or_else(Holding::of_task)
    }

    /// Says that the call waits for its turn, or that its turn has come.
    pub(super) fn note_queued(&self, queued: bool) {
        self.note_life();
        self.queued.store(queued, Ordering::Relaxed);
    }

    pub(super) fn note_waited_for(&self, key: Option<String>) {
        self.rare().waited_for = key;
    }

    /// The resource that the call waited for in vain.
    pub(super) fn waited_for(&self) -> Option<String> {
        self.rare().waited_for.clone()
    }

    pub(super) fn note_holding(&self, holding: &Arc<Holding>) {
        self.rare().holding = Arc::downgrade(holding);
    }

    /// Says that nobody waits for the call any more.
    pub(super) fn note_over(&self) {
        if let Some(over) = self.over.get() {
            over.cancel();
        }
    }

    fn rare(&self) -> MutexGuard<'_, Rare> {
        self.rare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.note_over();
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Context")
            .field("options", &self.options)
            .field("started", &self.started)
            .field("outcome", &self.outcome())
            .finish_non_exhaustive()
    }
}

/// The clock of a call, stopped until this is dropped.
struct Asking<'a> {
    context: &'a Context,
    since: Instant,
}

impl<'a> Asking<'a> {
    fn begin(context: &'a Context) -> Self {
        context.asking.fetch_add(1, Ordering::AcqRel);
        let since = Instant::now();
        Self { context, since }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let took = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.context.asked.fetch_add(took, Ordering::AcqRel);
        self.context.note_life();
        self.context.asking.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What lies beyond is more than a clock can tell.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 3_600);

/// The instant so much later. A limit of more than 30 years is taken as 30 years.
fn later(instant: Instant, limit: Duration) -> Instant {
    instant + limit.min(LONGEST)
}

/// Which limit a call ran into, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Caller(Duration),
    Total(Duration),
    Idle(Duration),
}
