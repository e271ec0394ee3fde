//! What keeps a host safe whatever a peer sends: limits, secrets, clean text, certainty.
//!
//! `toolspan-io` uses this module alone of the crate.

pub mod depth;
pub mod limits;
pub mod outcome;
pub mod redact;
mod redact_urls;
pub mod sanitise;
pub mod secret;

pub use limits::{Limits, Timeouts};
pub use redact::Redactor;
pub use secret::Secret;
