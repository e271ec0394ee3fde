//! How does an error of the validator become plain words?

use std::cell::Cell;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::{Map, Value};

use super::definition::Definition;
use super::explain_alternatives::explain_alternatives;
use super::graph::escaped;
use super::lookup::properties;
use super::secret::looks_secret;
use super::violation::Violation;
use super::wording::{
    alternatives, count, describe, describe_hidden, kind_of, literal, name, one_of, quote,
    type_name, type_names,
};

/// Names compared when looking for the one that was meant.
const COMPARED_NAMES: usize = 1_000;
/// Names compared for all that is wrong with one value.
const COMPARED_IN_ALL: usize = 10_000;
/// Characters of a name that is compared.
const COMPARED_CHARS: usize = 64;

/// Turns errors into violations, with what the schema says about names and secrets.
pub(super) struct Explain<'d> {
    definition: Option<&'d Definition>,
    /// The whole value, where it is at hand.
    value: Option<&'d Value>,
    /// How many names may still be compared.
    comparable: Cell<usize>,
}

/// The first violation of an error in a schema document, where nothing is secret or known.
pub(super) fn first(error: &ValidationError<'_>) -> Violation {
    let explain = Explain {
        definition: None,
        value: None,
        comparable: Cell::new(0),
    };
    let first = explain.error(error).into_iter().next();
    first.unwrap_or_else(|| explain.violation(error, expected(error)))
}

impl<'d> Explain<'d> {
    pub(super) fn new(definition: &'d Definition, value: &'d Value) -> Self {
        Self {
            definition: Some(definition),
            value: Some(value),
            comparable: Cell::new(COMPARED_IN_ALL),
        }
    }

    /// The violations that one error stands for; an error about alternatives is explained by the
    /// alternative that comes closest.
    pub(super) fn error(&self, error: &ValidationError<'_>) -> Vec<Violation> {
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => unexpected
                .iter()
                .map(|name| self.unexpected(error, (name, error.instance().get(name))))
                .collect(),
            Kind::FalseSchema if let Some(members) = self.refused_members(error) => members
                .iter()
                .map(|(name, value)| self.unexpected(error, (name, Some(value))))
                .collect(),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                explain_alternatives(self, error, context)
            }
            Kind::PropertyNames { error: inner } => {
                let expected = format!("property names that are {}", expected(inner));
                let found = match inner.instance().as_str() {
                    Some(text) => format!("the name {}", name(text)),
                    None => "another name".to_owned(),
                };
                vec![Violation {
                    found,
                    ..self.violation(error, expected)
                }]
            }
            _ => vec![self.violation(error, expected(error))],
        }
    }

    /// A violation at the place of `error`.
    pub(super) fn violation(&self, error: &ValidationError<'_>, expected: String) -> Violation {
        let pointer = error.instance_path().as_str();
        Violation {
            pointer: pointer.to_owned(),
            expected,
            found: self.found(pointer, error.instance()),
            keyword: error.kind().keyword().to_owned(),
            schema_pointer: error.schema_path().as_str().to_owned(),
        }
    }

    fn found(&self, pointer: &str, value: &Value) -> String {
        if self.is_secret(pointer) {
            describe_hidden(value)
        } else {
            describe(value)
        }
    }

    /// Whether a value lies inside a property that looks secret or that the schema marks so.
    fn is_secret(&self, pointer: &str) -> bool {
        let marked = self.definition.map(|definition| &definition.secrets);
        if marked.is_some_and(|marked| marked.everything) {
            return true;
        }
        pointer.split('/').skip(1).any(|token| {
            let name = token.replace("~1", "/").replace("~0", "~");
            marked.is_some_and(|marked| looks_secret(&name) || marked.names.contains(name.as_str()))
        })
    }

    /// The members of an object that may have none. The validator tells of such an object by the
    /// value of its first member, at the place of the object.
    fn refused_members(&self, error: &ValidationError<'_>) -> Option<&'d Map<String, Value>> {
        let object = self.value?.pointer(error.instance_path().as_str())?;
        let members = object.as_object()?;
        let first = members.values().next()?;
        // No object is a member of itself, so a schema that refuses the object is told from this one.
        (*first == **error.instance()).then_some(members)
    }

    fn unexpected(
        &self,
        error: &ValidationError<'_>,
        (property, value): (&str, Option<&Value>),
    ) -> Violation {
        let mut expected = format!("no property {}", name(property));
        if let Some(meant) = self.meant(error.schema_path().as_str(), property) {
            expected.push_str(&format!(" (did you mean {}?)", name(meant)));
        }
        Violation {
            pointer: format!("{}/{}", error.instance_path().as_str(), escaped(property)),
            found: value.map_or("one", kind_of).to_owned(),
            ..self.violation(error, expected)
        }
    }

    /// The nearest name that the schema beside the keyword at `schema_pointer` knows.
    fn meant(&self, schema_pointer: &str, property: &str) -> Option<&'d str> {
        let length = property.chars().take(COMPARED_CHARS + 1).count();
        if length > COMPARED_CHARS || self.comparable.get() == 0 {
            return None;
        }
        let (parent, _) = schema_pointer.rsplit_once('/')?;
        let root = &self.definition?.raw;
        let known = properties(root, root.pointer(parent)?);
        let comparable = self.comparable.get().min(COMPARED_NAMES);
        let known: Vec<_> = known.into_iter().take(comparable).collect();
        let left = self.comparable.get().saturating_sub(known.len());
        self.comparable.set(left);
        let known = known.into_iter();
        let near = known
            .map(|property| property.name)
            .filter(|known| known.len() <= 4 * COMPARED_CHARS)
            .map(|known| {
                let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
                (
                    strsim::damerau_levenshtein(&plain(known), &plain(property)),
                    known,
                )
            });
        let (distance, nearest) = near.min_by_key(|(distance, _)| *distance)?;
        // A name of one letter is near to every other one: that is no help.
        let is_near = distance <= (length / 3).max(1) && distance < length;
        is_near.then_some(nearest)
    }
}

/// What the schema wanted where `error` is.
pub(super) fn expected(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => type_name(*kind).to_owned(),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => alternatives(&type_names(*kinds)),
        Kind::Constant { expected_value } => literal(expected_value),
        Kind::Enum { options } => one_of(options.as_array().map_or(&[], Vec::as_slice)),
        Kind::Required { property } => {
            format!(
                "required property {}",
                name(property.as_str().unwrap_or_default())
            )
        }
        Kind::Pattern { pattern } => format!("a string that matches {}", quote(pattern, 200)),
        Kind::Format { format } => format!("a string of format {}", quote(format, 60)),
        Kind::FalseSchema => "nothing here".to_owned(),
        Kind::Not { .. } => "a value that the schema does not exclude".to_owned(),
        Kind::OneOfMultipleValid { context } => {
            let matching = context.iter().filter(|errors| errors.is_empty()).count();
            format!(
                "exactly one of {} alternatives to match, not {matching}",
                context.len()
            )
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            format!("one of {} alternatives", context.len())
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "a string that the pattern can be matched against in bounded time".to_owned()
        }
        Kind::Referencing(_) => "a reference that can be followed".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("a string encoded as {}", quote(content_encoding, 60))
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("a string of type {}", quote(content_media_type, 60))
        }
        other => expected_size(other),
    }
}

/// [`expected`] for keywords about size and number.
fn expected_size(kind: &Kind) -> String {
    let characters = |number: u64| count(number, "character", "characters");
    let items = |number: u64| count(number, "item", "items");
    let properties = |number: u64| count(number, "property", "properties");
    match kind {
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {}", characters(*limit)),
        Kind::MaxLength { limit } => format!("at most {}", characters(*limit)),
        Kind::MinItems { limit } => format!("at least {}", items(*limit)),
        Kind::MaxItems { limit } => format!("at most {}", items(*limit)),
        Kind::AdditionalItems { limit } => {
            format!(
                "at most {}",
                items(u64::try_from(*limit).unwrap_or(u64::MAX))
            )
        }
        Kind::MinProperties { limit } => format!("at least {}", properties(*limit)),
        Kind::MaxProperties { limit } => format!("at most {}", properties(*limit)),
        Kind::UniqueItems => "no item twice".to_owned(),
        Kind::Contains => "as many matching items as the schema asks for".to_owned(),
        Kind::UnevaluatedItems { .. } => "no further items".to_owned(),
        _ => "a value that matches the schema".to_owned(),
    }
}
