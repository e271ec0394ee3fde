//! What goes to the server: written by the caller itself when the way is free, else queued.
//!
//! One lock guards the sink and a queue of frames. When the queue is empty a caller writes its
//! frame straight to the sink without waiting; what does not fit belongs to the connection from
//! then on, and the writing task alone drains it. So a frame that was begun is always finished,
//! and no caller ever waits for another one's bytes.
//!
//! When several calls are under way, frames are queued on purpose: the writing task joins all that
//! have come together into one write, and the server wakes once for them.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker, ready};

use tokio::sync::Notify;

use crate::core::pending::CallSlot;

/// Bytes that may wait in the queue. One frame larger than this is let in when nothing waits.
const QUEUE_BYTES: usize = 1 << 20;
/// Bytes of frames that are joined into one write; a longer frame is written by itself.
const JOINED_BYTES: usize = 32 << 10;
/// Calls under way from which on a further frame is queued, to be joined with others.
const FEW_CALLS: usize = 4;
/// Answers to requests of the server that may wait in the queue.
const QUEUED_ANSWERS: usize = 8;

/// Takes bytes without waiting. `Pending` means no room; the waker is called when there is.
pub(crate) trait Sink: Send {
    /// Writes a part of `bytes`, as `AsyncWrite::poll_write` does.
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
}

/// What becomes of a frame that was given to the outbox.
#[derive(Debug)]
pub(crate) enum Sent {
    /// It is written, or will be.
    Taken,
    /// There is no room: wait for [`Outbox::room`], then try again. The frame comes back.
    Full(Vec<u8>),
    /// The server takes no more input.
    Broken,
}

/// What withdrawing a frame found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withdrawn {
    /// Not one byte of it was written, and none will be.
    Whole,
    /// A part of it was written; the rest follows.
    Begun,
    /// All of it was written.
    Written,
}

/// The way to the server.
pub(crate) struct Outbox {
    /// Held for one non-blocking write or one queue operation.
    state: Mutex<State>,
    /// Wakes the writing task: there is something in the queue.
    work: Notify,
    /// Wakes callers that wait for room.
    room: Notify,
}

struct State {
    /// `None` once closed; dropping the sink ends the server's input.
    sink: Option<Box<dyn Sink>>,
    queue: VecDeque<Frame>,
    queued_bytes: usize,
    /// Bytes of the first frame that are written.
    head: usize,
    /// Room for frames that are joined. Its content means nothing between two writes.
    joined: Vec<u8>,
    answers: usize,
    /// Whether the writing task waits for the sink. A caller must then not try the sink, even when
    /// the queue is empty again: that would put the caller's waker in place of the task's.
    writer_waits: bool,
}

/// Where a frame comes from.
#[derive(Clone, Copy)]
enum Whose<'a> {
    /// A waiting call.
    Call(&'a Arc<CallSlot>),
    /// The server asked for it.
    Answer,
    /// A notification.
    Nobodys,
}

struct Frame {
    bytes: Vec<u8>,
    /// The waiting call; `None` for notifications and answers.
    slot: Option<Arc<CallSlot>>,
    is_answer: bool,
}

/// What draining came to.
#[derive(Debug)]
pub(crate) enum Flushed {
    /// Some bytes went out.
    Some,
    /// Nothing is left to write.
    All,
}

impl Outbox {
    pub(crate) fn new(sink: Box<dyn Sink>) -> Self {
        let queue = VecDeque::new();
        let state = State {
            sink: Some(sink),
            queue,
            queued_bytes: 0,
            head: 0,
            joined: Vec::new(),
            answers: 0,
            writer_waits: false,
        };
        Self {
            state: Mutex::new(state),
            work: Notify::new(),
            room: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Sends the frame of a waiting call. `under_way` is how many calls wait, this one included.
    pub(crate) fn send(&self, bytes: Vec<u8>, slot: &Arc<CallSlot>, under_way: usize) -> Sent {
        let mut state = self.lock();
        if state.sink.is_none() {
            return Sent::Broken;
        }
        let fits = state.queue.is_empty() || state.queued_bytes + bytes.len() <= QUEUE_BYTES;
        if !fits {
            return Sent::Full(bytes);
        }
        if under_way > FEW_CALLS {
            state.enqueue(bytes, Whose::Call(slot));
            drop(state);
            self.work.notify_one();
            return Sent::Taken;
        }
        self.push(state, bytes, Whose::Call(slot))
    }

    /// Sends a notification. It is let in past the bound: there is at most one for each call.
    pub(crate) fn notify(&self, bytes: Vec<u8>) -> Sent {
        let state = self.lock();
        self.push(state, bytes, Whose::Nobodys)
    }

    /// Sends the answer to a request of the server. Gives false when too many answers wait.
    pub(crate) fn answer(&self, bytes: Vec<u8>) -> bool {
        let state = self.lock();
        if state.answers >= QUEUED_ANSWERS {
            return false;
        }
        !matches!(self.push(state, bytes, Whose::Answer), Sent::Broken)
    }

    /// Writes a frame at once when the way is free; what does not fit is queued behind the others.
    fn push(&self, mut state: MutexGuard<'_, State>, bytes: Vec<u8>, whose: Whose<'_>) -> Sent {
        if state.sink.is_none() {
            return Sent::Broken;
        }
        if state.queue.is_empty() && !state.writer_waits {
            // Nobody waits for the sink, so the waker given here replaces none. An error is left
            // for the writing task to find again.
            let mut nobody = Context::from_waker(Waker::noop());
            if let Poll::Ready(Ok(written)) = write(&mut state.sink, &mut nobody, &bytes) {
                if let Whose::Call(slot) = whose {
                    slot.mark_begun();
                }
                if written >= bytes.len() {
                    return Sent::Taken;
                }
                state.head = written;
            }
        }
        state.enqueue(bytes, whose);
        drop(state);
        self.work.notify_one();
        Sent::Taken
    }

    /// Waits until there may be room. To be created before the try that it follows.
    pub(crate) fn room(&self) -> impl Future<Output = ()> + '_ {
        self.room.notified()
    }

    /// Takes the frame of a call back, if not one byte of it was written. Says so again when it is
    /// asked again.
    pub(crate) fn withdraw(&self, slot: &Arc<CallSlot>) -> Withdrawn {
        let mut state = self.lock();
        let is_it = |frame: &Frame| {
            frame
                .slot
                .as_ref()
                .is_some_and(|other| Arc::ptr_eq(other, slot))
        };
        let Some(index) = state.queue.iter().position(is_it) else {
            return if slot.has_begun() {
                Withdrawn::Written
            } else {
                Withdrawn::Whole
            };
        };
        if slot.has_begun() {
            return Withdrawn::Begun;
        }
        if let Some(frame) = state.queue.remove(index) {
            state.queued_bytes -= frame.bytes.len();
        }
        drop(state);
        self.room.notify_waiters();
        Withdrawn::Whole
    }

    /// Waits until there is something to write that a caller could not write itself.
    pub(crate) async fn work(&self) {
        self.work.notified().await;
    }

    /// Writes some of the queue, for the writing task alone.
    pub(crate) fn poll_flush(&self, context: &mut Context<'_>) -> Poll<io::Result<Flushed>> {
        let mut state = self.lock();
        state.writer_waits = false;
        if state.queue.is_empty() || state.sink.is_none() {
            return Poll::Ready(Ok(Flushed::All));
        }
        let written = state.write_once(context);
        state.writer_waits = written.is_pending();
        drop(state);
        if written.is_ready() {
            self.room.notify_waiters();
        }
        written.map_ok(|()| Flushed::Some)
    }

    /// Whether all that was sent has left.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().queue.is_empty()
    }

    /// Whether a part of the first frame is written and the rest is not.
    pub(crate) fn is_in_a_frame(&self) -> bool {
        let state = self.lock();
        state.head > 0 && !state.queue.is_empty()
    }

    /// Ends the server's input. Frames that were not begun are gone.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        let sink = state.sink.take();
        let queue = std::mem::take(&mut state.queue);
        state.queued_bytes = 0;
        drop(state);
        drop((sink, queue));
        self.room.notify_waiters();
        self.work.notify_one();
    }
}

/// Writes a part of `bytes`, at least one byte.
fn write(
    sink: &mut Option<Box<dyn Sink>>,
    context: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    match sink {
        Some(sink) => sink
            .poll_write(context, bytes)
            .map(|written| match written {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                written => written,
            }),
        None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
    }
}

impl State {
    /// Adds a frame, or the rest of one, behind the others.
    fn enqueue(&mut self, bytes: Vec<u8>, whose: Whose<'_>) {
        let (slot, is_answer) = match whose {
            Whose::Call(slot) => (Some(Arc::clone(slot)), false),
            Whose::Answer => (None, true),
            Whose::Nobodys => (None, false),
        };
        self.queued_bytes += bytes.len();
        self.answers += usize::from(is_answer);
        self.queue.push_back(Frame {
            bytes,
            slot,
            is_answer,
        });
    }

    /// Writes a part of what is queued: the rest of the first frame, or several frames joined.
    fn write_once(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.join();
        let bytes = match (self.joined.is_empty(), self.queue.front()) {
            (_, None) => return Poll::Ready(Ok(())),
            (false, _) => &self.joined,
            (true, Some(first)) => first.bytes.get(self.head..).unwrap_or_default(),
        };
        let written = ready!(write(&mut self.sink, context, bytes))?;
        self.take_written(written);
        Poll::Ready(Ok(()))
    }

    /// Copies whole frames together, if there are several short ones. They stay in the queue, so
    /// that those that are not written can still be taken back.
    fn join(&mut self) {
        self.joined.clear();
        if self.head > 0 || self.queue.len() < 2 {
            return;
        }
        for frame in &self.queue {
            if self.joined.len() + frame.bytes.len() > JOINED_BYTES {
                break;
            }
            self.joined.extend_from_slice(&frame.bytes);
        }
    }

    /// Takes the frames out that are written whole; the one behind them may be begun.
    fn take_written(&mut self, mut written: usize) {
        while written > 0
            && let Some(frame) = self.queue.front()
        {
            if let (0, Some(slot)) = (self.head, &frame.slot) {
                slot.mark_begun();
            }
            let left = frame.bytes.len().saturating_sub(self.head);
            if written < left {
                self.head += written;
                return;
            }
            written -= left;
            self.head = 0;
            if let Some(frame) = self.queue.pop_front() {
                self.queued_bytes -= frame.bytes.len();
                self.answers -= usize::from(frame.is_answer);
            }
        }
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Outbox").finish_non_exhaustive()
    }
}
