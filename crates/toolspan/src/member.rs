//! One toolbox of a host: its place in the config, its bounds, and its listing.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use toolspan_core::execute::Gate;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::name;
use toolspan_core::registry::{Shaping, Snapshot, Source};
use toolspan_core::toolbox::ToolBoxState;
use toolspan_core::{Discovery, Error, ErrorKind, Phase, Result, ToolBox};

use crate::config::{ToolFilter, ToolboxConfig, shaping};
use crate::native::NativeTools;
use crate::status::ToolboxStatus;

/// A listing under way: `None` until it ends.
pub(crate) type Listing = watch::Receiver<Option<Result<()>>>;

/// One toolbox of a host, usable or not.
pub(crate) struct Member {
    pub(crate) key: Arc<str>,
    /// Its entry in the config; `None` for toolboxes that the host's program gave it.
    pub(crate) entry: Option<ToolboxConfig>,
    /// Where its tools come from, for people: a command or an address, without secrets.
    pub(crate) origin: Option<String>,
    pub(crate) prefix: Option<String>,
    /// What its exposed names begin with, made once: each call looks at it.
    exposed_prefix: String,
    pub(crate) required: bool,
    pub(crate) source: MemberSource,
    /// What is behind it where that are the native tools, which change without a listing.
    pub(crate) natives: Option<Arc<NativeTools>>,
    pub(crate) filter: ToolFilter,
    shaping: Shaping,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) gate: Gate,
    /// Held for looking and changing only, never while waiting.
    state: Mutex<State>,
}

/// What is behind a member.
pub(crate) enum MemberSource {
    /// A toolbox that can be started.
    ToolBox(Arc<dyn ToolBox>),
    /// The config switches it off.
    Disabled,
    /// Its entry in the config cannot be used.
    Broken(Error),
}

#[derive(Default)]
struct State {
    listing: Option<Listing>,
    /// The last listing that went well.
    discovery: Option<Discovery>,
}

/// What a member needs to be told at the start.
pub(crate) struct MemberConfig {
    pub(crate) key: Arc<str>,
    pub(crate) entry: Option<ToolboxConfig>,
    pub(crate) prefix: Option<String>,
    pub(crate) required: bool,
    pub(crate) filter: ToolFilter,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
}

impl Member {
    pub(crate) fn new(config: MemberConfig, source: MemberSource) -> Self {
        let gate = Gate::new(
            config.limits.max_in_flight,
            config.limits.queue,
            "limits.max_in_flight",
        );
        let exposed_prefix = match &config.prefix {
            Some(prefix) => name::sanitised(prefix),
            None => name::toolbox_prefix(&config.key),
        };
        Self {
            key: config.key,
            shaping: config
                .entry
                .as_ref()
                .map(|entry| shaping(&entry.shapes))
                .unwrap_or_default(),
            origin: config.entry.as_ref().and_then(ToolboxConfig::origin),
            entry: config.entry,
            exposed_prefix,
            prefix: config.prefix,
            required: config.required,
            source,
            natives: None,
            filter: config.filter,
            limits: config.limits,
            timeouts: config.timeouts,
            gate,
            state: Mutex::default(),
        }
    }

    /// The member of the native tools.
    pub(crate) fn native(config: MemberConfig, natives: Arc<NativeTools>) -> Self {
        let toolbox: Arc<dyn ToolBox> = Arc::clone(&natives) as _;
        let mut member = Self::new(config, MemberSource::ToolBox(toolbox));
        member.natives = Some(natives);
        member
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The toolbox behind it, where there is one.
    pub(crate) fn toolbox(&self) -> Option<&Arc<dyn ToolBox>> {
        match &self.source {
            MemberSource::ToolBox(toolbox) => Some(toolbox),
            _ => None,
        }
    }

    /// Sets what its exposed names begin with, where that is neither the key nor what the config
    /// says: another toolbox has the same beginning.
    pub(crate) fn set_exposed_prefix(&mut self, prefix: String) {
        if self.exposed_prefix != prefix {
            self.prefix = Some(prefix.clone());
            self.exposed_prefix = prefix;
        }
    }

    /// Whether the config switches it off.
    pub(crate) fn is_disabled(&self) -> bool {
        matches!(self.source, MemberSource::Disabled)
    }

    /// Whether its exposed names begin as the other's do.
    pub(crate) fn begins_like(&self, other: &Self) -> bool {
        self.exposed_prefix == other.exposed_prefix
    }

    /// How long one listing may take, the start before it included.
    pub(crate) fn listing_limit(&self) -> Duration {
        self.timeouts.connect.saturating_add(self.timeouts.list)
    }

    /// The listing that is under way or ended well, or the sender of a new one to be made.
    ///
    /// A listing that failed is made anew: whoever asks again wants to know how it is now. So is one
    /// whose task is gone with the runtime it ran on, for that one never ends.
    pub(crate) fn listing(&self) -> ListingWanted {
        let mut state = self.lock();
        if let Some(listing) = &state.listing
            && match &*listing.borrow() {
                Some(result) => result.is_ok(),
                None => listing.has_changed().is_ok(),
            }
        {
            return ListingWanted::Known(listing.clone());
        }
        let (sender, listing) = watch::channel(None);
        state.listing = Some(listing.clone());
        ListingWanted::New(sender, listing)
    }

    /// Forgets the listing, so that the next one asks the toolbox again; its tools stay.
    pub(crate) fn forget_listing(&self) {
        let mut state = self.lock();
        let ended = state
            .listing
            .as_ref()
            .is_some_and(|listing| listing.borrow().is_some());
        if ended {
            state.listing = None;
        }
    }

    /// Whether a listing has ended, well or not.
    pub(crate) fn is_settled(&self) -> bool {
        let listed = self
            .lock()
            .listing
            .as_ref()
            .is_some_and(|listing| listing.borrow().is_some());
        listed || self.toolbox().is_none()
    }

    /// Takes over a listing, without the tools that the config leaves out and in the shapes that it
    /// gives them.
    pub(crate) fn keep(&self, discovery: Discovery) {
        let mut discovery = self.shaping.apply(discovery);
        discovery
            .tools
            .retain(|tool| self.filter.allows(&tool.definition.name));
        discovery
            .broken
            .retain(|broken| self.filter.allows(&broken.name));
        self.lock().discovery = Some(discovery);
    }

    /// Its part of a snapshot; nothing before the first listing, but for native tools.
    pub(crate) fn source(&self) -> Option<Source> {
        let discovery = match &self.natives {
            Some(natives) => natives.listed(),
            None => self.lock().discovery.clone()?,
        };
        Some(Source {
            toolbox: Arc::clone(&self.key),
            prefix: self.prefix.clone(),
            discovery,
        })
    }

    /// Whether a full name may mean one of its tools.
    pub(crate) fn may_own(&self, wanted: &str) -> bool {
        let is_dotted = wanted
            .strip_prefix(&*self.key)
            .is_some_and(|rest| rest.starts_with('.'));
        is_dotted || name::may_begin(wanted, &self.exposed_prefix)
    }

    /// Why it cannot be used, when it is known already.
    pub(crate) fn fault(&self) -> Option<Error> {
        if let MemberSource::Broken(error) = &self.source {
            return Some(error.clone());
        }
        let state = self.lock();
        match state.listing.as_ref()?.borrow().as_ref()? {
            Err(error) => Some(error.clone()),
            Ok(()) => None,
        }
    }

    /// How it is. Its tools are told as they are in the snapshot: one that is listed twice is in its
    /// listing twice.
    pub(crate) fn status(&self, snapshot: &Snapshot) -> ToolboxStatus {
        let (kind, state) = match &self.source {
            MemberSource::ToolBox(toolbox) => (toolbox.kind().to_owned(), toolbox.state()),
            MemberSource::Disabled => ("mcp".to_owned(), ToolBoxState::Disabled),
            MemberSource::Broken(error) => ("mcp".to_owned(), ToolBoxState::Failed(error.clone())),
        };
        let fault = self.fault();
        let known = self.lock();
        let discovery = known.discovery.as_ref();
        let incomplete = discovery.and_then(|discovery| discovery.incomplete.as_ref());
        let state = match (state, fault, incomplete) {
            (state @ (ToolBoxState::Closed | ToolBoxState::Failed(_)), ..) => state,
            // The toolbox is up, but its tools could not be listed: those listed before can be
            // called.
            (_, Some(fault), _) if discovery.is_some() => ToolBoxState::Degraded(fault),
            (_, Some(fault), _) => ToolBoxState::Failed(fault),
            (ToolBoxState::Ready, None, Some(why)) => {
                let error = Error::new(ErrorKind::Protocol, Phase::Discover, why.as_str());
                ToolBoxState::Degraded(error.in_toolbox(&self.key))
            }
            (state, None, _) => state,
        };
        let (tools, broken) = snapshot.usable_and_broken(&self.key);
        ToolboxStatus {
            toolbox: Arc::clone(&self.key),
            kind,
            state,
            tools,
            broken,
            required: self.required,
        }
    }
}

/// What a caller who needs a listing finds.
pub(crate) enum ListingWanted {
    /// One that is under way or ended well.
    Known(Listing),
    /// None: the caller must see to it that one is made and sent.
    New(watch::Sender<Option<Result<()>>>, Listing),
}
