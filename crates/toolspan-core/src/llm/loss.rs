//! What did a projection change of a tool, and does it matter?

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What a change means for the values that a model may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// The same values are right: another spelling, a reference replaced by its target.
    Same,
    /// Values look different on the wire and are put back before the call: a property under another
    /// name, a null for a property that is left out.
    Undone,
    /// Only words for the model changed: a default, a format, a title.
    Words,
    /// Fewer values are right; each of them is right for the tool too.
    Narrower,
    /// More values are right than the tool takes. What the form cannot say is in the description;
    /// the call is checked against the tool's own schema all the same.
    Wider,
}

impl Effect {
    /// Whether a value may pass the form and not the tool's own schema.
    pub fn is_lossy(self) -> bool {
        self == Self::Wider
    }

    /// `same`, `undone`, `words`, `narrower`, `wider`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Undone => "undone",
            Self::Words => "words",
            Self::Narrower => "narrower",
            Self::Wider => "wider",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One change that a projection made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The tool's exposed name.
    pub tool: Arc<str>,
    /// Where in the tool's own schema: a JSON pointer (RFC 6901), empty for the root.
    pub pointer: String,
    /// What it means.
    pub effect: Effect,
    /// What was changed.
    pub what: Cow<'static, str>,
    /// Why: the rule of the API.
    pub why: Cow<'static, str>,
}

/// A tool that an API cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The tool's exposed name.
    pub tool: Arc<str>,
    /// Why it is left out.
    pub reason: String,
}

/// Where a schema of our own stands: it is in no document, so what happens to it is no loss.
pub(super) const OURS: &str = "-";

/// The changes of one tool while they are made.
pub(super) struct Losses {
    pub(super) tool: Arc<str>,
    pub(super) list: Vec<Loss>,
}

impl Losses {
    pub(super) fn new(tool: &Arc<str>) -> Self {
        Self {
            tool: Arc::clone(tool),
            list: Vec::new(),
        }
    }

    /// Records a change; one that is recorded already counts once.
    pub(super) fn say(
        &mut self,
        pointer: &str,
        effect: Effect,
        (what, why): (impl Into<Cow<'static, str>>, impl Into<Cow<'static, str>>),
    ) {
        if pointer == OURS {
            return;
        }
        let loss = Loss {
            tool: Arc::clone(&self.tool),
            pointer: pointer.to_owned(),
            effect,
            what: what.into(),
            why: why.into(),
        };
        if !self.list.contains(&loss) {
            self.list.push(loss);
        }
    }
}
