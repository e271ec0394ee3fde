//! What is known of one call when it is decided?

use serde_json::{Map, Value};

use super::glob::Names;
use crate::call::ValidCall;
use crate::definition::ToolDefinition;
use crate::name::NATIVE;
use crate::registry::RegisteredTool;
use crate::visual::Styled;

/// What is known of one call: the tool, the checked arguments, and what the model said of them.
///
/// The arguments are those of the [`ValidCall`] that runs, so that what is decided and shown is
/// what is sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Facts<'a> {
    /// The tool's exposed name.
    pub tool: &'a str,
    /// The toolbox's key as the config writes it.
    pub toolbox: &'a str,
    /// The tool as its source describes it.
    pub definition: &'a ToolDefinition,
    /// The arguments.
    pub arguments: &'a Map<String, Value>,
    /// The arguments as the JSON text that is sent.
    pub arguments_text: &'a str,
    /// What the model said of the risk, as it said it.
    pub model_risk: Option<&'a str>,
    /// Text from an untrusted source lies in the model's context: calls that reach the open world
    /// or change something count one level more.
    pub tainted: bool,
    /// Which of the tools that this program brings itself, if it is one.
    pub built_in: Option<BuiltIn>,
    /// Where the tool comes from, for the question: the toolbox's kind, command or address.
    pub origin: Option<&'a str>,
    /// What the tool's author shows of the call, for the question.
    pub view: Option<&'a Styled>,
}

/// A kind of tool that this program brings itself, with a row of its own in the table.
///
/// Only the program says this of its own tools, after it resolved the paths of the call; no source
/// can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the rows of a closed table")]
pub enum BuiltIn {
    /// Says something and does nothing (`finish`, `think`): never asked.
    Speak,
    /// Reads files.
    Look {
        /// All paths of the call lie in the workspace.
        inside: bool,
    },
    /// Changes files.
    Edit {
        /// All paths of the call lie in the workspace.
        inside: bool,
    },
    /// Runs a command in a shell.
    Shell {
        /// Somebody other than the built-in rules vouches for this command.
        harmless: bool,
    },
    /// Starts a new server.
    Launch,
}

impl<'a> Facts<'a> {
    /// The facts of a call that was checked for this tool.
    pub fn of(tool: &'a RegisteredTool, call: &'a ValidCall) -> Self {
        Self {
            tool: &tool.name,
            toolbox: &tool.toolbox,
            definition: &tool.definition,
            arguments: call.arguments(),
            arguments_text: call.arguments_text(),
            model_risk: None,
            tainted: false,
            built_in: None,
            origin: None,
            view: None,
        }
    }

    /// Sets what the model said of the risk.
    #[must_use]
    pub fn with_model_risk(mut self, word: Option<&'a str>) -> Self {
        self.model_risk = word;
        self
    }

    /// Says whether text from an untrusted source lies in the model's context.
    #[must_use]
    pub fn with_taint(mut self, tainted: bool) -> Self {
        self.tainted = tainted;
        self
    }

    /// Says which tool of this program's own it is.
    #[must_use]
    pub fn with_built_in(mut self, built_in: BuiltIn) -> Self {
        self.built_in = Some(built_in);
        self
    }

    /// Says where the tool comes from, for people.
    #[must_use]
    pub fn with_origin(mut self, origin: Option<&'a str>) -> Self {
        self.origin = origin;
        self
    }

    /// Sets what the tool's author shows of the call, for people.
    #[must_use]
    pub fn with_view(mut self, view: Option<&'a Styled>) -> Self {
        self.view = view;
        self
    }

    /// Which tool of this program's own it is; a native `finish` or `think` is one by its name.
    pub(super) fn kind(&self) -> Option<BuiltIn> {
        let speaks = || speaks(self.toolbox, self.tool);
        self.built_in.or_else(|| speaks().then_some(BuiltIn::Speak))
    }

    pub(super) fn names(&self) -> Names<'a> {
        Names {
            exposed: self.tool,
            toolbox: self.toolbox,
            original: &self.definition.name,
            shown: self.definition.shown_name(),
        }
    }
}

/// Whether a tool says something and does nothing, by its name.
pub(super) fn speaks(toolbox: &str, exposed: &str) -> bool {
    toolbox == NATIVE && matches!(exposed, "finish" | "think")
}
