//! The one thing callers hold: all toolboxes, the current snapshot of their tools, and the door to
//! call them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use arc_swap::ArcSwap;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::task::JoinSet;
use toolspan_core::execute::{self, Gate, Gates};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::toolbox::Diagnosis;
use toolspan_core::{
    CallOptions, CallRequest, Context, Error, ErrorKind, Observation, Outcome, Phase,
    RegisteredTool, Result, Snapshot, name,
};

use crate::builder::HostBuilder;
use crate::member::{Listing, ListingWanted, Member};
use crate::status::ToolboxStatus;

/// All toolboxes of an agent behind one door. Clones are cheap and mean the same host.
///
/// Dropping the last clone ends every server without waiting for it; [`Host::close`] waits.
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
struct Shared {
    /// In config order; native tools last.
    members: Vec<Arc<Member>>,
    by_key: HashMap<Arc<str>, usize>,
    snapshot: ArcSwap<Snapshot>,
    /// Held while a new snapshot is made, so that an older one never replaces it.
    rebuilding: Mutex<()>,
    gate: Gate,
    timeouts: Timeouts,
    closed: AtomicBool,
}

impl Host {
    /// Begins to put a host together.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    pub(crate) fn new(members: Vec<Member>, limits: &Limits, timeouts: Timeouts) -> Self {
        let members: Vec<Arc<Member>> = members.into_iter().map(Arc::new).collect();
        let keys = members
            .iter()
            .enumerate()
            .map(|(index, member)| (Arc::clone(&member.key), index));
        let shared = Shared {
            by_key: keys.collect(),
            members,
            snapshot: ArcSwap::default(),
            rebuilding: Mutex::new(()),
            gate: Gate::new(
                limits.in_flight_total,
                limits.queue,
                "limits.in_flight_total",
            ),
            timeouts,
            closed: AtomicBool::new(false),
        };
        let inner = Inner {
            shared: Arc::new(shared),
            tasks: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// Calls a tool. See [`Host::call_with`].
    ///
    /// # Errors
    ///
    /// As [`Host::call_with`].
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Observation> {
        self.call_with(tool, arguments, CallOptions::default())
            .await
    }

    /// Calls a tool by its exposed name, `toolbox.tool`, an alias, or a bare name that only one
    /// tool has. `arguments` is an object; `null` means none.
    ///
    /// A full name starts only its own toolbox; a bare one waits for all. An observation means
    /// that the tool answered, also when it says that it failed. Dropping the future cancels the
    /// call, here and at the server.
    ///
    /// # Errors
    ///
    /// Every other end of the call, with kind, toolbox, tool, phase and outcome.
    pub async fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        options: CallOptions,
    ) -> Result<Observation> {
        self.refuse_closed()?;
        let (tool, options) = match self.known(tool) {
            Some(tool) => (tool, options),
            None => {
                let asked = tokio::time::Instant::now();
                let found = self.find_within(tool, options.clone()).await;
                let tool = found.map_err(|error| error.in_tool(tool))?;
                let left = options
                    .timeout
                    .map(|timeout| timeout.saturating_sub(asked.elapsed()));
                (tool, with_timeout(options, left))
            }
        };
        let member = self.member(&tool.toolbox)?;
        let call = CallRequest::new(&*tool.name, arguments).validate(&tool, &member.limits)?;
        let context = Context::new(options, &member.timeouts);
        let gates = Gates {
            toolbox: &member.gate,
            host: &self.shared().gate,
        };
        execute::run(&tool, &call, &context, gates).await
    }

    /// Runs a tool call as a model made it, in the form of any of the big APIs, and turns every
    /// end into an observation that the model can read.
    pub async fn run(&self, model_call: &Value) -> Observation {
        self.run_with(model_call, CallOptions::default()).await
    }

    /// [`Host::run`] with options.
    pub async fn run_with(&self, model_call: &Value, options: CallOptions) -> Observation {
        let called = async {
            let request = CallRequest::from_model(model_call)?;
            self.call_with(&request.tool, request.arguments, options)
                .await
        };
        called.await.unwrap_or_else(|error| for_model(&error))
    }

    /// The tool that a name means, after starting what needs to be started to know it.
    ///
    /// # Errors
    ///
    /// The error of the toolbox that the name belongs to; `tool_not_found`.
    pub async fn find(&self, tool: &str) -> Result<RegisteredTool> {
        match self.known(tool) {
            Some(tool) => Ok(tool),
            None => self.find_within(tool, CallOptions::default()).await,
        }
    }

    /// A tool that can be told without waiting: by its full name, or by any name once every
    /// toolbox has been listed.
    fn known(&self, wanted: &str) -> Option<RegisteredTool> {
        let snapshot = self.shared().snapshot.load();
        let full = snapshot
            .get_full(wanted)
            .filter(|tool| self.is_owned(tool, wanted));
        let settled = || {
            self.shared()
                .members
                .iter()
                .all(|member| member.is_settled())
        };
        match full {
            Some(tool) => Some(tool.clone()),
            None if settled() => snapshot.resolve(wanted).ok().cloned(),
            None => None,
        }
    }

    /// Whether a name shows by itself which toolbox it belongs to, so that no other toolbox that
    /// is still starting can have a claim to it.
    fn is_owned(&self, tool: &RegisteredTool, wanted: &str) -> bool {
        &*tool.toolbox == name::NATIVE
            || self
                .shared()
                .members
                .iter()
                .filter(|member| member.may_own(wanted))
                .all(|member| member.key == tool.toolbox || member.is_settled())
                && self
                    .member(&tool.toolbox)
                    .is_ok_and(|member| member.may_own(wanted))
    }

    /// [`Host::find_now`] within the caller's timeout, and at most the longest start.
    async fn find_within(&self, tool: &str, options: CallOptions) -> Result<RegisteredTool> {
        let longest = |member: &Arc<Member>| member.timeouts.connect + member.timeouts.list;
        let mut timeouts = self.shared().timeouts.clone();
        timeouts.total = self
            .shared()
            .members
            .iter()
            .map(longest)
            .max()
            .unwrap_or_default();
        timeouts.idle = timeouts.total;
        let context = Context::new(options, &timeouts);
        let found = execute::within(self.find_now(tool), &context).await;
        found.map_err(|error| match error.kind() {
            ErrorKind::Timeout | ErrorKind::Cancelled => error.with_phase(Phase::Connect),
            _ => error,
        })
    }

    async fn find_now(&self, wanted: &str) -> Result<RegisteredTool> {
        self.refuse_closed()?;
        let members = &self.shared().members;
        let owners: Vec<&Arc<Member>> = members
            .iter()
            .filter(|member| member.may_own(wanted))
            .collect();
        let native = members.iter().filter(|member| &*member.key == name::NATIVE);
        join_all(native.map(|member| self.listed(member))).await;
        let listed = join_all(owners.iter().map(|member| self.listed(member))).await;
        let snapshot = self.snapshot();
        if let Some(tool) = snapshot
            .get_full(wanted)
            .filter(|tool| self.is_owned(tool, wanted))
        {
            return Ok(tool.clone());
        }
        // A full name whose toolbox failed is answered with the reason, not with "no such tool".
        if let Some(error) = listed.into_iter().find_map(Result::err) {
            return Err(error);
        }
        // A toolbox that has failed before is not started again for a name that is not its own.
        let starting = members.iter().filter(|member| !member.is_settled());
        join_all(starting.map(|member| self.listed(member))).await;
        let snapshot = self.snapshot();
        snapshot
            .resolve(wanted)
            .cloned()
            .map_err(|error| self.with_absent(error))
    }

    /// Adds the toolboxes that could not be asked to the error of an unknown name.
    fn with_absent(&self, error: Error) -> Error {
        let members = self.shared().members.iter();
        let absent: Vec<&str> = members
            .filter(|member| member.fault().is_some())
            .map(|member| &*member.key)
            .collect();
        if absent.is_empty() {
            return error;
        }
        let hint = error.hint().unwrap_or_default().to_owned();
        error.with_hint(format!(
            "{hint}; these toolboxes have failed: {}",
            absent.join(", ")
        ))
    }

    fn member(&self, key: &str) -> Result<&Arc<Member>> {
        let index = self.shared().by_key.get(key);
        index
            .and_then(|index| self.shared().members.get(*index))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Usage,
                    Phase::Resolve,
                    format!("there is no toolbox \"{key}\""),
                )
                .with_suggestions(self.nearest_keys(key))
                .with_hint("ask the status for the toolboxes there are")
            })
    }

    fn nearest_keys(&self, key: &str) -> Vec<String> {
        let keys = self.shared().members.iter().map(|member| &*member.key);
        name::nearest(key, keys, 3)
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    /// Waits until a toolbox has been listed, starting it if need be.
    async fn listed(&self, member: &Arc<Member>) -> Result<()> {
        let Some(mut listing) = self.begin_listing(member)? else {
            return Ok(());
        };
        match listing.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(result)) => result.clone(),
            // The task ended with the host.
            _ => Err(closed()),
        }
    }

    /// The listing of a toolbox, begun now unless there is one; none for a disabled toolbox.
    fn begin_listing(&self, member: &Arc<Member>) -> Result<Option<Listing>> {
        if let Some(error) = member.fault().filter(|_| member.toolbox().is_none()) {
            return Err(error);
        }
        let Some(toolbox) = member.toolbox() else {
            return Ok(None);
        };
        self.refuse_closed()?;
        let (sender, listing) = match member.listing() {
            ListingWanted::Known(listing) => return Ok(Some(listing)),
            ListingWanted::New(sender, listing) => (sender, listing),
        };
        let (toolbox, member) = (Arc::clone(toolbox), Arc::clone(member));
        let shared = Arc::downgrade(&self.inner.shared);
        let task = async move {
            let discovered = toolbox.discover().await;
            let Some(shared) = shared.upgrade() else {
                return;
            };
            let result = discovered.map(|discovery| {
                member.keep(discovery);
                shared.rebuild();
            });
            let result = result.map_err(|error| error.in_toolbox(&member.key));
            sender.send_replace(Some(result));
        };
        let mut tasks = lock(&self.inner.tasks);
        // Ended listings are taken out, so that the set never grows.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
        Ok(Some(listing))
    }

    /// Starts every toolbox and waits until each is ready or has failed.
    ///
    /// # Errors
    ///
    /// The error of the first required toolbox that failed; the others are in the status.
    pub async fn settled(&self) -> Result<()> {
        let members = &self.shared().members;
        let results = join_all(members.iter().map(|member| self.listed(member))).await;
        let mut needed = members
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
        self.shared()
            .members
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
        self.shared()
            .members
            .iter()
            .map(|member| member.status())
            .collect()
    }

    /// Starts a toolbox and tells what a person needs to find a fault in it. A failed start is in
    /// the diagnosis, not an error.
    ///
    /// # Errors
    ///
    /// `usage` when there is no such toolbox; `config` when its entry cannot be used.
    pub async fn diagnose(&self, toolbox: &str) -> Result<Diagnosis> {
        let member = self.member(toolbox)?;
        if let Err(error) = self.listed(member).await
            && member.toolbox().is_none()
        {
            return Err(error);
        }
        Ok(member
            .toolbox()
            .map(|toolbox| toolbox.diagnosis())
            .unwrap_or_default())
    }

    /// How many calls are in flight now.
    pub fn in_flight(&self) -> usize {
        self.shared().gate.in_flight()
    }

    /// How long [`Host::close`] may take, at most.
    pub fn close_limit(&self) -> std::time::Duration {
        let limits = self
            .shared()
            .members
            .iter()
            .map(|member| member.timeouts.close);
        limits.max().unwrap_or_default()
    }

    /// Ends every toolbox, all at once, and waits until nothing of them is left, at most
    /// `timeouts.close`. Calls under way end as `closed`. A second close does nothing.
    pub async fn close(&self) {
        self.shared().closed.store(true, Ordering::Release);
        lock(&self.inner.tasks).abort_all();
        let toolboxes = self
            .shared()
            .members
            .iter()
            .filter_map(|member| member.toolbox());
        join_all(toolboxes.map(|toolbox| toolbox.close())).await;
    }

    fn refuse_closed(&self) -> Result<()> {
        match self.shared().closed.load(Ordering::Acquire) {
            true => Err(closed()),
            false => Ok(()),
        }
    }
}

impl Shared {
    /// Makes the snapshot anew from what every toolbox has listed, and swaps it whole.
    fn rebuild(&self) {
        let _one_at_a_time = lock(&self.rebuilding);
        let sources = self
            .members
            .iter()
            .filter_map(|member| member.source())
            .collect();
        self.snapshot.store(Arc::new(Snapshot::new(sources)));
    }
}

fn with_timeout(mut options: CallOptions, timeout: Option<std::time::Duration>) -> CallOptions {
    options.timeout = timeout;
    options
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, Phase::Connect, "the host was closed")
        .with_outcome(Outcome::NotSent)
}

/// What a model reads of a call that did not come to an answer: what happened, whether the tool
/// may have run, and what to do.
fn for_model(error: &Error) -> Observation {
    let mut text = error.message().to_owned();
    if error.outcome() == Outcome::Unknown {
        text.push_str("\nIt is not known whether the tool ran.");
    }
    if let Some(hint) = error.hint() {
        text.push_str(&format!("\nHint: {hint}"));
    }
    Observation::error_of(text)
}
