//! What is there on systems that are no Unix? The same names; nothing can be started yet.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use super::end_policy::EndPolicy;
use super::error::SpawnError;
use super::exit_status::ExitStatus;
use super::launch::Launch;
use super::watchdog_state::WatchdogState;

/// Always gives [`SpawnError::Unsupported`].
///
/// # Errors
/// Always.
pub fn spawn(_: &Launch) -> Result<Child, SpawnError> {
    Err(SpawnError::Unsupported)
}

/// A process just started; there is none on this system.
#[derive(Debug)]
#[non_exhaustive]
pub struct Child {
    /// Write end of its standard input.
    pub stdin: ChildStdin,
    /// Read end of its standard output.
    pub stdout: ChildStdout,
    /// The process itself.
    pub process: Process,
}

/// The write end of a child's standard input.
#[derive(Debug)]
pub struct ChildStdin(Infallible);

impl ChildStdin {
    /// Writes what fits now.
    pub fn try_write(&self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// Registers the pipe with the runtime.
    pub fn into_async(self) -> io::Result<AsyncStdin> {
        match self.0 {}
    }
}

/// The write end of a child's standard input, within a runtime.
#[derive(Debug)]
pub struct AsyncStdin(Infallible);

impl AsyncStdin {
    /// Writes what fits now.
    pub fn try_write(&self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// Ready when a write would move bytes or fail.
    pub fn poll_writable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }

    /// Waits until a write would move bytes or fail.
    pub async fn writable(&self) -> io::Result<()> {
        match self.0 {}
    }
}

/// The read end of a child's standard output.
#[derive(Debug)]
pub struct ChildStdout(Infallible);

impl ChildStdout {
    /// Reads what is there now.
    pub fn try_read(&self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// Registers the pipe with the runtime.
    pub fn into_async(self) -> io::Result<AsyncStdout> {
        match self.0 {}
    }
}

/// The read end of a child's standard output, within a runtime.
#[derive(Debug)]
pub struct AsyncStdout(Infallible);

impl AsyncStdout {
    /// Waits for bytes and reads them.
    pub async fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// What [`read`](Self::read) does, for a hand-written future.
    pub fn poll_read(&self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<usize>> {
        match self.0 {}
    }

    /// Waits on this thread until there is something to read, or it is interrupted.
    pub fn wait_readable(&self, _: &Interrupt) -> io::Result<bool> {
        match self.0 {}
    }

    /// Reads what is there now.
    pub fn try_read(&self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

/// Ends the wait of a thread; there is none on this system.
#[derive(Debug)]
pub struct Interrupt(Infallible);

impl Interrupt {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ends the wait.
    pub fn raise(&self) {
        match self.0 {}
    }
}

/// A running or ended process; there is none on this system.
#[derive(Debug, Clone)]
pub struct Process(Infallible);

impl Process {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        match self.0 {}
    }

    /// Waits until the process has exited.
    pub fn exited(&self) -> impl Future<Output = ExitStatus> + Send + use<> {
        let never = self.0;
        async move { match never {} }
    }

    /// How it exited, if it has.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        match self.0 {}
    }

    /// The newest bytes of its standard error, as text.
    pub fn stderr_tail(&self) -> String {
        match self.0 {}
    }

    /// How many bytes of its standard error were let go of.
    pub fn stderr_dropped(&self) -> u64 {
        match self.0 {}
    }

    /// Starts to end the process.
    pub fn begin_end(&self, _: EndPolicy) {
        match self.0 {}
    }

    /// Kills the process at once.
    pub fn kill_now(&self) {
        match self.0 {}
    }

    /// Waits until the process is gone.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let never = self.0;
        async move { match never {} }
    }

    /// Waits on this thread until the process is gone.
    pub fn wait_ended_blocking(&self, _: Duration) -> bool {
        match self.0 {}
    }
}

/// Always [`WatchdogState::Idle`].
pub fn watchdog_state() -> WatchdogState {
    WatchdogState::Idle
}

/// Does nothing: there are no forks.
pub fn let_go_after_fork() {}
