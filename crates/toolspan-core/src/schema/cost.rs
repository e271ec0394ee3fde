//! How much can a check against this schema cost, whatever the value?
//!
//! The validator has no step budget of its own, so what would take exponential time or endless
//! recursion is refused here, from the graph alone.

use super::graph::{Graph, NodeId};
use super::limits::SchemaLimits;
use super::rejected::{RejectedReason, SchemaRejected};

/// How often `unevaluated*` may look at the schemas applied beside it, the ordinary application
/// included: once for properties and once for items more.
const LOOKS: u64 = 3;

/// What a schema costs.
#[derive(Debug)]
pub(super) struct Costs {
    /// Schemas after every reference is replaced by its target, a recursive one counting once.
    pub(super) expanded_size: u64,
    /// Whether some schema contains itself, through properties or items.
    pub(super) recursive: bool,
    /// Schemas inside one another on the longest way through the expanded schema; without
    /// meaning where `recursive`.
    pub(super) longest_way: usize,
    /// Greatest number of schemas applied inside one another to the same value.
    pub(super) applied_depth: usize,
    /// For each node, how many schemas below it apply to the same value inside one another.
    pub(super) applied_depths: Vec<usize>,
    /// Greatest work per byte of text in any one schema, 0 without patterns.
    pub(super) text_cost: u64,
    /// Whether a check may have to compare alternatives.
    pub(super) has_alternatives: bool,
}

impl Costs {
    /// Measures the graph and refuses what is over the limits.
    pub(super) fn of(graph: &Graph, limits: &SchemaLimits) -> Result<Self, SchemaRejected> {
        let applied = AppliedDepths::of(graph, limits)?;
        let expanded = Expansion::of(graph, limits)?;
        Ok(Self {
            expanded_size: expanded.size,
            recursive: expanded.recursive,
            longest_way: expanded.longest_way,
            applied_depth: applied.depths.iter().copied().max().unwrap_or(1),
            applied_depths: applied.depths,
            text_cost: graph
                .iter()
                .map(|(_, node)| node.text_cost + node.name_cost)
                .max()
                .unwrap_or(0),
            has_alternatives: graph.iter().any(|(_, node)| node.has_alternatives),
        })
    }
}

/// How often a check visits each schema applied beside `unevaluated*`, or one elsewhere.
pub(super) fn looks(graph: &Graph, id: NodeId) -> u64 {
    if graph.node(id).is_some_and(|node| node.looks_again) {
        LOOKS
    } else {
        1
    }
}

/// One step of a walk that has an explicit stack.
enum Step {
    Enter(NodeId),
    Leave(NodeId),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Inside,
    Done,
}

struct AppliedDepths {
    depths: Vec<usize>,
    hops: Vec<usize>,
}

impl AppliedDepths {
    fn of(graph: &Graph, limits: &SchemaLimits) -> Result<Self, SchemaRejected> {
        let mut found = Self {
            depths: vec![1; graph.len()],
            hops: vec![0; graph.len()],
        };
        let mut states = vec![State::New; graph.len()];
        let mut steps: Vec<Step> = graph.iter().map(|(id, _)| Step::Enter(id)).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(id) => {
                    let state = states.get_mut(id);
                    let Some(state) = state.filter(|state| **state == State::New) else {
                        continue;
                    };
                    *state = State::Inside;
                    steps.push(Step::Leave(id));
                    let Some(node) = graph.node(id) else { continue };
                    for applied in &node.applied {
                        match states.get(applied.node) {
                            Some(State::Inside) => {
                                let pointer = node.pointer.clone();
                                return Err(loops(pointer));
                            }
                            Some(State::New) => steps.push(Step::Enter(applied.node)),
                            _ => {}
                        }
                    }
                }
                Step::Leave(id) => {
                    if let Some(state) = states.get_mut(id) {
                        *state = State::Done;
                    }
                    found.leave(graph, id, limits)?;
                }
            }
        }
        Ok(found)
    }

    fn leave(
        &mut self,
        graph: &Graph,
        id: NodeId,
        limits: &SchemaLimits,
    ) -> Result<(), SchemaRejected> {
        let Some(node) = graph.node(id) else {
            return Ok(());
        };
        let (mut depth, mut hops) = (1, 0);
        for applied in &node.applied {
            let below = self.depths.get(applied.node).copied().unwrap_or_default();
            depth = depth.max(below + 1);
            let below = self.hops.get(applied.node).copied().unwrap_or_default();
            hops = hops.max(below + usize::from(applied.by_reference));
        }
        if hops > limits.reference_hops {
            let maximum = limits.reference_hops;
            return Err(SchemaRejected::too_large(
                "reference_hops",
                maximum,
                &node.pointer,
            ));
        }
        if depth > limits.applied_depth {
            let maximum = limits.applied_depth;
            return Err(SchemaRejected::too_large(
                "applied_depth",
                maximum,
                &node.pointer,
            ));
        }
        if let (Some(own_depth), Some(own_hops)) = (self.depths.get_mut(id), self.hops.get_mut(id))
        {
            (*own_depth, *own_hops) = (depth, hops);
        }
        Ok(())
    }
}

fn loops(pointer: String) -> SchemaRejected {
    SchemaRejected::new(RejectedReason::ReferenceLoop, pointer)
}

struct Expansion {
    size: u64,
    longest_way: usize,
    recursive: bool,
}

impl Expansion {
    fn of(graph: &Graph, limits: &SchemaLimits) -> Result<Self, SchemaRejected> {
        let mut states = vec![State::New; graph.len()];
        let mut sizes: Vec<(u64, usize)> = vec![(1, 1); graph.len()];
        let mut recursive = false;
        let mut steps = vec![Step::Enter(0)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(id) => {
                    let state = states.get_mut(id);
                    let Some(state) = state.filter(|state| **state == State::New) else {
                        continue;
                    };
                    *state = State::Inside;
                    steps.push(Step::Leave(id));
                    let Some(node) = graph.node(id) else { continue };
                    for child in node.reached() {
                        match states.get(child) {
                            Some(State::Inside) => recursive = true,
                            Some(State::New) => steps.push(Step::Enter(child)),
                            _ => {}
                        }
                    }
                }
                Step::Leave(id) => {
                    if let Some(state) = states.get_mut(id) {
                        *state = State::Done;
                    }
                    let size = expanded(graph, id, &sizes);
                    if size.0 > limits.expanded_size {
                        let maximum = usize::try_from(limits.expanded_size).unwrap_or(usize::MAX);
                        let at = graph.node(id).map_or("", |node| node.pointer.as_str());
                        return Err(SchemaRejected::too_large("expanded_size", maximum, at));
                    }
                    if let Some(own) = sizes.get_mut(id) {
                        *own = size;
                    }
                }
            }
        }
        let (size, longest_way) = sizes.first().copied().unwrap_or((1, 1));
        Ok(Self {
            size,
            longest_way,
            recursive,
        })
    }
}

/// Size and longest way of one node, from those of its children; a child that contains this node
/// still has its first size, 1.
fn expanded(graph: &Graph, id: NodeId, sizes: &[(u64, usize)]) -> (u64, usize) {
    let Some(node) = graph.node(id) else {
        return (1, 1);
    };
    let (mut size, mut longest) = (1_u64, 1);
    let looks = looks(graph, id);
    let applied = node.applied.len();
    for (index, child) in node.reached().enumerate() {
        let (below, way) = sizes.get(child).copied().unwrap_or((1, 1));
        let times = if index < applied { looks } else { 1 };
        size = size.saturating_add(below.saturating_mul(times));
        longest = longest.max(way + 1);
    }
    (size, longest)
}
