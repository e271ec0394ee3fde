//! What does a script ask of the operating system? Equal signatures on every system.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::{ignore_signals, kill_self, limit_lifetime, spawn_grandchild, take_streams};

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub(crate) use other::{ignore_signals, kill_self, limit_lifetime, spawn_grandchild, take_streams};
