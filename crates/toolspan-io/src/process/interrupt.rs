//! How is a thread called back that waits for a child's output?

use std::io::{self, PipeReader, PipeWriter};

use rustix::fs::{OFlags, fcntl_setfl};

/// Ends the wait of a thread in [`AsyncStdout::wait_readable`](super::AsyncStdout::wait_readable),
/// from another one. Two descriptors of a pipe that holds a byte while it is raised.
#[derive(Debug)]
pub struct Interrupt {
    pub(super) raised: PipeReader,
    raise: PipeWriter,
}

impl Interrupt {
    /// One that is not raised.
    ///
    /// # Errors
    /// When the system has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let (raised, raise) = io::pipe()?;
        fcntl_setfl(&raised, OFlags::NONBLOCK)?;
        fcntl_setfl(&raise, OFlags::NONBLOCK)?;
        Ok(Self { raised, raise })
    }

    /// Ends the wait that goes on, else the next one. Never waits.
    pub fn raise(&self) {
        // It fails when the pipe is full of such bytes, and then it is raised.
        let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.raise, &[0]));
    }

    /// Takes it back, however often it was raised.
    pub(super) fn clear(&self) {
        let mut bytes = [0; 512];
        while rustix::io::read(&self.raised, &mut bytes).is_ok_and(|count| count == bytes.len()) {}
    }
}
