//! From a request to a call whose arguments are proved to match the tool's schema.

mod request;
mod valid;

pub use request::CallRequest;
pub use valid::ValidCall;
