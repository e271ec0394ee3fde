//! Do the checks find what they are for, and nothing else?

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a panic is a failed test"
)]

mod barrier;
mod census;
mod launch;
mod process;
mod real_remote;
mod remote;
mod session;
