//! What can be done where there are no POSIX signals and no fork: the streams, and plain refusals.

use std::fs::File;
use std::io::{self, Write};
use std::net::TcpStream;
use std::path::Path;

use crate::player::Streams;
use crate::step::{Grandchild, Signal};

/// The standard streams; closing them does not close the pipes of the process.
pub(crate) fn take_streams() -> io::Result<Streams> {
    Ok(Streams {
        input: Box::new(io::stdin()),
        output: Box::new(io::stdout()),
        errors: Box::new(io::stderr()),
    })
}

pub(crate) fn ignore_signals(_signals: &[Signal]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn kill_self(_signal: Signal) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn spawn_grandchild(_: &Grandchild, _errors: &mut dyn Write) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: the caller ends a hang by itself.
pub(crate) fn limit_lifetime(_seconds: u32) {}

pub(crate) fn open_barrier(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn wait_at(_barrier: File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn reset_when_closed(_connection: &TcpStream) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
