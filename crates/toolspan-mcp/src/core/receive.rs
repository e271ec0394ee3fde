//! What a line from the server means: the end of a call, an event, or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolspan_core::guard::sanitise;
use toolspan_core::{Error, Progress};
use toolspan_io::lines::Line;

use super::counters::Counters;
use super::pending::Pending;
use crate::error;
use crate::wire::id::{self, Unreadable};
use crate::wire::message::Message;

/// Lines that are no messages, one after the other, after which the server is given up.
const MOST_NOISE_LINES: u64 = 1_000;
/// Bytes that are no messages, before the first message, after which the server is given up.
const MOST_NOISE_BYTES: u64 = 1 << 20;
/// Replies with ids that were never sent, after which the server is given up.
const MOST_UNKNOWN_IDS: u64 = 100;
/// Longest id of a request of the server that is answered: an answer carries it back.
const REQUEST_ID_BYTES: usize = 256;
/// Longest text of a log message that is passed on; the rest of it is cut off.
const LOG_BYTES: usize = 8 << 10;
/// Longest name of a log level; those of the protocol have at most nine letters.
const LEVEL_BYTES: usize = 32;

/// What the driver has to do about a line. Calls have been ended already.
#[derive(Debug)]
pub(crate) enum Event {
    /// Nothing.
    Nothing,
    /// Send this answer to a request of the server.
    Answer(String),
    /// The server's tools changed.
    ToolsChanged,
    /// A log message: its level and text.
    Log(String, String),
    /// Each of these, in order: what a batch asked for.
    Several(Vec<Event>),
    /// The server cannot be worked with any more.
    Fatal(Error),
    /// This is no answer to the one call that it came for: why, in plain words.
    Unusable(String),
}

/// Whose replies are looked for in what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replies {
    /// Those of all calls: one stream carries them.
    OfAll,
    /// Those of one call, whose answer this is. What is no message is a wrong answer, and a reply to
    /// another call is never given to that one.
    Of(u64),
    /// None: this is what no call has asked for.
    OfNone,
}

/// Routes messages. One for each stream of them; only the task that reads it uses it.
#[derive(Debug)]
pub(crate) struct Receiver {
    pending: Arc<Pending>,
    counters: Arc<Counters>,
    /// The id that the next request will get: greater ones were never sent.
    next_id: Arc<AtomicU64>,
    limits: toolspan_core::guard::Limits,
    replies: Replies,
    /// Where the messages come from, for people.
    source: &'static str,
    noise_in_a_row: u64,
    noise_bytes: u64,
    seen_message: bool,
}

impl Receiver {
    pub(crate) fn new(
        pending: Arc<Pending>,
        counters: Arc<Counters>,
        next_id: Arc<AtomicU64>,
        limits: toolspan_core::guard::Limits,
    ) -> Self {
        Self {
            pending,
            counters,
            next_id,
            limits,
            replies: Replies::OfAll,
            source: "its standard output",
            noise_in_a_row: 0,
            noise_bytes: 0,
            seen_message: false,
        }
    }

    /// Says whose replies are looked for; all, unless it is said.
    #[must_use]
    pub(crate) fn with_replies(mut self, replies: Replies) -> Self {
        self.replies = replies;
        self
    }

    /// Says where the messages come from; standard output, unless it is said.
    #[must_use]
    pub(crate) fn with_source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// Takes a whole message that came by other means than a line.
    pub(crate) fn message_bytes(&mut self, bytes: &[u8]) -> Event {
        self.complete(bytes)
    }

    /// Takes a line, ends the call it answers, and says what else there is to do.
    pub(crate) fn line(&mut self, line: Line<'_>) -> Event {
        match line {
            Line::Complete(bytes) => self.complete(bytes),
            Line::TooLong { head } => self.too_long(head),
            _ => Event::Fatal(error::protocol(format!(
                "the server sent more than {} bytes without an end of line",
                toolspan_io::lines::ENDLESS_FACTOR.saturating_mul(self.limits.message_bytes)
            ))),
        }
    }

    /// Takes what came behind the last end of line. A server that died may have left a part of a
    /// message there: whether its call ran is then unknown, so only a whole message counts.
    pub(crate) fn last_line(&mut self, line: Line<'_>) -> Event {
        match line {
            Line::Complete(bytes)
                if bytes.trim_ascii_start().starts_with(b"{")
                    && Message::parse(bytes, self.limits.json_depth).is_err() =>
            {
                Event::Nothing
            }
            line => self.line(line),
        }
    }

    fn complete(&mut self, line: &[u8]) -> Event {
        match line.trim_ascii_start().first() {
            Some(b'{') => {}
            Some(b'[') if line.trim_ascii_end().last() == Some(&b']') => return self.batch(line),
            _ => return self.noise(line),
        }
        match Message::parse(line, self.limits.json_depth) {
            Ok(message) => {
                self.noise_in_a_row = 0;
                self.seen_message = true;
                self.message(message)
            }
            Err(reason) => self.unreadable(line, reason),
        }
    }

    /// A batch (MCP 2025-03-26 only): each element is a message of its own.
    fn batch(&mut self, line: &[u8]) -> Event {
        let elements = match serde_json::from_slice(line) {
            Ok(Batch(elements)) if !elements.is_empty() => elements,
            Ok(Batch(_)) => return self.noise(line),
            Err(error) => {
                return self.no_message(line, format!("it is no JSON-RPC message: {error}"));
            }
        };
        let each = |element: &RawValue| match element.get().as_bytes() {
            bytes @ [b'{', ..] => self.complete(bytes),
            bytes => self.noise(bytes),
        };
        Event::Several(elements.into_iter().map(each).collect())
    }

    fn message(&mut self, message: Message<'_>) -> Event {
        match message {
            Message::Reply { id, result } => self.reply(id, result),
            Message::Request { id, method } if can_be_answered(id) => {
                Event::Answer(answer(id, &method))
            }
            Message::Request { .. } => {
                self.counters.unanswered.fetch_add(1, Ordering::Relaxed);
                Event::Nothing
            }
            Message::Notification { method, params } => self.notification(&method, params),
        }
    }

    fn reply(
        &mut self,
        id: &str,
        result: Result<&RawValue, crate::wire::message::RemoteError>,
    ) -> Event {
        let known = match (self.replies, id) {
            // A server that could not make out the id of a request answers without one
            // (JSON-RPC 2.0, section 5).
            (Replies::Of(one), "null") if result.is_err() => Some(one),
            (Replies::OfNone, _) => None,
            _ => id::ours(id).filter(|id| *id < self.next_id.load(Ordering::Acquire)),
        };
        if let Replies::Of(one) = self.replies
            && known != Some(one)
        {
            self.counters.unknown_ids.fetch_add(1, Ordering::Relaxed);
            let id = sanitise::one_line(id, 40);
            return Event::Unusable(format!("it answers another call (id {id}, not {one})"));
        }
        let Some(id) = known else {
            let count = self.counters.unknown_ids.fetch_add(1, Ordering::Relaxed) + 1;
            if count > MOST_UNKNOWN_IDS {
                let message =
                    format!("the server sent {count} replies to calls that were never made");
                return Event::Fatal(error::protocol(message));
            }
            return Event::Nothing;
        };
        let reply = match result {
            Ok(result) => Ok(result.to_owned()),
            Err(remote) => Err(error::remote(remote.code, &remote.message)),
        };
        if !self.pending.complete(id, reply) {
            self.counters.late.fetch_add(1, Ordering::Relaxed);
        }
        Event::Nothing
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) -> Event {
        match method {
            "notifications/progress" => {
                if let Some((token, progress)) = params.and_then(progress)
                    && let Some(slot) = self.pending.get(token)
                {
                    slot.report(progress);
                }
                Event::Nothing
            }
            "notifications/tools/list_changed" => Event::ToolsChanged,
            "notifications/message" => params.map_or(Event::Nothing, log),
            _ => Event::Nothing,
        }
    }

    /// A message that breaks the rules fails the call that it answers; it is noise if it answers
    /// none.
    fn unreadable(&mut self, line: &[u8], reason: String) -> Event {
        if self.replies != Replies::OfAll {
            return self.no_message(line, reason);
        }
        let Unreadable::Reply(id) = id::of_unreadable(line) else {
            return self.noise(line);
        };
        self.counters.unreadable.fetch_add(1, Ordering::Relaxed);
        let error = error::protocol(format!("the server's answer cannot be used: {reason}"))
            .with_hint("this is a fault of the server; its other tools can still be called");
        if !self.pending.complete(id, Err(error)) {
            self.counters.late.fetch_add(1, Ordering::Relaxed);
        }
        Event::Nothing
    }

    /// A line over the limit fails the call that it answers. When that cannot be known, it fails
    /// all: any of them may be the one that waits for it.
    fn too_long(&mut self, head: &[u8]) -> Event {
        self.counters.unreadable.fetch_add(1, Ordering::Relaxed);
        let error = error::too_large(self.limits.message_bytes);
        match id::of_unreadable(head) {
            Unreadable::Reply(id) => {
                if !self.pending.complete(id, Err(error)) {
                    self.counters.late.fetch_add(1, Ordering::Relaxed);
                }
            }
            Unreadable::Method => {}
            Unreadable::Unknown => self
                .pending
                .fail_all(&error.with_outcome(toolspan_core::Outcome::Unknown)),
        }
        Event::Nothing
    }

    /// What is no message, and why, where that matters: it is noise, or the wrong answer to a call.
    fn no_message(&mut self, bytes: &[u8], reason: String) -> Event {
        match self.replies {
            Replies::Of(_) => {
                self.counters.unreadable.fetch_add(1, Ordering::Relaxed);
                Event::Unusable(reason)
            }
            Replies::OfAll | Replies::OfNone => self.noise(bytes),
        }
    }

    fn noise(&mut self, line: &[u8]) -> Event {
        if let Replies::Of(_) = self.replies {
            return self.no_message(line, "it is no JSON-RPC message".to_owned());
        }
        self.counters.note_noise(line);
        self.noise_in_a_row += 1;
        self.noise_bytes = self.noise_bytes.saturating_add(line.len() as u64);
        let too_much = self.noise_in_a_row > MOST_NOISE_LINES
            || (!self.seen_message && self.noise_bytes > MOST_NOISE_BYTES);
        if !too_much {
            return Event::Nothing;
        }
        let source = self.source;
        let message = format!("the server writes text that is no message to {source}");
        let hint = "is it an MCP server, and does it log to standard error?";
        Event::Fatal(error::protocol(message).with_hint(hint))
    }
}

/// The elements of a batch, taken apart no further. Reading stops at the first one too many, so
/// that a long line of small elements takes no more memory than the line.
struct Batch<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Batch<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BatchVisitor)
    }
}

struct BatchVisitor;

impl<'de> serde::de::Visitor<'de> for BatchVisitor {
    type Value = Batch<'de>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a batch of at most 50 messages")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        /// Most messages in one batch.
        const MOST: usize = 50;
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            if elements.len() == MOST {
                return Err(serde::de::Error::invalid_length(MOST + 1, &self));
            }
            elements.push(element);
        }
        Ok(Batch(elements))
    }
}

/// Whether a request's id is what an id must be (MCP 2025-11-25, "Requests": a string or a whole
/// number), and short enough to be sent back.
fn can_be_answered(id: &RawValue) -> bool {
    let id = id.get();
    id.len() <= REQUEST_ID_BYTES
        && id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// The answer to a request of the server. This client advertises nothing, so a ping is all that it
/// answers with a result (MCP 2025-11-25, "Ping").
fn answer(id: &RawValue, method: &str) -> String {
    let id = id.get();
    if method == "ping" {
        return format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    }
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"method not found\"}}}}\n"
    )
}

/// The call that a progress report is about, and the report. Nonsense numbers are no report.
fn progress(params: &RawValue) -> Option<(u64, Progress)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
        progress: f64,
        #[serde(default)]
        total: Option<f64>,
        #[serde(default)]
        message: Option<String>,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let token = id::ours(params.progress_token.get())?;
    let total = params.total.filter(|total| total.is_finite());
    let mut progress = Progress::new(
        params.progress.is_finite().then_some(params.progress)?,
        total,
    );
    progress.message = params.message;
    Some((token, progress))
}

fn log(params: &RawValue) -> Event {
    let Ok(params) = serde_json::from_str::<Value>(params.get()) else {
        return Event::Nothing;
    };
    let mut level = params
        .get("level")
        .and_then(Value::as_str)
        .unwrap_or("info")
        .to_owned();
    let mut text = match params.get("data") {
        Some(Value::String(text)) => text.clone(),
        Some(data) => data.to_string(),
        None => return Event::Nothing,
    };
    text.truncate(text.floor_char_boundary(LOG_BYTES));
    level.truncate(level.floor_char_boundary(LEVEL_BYTES));
    Event::Log(level, text)
}
