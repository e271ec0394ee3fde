//! What does a tool accept and return, and does a value comply?
//!
//! A [`Schema`] keeps the JSON its author wrote, untouched, beside a validator that is compiled
//! when it is first needed. Everything here takes schemas and values from strangers:
//!
//! - Static checks come first, without recursion: size, depth, references, loops, and the size
//!   after references are expanded ([`SchemaLimits`]). Only then does the compiler see a schema.
//! - A reference never leaves the document; nothing is fetched from a network or a file.
//! - The work of a check is bounded before it starts, since the validator cannot be stopped.
//! - A message never shows a value that looks secret.
//!
//! `format` is an annotation, as 2020-12 says by default: it is not checked, because a wrong
//! refusal of a call is worse than a value that its server refuses itself. Defaults are never
//! applied.
//!
//! The dialect is the one `$schema` states: draft-04, 06, 07, 2019-09 or 2020-12, and 2020-12
//! where it states none. An undeclared schema that is not valid 2020-12 but is valid draft-07 or
//! draft-04 is read as that, since older servers write those without saying so.

mod applying;
mod budget;
mod cache;
mod caps;
mod check;
mod coerce;
mod compile;
mod cost;
mod definition;
mod dialect;
mod explain;
mod explain_alternatives;
mod faults;
mod graph;
mod keyword;
mod limits;
mod lookup;
mod measure;
mod named;
mod note;
mod notes_of;
mod pattern_cost;
mod places;
mod references;
mod rejected;
mod secret;
mod signature;
mod violation;
mod wording;

pub(crate) use applying::Applying;
pub use check::CheckFailed;
pub use coerce::coerce_text;
pub use definition::{Schema, SchemaHash};
pub use dialect::Dialect;
pub(crate) use faults::{Fault, Wants};
pub(crate) use graph::escaped;
pub(crate) use jsonschema::JsonType;
pub(crate) use keyword::{Form, place_of};
pub use limits::SchemaLimits;
pub(crate) use named::is_plain_name;
pub use note::SchemaNote;
pub use rejected::{RejectedReason, SchemaRejected};
pub use signature::signature;
pub use violation::{Violation, Violations};
pub(crate) use wording::{kind_of, name as shown_name, shown_pointer};
