//! What comes from the server on a pipe: read by the reading task, or by a caller that waits.
//!
//! One lock guards the lines and where they are routed, so that both may read in turn. A caller
//! that has a thread of its own waits for the output itself, past the runtime, and deals with what
//! one read brings. What ends the connection is left to the reading task.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::{self, Handle};
use toolspan_core::Error;
use toolspan_core::execute::Source;
use toolspan_io::lines::LineDecoder;
use toolspan_io::process::{AsyncStdout, Interrupt};

use crate::core::receive::{Event, Receiver};
use crate::error;
use crate::link::Link;
use crate::outbox::Outbox;
use crate::way::Piped;

/// Where the bytes come from.
pub(crate) enum Stream {
    /// Only a task can wait for them.
    Joined(Box<dyn AsyncRead + Send + Unpin>),
    /// A thread can wait for them, too.
    Output(Arc<AsyncStdout>),
}

/// Why nothing more is read.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The end of the server's output.
    Output,
    /// A fault of the connection or the server.
    Fault(Error),
}

/// The way from the server.
pub(crate) struct Inlet {
    /// Where the reading task lives, and what is heard is passed on.
    home: runtime::Id,
    /// Held for one read and for dealing with what it brought, never while waiting. `None` once
    /// nobody reads any more.
    state: Mutex<Option<State>>,
    /// Calls a waiting caller back; made for the first one. `None` when the system has no more
    /// descriptors: then only the task reads.
    interrupt: OnceLock<Option<Interrupt>>,
}

struct State {
    stream: Stream,
    decoder: LineDecoder,
    receiver: Receiver,
    link: Link,
    /// What a caller has come upon and left to the reading task.
    stop: Option<Stop>,
    /// Wakes the reading task.
    reader: Option<Waker>,
}

impl Inlet {
    /// Must run within a tokio runtime: that of the reading task.
    pub(crate) fn new(stream: Stream, link: Link) -> Self {
        let state = State {
            stream,
            decoder: LineDecoder::new(link.limits.message_bytes),
            receiver: link.receiver(),
            link,
            stop: None,
            reader: None,
        };
        Self {
            home: Handle::current().id(),
            state: Mutex::new(Some(state)),
            interrupt: OnceLock::new(),
        }
    }

    /// Reads once and deals with what it brings; gives why nothing more is to be read, if so. For
    /// the reading task alone.
    pub(crate) fn poll_read(&self, task: &mut Context<'_>, outbox: &Outbox) -> Poll<Option<Stop>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = &mut *state else {
            return Poll::Ready(Some(Stop::Output));
        };
        let is_known = |known: &Waker| known.will_wake(task.waker());
        if !state.reader.as_ref().is_some_and(is_known) {
            state.reader = Some(task.waker().clone());
        }
        if let Some(stop) = state.stop.take() {
            return Poll::Ready(Some(stop));
        }
        let space = state.decoder.space();
        Poll::Ready(match ready!(state.stream.poll_read(task, space)) {
            Ok(0) => Some(state.last_line(outbox)),
            Ok(count) => state.lines(count, outbox),
            Err(error) => {
                let message = format!("the server's output cannot be read: {error}");
                Some(Stop::Fault(error::closed(message)))
            }
        })
    }

    /// From now on nobody reads: what the server writes has no reader.
    pub(crate) fn close(&self) {
        let state = self
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(state);
    }

    /// What a thread can wait for, if it is this thread's to read.
    fn output(&self) -> Option<Arc<AsyncStdout>> {
        let is_home = Handle::try_current().is_ok_and(|current| current.id() == self.home);
        match &self.try_lock().filter(|_| is_home)?.as_ref()?.stream {
            Stream::Output(output) => Some(Arc::clone(output)),
            Stream::Joined(_) => None,
        }
    }

    fn interrupt(&self) -> Option<&Interrupt> {
        let interrupt = self.interrupt.get_or_init(|| Interrupt::new().ok());
        interrupt.as_ref()
    }

    /// Reads what a caller waited for, unless the reading task does just now.
    fn read(&self, outbox: &Outbox) {
        let Some(mut state) = self.try_lock() else {
            return;
        };
        let Some(state) = &mut *state else {
            return;
        };
        let (Stream::Output(output), None) = (&state.stream, &state.stop) else {
            return;
        };
        // The end and errors stay: the reading task is woken by the runtime and finds them again.
        let Ok(count @ 1..) = output.try_read(state.decoder.space()) else {
            return;
        };
        let lines = catch_unwind(AssertUnwindSafe(|| state.lines(count, outbox)));
        let stop = lines.unwrap_or_else(|_| {
            let message = "the connection is no longer served: who listens to it panicked";
            Some(Stop::Fault(error::closed(message)))
        });
        if stop.is_some() {
            state.stop = stop;
            if let Some(reader) = &state.reader {
                reader.wake_by_ref();
            }
        }
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Option<State>>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Stream {
    /// Reads up to `buffer.len()` bytes; 0 is the end.
    fn poll_read(&mut self, task: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Output(output) => output.poll_read(task, buffer),
            Self::Joined(stream) => {
                let mut buffer = ReadBuf::new(buffer);
                ready!(Pin::new(stream).poll_read(task, &mut buffer))?;
                Poll::Ready(Ok(buffer.filled().len()))
            }
        }
    }
}

impl State {
    /// Deals with the lines that are whole since `count` more bytes were read.
    fn lines(&mut self, count: usize, outbox: &Outbox) -> Option<Stop> {
        self.decoder.filled(count);
        while let Some(line) = self.decoder.next_line() {
            let event = self.receiver.line(line);
            if let Some(stop) = handle(event, &self.link, outbox) {
                return Some(stop);
            }
        }
        None
    }

    /// Deals with what came behind the last end of line.
    fn last_line(&mut self, outbox: &Outbox) -> Stop {
        let event = self
            .decoder
            .finish()
            .map(|line| self.receiver.last_line(line));
        event
            .and_then(|event| handle(event, &self.link, outbox))
            .unwrap_or(Stop::Output)
    }
}

fn handle(event: Event, link: &Link, outbox: &Outbox) -> Option<Stop> {
    match event {
        Event::Nothing => {}
        Event::Answer(answer) => {
            if !outbox.answer(answer.into_bytes()) {
                link.counters.unanswered.fetch_add(1, Ordering::Relaxed);
            }
        }
        Event::ToolsChanged => link.listener.tools_changed(),
        Event::Log(level, text) => link.listener.log(level, text),
        Event::Several(events) => {
            let mut events = events.into_iter();
            return events.find_map(|event| handle(event, link, outbox));
        }
        Event::Fatal(error) => return Some(Stop::Fault(error)),
        Event::Unusable(reason) => return Some(Stop::Fault(error::protocol(reason))),
    }
    None
}

impl Source for Piped {
    fn fetch(&self) {
        // What could not be written yet comes first, and is the runtime's.
        if self.outbox.is_idle()
            && let Some(output) = self.inlet.output()
            && let Some(interrupt) = self.inlet.interrupt()
            && output.wait_readable(interrupt).unwrap_or_default()
        {
            self.inlet.read(&self.outbox);
        }
    }

    fn interrupt(&self) {
        if let Some(interrupt) = self.inlet.interrupt() {
            interrupt.raise();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
