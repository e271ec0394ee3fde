//! A source of tools: what every kind of toolbox does for a host.

use std::sync::Arc;

use crate::definition::ToolDefinition;
use crate::tool::ToolExecutor;
use crate::{BoxFuture, Error, Result};

/// A source of tools: an MCP server, a set of native tools, later a UTCP manual or an OpenAPI
/// document. The host owns it; closing or dropping the host ends it.
pub trait ToolBox: Send + Sync + 'static {
    /// What kind of source it is, such as `mcp/stdio` or `native`.
    fn kind(&self) -> &str;

    /// Connects if needed and lists the tools. Called again after a change; must be cheap on a
    /// live connection. One bad tool never costs the others: it is listed as broken.
    fn discover(&self) -> BoxFuture<'_, Result<Discovery>>;

    /// How it is now. Never waits.
    fn state(&self) -> ToolBoxState;

    /// What a person needs to find a fault. Never waits.
    fn diagnosis(&self) -> Diagnosis {
        Diagnosis::default()
    }

    /// Looks step by step at what lies below the protocol, for `doctor` alone: names, sockets, TLS,
    /// HTTP. Makes connections of its own, each with a time limit, and sends no call. A step that
    /// failed is the last one. Nothing, unless the kind of toolbox has such steps.
    fn probe(&self) -> BoxFuture<'_, Vec<Step>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Whether a close ends the calls under way by itself. Where it does not, the host ends them.
    fn ends_calls(&self) -> bool {
        false
    }

    /// Ends everything of it, within `timeouts.close`. A second call does nothing.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// One listing of a toolbox.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Discovery {
    /// The usable tools in the source's order.
    pub tools: Vec<ToolboxTool>,
    /// Tools that cannot be used, and why.
    pub broken: Vec<BrokenTool>,
    /// Why the listing is not whole, when it is not: the tools so far are kept.
    pub incomplete: Option<String>,
}

/// A tool of a toolbox, before it has its exposed name.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolboxTool {
    /// What it is.
    pub definition: Arc<ToolDefinition>,
    /// What does the work.
    pub executor: Arc<dyn ToolExecutor>,
}

impl ToolboxTool {
    /// Joins a definition and its executor.
    pub fn new(definition: Arc<ToolDefinition>, executor: Arc<dyn ToolExecutor>) -> Self {
        Self {
            definition,
            executor,
        }
    }
}

impl std::fmt::Debug for ToolboxTool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("ToolboxTool")
            .field(&self.definition.name)
            .finish()
    }
}

/// A tool that is listed but cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenTool {
    /// Its name as the source gave it, or its place in the list when it has none.
    pub name: String,
    /// Why it cannot be used, in plain words.
    pub reason: String,
}

impl BrokenTool {
    /// A broken tool and why.
    pub fn new(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            reason: reason.into(),
        }
    }
}

/// How a toolbox is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolBoxState {
    /// The config switches it off.
    Disabled,
    /// It is being started, or was not needed yet.
    Connecting,
    /// Its tools can be called.
    Ready,
    /// Its tools can be called, with a fault that the error names (an incomplete list, a restart).
    Degraded(Error),
    /// It cannot be used; the error says why. A call may try again.
    Failed(Error),
    /// It was closed.
    Closed,
}

impl ToolBoxState {
    /// The state's name in JSON and on the command line.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Degraded(_) => "degraded",
            Self::Failed(_) => "failed",
            Self::Closed => "closed",
        }
    }

    /// The fault, where there is one.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Self::Degraded(error) | Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

/// What a person needs to find a fault in a toolbox.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The steps of the last start, in order; the last one may have failed.
    pub steps: Vec<Step>,
    /// Further facts, one a line: counts of skipped lines, restarts, what the server is.
    pub notes: Vec<String>,
    /// The last lines of the source's standard error, as it wrote them.
    pub stderr: String,
}

/// One step of a start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// What was done, such as `start the process`.
    pub what: String,
    /// What came of it, in plain words, or the error.
    pub result: std::result::Result<String, Error>,
    /// How long it took.
    pub took: std::time::Duration,
}

impl Step {
    /// A step that ended, well or not.
    pub fn new(
        what: impl Into<String>,
        took: std::time::Duration,
        result: std::result::Result<String, Error>,
    ) -> Self {
        Self {
            what: what.into(),
            result,
            took,
        }
    }
}
