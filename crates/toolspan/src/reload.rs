//! What happens when a host takes over a changed config?

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use toolspan_core::{Result, ToolBox};

use crate::builder::{Making, refuse_useless, set_prefixes, twice};
use crate::config::{Resolved, ToolboxConfig};
use crate::guarded;
use crate::host::{Host, lock};
use crate::member::{Member, MemberSource};

impl Host {
    /// Takes over a changed config.
    ///
    /// A toolbox whose entry is the same keeps its server and the server's state. New and changed
    /// entries are started when they are needed. A toolbox whose entry is gone or changed takes no
    /// further calls; it ends when the calls under way on it have ended, at the latest after its
    /// `timeouts.close`, and this waits for that. The `policy` of the new config holds for every call
    /// that is decided from now on. Native tools, toolboxes of the caller's own and the limits of the
    /// host as a whole stay as they are.
    ///
    /// # Errors
    ///
    /// `config` when the config leaves nothing that could be used or has the key of a toolbox of the
    /// caller's own; `closed`. The host then is as it was.
    pub async fn reload(&self, config: Resolved) -> Result<()> {
        let ended = self.take_over(&config)?;
        join_all(ended.iter().map(|member| drained(member))).await;
        Ok(())
    }

    /// Swaps the toolboxes. Gives those whose servers are not needed any more.
    fn take_over(&self, config: &Resolved) -> Result<Vec<Arc<Member>>> {
        let shared = self.shared();
        // Two reloads at once would each end what the other one keeps.
        let _one_at_a_time = lock(&shared.reloading);
        self.refuse_closed()?;
        let before = self.roster();
        let mut kept: HashMap<&str, &Arc<Member>> = HashMap::new();
        let mut members: Vec<Member> = Vec::with_capacity(config.toolboxes.len());
        for entry in &config.toolboxes {
            match before.get(&entry.key) {
                Some(member) if member.entry.is_none() => return Err(twice(&entry.key)),
                Some(member) if is_same(member, entry) => {
                    kept.insert(&entry.key, member);
                    members.push(Making::member_over(entry, same_source(member)));
                }
                _ => members.push(shared.making.member(entry)),
            }
        }
        let own: Vec<&Arc<Member>> = before
            .iter()
            .filter(|member| member.entry.is_none())
            .collect();
        refuse_useless(config, &members, own.len())?;
        let others: Vec<&Member> = own.iter().map(|member| &***member).collect();
        set_prefixes(&mut members, &others);
        let merged = members
            .into_iter()
            .map(|member| match kept.get(&*member.key) {
                // With the same names, too, it keeps its list.
                Some(known) if known.begins_like(&member) => Arc::clone(known),
                _ => Arc::new(member),
            });
        let merged: Vec<Arc<Member>> = merged
            .chain(own.iter().map(|member| Arc::clone(member)))
            .collect();
        let is_kept =
            |member: &&Arc<Member>| member.entry.is_none() || kept.contains_key(&*member.key);
        let ended = before
            .iter()
            .filter(|member| !is_kept(member))
            .cloned()
            .collect();
        // Before the swap: no tool of the new config runs by the rules of the old one.
        shared.rules.take_over(config, shared.making.environment());
        shared.swap(merged);
        Ok(ended)
    }
}

/// Whether an entry asks for the very toolbox that is there.
fn is_same(member: &Member, entry: &ToolboxConfig) -> bool {
    member.entry.as_ref() == Some(entry)
}

/// The same toolbox, with its server, behind another member.
fn same_source(member: &Member) -> MemberSource {
    match &member.source {
        MemberSource::ToolBox(toolbox) => {
            let toolbox: Arc<dyn ToolBox> = Arc::clone(toolbox);
            MemberSource::ToolBox(toolbox)
        }
        MemberSource::Disabled => MemberSource::Disabled,
        MemberSource::Broken(error) => MemberSource::Broken(error.clone()),
    }
}

/// Lets the calls of a toolbox end, at most `timeouts.close`, and then ends it.
async fn drained(member: &Member) {
    let _ = tokio::time::timeout(member.timeouts.close, member.gate.idle()).await;
    guarded::close(member).await;
}
