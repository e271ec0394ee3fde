//! How does the server speak HTTP? By hand, over plain sockets and threads, so that it can be wrong.
//!
//! Each connection has a thread that reads requests (`connection`, `request`) and hands each to the
//! one thread that plays the script (`stage`): there it is an `exchange` that waits for its response.
//! The playing thread alone writes. It answers honestly (`honest`) what the script does not take for
//! itself, keeps the `sessions`, and plays the steps that exist over HTTP only (`steps`).

mod connection;
mod exchange;
mod honest;
mod null_server;
mod record;
mod request;
mod response;
mod serve;
mod sessions;
mod stage;
mod steps;

pub use null_server::serve_nothing_over_http;
pub(crate) use record::Record;
pub(crate) use serve::{Outcome, serve};
pub(crate) use stage::Dialect;
