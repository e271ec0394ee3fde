//! How are a child's standard streams written and read without ever blocking a thread?

use std::io::{self, PipeReader, PipeWriter};
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::interrupt::Interrupt;
use super::system::{watch, write_without_signal};

/// The write end of a child's standard input. Dropping it ends the child's input.
///
/// The end is non-blocking; the child's end is not, as programs expect.
#[derive(Debug)]
pub struct ChildStdin(PipeWriter);

impl ChildStdin {
    pub(super) fn new(pipe: PipeWriter) -> Self {
        Self(pipe)
    }

    /// Writes what fits now, from any thread. See [`AsyncStdin::try_write`].
    ///
    /// # Errors
    /// `WouldBlock` when the pipe is full, `BrokenPipe` when the child has closed its input.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        write_without_signal(&self.0, bytes)
    }

    /// Registers the pipe with the tokio runtime of the calling thread.
    ///
    /// # Errors
    /// When the system refuses to watch the pipe.
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O enabled, as tokio does.
    pub fn into_async(self) -> io::Result<AsyncStdin> {
        let pipe = watch(self.0, Interest::WRITABLE)?;
        Ok(AsyncStdin { pipe })
    }
}

/// The write end of a child's standard input, within a tokio runtime. Dropping it, on any thread,
/// ends the child's input.
#[derive(Debug)]
pub struct AsyncStdin {
    pipe: AsyncFd<PipeWriter>,
}

impl AsyncStdin {
    /// Writes what fits now, from any thread and without a runtime; one system call. Up to 4,096
    /// bytes are written whole or not at all; more may be written in part.
    ///
    /// # Errors
    /// `WouldBlock` when the pipe is full, `BrokenPipe` when the child has closed its input. No
    /// SIGPIPE is raised, whatever the host does with that signal.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        write_without_signal(self.pipe.get_ref(), bytes)
    }

    /// Ready when a write would move bytes or fail with something other than `WouldBlock`. Only the
    /// latest caller is woken: for one writing task.
    pub fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.pipe.poll_write_ready(context))?;
            // `try_write` goes past tokio, whose idea of readiness may be old: ask the pipe. If it
            // empties after this, a newer event keeps `clear_ready` from forgetting it.
            if accepts_bytes(self.pipe.get_ref())? {
                return Poll::Ready(Ok(()));
            }
            guard.clear_ready();
        }
    }

    /// Waits until a write would move bytes or fail. Cancel safe.
    ///
    /// # Errors
    /// When the runtime is shutting down.
    pub async fn writable(&self) -> io::Result<()> {
        std::future::poll_fn(|context| self.poll_writable(context)).await
    }
}

/// Whether the pipe has room or is broken, asked without waiting.
fn accepts_bytes(pipe: &PipeWriter) -> io::Result<bool> {
    let mut asked = [PollFd::new(pipe, PollFlags::OUT)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    rustix::io::retry_on_intr(|| poll(&mut asked, Some(&at_once)))?;
    Ok(asked.iter().any(|answer| !answer.revents().is_empty()))
}

/// The read end of a child's standard output. Dropping it breaks the child's output.
#[derive(Debug)]
pub struct ChildStdout(PipeReader);

impl ChildStdout {
    pub(super) fn new(pipe: PipeReader) -> Self {
        Self(pipe)
    }

    /// Reads what is there now, from any thread. 0 means the end, unless `buffer` is empty.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        read(&self.0, buffer)
    }

    /// Registers the pipe with the tokio runtime of the calling thread.
    ///
    /// # Errors
    /// When the system refuses to watch the pipe.
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O enabled, as tokio does.
    pub fn into_async(self) -> io::Result<AsyncStdout> {
        let pipe = watch(self.0, Interest::READABLE)?;
        Ok(AsyncStdout { pipe })
    }
}

/// The read end of a child's standard output, within a tokio runtime. Dropping it, on any thread,
/// breaks the child's output.
#[derive(Debug)]
pub struct AsyncStdout {
    pipe: AsyncFd<PipeReader>,
}

impl AsyncStdout {
    /// Waits for bytes and reads up to `buffer.len()` of them. 0 means the end, also of later reads,
    /// unless `buffer` is empty. Cancel safe: a dropped read has taken nothing. Only the latest caller
    /// is woken: for one reading task.
    ///
    /// # Errors
    /// When the runtime is shutting down or the system fails to read.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| self.poll_read(context, buffer)).await
    }

    /// What [`read`](Self::read) does, for a hand-written future.
    pub fn poll_read(
        &self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        loop {
            let mut guard = ready!(self.pipe.poll_read_ready(context))?;
            match read(self.pipe.get_ref(), buffer) {
                // The end stays: the pipe is ready for ever, and reads as empty.
                Ok(0) => return Poll::Ready(Ok(0)),
                Ok(count) => {
                    // A short read has emptied the pipe; the next bytes are a new event.
                    if count < buffer.len() {
                        guard.clear_ready();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Waits on this thread until a read would give bytes, the end or an error. Gives false when it
    /// was interrupted, also by a signal.
    ///
    /// # Errors
    /// When the system fails to wait.
    pub fn wait_readable(&self, interrupt: &Interrupt) -> io::Result<bool> {
        let pipe = self.pipe.get_ref();
        let mut asked = [
            PollFd::new(pipe, PollFlags::IN),
            PollFd::new(&interrupt.raised, PollFlags::IN),
        ];
        match poll(&mut asked, None) {
            Err(Errno::INTR) => return Ok(false),
            answered => answered?,
        };
        let [answer, raised] = asked.map(|asked| !asked.revents().is_empty());
        if raised {
            interrupt.clear();
        }
        Ok(answer && !raised)
    }

    /// Reads what is there now, from any thread and without a runtime; one system call. 0 means the
    /// end, unless `buffer` is empty. Whoever waits in [`read`](Self::read) goes on waiting.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        read(self.pipe.get_ref(), buffer)
    }
}

fn read(pipe: &PipeReader, buffer: &mut [u8]) -> io::Result<usize> {
    rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut *buffer)).map_err(io::Error::from)
}
