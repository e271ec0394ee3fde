//! How does a checked schema become a validator?

use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Retrieve, Uri, ValidationError, Validator};
use serde_json::Value;

use super::dialect::Dialect;
use super::explain;
use super::limits::SchemaLimits;
use super::rejected::{RejectedReason, SchemaRejected};
use super::wording::quote;

/// Dialects tried for a schema that states none, the first one by the rules.
const UNDECLARED: [Dialect; 3] = [Dialect::Draft202012, Dialect::Draft7, Dialect::Draft4];

/// A validator and the dialect it was compiled in.
pub(super) struct Compiled {
    pub(super) validator: Validator,
    pub(super) dialect: Dialect,
}

/// Refuses to fetch anything, whatever features the validator crate is built with.
struct FetchNothing;

impl Retrieve for FetchNothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("nothing is fetched".into())
    }
}

/// Compiles a schema that has passed the static checks. Where no dialect is declared, the first
/// one that accepts the schema; if none does, the error of 2020-12.
pub(super) fn compile(
    raw: &Value,
    declared: Option<Dialect>,
    limits: &SchemaLimits,
) -> Result<Compiled, SchemaRejected> {
    if let Some(dialect) = declared {
        return compile_as(raw, dialect, limits);
    }
    let mut first = None;
    for dialect in UNDECLARED {
        match compile_as(raw, dialect, limits) {
            Ok(compiled) => return Ok(compiled),
            Err(rejected) => _ = first.get_or_insert(rejected),
        }
    }
    Err(first.unwrap_or_else(|| SchemaRejected::new(RejectedReason::Missing, "")))
}

fn compile_as(
    raw: &Value,
    dialect: Dialect,
    limits: &SchemaLimits,
) -> Result<Compiled, SchemaRejected> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(limits.backtrack_steps)
        .size_limit(limits.regex_bytes)
        .dfa_size_limit(limits.regex_cache_bytes);
    let options = jsonschema::options()
        .with_draft(dialect.draft())
        .with_retriever(FetchNothing)
        .with_pattern_options(patterns)
        .should_validate_formats(false);
    // A schema that trips the compiler must cost its own tool only. Nothing of ours is behind the
    // closure that a panic could leave half changed.
    match catch_unwind(AssertUnwindSafe(|| options.build(raw))) {
        Ok(Ok(validator)) => Ok(Compiled { validator, dialect }),
        Ok(Err(error)) => Err(rejected(&error)),
        Err(_) => {
            let problem = "the validator could not read the schema".to_owned();
            Err(SchemaRejected::new(RejectedReason::Invalid { problem }, ""))
        }
    }
}

fn rejected(error: &ValidationError<'_>) -> SchemaRejected {
    let pointer = error.instance_path().as_str().to_owned();
    let reason = match error.kind() {
        ValidationErrorKind::Referencing(problem) => reference_reason(problem),
        ValidationErrorKind::Format { format } if format == "regex" => {
            let pattern = error.instance().as_str().unwrap_or_default();
            RejectedReason::InvalidPattern {
                pattern: quote(pattern, 60),
            }
        }
        _ => {
            let violation = explain::first(error);
            let problem = format!("expected {}, found {}", violation.expected, violation.found);
            return SchemaRejected::new(RejectedReason::Invalid { problem }, violation.pointer);
        }
    };
    SchemaRejected::new(reason, pointer)
}

fn reference_reason(problem: &jsonschema::ReferencingError) -> RejectedReason {
    use jsonschema::ReferencingError as Error;
    match problem {
        Error::Unretrievable { uri, .. } => RejectedReason::RemoteReference {
            reference: quote(uri, 200),
        },
        Error::UnknownSpecification { specification } => RejectedReason::UnknownDialect {
            dialect: quote(specification, 200),
        },
        other => RejectedReason::UnresolvedReference {
            reference: quote(&other.to_string(), 200),
        },
    }
}
