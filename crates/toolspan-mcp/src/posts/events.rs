//! What comes on a stream of events: messages, and what is needed to take the stream up again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use toolspan_io::sse::{SseDecoder, SseItem};

use super::{Post, Posts, Unfit};
use crate::core::receive::Receiver;

/// Ids of events that are kept, the last ones: what is sent again after a cut is known by them.
const KEPT_IDS: usize = 256;
/// Longest id that is kept.
const ID_BYTES: usize = 256;
/// The wait before a stream is taken up again, unless the server says otherwise.
const RETRY: Duration = Duration::from_secs(1);
/// What the server may ask for.
const RETRY_RANGE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// One stream, over all its connections.
pub(super) struct Events {
    decoder: SseDecoder,
    receiver: Receiver,
    limit: usize,
    last_id: Option<String>,
    retry: Option<Duration>,
    /// The ids that came, oldest first.
    seen: VecDeque<String>,
    /// Whether this is not the first connection, so that what came may come again.
    is_resumed: bool,
    /// Events that came for the first time since this connection was made.
    fresh: usize,
    /// What could not be used, for an error.
    unfit: Vec<u8>,
}

impl Events {
    /// A stream of messages of up to `limit` bytes.
    pub(super) fn new(receiver: Receiver, limit: usize) -> Self {
        Self {
            decoder: SseDecoder::new(limit),
            receiver,
            limit,
            last_id: None,
            retry: None,
            seen: VecDeque::new(),
            is_resumed: false,
            fresh: 0,
            unfit: Vec::new(),
        }
    }

    /// Takes bytes, and does what the messages in them ask for. `post` is the request that they answer,
    /// if there is one.
    ///
    /// # Errors
    ///
    /// Why the stream cannot be used further.
    pub(super) fn take(
        &mut self,
        posts: &Arc<Posts>,
        post: Option<&Post>,
        bytes: &[u8],
    ) -> Result<(), Unfit> {
        let mut rest = bytes;
        while let Some(item) = self.decoder.next_item(&mut rest) {
            self.item(posts, post, item)?;
        }
        Ok(())
    }

    fn item(
        &mut self,
        posts: &Arc<Posts>,
        post: Option<&Post>,
        item: SseItem,
    ) -> Result<(), Unfit> {
        let event = match item {
            SseItem::Event(event) => event,
            _ => return Err(Unfit::TooLarge),
        };
        if !self.is_new(event.id.as_deref()) {
            return Ok(());
        }
        self.fresh += 1;
        // An event without data primes the stream (MCP 2025-11-25, "Sending Messages to the Server").
        if event.event != "message" || event.data.is_empty() {
            return Ok(());
        }
        let message = self.receiver.message_bytes(&event.data);
        posts.handle(message, post).inspect_err(|_| {
            self.unfit = event.data;
        })
    }

    /// Whether an event has not come before, on an earlier connection.
    fn is_new(&mut self, id: Option<&str>) -> bool {
        let Some(id) = id.filter(|id| !id.is_empty() && id.len() <= ID_BYTES) else {
            return true;
        };
        if self.is_resumed && self.seen.iter().any(|seen| seen == id) {
            return false;
        }
        if self.seen.len() >= KEPT_IDS {
            self.seen.pop_front();
        }
        self.seen.push_back(id.to_owned());
        true
    }

    /// The connection is over; what had come of an event is dropped. Gives how many new events it
    /// brought.
    pub(super) fn cut(&mut self) -> usize {
        self.keep_place();
        self.decoder = SseDecoder::new(self.limit);
        self.is_resumed = true;
        std::mem::take(&mut self.fresh)
    }

    fn keep_place(&mut self) {
        if let Some(id) = self.decoder.last_event_id() {
            self.last_id = Some(id.to_owned()).filter(|id| !id.is_empty());
        }
        self.retry = self.decoder.retry().or(self.retry);
    }

    /// The id by which the server finds the place where the stream was cut.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long to wait before the stream is asked for again.
    pub(super) fn retry(&self) -> Duration {
        let (least, most) = RETRY_RANGE;
        self.retry.unwrap_or(RETRY).clamp(least, most)
    }

    /// The data of the event that could not be used.
    pub(super) fn unfit(&self) -> &[u8] {
        &self.unfit
    }
}
