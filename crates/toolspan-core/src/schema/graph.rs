//! What does a schema document look like once every local reference is followed?
//!
//! The graph is built with an explicit stack, so that no document can overflow ours; it is what
//! all static checks and all cost estimates work on.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::caps::check_caps;
use super::dialect::Dialect;
use super::keyword::{Form, Place, place_of};
use super::limits::SchemaLimits;
use super::pattern_cost::pattern_cost;
use super::references::{NoTarget, ScopeId, Scopes};
use super::rejected::{RejectedReason, SchemaRejected};
use super::wording::quote;

/// Index of a node in its graph.
pub(super) type NodeId = usize;

/// One schema of the document.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// JSON pointer to the schema.
    pub(super) pointer: String,
    /// Schemas applied to the same value.
    pub(super) applied: Vec<Applied>,
    /// Schemas of named properties, sorted by name.
    pub(super) properties: Vec<(Box<str>, NodeId)>,
    /// Schemas of properties without a name in `properties`.
    pub(super) other_properties: Vec<NodeId>,
    /// Schemas that may apply to any property.
    pub(super) any_property: Vec<NodeId>,
    /// Schemas of the names of properties.
    pub(super) property_names: Vec<NodeId>,
    /// Schemas of the first items.
    pub(super) items_at: Vec<NodeId>,
    /// Schemas of the items after those.
    pub(super) other_items: Vec<NodeId>,
    /// Schemas that may apply to any item.
    pub(super) any_item: Vec<NodeId>,
    /// Has `unevaluatedProperties` or `unevaluatedItems`, which look at applied schemas again.
    pub(super) looks_again: bool,
    /// Has `anyOf` or `oneOf`.
    pub(super) has_alternatives: bool,
    /// Work per byte of a string, for `pattern`.
    pub(super) text_cost: u64,
    /// Work per byte of each property's name, for `patternProperties`.
    pub(super) name_cost: u64,
    /// Marked `writeOnly` or `format: password`: its value must not be shown.
    pub(super) secret: bool,
}

/// A schema applied to the same value as the one that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applied {
    pub(super) node: NodeId,
    /// Whether it was reached by a reference.
    pub(super) by_reference: bool,
}

/// All schemas of a document; the root has id 0.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// Builds the graph of `root`, whose JSON depth must be known to be within the limits.
    pub(super) fn build(
        root: &Value,
        dialect: Option<Dialect>,
        limits: &SchemaLimits,
    ) -> Result<Self, SchemaRejected> {
        let mut builder = Builder::new(root, dialect, limits);
        builder.add(
            root,
            Spot {
                scope: 0,
                level: 1,
                pointer: String::new(),
            },
        )?;
        builder.walk()?;
        builder.follow_references()?;
        builder.follow_dynamic_references();
        for node in &mut builder.nodes {
            node.properties.sort();
        }
        Ok(Self {
            nodes: builder.nodes,
        })
    }

    /// All nodes with their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate()
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }
}

impl Node {
    /// The schemas that may apply to a property called `name`.
    pub(super) fn for_property(&self, name: &str) -> impl Iterator<Item = NodeId> {
        let named = self
            .properties
            .binary_search_by(|(key, _)| (**key).cmp(name))
            .ok();
        let named = named
            .and_then(|at| self.properties.get(at))
            .map(|(_, node)| *node);
        let others: &[NodeId] = if named.is_some() {
            &[]
        } else {
            &self.other_properties
        };
        named
            .into_iter()
            .chain(others.iter().copied())
            .chain(self.any_property.iter().copied())
    }

    /// The schemas that may apply to the item at `index`.
    pub(super) fn for_item(&self, index: usize) -> impl Iterator<Item = NodeId> {
        let own = self.items_at.get(index).copied();
        let others: &[NodeId] = if own.is_some() {
            &[]
        } else {
            &self.other_items
        };
        own.into_iter()
            .chain(others.iter().copied())
            .chain(self.any_item.iter().copied())
    }

    /// Every schema reached from here, by reference or not.
    pub(super) fn reached(&self) -> impl Iterator<Item = NodeId> {
        let below = self.properties.iter().map(|(_, node)| *node);
        self.applied
            .iter()
            .map(|applied| applied.node)
            .chain(below)
            .chain(self.other_properties.iter().copied())
            .chain(self.any_property.iter().copied())
            .chain(self.property_names.iter().copied())
            .chain(self.items_at.iter().copied())
            .chain(self.other_items.iter().copied())
            .chain(self.any_item.iter().copied())
    }
}

/// Where a schema was found.
struct Spot {
    scope: ScopeId,
    /// Schemas around this one, itself included.
    level: usize,
    pointer: String,
}

/// A schema whose subschemas are still to be visited.
struct Open<'a> {
    map: &'a Map<String, Value>,
    node: NodeId,
    scope: ScopeId,
    level: usize,
}

struct Reference<'a> {
    node: NodeId,
    scope: ScopeId,
    text: &'a str,
    keyword: &'static str,
}

struct DynamicReference {
    from: NodeId,
    /// The anchor it looks for; empty for `$recursiveRef`.
    name: String,
    /// Where it leads if no schema has that anchor.
    target: NodeId,
}

struct Builder<'a> {
    limits: &'a SchemaLimits,
    dialect: Option<Dialect>,
    nodes: Vec<Node>,
    /// Node of each schema visited, by the address of its value, which does not move while the
    /// graph is built.
    by_address: HashMap<usize, NodeId>,
    scopes: Scopes<'a>,
    open: Vec<Open<'a>>,
    references: Vec<Reference<'a>>,
    /// Schemas that a dynamic reference may jump to, by name; `""` stands for `$recursiveAnchor`.
    dynamic_anchors: Vec<(&'a str, NodeId)>,
    dynamic_references: Vec<DynamicReference>,
}

impl<'a> Builder<'a> {
    fn new(root: &'a Value, dialect: Option<Dialect>, limits: &'a SchemaLimits) -> Self {
        Self {
            limits,
            dialect,
            nodes: Vec::new(),
            by_address: HashMap::new(),
            scopes: Scopes::new(root),
            open: Vec::new(),
            references: Vec::new(),
            dynamic_anchors: Vec::new(),
            dynamic_references: Vec::new(),
        }
    }

    /// The node of `schema`, made and put on the stack at the first meeting.
    fn add(&mut self, schema: &'a Value, spot: Spot) -> Result<NodeId, SchemaRejected> {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(node) = self.by_address.get(&address) {
            return Ok(*node);
        }
        if self.nodes.len() >= self.limits.subschemas {
            let maximum = self.limits.subschemas;
            return Err(SchemaRejected::too_large(
                "subschemas",
                maximum,
                &spot.pointer,
            ));
        }
        if spot.level > self.limits.depth {
            return Err(SchemaRejected::too_large(
                "depth",
                self.limits.depth,
                &spot.pointer,
            ));
        }
        let node = self.nodes.len();
        self.by_address.insert(address, node);
        let mut scope = spot.scope;
        if let Value::Object(map) = schema {
            check_caps(map, self.limits, &spot.pointer)?;
            scope = self.name(schema, map, (node, scope));
            if scope != spot.scope {
                Dialect::declared(schema).map_err(|rejected| rejected.inside(&spot.pointer))?;
            }
            self.open.push(Open {
                map,
                node,
                scope,
                level: spot.level,
            });
        }
        self.nodes.push(Node {
            pointer: spot.pointer,
            ..Node::default()
        });
        Ok(node)
    }

    /// Records the names that a schema gives itself; the scope inside it.
    fn name(
        &mut self,
        schema: &'a Value,
        map: &'a Map<String, Value>,
        (node, outer): (NodeId, ScopeId),
    ) -> ScopeId {
        let mut scope = outer;
        let identifier = if self.dialect == Some(Dialect::Draft4) {
            "id"
        } else {
            "$id"
        };
        if let Some(Value::String(id)) = map.get(identifier) {
            match id.strip_prefix('#') {
                Some(anchor) => self.scopes.anchor(scope, anchor, schema),
                None => scope = self.scopes.open(outer, id, schema),
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(anchor)) = map.get(keyword) {
                self.scopes.anchor(scope, anchor, schema);
            }
        }
        if let Some(Value::String(anchor)) = map.get("$dynamicAnchor") {
            self.dynamic_anchors.push((anchor, node));
        }
        if map.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.dynamic_anchors.push(("", node));
        }
        scope
    }

    fn walk(&mut self) -> Result<(), SchemaRejected> {
        while let Some(open) = self.open.pop() {
            self.visit(&open)?;
        }
        Ok(())
    }

    fn visit(&mut self, open: &Open<'a>) -> Result<(), SchemaRejected> {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Value::String(text)) = open.map.get(keyword) {
                let (node, scope) = (open.node, open.scope);
                self.references.push(Reference {
                    node,
                    scope,
                    text,
                    keyword,
                });
            }
        }
        let alone = self.dialect.is_some_and(Dialect::reference_stands_alone)
            && matches!(open.map.get("$ref"), Some(Value::String(_)));
        let has = |keyword| open.map.contains_key(keyword);
        if let Some(node) = self.nodes.get_mut(open.node) {
            node.looks_again = has("unevaluatedProperties") || has("unevaluatedItems");
            node.has_alternatives = has("anyOf") || has("oneOf");
            let pattern = open.map.get("pattern").and_then(Value::as_str);
            node.text_cost = pattern.map_or(0, pattern_cost);
            let patterns = open.map.get("patternProperties").and_then(Value::as_object);
            let names = patterns.into_iter().flat_map(Map::keys);
            node.name_cost = names.map(|pattern| pattern_cost(pattern)).sum();
            node.secret = open.map.get("writeOnly") == Some(&Value::Bool(true))
                || open.map.get("format").and_then(Value::as_str) == Some("password");
        }
        for (keyword, value) in open.map {
            match place_of(keyword, value.is_array()) {
                Some((_, place)) if alone && place != Place::Nothing => {}
                Some((form, place)) => self.children(open, keyword, (value, form, place))?,
                None => {}
            }
        }
        Ok(())
    }

    fn children(
        &mut self,
        open: &Open<'a>,
        keyword: &str,
        (value, form, place): (&'a Value, Form, Place),
    ) -> Result<(), SchemaRejected> {
        let parent = self.nodes.get(open.node).map(|node| node.pointer.as_str());
        let pointer = format!("{}/{}", parent.unwrap_or_default(), escaped(keyword));
        match (form, value) {
            (Form::One, schema) => self.child(open, schema, (pointer, place, None)),
            (Form::List, Value::Array(list)) => {
                list.iter().enumerate().try_for_each(|(index, schema)| {
                    self.child(open, schema, (format!("{pointer}/{index}"), place, None))
                })
            }
            (Form::Map, Value::Object(map)) => map.iter().try_for_each(|(name, schema)| {
                let pointer = format!("{pointer}/{}", escaped(name));
                self.child(open, schema, (pointer, place, Some(name)))
            }),
            // The dialect's own rules refuse this at compile.
            _ => Ok(()),
        }
    }

    fn child(
        &mut self,
        open: &Open<'a>,
        schema: &'a Value,
        (pointer, place, name): (String, Place, Option<&str>),
    ) -> Result<(), SchemaRejected> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Ok(());
        }
        let child = self.add(
            schema,
            Spot {
                scope: open.scope,
                level: open.level + 1,
                pointer,
            },
        )?;
        let Some(node) = self.nodes.get_mut(open.node) else {
            return Ok(());
        };
        match place {
            Place::Same => node.applied.push(Applied {
                node: child,
                by_reference: false,
            }),
            Place::Property => node
                .properties
                .push((name.unwrap_or_default().into(), child)),
            Place::OtherProperty => node.other_properties.push(child),
            Place::AnyProperty => node.any_property.push(child),
            Place::PropertyName => node.property_names.push(child),
            Place::ItemAt => node.items_at.push(child),
            Place::OtherItem => node.other_items.push(child),
            Place::AnyItem => node.any_item.push(child),
            Place::Nothing => {}
        }
        Ok(())
    }

    /// Follows every reference; targets outside the known places are walked too, and may hold
    /// further references. Ends because every schema is walked once.
    fn follow_references(&mut self) -> Result<(), SchemaRejected> {
        while let Some(reference) = self.references.pop() {
            let (target, scope) = match self.scopes.resolve(reference.scope, reference.text) {
                Ok(found) => found,
                Err(problem) => return Err(self.no_target(&reference, problem)),
            };
            let pointer = reference
                .text
                .split_once('#')
                .map_or("", |(_, fragment)| fragment);
            let spot = Spot {
                scope,
                level: 1,
                pointer: pointer.to_owned(),
            };
            let node = self.add(target, spot)?;
            let name = match reference.keyword {
                "$dynamicRef" => Some(pointer.to_owned()),
                "$recursiveRef" => Some(String::new()),
                _ => None,
            };
            if let Some(name) = name {
                let from = reference.node;
                self.dynamic_references.push(DynamicReference {
                    from,
                    name,
                    target: node,
                });
            } else if let Some(from) = self.nodes.get_mut(reference.node) {
                from.applied.push(Applied {
                    node,
                    by_reference: true,
                });
            }
            self.walk()?;
        }
        Ok(())
    }

    fn no_target(&self, reference: &Reference<'_>, problem: NoTarget) -> SchemaRejected {
        let text = quote(reference.text, 200);
        let reason = match problem {
            NoTarget::Remote => RejectedReason::RemoteReference { reference: text },
            NoTarget::Nowhere => RejectedReason::UnresolvedReference { reference: text },
        };
        let at = self
            .nodes
            .get(reference.node)
            .map_or("", |node| node.pointer.as_str());
        SchemaRejected::new(reason, format!("{at}/{}", reference.keyword))
    }

    /// Leads every dynamic reference to all schemas of its name, since which of them is meant
    /// depends on the way of the check. One node per name stands between, so that many references
    /// to many schemas stay a small graph.
    fn follow_dynamic_references(&mut self) {
        let mut crossings: HashMap<&str, NodeId> = HashMap::new();
        for (name, target) in &self.dynamic_anchors {
            let crossing = *crossings.entry(name).or_insert_with(|| {
                self.nodes.push(Node::default());
                self.nodes.len() - 1
            });
            if let Some(node) = self.nodes.get_mut(crossing) {
                node.applied.push(Applied {
                    node: *target,
                    by_reference: false,
                });
            }
        }
        for reference in &self.dynamic_references {
            let node = crossings
                .get(reference.name.as_str())
                .copied()
                .unwrap_or(reference.target);
            if let Some(from) = self.nodes.get_mut(reference.from) {
                from.applied.push(Applied {
                    node,
                    by_reference: true,
                });
            }
        }
    }
}

/// One token of a JSON pointer (RFC 6901, section 3).
pub(crate) fn escaped(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}
