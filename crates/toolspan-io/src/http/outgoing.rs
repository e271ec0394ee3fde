//! How do we know the moment at which a request leaves?
//!
//! hyper asks for the body only after it has taken the request for a connection that stands, and
//! has put the head into its buffer. So the first question means: from now on bytes may be on their
//! way. A request that comes back unsent from a connection that closed meanwhile was not asked.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

use super::request::Begun;

/// Whether the first byte of one request may have gone out.
#[derive(Default)]
pub(super) struct Start {
    begun: AtomicBool,
    notify: Notify,
    tell: Option<Begun>,
}

impl Start {
    pub(super) fn new(tell: Option<Begun>) -> Arc<Self> {
        Arc::new(Self {
            tell,
            ..Self::default()
        })
    }

    /// Whether it was begun.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Waits until it is begun.
    pub(super) async fn begun(&self) {
        while !self.has_begun() {
            // A permit is kept if the moment falls between the look and the wait.
            self.notify.notified().await;
        }
    }

    /// Whether the request goes out: it does unless whoever is told of it takes it back.
    fn begin(&self) -> bool {
        if self.has_begun() {
            return true;
        }
        if self.tell.as_ref().is_some_and(|tell| !tell()) {
            return false;
        }
        self.begun.store(true, Ordering::Release);
        self.notify.notify_one();
        true
    }
}

/// The request was taken back before its first byte.
#[derive(Debug, thiserror::Error)]
#[error("it was taken back before it was sent")]
pub(super) struct TakenBack;

/// A body of one piece that marks the start of its request.
pub(super) struct Outgoing {
    /// Taken by the first question.
    rest: Option<Bytes>,
    start: Arc<Start>,
}

impl Outgoing {
    pub(super) fn new(body: Bytes, start: Arc<Start>) -> Self {
        Self {
            rest: (!body.is_empty()).then_some(body),
            start,
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = TakenBack;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if !self.start.begin() {
            // Over HTTP/1 the head is in a buffer by now, which is dropped with the connection. Over
            // HTTP/2 it may be out: the stream is reset.
            return Poll::Ready(Some(Err(TakenBack)));
        }
        Poll::Ready(self.rest.take().map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        let ended = self.rest.is_none();
        if ended {
            // An empty body is never asked for a frame. This is asked just before the head is
            // written, and nowhere earlier (a test holds that). Without a body there is no way to
            // take the request back any more.
            self.start.begin();
        }
        ended
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.as_ref().map_or(0, |body| body.len() as u64))
    }
}
