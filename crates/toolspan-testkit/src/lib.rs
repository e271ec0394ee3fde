//! What must hold after every test, and how does a test check it? For development only.
//!
//! - [`Fault`] launches a misbehaving server, over HTTP as a [`RunningFault`]; [`Barrier`] decides when
//!   its script goes on.
//! - [`Census`] counts what is left of a test: processes, descriptors, threads, files (I4).
//! - [`History`] checks that each call ended once (I1) and got its own reply (I2).
//! - [`poll_n_then_drop`] drops a future at each of its await points.
//! - [`wait_until`] is the one place that waits for facts of the operating system.
//!
//! Linux only: the facts are read from `/proc`. Everything here panics instead of returning an
//! error, since its callers are tests.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "its callers are tests: a panic is a failed test with a message"
)]

mod barrier;
mod binary;
mod census;
mod drop_point;
mod fault;
mod fault_running;
mod history;
mod marker;
mod process;
pub mod real;
mod wait;

pub use barrier::Barrier;
pub use binary::{bin, faults_binary};
pub use census::{Census, Leftover};
pub use drop_point::{Polled, poll_n_then_drop, poll_n_then_drop_blocking};
pub use fault::Fault;
pub use fault_running::RunningFault;
pub use history::{CallNumber, End, History, Tally, Violation};
pub use marker::Marker;
pub use process::{
    Process, children_of, descendants_of, group_members, kill, marked_processes, pid_alive,
    processes, session_members, wait_gone,
};
pub use wait::{wait_until, wait_until_async};
