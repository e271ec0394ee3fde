//! What is odd about a schema without making it unusable?

use std::fmt;

/// Something odd in an accepted schema, worth a line in a status or `config check` output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaNote {
    /// An arguments schema that is `true` or `{}`: an object with anything in it is accepted.
    AnyObject,
    /// A `default` that its own `type` does not allow. Defaults are never applied.
    DefaultBreaksType {
        /// JSON pointer to the schema that holds both.
        pointer: String,
    },
    /// A `const` that is not a member of the `enum` beside it, so that no value can match.
    ConstOutsideEnum {
        /// JSON pointer to the schema that holds both.
        pointer: String,
    },
}

impl fmt::Display for SchemaNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnyObject => f.write_str("the schema accepts an object with anything in it"),
            Self::DefaultBreaksType { pointer } => {
                write!(
                    f,
                    "the default at {pointer:?} breaks its own type; it is not applied"
                )
            }
            Self::ConstOutsideEnum { pointer } => {
                write!(f, "the const at {pointer:?} is not in the enum beside it")
            }
        }
    }
}
