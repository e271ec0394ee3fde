//! Which toolboxes does a host have at one moment?

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::member::Member;

/// The toolboxes of a host: those of the config in its order, then the caller's own, then native
/// tools. It never changes; a reload swaps it whole.
pub(crate) struct Roster {
    pub(crate) members: Vec<Arc<Member>>,
    by_key: HashMap<Arc<str>, usize, RandomState>,
}

impl Roster {
    pub(crate) fn new(members: Vec<Arc<Member>>) -> Self {
        let keys = members.iter().enumerate();
        let by_key = keys
            .map(|(index, member)| (Arc::clone(&member.key), index))
            .collect();
        Self { members, by_key }
    }

    /// The toolbox of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<Member>> {
        self.by_key
            .get(key)
            .and_then(|index| self.members.get(*index))
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Arc<Member>> {
        self.members.iter()
    }
}
