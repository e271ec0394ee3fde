//! Which secrets may a toolbox have, and how do they come into its calls without being shown?
//!
//! A secret is named in arguments by an object that is nothing else: `{"$secret": "NAME"}`. No text
//! is ever searched for names, so that a shell script with `${HOME:-/root}` in it stays a script.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::call::{CallRequest, ValidCall};
use crate::guard::outcome::Phase;
use crate::guard::{Redactor, Secret};
use crate::{Error, ErrorKind, Result};

/// The only member of an object that stands for a secret; its value is the secret's name.
pub const REFERENCE: &str = "$secret";

/// Deepest nesting in which references are looked for; what is deeper is no valid argument either.
const DEEPEST: usize = 128;

/// Most values that are remembered so that they can be hidden; then the oldest is forgotten.
const REMEMBERED: usize = 256;

/// Where secrets come from. Asked at each use, so that a value may change.
pub trait SecretSource: Send + Sync + 'static {
    /// The value of a name; `None` when there is none. Must return soon.
    fn secret(&self, name: &str) -> Option<Secret>;
}

impl SecretSource for HashMap<String, Secret> {
    fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name).cloned()
    }
}

/// A closure from a name to its value.
impl<F: Fn(&str) -> Option<Secret> + Send + Sync + 'static> SecretSource for F {
    fn secret(&self, name: &str) -> Option<Secret> {
        self(name)
    }
}

/// The secrets of a host: their source, and what must be hidden from now on. One for each host.
pub struct Secrets {
    source: Box<dyn SecretSource>,
    given: RwLock<Given>,
}

/// The values given out so far.
#[derive(Default)]
struct Given {
    values: VecDeque<Secret>,
    redactor: Arc<Redactor>,
}

impl Secrets {
    /// Secrets from this source.
    pub fn new(source: impl SecretSource) -> Self {
        Self {
            source: Box::new(source),
            given: RwLock::default(),
        }
    }

    /// Hides a value in every result and error from now on, such as one that the config holds. At
    /// most 256 values are remembered, the last ones.
    pub fn hide(&self, value: &Secret) {
        let is_known = |given: &Given| given.values.contains(value);
        if is_known(&self.given.read().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let mut given = self.given.write().unwrap_or_else(PoisonError::into_inner);
        if is_known(&given) {
            return;
        }
        if given.values.len() >= REMEMBERED {
            given.values.pop_front();
        }
        given.values.push_back(value.clone());
        let redactor = Redactor::new(given.values.iter().map(Secret::reveal));
        given.redactor = Arc::new(redactor);
    }

    /// What hides the values that were given out so far. Values under eight bytes are not hidden: they
    /// would hit innocent text.
    pub fn redactor(&self) -> Arc<Redactor> {
        let given = self.given.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&given.redactor)
    }
}

/// Names nothing.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secrets(…)")
    }
}

/// What one toolbox may have of a host's secrets. With no name at all its results are still freed of
/// what other toolboxes were given.
#[derive(Debug)]
pub struct SecretAccess {
    secrets: Arc<Secrets>,
    allowed: BTreeSet<String>,
    in_arguments: bool,
}

impl SecretAccess {
    /// The secrets of these names, exactly, and no other. Tools ask for them by
    /// [`Context::secret`](super::Context::secret); references in arguments stay as they are.
    pub fn new<N: Into<String>>(
        secrets: &Arc<Secrets>,
        allowed: impl IntoIterator<Item = N>,
    ) -> Self {
        Self {
            secrets: Arc::clone(secrets),
            allowed: allowed.into_iter().map(Into::into).collect(),
            in_arguments: false,
        }
    }

    /// Also puts secrets in place of references in the arguments of its calls.
    #[must_use]
    pub fn in_arguments(mut self) -> Self {
        self.in_arguments = true;
        self
    }

    /// A secret by its name. What it gives is hidden in every result and error from then on.
    ///
    /// # Errors
    ///
    /// `policy_denied` when the toolbox may not have it; `usage` when there is none of this name.
    pub fn secret(&self, name: &str) -> Result<Secret> {
        if !self.allowed.contains(name) {
            return Err(not_allowed(name));
        }
        let secret = self.secrets.source.secret(name).ok_or_else(|| {
            let message = format!("there is no secret {name:?}");
            Error::new(ErrorKind::Usage, Phase::Validate, message)
                .with_hint("give the host a secret of this name")
        })?;
        self.secrets.hide(&secret);
        Ok(secret)
    }

    /// Checks a request with the toolbox's secrets in place of references. The call shows the
    /// references to everyone but the executor that runs it.
    ///
    /// `check` is [`CallRequest::validate`] or what stands for it. Arguments with secrets are never
    /// repaired: what `check` gives must be what it was given, less whole members.
    ///
    /// # Errors
    ///
    /// As [`SecretAccess::secret`] and `check`, the violations without what was found.
    pub fn validate(
        &self,
        request: CallRequest,
        check: impl FnOnce(CallRequest) -> Result<ValidCall>,
    ) -> Result<ValidCall> {
        if !self.in_arguments || !has_reference(&request.arguments, DEEPEST) {
            return check(request);
        }
        let shown = request.arguments.clone();
        let mut request = request;
        self.put_in_place(&mut request.arguments, DEEPEST)?;
        let given = request.arguments.clone();
        let real = check(request).map_err(without_values)?;
        let mut arguments = Map::new();
        for (key, value) in real.arguments() {
            match shown.get(key) {
                Some(shown) if given.get(key) == Some(value) => {
                    arguments.insert(key.clone(), shown.clone());
                }
                _ => return Err(not_as_given()),
            }
        }
        Ok(ValidCall::hiding(real, arguments))
    }

    fn put_in_place(&self, value: &mut Value, depth: usize) -> Result<()> {
        if let Some(name) = reference(value) {
            let secret = self.secret(name)?;
            *value = secret.reveal().into();
            return Ok(());
        }
        let Some(deeper) = depth.checked_sub(1) else {
            return Ok(());
        };
        match value {
            Value::Array(items) => items
                .iter_mut()
                .try_for_each(|item| self.put_in_place(item, deeper)),
            Value::Object(members) => members
                .values_mut()
                .try_for_each(|member| self.put_in_place(member, deeper)),
            _ => Ok(()),
        }
    }

    /// What hides the values that the host's toolboxes were given so far.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.secrets.redactor()
    }
}

/// The name in an object that is a reference and nothing else.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    let members = value.as_object()?;
    match members.len() {
        1 => members.get(REFERENCE)?.as_str(),
        _ => None,
    }
}

fn has_reference(value: &Value, depth: usize) -> bool {
    if reference(value).is_some() {
        return true;
    }
    let Some(deeper) = depth.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().any(|item| has_reference(item, deeper)),
        Value::Object(members) => members.values().any(|member| has_reference(member, deeper)),
        _ => false,
    }
}

/// The error of a toolbox that has no secrets and wants one.
pub(super) fn no_secrets(name: &str) -> Error {
    not_allowed(name)
}

fn not_allowed(name: &str) -> Error {
    let message = format!("the toolbox may not have the secret {name:?}");
    Error::new(ErrorKind::PolicyDenied, Phase::Validate, message)
        .with_hint("allow the toolbox this name, if it is meant to have it")
}

fn not_as_given() -> Error {
    let message = "arguments with a secret in them are not repaired, and these do not match";
    Error::new(ErrorKind::InvalidArguments, Phase::Validate, message)
        .with_hint("give every argument by its exact name and in its exact type")
}

/// An error of a check that saw secrets: what was expected where, and nothing of what was found.
fn without_values(error: Error) -> Error {
    let mut violations = error.violations().to_vec();
    for violation in &mut violations {
        violation.found = "something else".to_owned();
    }
    let said: Vec<String> = violations
        .iter()
        .map(|violation| format!("{:?}: expected {}", violation.pointer, violation.expected))
        .collect();
    let message = match said.is_empty() {
        true => "the arguments cannot be used with the secrets in place".to_owned(),
        false => format!(
            "the arguments do not match the tool's schema: {}",
            said.join("; ")
        ),
    };
    error.with_message(message).with_violations(violations)
}
