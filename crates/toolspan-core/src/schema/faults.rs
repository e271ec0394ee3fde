//! What exactly is wrong at which place of a value, for whoever tries to set it right?

use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::budget;
use super::check::allow;
use super::definition::{Definition, Schema};
use super::lookup::properties;
use super::measure::{measure, weight};

/// Faults listed for one value; one with more is not worth setting right.
const LISTED: usize = 4_096;
/// Schemas applied in a check whose faults are listed.
const APPLIED: u64 = 50_000;
/// Bytes that listing the faults of alternatives may copy.
const COPIED_BYTES: u64 = 4 * 1024 * 1024;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// Where in the value: a JSON pointer (RFC 6901).
    pub(crate) pointer: String,
    /// What the schema wants there.
    pub(crate) wants: Wants,
}

/// What a schema wants of a value that it does not accept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wants {
    /// One of these types.
    Type(Vec<JsonType>),
    /// One of these values, in a JSON array.
    Choice(Arc<Value>),
    /// One value only.
    Constant(Arc<Value>),
    /// An object without these properties, where it knows those.
    Fewer {
        unexpected: Vec<String>,
        known: Vec<String>,
    },
    /// An object with one more property.
    Property,
    /// One of several alternatives; the faults by each of them.
    Alternative(Vec<Vec<Fault>>),
    /// Something else, such as a string of another length.
    Other,
}

impl Schema {
    /// Everything that is wrong with a value, empty where nothing is. `None` where that would be
    /// too much work, or the schema is not usable, or the value nests more than `maximum_depth`
    /// objects and arrays in one another.
    pub(crate) fn faults(&self, value: &Value, maximum_depth: usize) -> Option<Vec<Fault>> {
        let definition = &*self.definition;
        let maximum_depth = maximum_depth.min(definition.limits.value_depth);
        let size = measure(value, maximum_depth).ok()?;
        let compiled = self.compiled().ok()?;
        allow(definition, value, size).ok()?;
        if compiled.validator.is_valid(value) {
            return Some(Vec::new());
        }
        let work = budget::count(&definition.graph, &definition.costs, value, APPLIED)?;
        let depth = u64::try_from(size.depth + 1).unwrap_or(u64::MAX);
        let copies = work.busiest.saturating_mul(depth);
        if definition.costs.has_alternatives && copies.saturating_mul(weight(value)) > COPIED_BYTES
        {
            return None;
        }
        let errors = compiled.validator.iter_errors(value);
        let faults: Vec<Fault> = errors
            .take(LISTED)
            .map(|error| fault(definition, &error))
            .collect();
        (faults.len() < LISTED).then_some(faults)
    }
}

/// The fault that an error tells of. Recurses as deep as alternatives are nested, which the check
/// that made the error did too.
fn fault(definition: &Definition, error: &ValidationError<'_>) -> Fault {
    let wants = match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => Wants::Type(vec![*kind]),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => Wants::Type(kinds.iter().collect()),
        Kind::Enum { options } => Wants::Choice(Arc::clone(options)),
        Kind::Constant { expected_value } => Wants::Constant(Arc::clone(expected_value)),
        Kind::Required { .. } => Wants::Property,
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            Wants::Fewer {
                unexpected: unexpected.clone(),
                known: known_beside(definition, error.schema_path().as_str()),
            }
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => Wants::Alternative(
            context
                .iter()
                .map(|branch| {
                    branch
                        .iter()
                        .map(|error| fault(definition, error))
                        .collect()
                })
                .collect(),
        ),
        _ => Wants::Other,
    };
    Fault {
        pointer: error.instance_path().as_str().to_owned(),
        wants,
    }
}

/// The properties that the schema of a keyword names.
fn known_beside(definition: &Definition, keyword: &str) -> Vec<String> {
    let root = &definition.raw;
    let parent = keyword.rsplit_once('/').map(|(parent, _)| parent);
    let schema = parent.and_then(|parent| root.pointer(parent));
    let known = schema.map(|schema| properties(root, schema));
    let known = known.unwrap_or_default().into_iter();
    known.map(|property| property.name.to_owned()).collect()
}
