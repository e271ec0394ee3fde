//! Does the server misbehave exactly as its scripts say?

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is a failed test"
)]

mod named;
mod player;
// It looks at /proc.
#[cfg(target_os = "linux")]
mod program;
mod stage;
