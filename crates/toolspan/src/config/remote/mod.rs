//! What does the config say about a server that is reached over HTTP?
//!
//! [`server`] is the whole of it; [`address`] says which URLs are taken, [`headers`] which headers,
//! [`network`] what stands between.

pub(super) mod address;
pub(super) mod headers;
mod network;
mod server;

pub use network::{ProxyChoice, TlsFiles};
pub use server::RemoteConfig;
pub use toolspan_mcp::transport::RemoteKind;

pub(super) use server::read;
