//! What does a script ask of the operating system? Equal signatures on every system.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as this;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
use other as this;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use crate::step::Hold;

pub(crate) use this::{
    ignore_signals, kill_self, limit_lifetime, open_barrier, reset_when_closed, spawn_grandchild,
    take_streams, wait_at,
};

/// Writes one byte to a FIFO; waits until somebody has it open for reading.
pub(crate) fn report(fifo: &Path) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(fifo)
        .and_then(|mut file| file.write_all(b"\n"))
}

/// Reports and waits as a `hold` says.
pub(crate) fn hold(hold: &Hold) -> io::Result<()> {
    let barrier = open_barrier(&hold.fifo)?;
    if let Some(fifo) = &hold.reached {
        report(fifo)?;
    }
    wait_at(barrier)
}
