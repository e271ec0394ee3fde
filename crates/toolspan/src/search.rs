//! Which tools of a host fit a few words?

use std::sync::{Arc, Mutex};

use toolspan_core::search::SearchIndex;
use toolspan_core::{RegisteredTool, Snapshot};

use crate::host::{Host, lock};

/// A tool that fits a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundTool {
    /// The tool.
    pub tool: RegisteredTool,
    /// How well it fits, above 0. Comparable within one answer alone.
    pub score: f64,
}

impl Host {
    /// The tools there are now that have a word of the query in their name, their description or
    /// their parameters: the best first, at most `limit`, and those that fit alike in the order of the
    /// config. Never waits; toolboxes that are not listed yet are not searched.
    pub fn search(&self, query: &str, limit: usize) -> Vec<FoundTool> {
        let snapshot = self.snapshot();
        let index = self.shared().indexed.of(&snapshot);
        let hits = index.search(query, limit);
        let found = hits.into_iter().filter_map(|hit| {
            let tool = snapshot.tools().get(hit.place)?.clone();
            Some(FoundTool {
                tool,
                score: hit.score,
            })
        });
        found.collect()
    }
}

/// The index of the tools that were searched last.
#[derive(Default)]
pub(crate) struct Indexed(Mutex<Option<(Arc<Snapshot>, Arc<SearchIndex>)>>);

impl Indexed {
    /// The index of these tools, made now unless it is there.
    fn of(&self, snapshot: &Arc<Snapshot>) -> Arc<SearchIndex> {
        if let Some((known, index)) = &*lock(&self.0)
            && Arc::ptr_eq(known, snapshot)
        {
            return Arc::clone(index);
        }
        let tools = snapshot.tools().iter();
        let tools = tools.map(|tool| (&*tool.name, &*tool.definition));
        let index = Arc::new(SearchIndex::of(tools));
        *lock(&self.0) = Some((Arc::clone(snapshot), Arc::clone(&index)));
        index
    }
}
