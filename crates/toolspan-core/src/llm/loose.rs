//! How is a schema brought to what an API takes without being strict?

use super::keys::{self, KeyRule};
use super::loss::Effect;
use super::root::{self, RootRules};
use super::tree::{Node, Word};
use super::walk::{Rules, Unfit, Walk};

/// What an API asks of a schema that is not strict.
pub(super) struct LooseRules {
    pub(super) root: RootRules,
    /// Why every array says what its items are, where it must.
    pub(super) items: Option<&'static str>,
    /// Which names of properties it takes, where not all.
    pub(super) keys: Option<KeyRule>,
}

impl Rules for LooseRules {
    fn cycles(&self) -> &'static str {
        "parts of the root that apply together cannot refer to one another"
    }

    fn adapt_root(&self, root: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        root::fold(root, &self.root, walk)
    }

    fn adapt(&self, node: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit> {
        if let Some(why) = self.items {
            add_items(node, walk, why);
        }
        if let Some(rule) = self.keys {
            keys::rename(node, rule, walk);
        }
        Ok(())
    }
}

/// Says of an array without `items` that they may be anything, which is what their absence means.
pub(super) fn add_items(node: &mut Node, walk: &mut Walk<'_, '_>, why: &'static str) {
    if !node.types().contains(&"array") || node.has("items") {
        return;
    }
    let anything = Node::new(node.at.clone());
    node.set("items", Word::One(Box::new(anything)));
    walk.losses
        .say(&node.at, Effect::Same, ("an empty `items` added", why));
}
