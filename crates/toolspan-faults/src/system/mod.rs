//! What does a script ask of the operating system? Equal signatures on every system.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as this;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
use other as this;

pub(crate) use this::{
    ignore_signals, kill_self, limit_lifetime, open_barrier, spawn_grandchild, take_streams,
    wait_at,
};
