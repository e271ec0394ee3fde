//! How does a host find the tool that a name means, while some of its toolboxes are not there yet?

use std::time::Duration;

use futures_util::future::join_all;
use toolspan_core::{
    CallOptions, Context, Error, ErrorKind, Phase, RegisteredTool, Result, Snapshot, execute, name,
};

use crate::host::Host;

/// Lets the limits of single listings, which name their toolbox, come before that of a search.
const CLOCK_GRACE: Duration = Duration::from_secs(1);

impl Host {
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
    pub(crate) fn known(&self, wanted: &str) -> Option<RegisteredTool> {
        self.known_in(&self.shared().snapshot.load(), wanted)
            .cloned()
    }

    /// [`Host::known`] among the tools of the current snapshot.
    pub(crate) fn known_in<'s>(
        &self,
        snapshot: &'s Snapshot,
        wanted: &str,
    ) -> Option<&'s RegisteredTool> {
        let full = snapshot
            .get_full(wanted)
            .filter(|tool| self.is_owned(tool, wanted));
        let settled = || {
            self.shared()
                .roster
                .load()
                .iter()
                .all(|member| member.is_settled())
        };
        match full {
            Some(tool) => Some(tool),
            None if settled() => snapshot.resolve(wanted).ok(),
            None => None,
        }
    }

    /// Whether a name shows by itself which toolbox it belongs to, so that no other toolbox that
    /// is still starting can have a claim to it.
    fn is_owned(&self, tool: &RegisteredTool, wanted: &str) -> bool {
        if &*tool.toolbox == name::NATIVE {
            return true;
        }
        let roster = self.shared().roster.load();
        let mut is_named = false;
        for member in roster.iter().filter(|member| member.may_own(wanted)) {
            if member.key == tool.toolbox {
                is_named = true;
            } else if !member.is_settled() {
                return false;
            }
        }
        is_named
    }

    /// [`Host::find_now`] within the caller's timeout. Without one each listing has its own limit;
    /// the limit here only holds when no timer of the runtime fires.
    pub(crate) async fn find_within(
        &self,
        tool: &str,
        options: CallOptions,
    ) -> Result<RegisteredTool> {
        let roster = self.roster();
        let longest = roster.iter().map(|member| member.listing_limit()).max();
        let mut timeouts = self.shared().timeouts.clone();
        // The toolboxes that may own the name are waited for first, then the others.
        timeouts.total = longest
            .unwrap_or_default()
            .saturating_mul(2)
            .saturating_add(CLOCK_GRACE);
        timeouts.idle = timeouts.total;
        let is_own_limit = options.timeout.is_none();
        let context = Context::new(options, &timeouts);
        let found = execute::within(self.find_now(tool), &context).await;
        found.map_err(|error| match error.kind() {
            ErrorKind::Timeout if is_own_limit && error.toolbox().is_none() => error
                .with_phase(Phase::Connect)
                .with_message("the toolboxes did not list their tools in time")
                .with_hint("raise timeouts.connect or timeouts.list, or look at the status"),
            ErrorKind::Timeout | ErrorKind::Cancelled if error.toolbox().is_none() => {
                error.with_phase(Phase::Connect)
            }
            _ => error,
        })
    }

    async fn find_now(&self, wanted: &str) -> Result<RegisteredTool> {
        self.refuse_closed()?;
        let roster = self.roster();
        let members = &roster.members;
        let native = members.iter().filter(|member| &*member.key == name::NATIVE);
        join_all(native.map(|member| self.listed(member))).await;
        // Nobody else has a claim to the name of a native tool.
        if let Some(tool) = self.known(wanted) {
            return Ok(tool);
        }
        let owners = members.iter().filter(|member| member.may_own(wanted));
        let listed = join_all(owners.map(|member| self.listed(member))).await;
        if let Some(tool) = self.known(wanted) {
            return Ok(tool);
        }
        // A full name whose toolbox failed is answered with the reason, not with "no such tool".
        if let Some(error) = listed.into_iter().find_map(Result::err) {
            return Err(error);
        }
        if let Some(member) = members
            .iter()
            .find(|it| it.may_own(wanted) && it.is_disabled())
        {
            return Err(switched_off(&member.key));
        }
        // A toolbox that has failed before is not started again for a name that is not its own.
        let starting = members.iter().filter(|member| !member.is_settled());
        join_all(starting.map(|member| self.listed(member))).await;
        // What a close cut short is not unknown.
        self.refuse_closed()?;
        let snapshot = self.snapshot();
        snapshot
            .resolve(wanted)
            .cloned()
            .map_err(|error| self.with_absent(error))
    }

    /// Adds the toolboxes that could not be asked to the error of an unknown name. Where no toolbox
    /// could be asked at all, the name is not what is wrong: the first one's error is.
    fn with_absent(&self, error: Error) -> Error {
        let roster = self.roster();
        if self.snapshot().tools().is_empty()
            && let Some(fault) = roster.iter().find_map(|member| member.fault())
        {
            return fault;
        }
        let absent: Vec<&str> = roster
            .iter()
            .filter(|member| member.fault().is_some())
            .map(|member| &*member.key)
            .collect();
        if absent.is_empty() {
            return error;
        }
        let hint = error.hint().unwrap_or_default().to_owned();
        error.with_hint(format!(
            "{hint}; these toolboxes cannot be used: {}",
            absent.join(", ")
        ))
    }
}

/// The error of a full name whose toolbox the config switches off.
fn switched_off(key: &str) -> Error {
    let message = format!("the toolbox \"{key}\" is switched off in the config");
    Error::new(ErrorKind::ToolNotFound, Phase::Resolve, message)
        .in_toolbox(key)
        .with_hint(
            "remove \"disabled\", or \"enabled\": false, from its entry; \"mcp\" at the top can \
             switch it off, too",
        )
}
