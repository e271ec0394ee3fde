//! Which schemas apply at a place of a value, for whoever walks the value itself?

use std::collections::HashSet;

use super::definition::Schema;
use super::graph::{Graph, Node, NodeId};

/// The schemas that may apply at one place of a value, alternatives and references included.
pub(crate) struct Applying<'s> {
    graph: &'s Graph,
    nodes: Vec<NodeId>,
}

impl Schema {
    /// What applies to the value as a whole.
    pub(crate) fn applying(&self) -> Applying<'_> {
        Applying::of(&self.definition.graph, vec![0])
    }
}

impl<'s> Applying<'s> {
    /// The seeds and all that applies beside them, each once.
    fn of(graph: &'s Graph, mut open: Vec<NodeId>) -> Self {
        let mut seen = HashSet::new();
        let mut nodes = Vec::new();
        while let Some(id) = open.pop() {
            let Some(node) = graph.node(id) else { continue };
            if seen.insert(id) {
                nodes.push(id);
                open.extend(node.applied.iter().map(|applied| applied.node));
            }
        }
        Self { graph, nodes }
    }

    /// How many schemas apply.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What applies to the property of this name.
    pub(crate) fn property(&self, name: &str) -> Self {
        let seeds = self.each().flat_map(|node| node.for_property(name));
        Self::of(self.graph, seeds.collect())
    }

    /// What applies to the item at this position.
    pub(crate) fn item(&self, index: usize) -> Self {
        let seeds = self.each().flat_map(|node| node.for_item(index));
        Self::of(self.graph, seeds.collect())
    }

    /// The names in `properties` of all schemas that apply; one may come several times.
    pub(crate) fn property_names(&self) -> impl Iterator<Item = &'s str> {
        let properties = self.each().flat_map(|node| &node.properties);
        properties.map(|(name, _)| &**name)
    }

    fn each(&self) -> impl Iterator<Item = &'s Node> {
        let graph = self.graph;
        self.nodes.iter().filter_map(move |id| graph.node(*id))
    }
}
