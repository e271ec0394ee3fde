//! Does the server misbehave exactly as its scripts say?

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is a failed test"
)]

mod http_faults;
mod http_honest;
mod http_program;
mod http_steps;
mod named;
mod player;
// It looks at /proc.
#[cfg(target_os = "linux")]
mod program;
mod stage;
mod web;
