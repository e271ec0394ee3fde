//! What was decided about a call, by which rule, and what is kept of it?

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::level::Level;
use super::risk::SecurityRisk;
use crate::guard::outcome::Phase;
use crate::{Error, ErrorKind};

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the three ends of a decision")]
pub enum Verdict {
    /// It runs.
    Run,
    /// Somebody is asked.
    Ask,
    /// It does not run, and nobody can say otherwise.
    Refuse,
}

/// What was decided about one call. Kept with its observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// The level, all rules counted.
    pub level: Level,
    /// What the level means under the policy.
    pub verdict: Verdict,
    /// The rule that decided, in words without values of the arguments.
    pub rule: Cow<'static, str>,
    /// The risk as the analyzers see it.
    pub risk: SecurityRisk,
    /// Who let it run where it was asked about: `once`, `session`, or the pattern of `allow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<Cow<'static, str>>,
    /// What else is worth knowing, such as a risk that the model misspelt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Cow<'static, str>>,
}

impl Decision {
    /// The decision as the JSON object that goes with an observation.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(super) fn refused(rule: Cow<'static, str>) -> Self {
        Self {
            level: Level::Refuse,
            verdict: Verdict::Refuse,
            rule,
            risk: SecurityRisk::Unknown,
            approved_by: None,
            note: None,
        }
    }
}

/// A call that does not run: the decision, for the observation, and the error, for the caller.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refused {
    /// What was decided.
    pub decision: Box<Decision>,
    /// `policy_denied` or `approval_required`.
    pub error: Error,
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        refused.error
    }
}

/// The error of a call that a rule or a person refuses.
pub(super) fn denied(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::PolicyDenied, Phase::Decide, message)
}

/// The error of a call that nobody approved.
pub(super) fn unapproved(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::ApprovalRequired, Phase::Decide, message)
}
