//! What does a host change in what a toolbox lists, before a model sees it?

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::NamePattern;
use super::supplied::without;
use super::supplying::Supplying;
use crate::definition::ToolDefinition;
use crate::name;
use crate::schema::{CheckFailed, Schema};
use crate::toolbox::{BrokenTool, Discovery, ToolboxTool};

/// Which tools of a toolbox are taken, and what they are for a model: other names, other words,
/// fewer arguments. `Debug` shows no value of an argument.
///
/// ```
/// use serde_json::json;
/// use toolspan_core::registry::{NamePattern, Shaping, ToolShape};
///
/// let shaping = Shaping::new()
///     .deny(NamePattern::glob("*_delete")?)
///     .tool("search", ToolShape::new().renamed("find").hiding("region", json!("eu")));
/// assert!(shaping.takes("search") && !shaping.takes("index_delete"));
/// # Ok::<(), toolspan_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Shaping {
    allow: Vec<NamePattern>,
    deny: Vec<NamePattern>,
    tools: Vec<(String, ToolShape)>,
}

/// What one tool is for a model, where its source says something else.
#[derive(Clone, Default, PartialEq)]
#[must_use]
pub struct ToolShape {
    name: Option<String>,
    description: Option<String>,
    hidden: Map<String, Value>,
    defaults: Map<String, Value>,
}

impl ToolShape {
    /// Nothing else than what the source says.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the tool another name. Its source is still called by its own.
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Gives the tool other words.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Hides an argument: the model does not see it, and every call has this value in its place.
    pub fn hiding(mut self, argument: impl Into<String>, value: Value) -> Self {
        self.hidden.insert(argument.into(), value);
        self
    }

    /// Gives an argument a default: the model may leave it out, and the call then has this value.
    pub fn with_default(mut self, argument: impl Into<String>, value: Value) -> Self {
        self.defaults.insert(argument.into(), value);
        self
    }

    /// The tool in this shape. Its schema is what a model may give; what is sent to the source is
    /// checked against the source's own.
    ///
    /// # Errors
    ///
    /// Why it cannot have this shape, in plain words.
    fn of(&self, tool: ToolboxTool) -> Result<ToolboxTool, String> {
        let mut definition = (*tool.definition).clone();
        let mut executor = tool.executor;
        if let Some(name) = &self.name {
            if name.trim().is_empty() {
                return Err("the config gives it a blank name".to_owned());
            }
            definition.exposed_as = Some(name.clone());
        }
        if let Some(description) = &self.description {
            definition.description.clone_from(description);
        }
        if !self.hidden.is_empty() || !self.defaults.is_empty() {
            let input = self.schema(&tool.definition)?;
            definition.input = Arc::new(input);
            executor = Arc::new(Supplying {
                inner: executor,
                definition: tool.definition,
                hidden: self.hidden.clone(),
                defaults: self.defaults.clone(),
            });
        }
        Ok(ToolboxTool::new(Arc::new(definition), executor))
    }

    fn schema(&self, tool: &ToolDefinition) -> Result<Schema, String> {
        let mut shown = tool.input.raw().clone();
        let hidden = self.hidden.iter().map(|(name, value)| (name, value, true));
        let defaults = self
            .defaults
            .iter()
            .map(|(name, value)| (name, value, false));
        for (argument, value, hide) in hidden.chain(defaults) {
            if !hide && self.hidden.contains_key(argument) {
                return Err(format!(
                    "the config hides {argument:?} and gives it a default"
                ));
            }
            check_value(tool, argument, value)?;
            shown = without(&shown, argument, hide)?;
            let place = shown
                .get_mut("properties")
                .and_then(|all| all.get_mut(argument));
            if let Some(Value::Object(property)) = place.filter(|_| !hide) {
                property.insert("default".to_owned(), value.clone());
            }
        }
        Schema::for_arguments(shown)
            .map_err(|problem| format!("its schema without the config's arguments: {problem}"))
    }
}

/// Finds out now what would fail each call. Shows no value, which may be a secret.
fn check_value(tool: &ToolDefinition, argument: &str, value: &Value) -> Result<(), String> {
    if !tool.input.names_property(argument) {
        return Err(format!(
            "the config sets its argument {argument:?}, which it does not have"
        ));
    }
    let alone = Map::from_iter([(argument.to_owned(), value.clone())]);
    let place = format!("/{}", argument.replace('~', "~0").replace('/', "~1"));
    match tool.input.check(&Value::Object(alone)) {
        Err(CheckFailed::Violations(violations)) => {
            let is_about = |pointer: &str| {
                let rest = pointer.strip_prefix(&place);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            match violations
                .iter()
                .any(|violation| is_about(&violation.pointer))
            {
                true => Err(format!(
                    "the config's value of {argument:?} does not fit its schema"
                )),
                false => Ok(()),
            }
        }
        Err(CheckFailed::Schema(problem)) => Err(format!("its schema cannot be used: {problem}")),
        Ok(()) => Ok(()),
    }
}

impl Shaping {
    /// Every tool as its source lists it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes these tools, by their source's own names. With none allowed, all are.
    pub fn allow(mut self, pattern: NamePattern) -> Self {
        self.allow.push(pattern);
        self
    }

    /// Leaves these tools out, by their source's own names, also where they are allowed.
    pub fn deny(mut self, pattern: NamePattern) -> Self {
        self.deny.push(pattern);
        self
    }

    /// Gives a tool a shape, by its source's own name, in place of an earlier one.
    pub fn tool(mut self, name: impl Into<String>, shape: ToolShape) -> Self {
        let name = name.into();
        self.tools.retain(|(known, _)| *known != name);
        self.tools.push((name, shape));
        self
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty() && self.tools.is_empty()
    }

    /// Whether a tool is taken, by its source's own name.
    pub fn takes(&self, name: &str) -> bool {
        let any = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.matches(name));
        (self.allow.is_empty() || any(&self.allow)) && !any(&self.deny)
    }

    /// A tool as a model is to see it.
    ///
    /// # Errors
    ///
    /// The tool and why it cannot have its shape.
    pub fn shape(&self, tool: ToolboxTool) -> Result<ToolboxTool, BrokenTool> {
        let own = tool.definition.name.clone();
        match self.tools.iter().find(|(name, _)| *name == own) {
            Some((_, shape)) => shape
                .of(tool)
                .map_err(|reason| BrokenTool::new(own, reason)),
            None => Ok(tool),
        }
    }

    /// A listing as a model is to see it: without what is not taken, each tool in its shape. A tool
    /// that cannot have its shape, or that a shape waits for in vain, is broken alone.
    pub fn apply(&self, mut listing: Discovery) -> Discovery {
        if self.is_empty() {
            return listing;
        }
        let listed: Vec<String> = listing
            .tools
            .iter()
            .map(|tool| tool.definition.name.clone())
            .chain(listing.broken.iter().map(|tool| tool.name.clone()))
            .collect();
        listing.broken.retain(|tool| self.takes(&tool.name));
        for tool in std::mem::take(&mut listing.tools) {
            if self.takes(&tool.definition.name) {
                match self.shape(tool) {
                    Ok(tool) => listing.tools.push(tool),
                    Err(broken) => listing.broken.push(broken),
                }
            }
        }
        // A part of a list shows nothing of what it lacks.
        if listing.incomplete.is_none() {
            let waits = self.tools.iter().filter(|(name, _)| !listed.contains(name));
            listing
                .broken
                .extend(waits.map(|(name, _)| unlisted(name, &listed)));
        }
        listing
    }
}

fn unlisted(name: &str, listed: &[String]) -> BrokenTool {
    let near = name::nearest(name, listed.iter().map(String::as_str), 3);
    let reason = match near.is_empty() {
        true => "the config shapes it, and its source lists no tools".to_owned(),
        false => format!(
            "the config shapes it, and its source does not list it; near: {}",
            near.join(", ")
        ),
    };
    BrokenTool::new(name, reason)
}

impl fmt::Debug for ToolShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |arguments: &Map<String, Value>| -> Vec<String> { arguments.keys().cloned().collect() };
        formatter
            .debug_struct("ToolShape")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("hidden", &names(&self.hidden))
            .field("defaults", &names(&self.defaults))
            .finish()
    }
}
