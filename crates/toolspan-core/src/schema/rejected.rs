//! Why can a schema not be used, and where in it is the fault?

use std::fmt;

use super::wording::quote;

/// A schema that is not usable. The tool it belongs to is listed as broken with this reason; the
/// other tools are not affected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaRejected {
    /// What is wrong.
    pub reason: RejectedReason,
    /// Where in the schema: a JSON pointer (RFC 6901), empty for the root.
    pub pointer: String,
}

/// What makes a schema unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectedReason {
    /// There is no schema.
    Missing,
    /// The value is neither an object nor a boolean.
    NotASchema {
        /// What it is, for example "an array".
        found: &'static str,
    },
    /// The root of an arguments schema does not allow an object.
    RootNotObject {
        /// What the root allows, for example `"array"`.
        found: String,
    },
    /// `type` names a type that JSON Schema does not have.
    UnknownType {
        /// The name, quoted and bounded.
        name: String,
    },
    /// `$schema` names a dialect that is not supported.
    UnknownDialect {
        /// The value of `$schema`, quoted and bounded.
        dialect: String,
    },
    /// A `$ref` leaves the document. Nothing is ever fetched.
    RemoteReference {
        /// The reference, quoted and bounded.
        reference: String,
    },
    /// A `$ref` points to nothing in the document.
    UnresolvedReference {
        /// The reference, quoted and bounded.
        reference: String,
    },
    /// References lead back to themselves without going into the value, so a check would not end.
    ReferenceLoop,
    /// A limit of [`SchemaLimits`](super::SchemaLimits) is exceeded.
    TooLarge {
        /// The limit's name, a field of [`SchemaLimits`](super::SchemaLimits).
        limit: &'static str,
        /// The greatest value allowed.
        maximum: u64,
    },
    /// A regular expression is not valid, or too big once compiled.
    InvalidPattern {
        /// The pattern, quoted and bounded.
        pattern: String,
    },
    /// The schema breaks the rules of its dialect.
    Invalid {
        /// What was expected and what was found.
        problem: String,
    },
}

impl SchemaRejected {
    pub(super) fn new(reason: RejectedReason, pointer: impl Into<String>) -> Self {
        Self {
            reason,
            pointer: pointer.into(),
        }
    }

    /// The same fault in a schema that stands at `pointer` of the document.
    pub(super) fn inside(self, pointer: &str) -> Self {
        Self {
            pointer: format!("{pointer}{}", self.pointer),
            ..self
        }
    }

    pub(super) fn too_large(limit: &'static str, maximum: usize, pointer: &str) -> Self {
        let maximum = u64::try_from(maximum).unwrap_or(u64::MAX);
        Self::new(RejectedReason::TooLarge { limit, maximum }, pointer)
    }
}

impl fmt::Display for SchemaRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            RejectedReason::Missing => f.write_str("the schema is missing")?,
            RejectedReason::NotASchema { found } => {
                write!(
                    f,
                    "a schema must be an object or a boolean, this is {found}"
                )?;
            }
            RejectedReason::RootNotObject { found } => {
                write!(
                    f,
                    "arguments are an object, but the schema allows only {found}"
                )?;
            }
            RejectedReason::UnknownType { name } => write!(f, "{name} is not a type")?,
            RejectedReason::UnknownDialect { dialect } => {
                write!(f, "dialect {dialect} is not supported")?;
                f.write_str(" (draft-04, 06, 07, 2019-09 and 2020-12 are)")?;
            }
            RejectedReason::RemoteReference { reference } => {
                write!(
                    f,
                    "reference {reference} leaves the schema, and nothing is fetched"
                )?;
            }
            RejectedReason::UnresolvedReference { reference } => {
                write!(f, "reference {reference} points to nothing in the schema")?;
            }
            RejectedReason::ReferenceLoop => f.write_str("references lead back to themselves")?,
            RejectedReason::TooLarge { limit, maximum } => {
                write!(f, "the schema exceeds the limit `{limit}` of {maximum}")?;
            }
            RejectedReason::InvalidPattern { pattern } => {
                write!(f, "pattern {pattern} is not a usable regular expression")?;
            }
            RejectedReason::Invalid { problem } => write!(f, "{problem}")?,
        }
        if !self.pointer.is_empty() {
            write!(f, " (at {})", quote(&self.pointer, 200).trim_matches('"'))?;
        }
        Ok(())
    }
}

impl std::error::Error for SchemaRejected {}
