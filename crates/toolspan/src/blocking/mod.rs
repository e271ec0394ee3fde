//! The same host for synchronous callers.
//!
//! One thread of the process owns the runtime that all blocking hosts share; a caller waits on its
//! own thread for the same future that an asynchronous caller would await. [`Home`] and [`Tasks`]
//! are what it is made of, for bindings to other languages.

/// Parts for benchmarks of this workspace; not covered by any promise of compatibility.
#[doc(hidden)]
pub mod bench;
mod drive;
mod home;
mod host;
mod tasks;
mod wait;
mod waiting_thread;

pub use home::{Here, Home, announce_fork, expect_announced_forks};
pub use host::Host;
pub use tasks::{Task, Tasks};
pub use toolspan_io::process::let_go_after_fork;
