//! How the name in a call finds its tool.

use super::{NamePattern, RegisteredTool, Snapshot, ToolboxBroken, alias};
use crate::guard::outcome::Phase;
use crate::guard::sanitise;
use crate::{Error, ErrorKind, Result, name};

/// Longest reason in an error, in characters.
const REASON: usize = 300;
/// How many near names an error offers.
const OFFERED: usize = 3;

impl Snapshot {
    /// The tool that a name means: an exposed name, `toolbox.tool` with the source's own name, an
    /// alias, or a source's own name where only one tool has it. Names are exact, case included.
    ///
    /// # Errors
    ///
    /// `tool_not_found`, with the reason when the tool is there and cannot be used, with the
    /// candidates when there are several, and else with the three nearest names.
    pub fn resolve(&self, wanted: &str) -> Result<&RegisteredTool> {
        if let Some(tool) = self.get_full(wanted) {
            return Ok(tool);
        }
        if let Some(tool) = alias::of_name(wanted).find_map(|other| self.get(other)) {
            return Ok(tool);
        }
        let mut same_name = self.by_original(wanted);
        match (same_name.next(), same_name.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(self.ambiguous(wanted)),
            _ => Err(self
                .unusable(wanted)
                .unwrap_or_else(|| self.unknown(wanted))),
        }
    }

    /// The tools whose exposed name, or own name at their source, a pattern means, in order.
    pub fn matching<'a>(
        &'a self,
        pattern: &'a NamePattern,
    ) -> impl Iterator<Item = &'a RegisteredTool> {
        let is_meant = |tool: &&RegisteredTool| {
            pattern.matches(&tool.name) || pattern.matches(&tool.definition.name)
        };
        self.tools().iter().filter(is_meant)
    }

    /// The tool of a full name: an exposed name or `toolbox.tool`.
    pub fn get_full(&self, wanted: &str) -> Option<&RegisteredTool> {
        self.get(wanted).or_else(|| self.dotted(wanted))
    }

    /// A tool by `toolbox.tool`. Both parts may have dots of their own; the first toolbox in order
    /// whose key and tool fit is meant. Looks at each toolbox once, however long the name is.
    fn dotted(&self, wanted: &str) -> Option<&RegisteredTool> {
        self.toolboxes().find_map(|toolbox| {
            let original = wanted.strip_prefix(toolbox)?.strip_prefix('.')?;
            self.by_original(original)
                .find(|tool| &*tool.toolbox == toolbox)
        })
    }

    fn ambiguous(&self, wanted: &str) -> Error {
        let names: Vec<String> = self
            .by_original(wanted)
            .map(|tool| tool.name.to_string())
            .collect();
        let message = format!("{} tools are called {}", names.len(), quoted(wanted));
        let shown: Vec<&str> = names.iter().take(OFFERED).map(String::as_str).collect();
        let hint = format!("use one of the full names: {}", shown.join(", "));
        Error::new(ErrorKind::ToolNotFound, Phase::Resolve, message)
            .with_hint(hint)
            .with_suggestions(names.into_iter().take(OFFERED).collect())
    }

    /// What is said of a tool that a source has and that cannot be used, by its own name, by
    /// `toolbox.tool` or by the name that it would be exposed by.
    fn unusable(&self, wanted: &str) -> Option<Error> {
        let is_meant = |broken: &&ToolboxBroken| {
            let left = match wanted.strip_prefix(&*broken.toolbox) {
                Some(left) => left.strip_prefix('.').or_else(|| left.strip_prefix("__")),
                None => None,
            };
            let own = broken.tool.name.as_str();
            own == wanted || left == Some(own)
        };
        let broken = self.broken().iter().find(is_meant)?;
        let reason = sanitise::one_line(&broken.tool.reason, REASON);
        let message = format!("the tool {} cannot be used: {reason}", quoted(wanted));
        let error = Error::new(ErrorKind::ToolNotFound, Phase::Resolve, message);
        Some(error.in_toolbox(&broken.toolbox))
    }

    fn unknown(&self, wanted: &str) -> Error {
        let names = self.tools().iter().map(|tool| &*tool.name);
        let near: Vec<String> = name::nearest(wanted, names, OFFERED)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let hint = match near.is_empty() {
            false => format!("the nearest names are {}", near.join(", ")),
            true => "no toolbox has a usable tool; look at the status".to_owned(),
        };
        let message = format!("there is no tool called {}", quoted(wanted));
        Error::new(ErrorKind::ToolNotFound, Phase::Resolve, message)
            .with_hint(hint)
            .with_suggestions(near)
    }
}

/// The name as it was given, at most 100 characters of it, with what cannot be seen escaped.
pub(super) fn quoted(name: &str) -> String {
    match name.char_indices().nth(100) {
        Some((cut, _)) => format!("{:?}…", name.get(..cut).unwrap_or_default()),
        None => format!("{name:?}"),
    }
}
