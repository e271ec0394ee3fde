//! From a request to a call whose arguments are proved to match the tool's schema.
//!
//! [`CallRequest::from_model`] reads what a model's API returned; [`CallRequest::prepare`] takes out
//! what the host injected, validates, and where the arguments are refused sets right what is clear
//! ([`repair`]). What an executor gets, and what goes over the wire, is exactly what was validated.

mod distinct;
pub mod injected;
pub mod keys;
mod lenient;
pub(crate) mod model;
mod prepare;
pub mod repair;
mod request;
mod restore;
mod told;
mod valid;

pub use injected::{InjectedNames, Injection};
pub use prepare::Preparing;
pub use repair::{Repair, RepairKind};
pub use request::CallRequest;
pub use valid::ValidCall;
