//! Does the client keep its promises, whatever a server does?

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is a failed test"
)]

#[cfg(target_os = "linux")]
mod call_faults;
mod cancelling;
mod closing;
mod frames;
mod limits;
mod listing;
#[cfg(target_os = "linux")]
mod many;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod real;
mod remote_calls;
mod remote_errors;
#[cfg(target_os = "linux")]
mod remote_faults;
#[cfg(target_os = "linux")]
mod remote_real;
mod remote_sessions;
mod remote_sse;
mod remote_streams;
mod remote_surroundings;
mod restarting;
mod sending;
#[cfg(target_os = "linux")]
mod start_faults;
mod support;
mod unsent;
