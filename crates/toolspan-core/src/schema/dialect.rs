//! Which JSON Schema dialect is a schema written in?

use std::fmt;

use jsonschema::Draft;
use serde_json::Value;

use super::rejected::{RejectedReason, SchemaRejected};
use super::wording::{kind_of, quote};

/// A supported dialect of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12, the one MCP assumes where a schema says nothing.
    Draft202012,
}

impl Dialect {
    /// The dialect that `$schema` states; `None` where the schema states none.
    pub(super) fn declared(schema: &Value) -> Result<Option<Self>, SchemaRejected> {
        let unknown = |dialect| {
            Err(SchemaRejected::new(
                RejectedReason::UnknownDialect { dialect },
                "/$schema",
            ))
        };
        match schema.get("$schema") {
            None => Ok(None),
            Some(Value::String(uri)) => match Self::from_uri(uri) {
                Some(dialect) => Ok(Some(dialect)),
                None => unknown(quote(uri, 200)),
            },
            Some(other) => unknown(kind_of(other).to_owned()),
        }
    }

    fn from_uri(uri: &str) -> Option<Self> {
        match Draft::from_schema_uri(uri.trim_end_matches('/')) {
            Draft::Draft4 => Some(Self::Draft4),
            Draft::Draft6 => Some(Self::Draft6),
            Draft::Draft7 => Some(Self::Draft7),
            Draft::Draft201909 => Some(Self::Draft201909),
            Draft::Draft202012 => Some(Self::Draft202012),
            _ => None,
        }
    }

    pub(super) fn draft(self) -> Draft {
        match self {
            Self::Draft4 => Draft::Draft4,
            Self::Draft6 => Draft::Draft6,
            Self::Draft7 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }

    /// Whether keywords beside `$ref` are ignored, as they are up to draft 7.
    pub(crate) fn reference_stands_alone(self) -> bool {
        matches!(self, Self::Draft4 | Self::Draft6 | Self::Draft7)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft4 => "draft-04",
            Self::Draft6 => "draft-06",
            Self::Draft7 => "draft-07",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        })
    }
}
