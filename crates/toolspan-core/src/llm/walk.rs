//! How is a whole document adapted, schema by schema, within bounds?
//!
//! From the root down: a schema is adapted first, then its parts, then every definition that is
//! still referred to. What a rule puts in place of a reference is adapted like any other part, so
//! the walk remembers which definitions it stands in: a cycle becomes an open object.

use super::keys::OtherNames;
use super::loss::{Effect, Losses};
use super::reading::Document;
use super::tree::{Node, REFERENCE, Word};

/// Schemas inside one another in an adapted form; deeper ones take anything.
const LEVELS: usize = 48;
/// Schemas of one adapted form. The largest recorded one has some 250.
const SCHEMAS: usize = 10_000;

/// Why an API cannot take a tool in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit(pub(super) String);

/// What an API makes of one schema.
pub(super) trait Rules {
    /// Why a reference that leads back into itself is cut.
    fn cycles(&self) -> &'static str;

    /// Adapts the root before [`adapt`](Self::adapt) sees it.
    fn adapt_root(&self, root: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit>;

    /// Adapts one schema; its parts come after it.
    fn adapt(&self, node: &mut Node, walk: &mut Walk<'_, '_>) -> Result<(), Unfit>;
}

/// The state of a walk.
pub(super) struct Walk<'d, 'l> {
    definitions: &'d [(String, Node)],
    pub(super) other_names: &'d OtherNames,
    rules: &'d dyn Rules,
    pub(super) losses: &'l mut Losses,
    /// The definitions that stand around the schema at hand.
    inside: Vec<String>,
    /// The definitions whose copies the schema at hand was made of. At one place of a value
    /// references end, so that only the parts can lead back.
    entered: Vec<String>,
    /// Definitions that are referred to, in the order in which they are met.
    referred: Vec<String>,
    level: usize,
    schemas: usize,
}

/// Adapts a document; its definitions are those that its new form still refers to.
pub(super) fn adapt(
    document: Document,
    rules: &dyn Rules,
    losses: &mut Losses,
) -> Result<Document, Unfit> {
    let Document {
        mut root,
        definitions,
        other_names,
    } = document;
    let mut walk = Walk {
        definitions: &definitions,
        other_names: &other_names,
        rules,
        losses,
        inside: Vec::new(),
        entered: Vec::new(),
        referred: Vec::new(),
        level: 0,
        schemas: 0,
    };
    rules.adapt_root(&mut root, &mut walk)?;
    walk.schema(&mut root)?;
    let mut adapted = Vec::new();
    while let Some(name) = walk.referred.get(adapted.len()).cloned() {
        let Some(mut node) = walk.definition(&name) else {
            return Err(Unfit(format!("nothing is called {name}")));
        };
        walk.inside = vec![name.clone()];
        walk.schema(&mut node)?;
        adapted.push((name, node));
    }
    Ok(Document {
        root,
        definitions: adapted,
        other_names,
    })
}

impl Walk<'_, '_> {
    /// Adapts a schema and its parts. Recurses at most [`LEVELS`] deep.
    fn schema(&mut self, node: &mut Node) -> Result<(), Unfit> {
        self.schemas += 1;
        if self.schemas > SCHEMAS {
            let reason = format!("its form would have more than {SCHEMAS} schemas");
            return Err(Unfit(reason));
        }
        if self.level >= LEVELS {
            let what = format!("schemas more than {LEVELS} levels deep take anything");
            self.losses
                .say(&node.at, Effect::Wider, (what, "the form is bounded"));
            *node = Node::new(node.at.clone());
            return Ok(());
        }
        self.rules.adapt(node, self)?;
        let around = self.inside.len();
        self.inside.append(&mut self.entered);
        if let Some(name) = node.reference()
            && !self.referred.iter().any(|known| known == name)
        {
            self.referred.push(name.to_owned());
        }
        self.level += 1;
        for (keyword, word) in &mut node.words {
            match word {
                Word::Data(_) => {}
                // A bound on what is not named, no schema of a part.
                Word::One(part) if part.boolean.is_some() && is_bound(keyword) => {}
                Word::One(node) => self.schema(node)?,
                Word::List(list) => {
                    for node in list {
                        self.schema(node)?;
                    }
                }
                Word::Map(map) => {
                    for (_, node) in map {
                        self.schema(node)?;
                    }
                }
            }
        }
        self.level -= 1;
        self.inside.truncate(around);
        Ok(())
    }

    fn definition(&self, name: &str) -> Option<Node> {
        let found = self.definitions.iter().find(|(known, _)| known == name);
        found.map(|(_, node)| node.clone())
    }

    /// A copy of a definition, to stand in place of a reference to it; `None` where the place is
    /// inside that definition already.
    fn enter(&mut self, name: &str) -> Option<Node> {
        if self.inside.iter().any(|known| known == name) {
            return None;
        }
        let node = self.definition(name)?;
        self.entered.push(name.to_owned());
        Some(node)
    }

    /// Puts the target in place of a reference, with what stands beside it. A cycle becomes an
    /// object with anything in it.
    pub(super) fn inline(&mut self, node: &mut Node) {
        // References at one place of a value end: a schema where they do not is not accepted.
        while let Some(name) = node.reference().map(str::to_owned) {
            node.take("$ref");
            match self.enter(&name) {
                Some(target) => super::combine::into(node, target, self.losses),
                None => {
                    let said = (
                        "a part that contains itself is an open object",
                        self.rules.cycles(),
                    );
                    self.losses.say(&node.at, Effect::Wider, said);
                    if !node.has("type") {
                        node.set_first("type", Word::Data("object".into()));
                    }
                }
            }
        }
    }

    /// Whether a definition can be reached from itself.
    pub(super) fn is_recursive(&self, name: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open: Vec<&str> = vec![name];
        while let Some(next) = open.pop() {
            let Some((_, node)) = self.definitions.iter().find(|(known, _)| known == next) else {
                continue;
            };
            for target in references(node) {
                if target == name {
                    return true;
                }
                if !seen.contains(&target) {
                    seen.push(target);
                    open.push(target);
                }
            }
        }
        false
    }
}

/// The definitions that a schema refers to, at any depth.
fn references(node: &Node) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        found.extend(
            node.text("$ref")
                .and_then(|text| text.strip_prefix(REFERENCE)),
        );
        for (_, word) in &node.words {
            match word {
                Word::Data(_) => {}
                Word::One(node) => open.push(node),
                Word::List(list) => open.extend(list),
                Word::Map(map) => open.extend(map.iter().map(|(_, node)| node)),
            }
        }
    }
    found
}

/// Keywords whose boolean schema says whether there may be more than what is named.
fn is_bound(keyword: &str) -> bool {
    matches!(
        keyword,
        "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems"
    )
}
