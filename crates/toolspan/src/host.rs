//! The one thing callers hold: all toolboxes and the current snapshot of their tools.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::Gate;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::observation::LlmContent;
use toolspan_core::policy::{Approvals, Level, Policy};
use toolspan_core::toolbox::{Diagnosis, Step};
use toolspan_core::{
    Error, ErrorKind, Observation, Outcome, Phase, RegisteredTool, Result, Snapshot,
    ToolAnnotations, name,
};

use crate::builder::{HostBuilder, Making};
use crate::guarded;
use crate::hiding::{hidden_in_diagnosis, hidden_in_status};
use crate::member::{Listing, ListingWanted, Member};
use crate::roster::Roster;
use crate::rules::Rules;
use crate::search::Indexed;
use crate::status::ToolboxStatus;

/// All toolboxes of an agent behind one door. Clones are cheap and mean the same host.
///
/// Its futures must be awaited in a tokio runtime; [`blocking::Host`](crate::blocking::Host) needs
/// none. Dropping the last clone ends every server without waiting for it; [`Host::close`] waits.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    /// Listings under way. They end with the host.
    tasks: Mutex<JoinSet<()>>,
}

/// What the host and its listing tasks share.
pub(crate) struct Shared {
    pub(crate) roster: ArcSwap<Roster>,
    /// What toolboxes are made with.
    pub(crate) making: Making,
    pub(crate) snapshot: ArcSwap<Snapshot>,
    /// The words of the tools, for whoever searches.
    pub(crate) indexed: Indexed,
    /// Held while a new snapshot is made, so that an older one never replaces it.
    rebuilding: Mutex<()>,
    /// Held while a reload changes the toolboxes.
    pub(crate) reloading: Mutex<()>,
    pub(crate) gate: Gate,
    /// What is done with every call.
    pub(crate) rules: Rules,
    limits: Limits,
    pub(crate) timeouts: Timeouts,
    closed: AtomicBool,
    /// Set once every toolbox was ended: what still runs then is ended by the host.
    pub(crate) ended: CancellationToken,
}

/// Names the toolboxes.
impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.status().into_iter().map(|it| it.toolbox).collect();
        formatter
            .debug_struct("Host")
            .field("toolboxes", &names)
            .finish_non_exhaustive()
    }
}

impl Host {
    /// Begins to put a host together.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    pub(crate) fn new(
        members: Vec<Member>,
        making: Making,
        rules: Rules,
        (limits, timeouts): (&Limits, Timeouts),
    ) -> Self {
        let members = members.into_iter().map(Arc::new).collect();
        let shared = Shared {
            roster: ArcSwap::from_pointee(Roster::new(members)),
            making,
            snapshot: ArcSwap::default(),
            indexed: Indexed::default(),
            rebuilding: Mutex::new(()),
            reloading: Mutex::new(()),
            gate: Gate::new(
                limits.in_flight_total,
                limits.queue,
                "limits.in_flight_total",
            ),
            rules,
            limits: limits.clone(),
            timeouts,
            closed: AtomicBool::new(false),
            ended: CancellationToken::new(),
        };
        let inner = Inner {
            shared: Arc::new(shared),
            tasks: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// The toolboxes there are now.
    pub(crate) fn roster(&self) -> Arc<Roster> {
        self.shared().roster.load_full()
    }

    pub(crate) fn member(&self, key: &str) -> Result<Arc<Member>> {
        let roster = self.shared().roster.load();
        roster.get(key).cloned().ok_or_else(|| {
            let keys = roster.iter().map(|member| &*member.key);
            let near = name::nearest(key, keys, 3);
            let message = format!("there is no toolbox \"{key}\"");
            Error::new(ErrorKind::Usage, Phase::Resolve, message)
                .with_suggestions(near.into_iter().map(str::to_owned).collect())
                .with_hint("ask the status for the toolboxes there are")
        })
    }

    /// Waits until a toolbox has been listed, starting it if need be.
    pub(crate) async fn listed(&self, member: &Arc<Member>) -> Result<()> {
        let Some(mut listing) = self.begin_listing(member)? else {
            return Ok(());
        };
        match listing.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(result)) => result.clone(),
            // The task ended with the host, or with the runtime it ran on.
            _ => Err(self.refuse_closed().err().unwrap_or_else(lost_listing)),
        }
    }

    /// The listing of a toolbox, begun now unless there is one; none for a disabled toolbox.
    fn begin_listing(&self, member: &Arc<Member>) -> Result<Option<Listing>> {
        let Some(toolbox) = member.toolbox() else {
            return member.fault().map_or(Ok(None), Err);
        };
        // Held from here on: a close comes before, and is seen, or after, and ends the task.
        let mut tasks = lock(&self.inner.tasks);
        self.refuse_closed()?;
        let runtime = Handle::try_current().map_err(|_| outside_runtime())?;
        let (sender, listing) = match member.listing() {
            ListingWanted::Known(listing) => return Ok(Some(listing)),
            ListingWanted::New(sender, listing) => (sender, listing),
        };
        let (toolbox, member) = (Arc::clone(toolbox), Arc::clone(member));
        let shared = Arc::downgrade(&self.inner.shared);
        let task = async move {
            let discovered = guarded::discover(&member, &*toolbox).await;
            let Some(shared) = shared.upgrade() else {
                return;
            };
            let result = discovered.map(|discovery| {
                member.keep(discovery);
                shared.rebuild();
            });
            let result = result.map_err(|error| match shared.rules.redactor() {
                Some(redactor) => error.redacted(&redactor),
                None => error,
            });
            sender.send_replace(Some(result));
        };
        // Ended listings are taken out, so that the set never grows.
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(task, &runtime);
        Ok(Some(listing))
    }

    /// Starts every toolbox and waits until each is ready or has failed.
    ///
    /// # Errors
    ///
    /// The error of the first required toolbox that failed; the others are in the status. `closed`
    /// when the host is closed before all are settled.
    pub async fn settled(&self) -> Result<()> {
        self.refuse_closed()?;
        let roster = self.roster();
        let results = join_all(roster.iter().map(|member| self.listed(member))).await;
        self.refuse_closed()?;
        let mut needed = roster
            .iter()
            .zip(results)
            .filter(|(member, _)| member.required);
        needed.try_for_each(|(_, result)| result)
    }

    /// Lists the tools of every toolbox again; one that has failed is started again.
    ///
    /// # Errors
    ///
    /// As [`Host::settled`].
    pub async fn refresh(&self) -> Result<()> {
        self.roster()
            .iter()
            .for_each(|member| member.forget_listing());
        self.settled().await
    }

    /// The tools there are now. A snapshot never changes.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared().snapshot.load_full()
    }

    /// How each toolbox is now, in config order. Never waits.
    pub fn status(&self) -> Vec<ToolboxStatus> {
        let snapshot = self.snapshot();
        let roster = self.roster();
        let statuses = roster.iter().map(|member| member.status(&snapshot));
        match self.shared().rules.redactor() {
            Some(redactor) => statuses
                .map(|status| hidden_in_status(status, &redactor))
                .collect(),
            None => statuses.collect(),
        }
    }

    /// Looks at what lies below a toolbox's protocol, starts it, and tells what a person needs to find
    /// a fault in it. A failed step or start is in the diagnosis, not an error.
    ///
    /// # Errors
    ///
    /// `usage` when there is no such toolbox; `config` when its entry cannot be used.
    pub async fn diagnose(&self, toolbox: &str) -> Result<Diagnosis> {
        let member = self.member(toolbox)?;
        let mut steps = Vec::new();
        if let (Some(toolbox), Ok(())) = (member.toolbox(), self.refuse_closed()) {
            steps = guarded::probe(&member, &**toolbox).await;
        }
        if let Err(error) = self.listed(&member).await
            && member.toolbox().is_none()
        {
            return Err(error);
        }
        let mut diagnosis = member
            .toolbox()
            .map(|toolbox| toolbox.diagnosis())
            .unwrap_or_default();
        diagnosis.steps = joined(steps, diagnosis.steps);
        Ok(match self.shared().rules.redactor() {
            Some(redactor) => hidden_in_diagnosis(diagnosis, &redactor),
            None => diagnosis,
        })
    }

    /// The limits of the host as a whole; a toolbox may have its own.
    pub fn limits(&self) -> &Limits {
        &self.shared().limits
    }

    /// What a model is given of an observation: text and images, the text within the
    /// `limits.output_chars` of its toolbox.
    pub fn to_llm_content(&self, observation: &Observation) -> Vec<LlmContent> {
        let most = observation.output_chars;
        observation.to_llm_content(most.unwrap_or(self.limits().output_chars))
    }

    /// The rules by which calls are decided now.
    pub fn policy(&self) -> Arc<Policy> {
        self.shared().rules.policy()
    }

    /// What was approved for the session, to be looked at and taken back.
    pub fn approvals(&self) -> &Approvals {
        &self.shared().rules.approvals
    }

    /// The annotations of a tool that count: the user's own over those of a source that is believed,
    /// and the pessimistic defaults where nobody says anything.
    pub fn effective_annotations(&self, tool: &RegisteredTool) -> ToolAnnotations {
        self.shared().rules.effective(tool)
    }

    /// The level of a tool under the policy that holds now, before anything is known of a call, and the
    /// rule in words. A call can only raise it.
    pub fn level_of(&self, tool: &RegisteredTool) -> (Level, Cow<'static, str>) {
        let policy = self.shared().rules.policy();
        policy.level_of(&tool.name, &tool.toolbox, &tool.definition)
    }

    /// How many calls are in flight now.
    pub fn in_flight(&self) -> usize {
        self.shared().gate.in_flight()
    }

    /// How long [`Host::close`] may take, at most.
    pub fn close_limit(&self) -> Duration {
        let roster = self.roster();
        let limits = roster.iter().map(|member| member.timeouts.close);
        limits
            .max()
            .unwrap_or_default()
            .saturating_add(guarded::CLOSE_GRACE)
    }

    /// Ends every toolbox, all at once, and waits until nothing of them is left, at most
    /// [`Host::close_limit`]: a toolbox that does not keep to its `timeouts.close` is waited for no
    /// longer. Calls under way end as `closed`, those of native tools last. A second close does
    /// nothing.
    pub async fn close(&self) {
        {
            let mut tasks = lock(&self.inner.tasks);
            self.shared().closed.store(true, Ordering::Release);
            tasks.abort_all();
        }
        let roster = self.roster();
        join_all(roster.iter().map(|member| guarded::close(member))).await;
        self.shared().ended.cancel();
    }

    pub(crate) fn refuse_closed(&self) -> Result<()> {
        match self.shared().closed.load(Ordering::Acquire) {
            true => Err(closed()),
            false => Ok(()),
        }
    }
}

impl Shared {
    /// Takes other toolboxes over, and their tools.
    pub(crate) fn swap(&self, members: Vec<Arc<Member>>) {
        self.roster.store(Arc::new(Roster::new(members)));
        self.rebuild();
    }

    /// Makes the snapshot anew from what every toolbox has listed, and swaps it whole.
    pub(crate) fn rebuild(&self) {
        let _one_at_a_time = lock(&self.rebuilding);
        let roster = self.roster.load();
        let sources = roster.iter().filter_map(|member| member.source()).collect();
        self.snapshot.store(Arc::new(Snapshot::new(sources)));
    }
}

/// The steps below the protocol and those of the start. What fails there fails a start in the same
/// words: it is told once.
fn joined(mut below: Vec<Step>, mut start: Vec<Step>) -> Vec<Step> {
    let words = |step: &Step| {
        step.result
            .as_ref()
            .err()
            .map(|error| error.message().to_owned())
    };
    if let (Some(last), Some(first)) = (below.last(), start.first())
        && let Some(failure) = words(last)
        && words(first) == Some(failure)
    {
        start.remove(0);
    }
    below.append(&mut start);
    below
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Closed, Phase::Connect, "the host was closed")
        .with_outcome(Outcome::NotSent)
}

fn outside_runtime() -> Error {
    let message = "a toolbox can only be started within a tokio runtime";
    Error::new(ErrorKind::Usage, Phase::Connect, message)
        .with_hint("use the blocking host outside a runtime")
}

/// The error of whoever waited for a listing whose task is gone.
fn lost_listing() -> Error {
    let message = "the start was cut short: the runtime it ran on was shut down";
    Error::new(ErrorKind::Startup, Phase::Connect, message)
        .with_hint("call again: that starts the toolbox anew")
}
