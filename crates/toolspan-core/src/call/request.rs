//! What is asked for: a tool's name and arguments that nobody has checked yet.

use serde_json::Value;

use super::prepare::Preparing;
use super::repair::Repair;
use super::valid::ValidCall;
use crate::Result;
use crate::guard::limits::Limits;
use crate::registry::RegisteredTool;

/// What a caller asks for: a name and arguments, nothing checked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallRequest {
    /// The id that the model's API gave the call; `None` where it gave none.
    pub id: Option<String>,
    /// The tool's exposed name or another form that the registry takes.
    pub tool: String,
    /// The arguments; `null` means none.
    pub arguments: Value,
    /// What had to be forgiven so that the request could be read.
    pub repairs: Vec<Repair>,
}

impl CallRequest {
    /// A request without an id.
    pub fn new(tool: impl Into<String>, arguments: Value) -> Self {
        Self {
            id: None,
            tool: tool.into(),
            arguments,
            repairs: Vec::new(),
        }
    }

    /// Checks the arguments against the tool's schema and the host's limits, and changes nothing:
    /// [`prepare`](Self::prepare) with [`Preparing::STRICT`].
    ///
    /// # Errors
    ///
    /// `invalid_arguments` with every violation; `schema_rejected` when the schema does not compile.
    pub fn validate(self, tool: &RegisteredTool, limits: &Limits) -> Result<ValidCall> {
        self.prepare(tool, limits, &Preparing::STRICT)
    }
}
