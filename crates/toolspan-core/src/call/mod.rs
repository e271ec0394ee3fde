//! From a request to a call whose arguments are proved to match the tool's schema.

pub mod injected;
pub mod keys;
mod request;
mod valid;

pub use injected::{InjectedNames, Injection};
pub use request::CallRequest;
pub use valid::ValidCall;
