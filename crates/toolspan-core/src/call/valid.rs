//! A call whose arguments are proved to match its tool's schema.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::repair::Repair;
use super::told::{invalid, refused};
use crate::definition::ToolDefinition;
use crate::execute::secrets;
use crate::guard::limits::Limits;
use crate::guard::sanitise;
use crate::guard::secret::names_a_secret;
use crate::schema::{CheckFailed, Schema, kind_of};
use crate::{Error, Result};

/// A call whose arguments match the schema: the only thing that an executor runs.
///
/// Only [`CallRequest::prepare`](super::CallRequest::prepare) makes one. The bytes it holds are the
/// bytes that are sent.
#[derive(Clone)]
pub struct ValidCall {
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) exposed_name: Arc<str>,
    pub(super) arguments: Map<String, Value>,
    pub(super) text: String,
    pub(super) id: Option<String>,
    pub(super) repairs: Vec<Repair>,
    pub(super) risk_word: Option<String>,
    pub(super) model_summary: Option<String>,
    /// The same call with its secrets in place, where the arguments above have references to them.
    pub(super) real: Option<Arc<Self>>,
    /// What people are shown of it, where its own arguments hold secrets.
    pub(super) shown: Option<String>,
}

impl ToolDefinition {
    /// Checks arguments as a call does, for whoever has a definition alone and calls nothing.
    /// Nothing is repaired.
    ///
    /// # Errors
    ///
    /// As [`CallRequest::validate`](super::CallRequest::validate), without toolbox and tool.
    pub fn check_arguments(&self, arguments: Value, limits: &Limits) -> Result<()> {
        let arguments = match arguments {
            Value::Null => Value::Object(Map::new()),
            Value::Object(_) => arguments,
            other => return Err(not_an_object(&other)),
        };
        check(&arguments, &self.input, limits).map_err(|failed| refused(failed, &self.input))?;
        written(arguments, limits).map(drop)
    }
}

impl ValidCall {
    /// A call that shows these arguments, which have references where the real one has secrets.
    pub(crate) fn hiding(mut real: Self, arguments: Map<String, Value>) -> Self {
        let mut shown = Self {
            text: Value::Object(arguments.clone()).to_string(),
            arguments,
            ..real.clone()
        };
        shown.real = Some(Arc::new(real.clone()));
        real.shown = Some(shown.summary());
        shown.real = Some(Arc::new(real));
        shown
    }

    /// This call as what became of another one on its way: with that one's id, its repairs, and what
    /// the model said of it.
    pub(crate) fn in_place_of(mut self, other: &Self) -> Self {
        let real = self.real.take();
        self.real = real.map(|real| Arc::new(Self::clone(&real).in_place_of(other)));
        self.id.clone_from(&other.id);
        self.repairs.splice(..0, other.repairs.iter().cloned());
        self.risk_word.clone_from(&other.risk_word);
        self.model_summary.clone_from(&other.model_summary);
        self
    }

    /// The call that a tool gets that stands behind this one's, with arguments that were checked
    /// against its definition.
    pub(crate) fn onward(
        &self,
        definition: &Arc<ToolDefinition>,
        arguments: Map<String, Value>,
    ) -> Self {
        Self {
            definition: Arc::clone(definition),
            text: Value::Object(arguments.clone()).to_string(),
            arguments,
            ..self.clone()
        }
    }

    /// The call as its executor is given it: with its secrets in place.
    pub(crate) fn real(&self) -> &Self {
        self.real.as_deref().unwrap_or(self)
    }

    /// The tool's definition.
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    /// The name under which the host exposes the tool.
    pub fn exposed_name(&self) -> &str {
        &self.exposed_name
    }

    /// The arguments.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// The arguments as JSON text, serialised once.
    pub fn arguments_text(&self) -> &str {
        &self.text
    }

    /// The id that the model's API gave the call, for the result to name.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// What was changed so that the arguments are valid; empty where they were so at once.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// What the model said of the risk, as it said it: at most 40 characters, not checked to be one of
    /// the words it was asked for. `None` where the field was not injected or not given as text.
    pub fn risk_word(&self) -> Option<&str> {
        self.risk_word.as_deref()
    }

    /// What the model said the call is for: one line of at most 300 characters. `None` where the
    /// field was not injected or not given as text.
    pub fn model_summary(&self) -> Option<&str> {
        self.model_summary.as_deref()
    }

    /// The call in one line for people: the name and the arguments, values of secret-looking names
    /// hidden at every depth, at most 500 characters.
    pub fn summary(&self) -> String {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(
                |(key, value)| match names_a_secret(key) && !self.is_reference(value) {
                    true => format!("{key}: {HIDDEN}"),
                    false => format!("{key}: {}", self.without_secrets(value)),
                },
            )
            .collect();
        sanitise::one_line(
            &format!("{}({})", self.exposed_name, arguments.join(", ")),
            500,
        )
    }

    /// A copy without the values of secret-looking names. Recurses no deeper than the arguments were
    /// checked to nest.
    fn without_secrets(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items
                .iter()
                .map(|item| self.without_secrets(item))
                .collect(),
            Value::Object(_) if self.is_reference(value) => value.clone(),
            Value::Object(members) => {
                let shown = members.iter().map(|(key, value)| {
                    match names_a_secret(key) && !self.is_reference(value) {
                        true => (key.clone(), HIDDEN.into()),
                        false => (key.clone(), self.without_secrets(value)),
                    }
                });
                Value::Object(shown.collect())
            }
            plain => plain.clone(),
        }
    }

    /// Whether a value names a secret that the real call has in its place: that may be shown.
    fn is_reference(&self, value: &Value) -> bool {
        self.real.is_some() && secrets::reference(value).is_some()
    }
}

/// What stands in a summary in place of a value that may be a secret.
const HIDDEN: &str = "[redacted]";

impl std::fmt::Debug for ValidCall {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("ValidCall")
            .field(&self.summary())
            .finish()
    }
}

/// Checks arguments against a schema, and that they nest no deeper than the limits allow.
pub(super) fn check(arguments: &Value, schema: &Schema, limits: &Limits) -> CheckResult {
    schema.check_within(arguments, limits.json_depth)
}

type CheckResult = std::result::Result<(), CheckFailed>;

/// Checked arguments and their JSON text, which the limits bound.
pub(super) fn written(arguments: Value, limits: &Limits) -> Result<(Map<String, Value>, String)> {
    let text = serde_json::to_string(&arguments)
        .map_err(|error| invalid(format!("the arguments cannot be written: {error}")))?;
    if text.len() > limits.arguments_bytes {
        let message = format!(
            "the arguments take {} bytes, more than limits.arguments_bytes ({})",
            text.len(),
            limits.arguments_bytes
        );
        return Err(invalid(message));
    }
    match arguments {
        Value::Object(arguments) => Ok((arguments, text)),
        other => Err(not_an_object(&other)),
    }
}

/// The error of arguments that are no object.
pub(super) fn not_an_object(found: &Value) -> Error {
    let message = format!("arguments must be a JSON object, not {}", kind_of(found));
    invalid(message).with_hint("give each argument by its name")
}
