//! How is a call that almost matches its tool's schema set right?
//!
//! Strict validation comes first, and input that it accepts is never changed. What it refuses is
//! looked at fault by fault: a change is made only where the schema cannot mean what is there and one
//! thing can be meant. The outcome is validated as any other input; where it does not pass, nothing
//! was repaired and the first violations stand. No value is made up, and where the schema takes free
//! text, text is left as it is.

mod alternatives;
mod edit;
mod kind;
mod near;
mod rounds;
mod text;
mod wrapping;

pub use kind::{Repair, RepairKind};
pub use rounds::{Repaired, repair};
pub(super) use text::{Spelled, spelled};
pub(super) use wrapping::unwrapped;
