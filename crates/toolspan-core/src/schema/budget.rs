//! How much work would checking this value be? Counted before the check, which cannot be stopped.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::cost::{Costs, looks};
use super::graph::{Graph, NodeId};
use super::measure::bytes;

/// The counted work of one check, an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// Schemas applied, over all places of the value.
    pub(super) applied: u64,
    /// The same, and the work of matching patterns.
    pub(super) evaluations: u64,
    /// Schemas applied at the busiest place.
    pub(super) busiest: u64,
}

/// The schemas that apply at one place of the value, and how often each of them does.
struct Load {
    nodes: Vec<(NodeId, u64)>,
    total: u64,
}

/// Counts the schemas that a check of `value` applies; `None` as soon as there are more than
/// `maximum`, so this takes a bounded time too.
pub(super) fn count(graph: &Graph, costs: &Costs, value: &Value, maximum: u64) -> Option<Work> {
    let mut work = Work {
        applied: 0,
        evaluations: 0,
        busiest: 0,
    };
    let mut open = vec![(value, Rc::new(load(graph, costs, vec![(0, 1)])))];
    while let Some((place, here)) = open.pop() {
        work.applied = work.applied.saturating_add(here.total);
        work.evaluations = work.evaluations.saturating_add(here.total);
        work.busiest = work.busiest.max(here.total);
        if let Value::String(text) = place {
            let matching = matching(&here, text, |id| graph.node(id).map(|node| node.text_cost));
            work.evaluations = work.evaluations.saturating_add(matching);
        }
        if work.evaluations > maximum {
            return None;
        }
        match place {
            Value::Object(map) => {
                let names = seeds(graph, &here, |node| node.property_names.iter().copied());
                let names = load(graph, costs, names);
                for (name, child) in map {
                    let own = matching(&here, name, |id| graph.node(id).map(|node| node.name_cost));
                    let rules =
                        matching(&names, name, |id| graph.node(id).map(|node| node.text_cost));
                    work.applied = work.applied.saturating_add(names.total);
                    for more in [names.total, own, rules] {
                        work.evaluations = work.evaluations.saturating_add(more);
                    }
                    let seeds = seeds(graph, &here, |node| node.for_property(name));
                    enter(&mut open, child, Rc::new(load(graph, costs, seeds)));
                }
            }
            Value::Array(items) => {
                let own = here.nodes.iter().filter_map(|(id, _)| graph.node(*id));
                let own = own
                    .map(|node| node.items_at.len())
                    .max()
                    .unwrap_or_default();
                let rest = seeds(graph, &here, |node| node.for_item(own));
                let rest = Rc::new(load(graph, costs, rest));
                for (index, child) in items.iter().enumerate() {
                    if index < own {
                        let seeds = seeds(graph, &here, |node| node.for_item(index));
                        enter(&mut open, child, Rc::new(load(graph, costs, seeds)));
                    } else {
                        enter(&mut open, child, Rc::clone(&rest));
                    }
                }
            }
            _ => {}
        }
    }
    Some(work)
}

/// The work of matching `text` against the patterns that apply to it.
fn matching(here: &Load, text: &str, cost: impl Fn(NodeId) -> Option<u64>) -> u64 {
    let costs = here.nodes.iter().map(|(id, times)| {
        let per_byte = cost(*id).unwrap_or_default();
        times.saturating_mul(per_byte).saturating_mul(bytes(text))
    });
    costs.fold(0, u64::saturating_add)
}

/// Puts a place on the stack, unless no schema applies there or below.
fn enter<'v>(open: &mut Vec<(&'v Value, Rc<Load>)>, value: &'v Value, load: Rc<Load>) {
    if load.total > 0 {
        open.push((value, load));
    }
}

/// The schemas that `here` applies to a part of its value.
fn seeds<'g, I: Iterator<Item = NodeId>>(
    graph: &'g Graph,
    here: &Load,
    part: impl Fn(&'g super::graph::Node) -> I,
) -> Vec<(NodeId, u64)> {
    let mut seeds = Vec::new();
    for (id, times) in &here.nodes {
        if let Some(node) = graph.node(*id) {
            seeds.extend(part(node).map(|child| (child, *times)));
        }
    }
    seeds
}

/// Adds everything that applies to the same value as the seeds. Schemas are taken in the order of
/// their depth, so each is complete before it hands its count on.
fn load(graph: &Graph, costs: &Costs, seeds: Vec<(NodeId, u64)>) -> Load {
    let mut times: HashMap<NodeId, u64> = HashMap::new();
    let mut open: Vec<NodeId> = Vec::new();
    for (id, count) in seeds {
        let known = times.entry(id).or_insert_with(|| {
            open.push(id);
            0
        });
        *known = known.saturating_add(count);
    }
    let mut order: Vec<NodeId> = Vec::new();
    while let Some(id) = open.pop() {
        order.push(id);
        for applied in graph.node(id).into_iter().flat_map(|node| &node.applied) {
            times.entry(applied.node).or_insert_with(|| {
                open.push(applied.node);
                0
            });
        }
    }
    let depth = |id: &NodeId| costs.applied_depths.get(*id).copied().unwrap_or_default();
    order.sort_by_key(|id| std::cmp::Reverse(depth(id)));
    let mut total: u64 = 0;
    let mut nodes = Vec::with_capacity(order.len());
    for id in order {
        let own = times.get(&id).copied().unwrap_or_default();
        total = total.saturating_add(own);
        nodes.push((id, own));
        let handed_on = own.saturating_mul(looks(graph, id));
        for applied in graph.node(id).into_iter().flat_map(|node| &node.applied) {
            if let Some(count) = times.get_mut(&applied.node) {
                *count = count.saturating_add(handed_on);
            }
        }
    }
    Load { nodes, total }
}
