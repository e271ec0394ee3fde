//! A call whose arguments are proved to match its tool's schema.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::definition::ToolDefinition;
use crate::execute::secrets;
use crate::guard::limits::Limits;
use crate::guard::outcome::Phase;
use crate::guard::sanitise;
use crate::guard::secret::names_a_secret;
use crate::registry::RegisteredTool;
use crate::schema::{CheckFailed, Schema, kind_of, signature};
use crate::{Error, ErrorKind, Result};

/// A call whose arguments match the schema: the only thing that an executor runs.
///
/// Only [`CallRequest::validate`] makes one. The bytes it holds are the bytes that are sent.
#[derive(Clone)]
pub struct ValidCall {
    definition: Arc<ToolDefinition>,
    exposed_name: Arc<str>,
    arguments: Map<String, Value>,
    text: String,
    /// The same call with its secrets in place, where the arguments above have references to them.
    real: Option<Arc<Self>>,
    /// What people are shown of it, where its own arguments hold secrets.
    shown: Option<String>,
}

impl ToolDefinition {
    /// Checks arguments as a call does, for whoever has a definition alone and calls nothing.
    ///
    /// # Errors
    ///
    /// As [`CallRequest::validate`], without toolbox and tool.
    pub fn check_arguments(&self, arguments: Value, limits: &Limits) -> Result<()> {
        checked(arguments, self, limits).map(drop)
    }
}

impl ValidCall {
    pub(super) fn check(arguments: Value, tool: &RegisteredTool, limits: &Limits) -> Result<Self> {
        let (arguments, text) = checked(arguments, &tool.definition, limits)?;
        Ok(Self {
            definition: Arc::clone(&tool.definition),
            exposed_name: Arc::clone(&tool.name),
            arguments,
            text,
            real: None,
            shown: None,
        })
    }

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

/// Characters of a signature in a hint.
const SHOWN_SIGNATURE: usize = 300;

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

/// Arguments that match the schema and the limits, and their JSON text.
fn checked(
    arguments: Value,
    definition: &ToolDefinition,
    limits: &Limits,
) -> Result<(Map<String, Value>, String)> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::Object(_) => arguments,
        other => {
            let message = format!("arguments must be a JSON object, not {}", kind_of(&other));
            return Err(invalid(message).with_hint("give each argument by its name"));
        }
    };
    definition
        .input
        .check_within(&arguments, limits.json_depth)
        .map_err(|failed| refused(failed, &definition.input))?;
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
    let Value::Object(arguments) = arguments else {
        return Err(invalid("not an object"));
    };
    Ok((arguments, text))
}

fn refused(failed: CheckFailed, input: &Schema) -> Error {
    match failed {
        CheckFailed::Schema(rejected) => {
            let message = format!("the tool's schema cannot be used: {rejected}");
            Error::new(ErrorKind::SchemaRejected, Phase::Validate, message)
        }
        CheckFailed::Violations(violations) => invalid(format!(
            "the arguments do not match the tool's schema: {violations}"
        ))
        .with_violations(violations.into_vec())
        .with_hint(takes(input)),
    }
}

/// What a tool takes, for whoever gave it something else.
fn takes(input: &Schema) -> String {
    match signature(input).as_str() {
        "()" => "it takes no arguments".to_owned(),
        signature => {
            let shown = sanitise::one_line(signature, SHOWN_SIGNATURE);
            format!("it takes {shown}")
        }
    }
}

pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArguments, Phase::Validate, message)
}
