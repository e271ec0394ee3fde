//! How do bytes become server-sent events, with a bound and for any chunking?
//!
//! The format is that of the HTML standard, section "Server-sent events", "Parsing an event stream"
//! and "Interpreting an event stream".

use std::time::Duration;

/// Bytes kept of an event that is too large: 4 KiB of its data, enough to find an id in it.
pub const HEAD_SIZE: usize = 4 * 1024;

/// An event may be this many times the limit before the stream is called endless.
pub const ENDLESS_FACTOR: usize = 4;

/// Longest id that is kept, in bytes: 4 KiB, since it is kept between events and goes back in a
/// header. A longer one is ignored as one with a NUL is.
pub const LONGEST_ID: usize = 4 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Name of an event that names none.
const DEFAULT_EVENT: &str = "message";

/// What the decoder found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem {
    /// An event that has data, if only an empty line of it.
    Event(SseEvent),
    /// An event passed the limit. Said once for each such event, as soon as it is known; the rest
    /// of the event is dropped and decoding goes on after its blank line.
    Oversize {
        /// The first [`HEAD_SIZE`] bytes of the event's data, or what came of it.
        head: Vec<u8>,
    },
    /// The same event has passed [`ENDLESS_FACTOR`] times the limit. Said once for each such event,
    /// after its `Oversize`.
    Endless,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Its name; `message` where it names none. What is not UTF-8 is replaced.
    pub event: String,
    /// The lines of its data, joined with `\n`, as they came: they may not be UTF-8.
    pub data: Vec<u8>,
    /// The id that it carries itself. What is not UTF-8 is replaced.
    pub id: Option<String>,
    /// The time before the next connection that it asks for.
    pub retry: Option<Duration>,
}

/// An incremental decoder of `text/event-stream`. It does no I/O.
///
/// Give each piece of the stream to [`next_item`](Self::next_item) until that gives `None`. The items
/// do not depend on how the bytes were cut. What has come of an event when the stream ends is no
/// event: drop the decoder.
///
/// Memory: the limit plus 2 x [`LONGEST_ID`]; nothing is held of comments, of unknown fields, and of
/// an event that is too large.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    /// Bytes of the byte order mark seen so far; `None` once it cannot come any more.
    mark: Option<usize>,
    /// The last byte was a carriage return, so that a line feed ends no further line.
    after_return: bool,
    place: Place,
    /// The first bytes of the line, up to the longest name of a field and one more.
    name: Vec<u8>,
    event: Partial,
    last_event_id: Option<String>,
    retry: Option<Duration>,
}

/// Where in a line the next byte lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Name,
    /// Behind the colon, where one space does not count.
    Colon(Field),
    Value(Field),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
    /// A comment, or a field that the standard does not know.
    Ignored,
}

/// What has come of an event.
#[derive(Debug, Default)]
struct Partial {
    name: Vec<u8>,
    /// `None` before the first line of data.
    data: Option<Vec<u8>>,
    /// The value of the line being read, if that is an id or a retry; up to [`LONGEST_ID`] bytes
    /// and one more.
    short: Vec<u8>,
    id: Option<String>,
    retry: Option<Duration>,
    /// Bytes of all values so far, and of the line feeds between them.
    size: usize,
    overflow: Overflow,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    #[default]
    No,
    Said,
    Endless,
}

impl SseDecoder {
    /// Makes a decoder for events of up to `limit` bytes: the values of all their fields, and the
    /// line feeds between lines of data.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            mark: Some(0),
            after_return: false,
            place: Place::Name,
            name: Vec::new(),
            event: Partial::default(),
            last_event_id: None,
            retry: None,
        }
    }

    /// Takes bytes off the front of `input` up to the next item; `None` when all are taken.
    pub fn next_item(&mut self, input: &mut &[u8]) -> Option<SseItem> {
        self.skip_byte_order_mark(input);
        while let Some(&first) = input.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                skip(input, 1);
                continue;
            }
            let length = memchr::memchr2(b'\n', b'\r', input).unwrap_or(input.len());
            let mut line = input.get(..length).unwrap_or_default();
            let item = self.take(&mut line);
            skip(input, length - line.len());
            if item.is_some() {
                return item;
            }
            if let Some(&end) = input.first() {
                skip(input, 1);
                self.after_return = end == b'\r';
                let item = self.end_line();
                if item.is_some() {
                    return item;
                }
            }
        }
        None
    }

    /// The last id that took effect, at the end of its event; an empty one takes an earlier one
    /// back. `None` when the stream has said none.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// The time before the next connection that the stream asked for last.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Bytes held of an event that has not ended.
    pub fn pending(&self) -> usize {
        let event = &self.event;
        let data = event.data.as_ref().map_or(0, Vec::len);
        let id = event.id.as_ref().map_or(0, String::len);
        data + event.name.len() + event.short.len() + id
    }

    fn skip_byte_order_mark(&mut self, input: &mut &[u8]) {
        while let (Some(seen), Some(byte)) = (self.mark, input.first()) {
            if BYTE_ORDER_MARK.get(seen) == Some(byte) {
                skip(input, 1);
                self.mark = Some(seen + 1).filter(|seen| *seen < BYTE_ORDER_MARK.len());
            } else {
                self.mark = None;
                // Half of a mark begins the name of an unknown field.
                self.name
                    .extend(BYTE_ORDER_MARK.get(..seen).unwrap_or_default());
            }
        }
    }

    /// Takes a piece of a line, all of it unless there is an item before its end.
    fn take(&mut self, line: &mut &[u8]) -> Option<SseItem> {
        if self.place == Place::Name {
            let colon = memchr::memchr(b':', line);
            let length = colon.unwrap_or(line.len());
            let room = LONGEST_NAME + 1 - self.name.len().min(LONGEST_NAME + 1);
            self.name.extend(line.iter().take(length.min(room)));
            skip(line, length);
            colon?;
            skip(line, 1);
            let item = self.begin_value();
            if item.is_some() {
                return item;
            }
        }
        if let (Place::Colon(field), Some(&first)) = (self.place, line.first()) {
            skip(line, usize::from(first == b' '));
            self.place = Place::Value(field);
        }
        match self.place {
            Place::Name | Place::Colon(_) => None,
            Place::Value(Field::Ignored) => {
                *line = &[];
                None
            }
            Place::Value(field) => {
                // One byte more than there is room for tells that it is too much.
                let piece = line.len().min(self.room().saturating_add(1));
                let bytes = line.get(..piece).unwrap_or_default();
                self.event.add(field, bytes, self.limit);
                skip(line, piece);
                self.overflow()
            }
        }
    }

    /// The field's name is whole; its value begins.
    fn begin_value(&mut self) -> Option<SseItem> {
        let field = Field::of(&self.name);
        self.name.clear();
        self.place = Place::Colon(field);
        self.event.begin(field, self.limit);
        self.overflow()
    }

    /// Ends a line: a field takes effect, or, on an empty line, the event.
    fn end_line(&mut self) -> Option<SseItem> {
        let mut item = None;
        let place = std::mem::replace(&mut self.place, Place::Name);
        let field = match place {
            Place::Name if self.name.is_empty() => return self.end_event(),
            Place::Name => {
                let field = Field::of(&self.name);
                item = self.begin_value();
                self.place = Place::Name;
                field
            }
            Place::Colon(field) | Place::Value(field) => field,
        };
        self.event.end(field);
        self.retry = self.event.retry.or(self.retry);
        item
    }

    /// Ends an event: its id takes effect, and it is given if it has data.
    fn end_event(&mut self) -> Option<SseItem> {
        let event = std::mem::take(&mut self.event);
        if let Some(id) = &event.id {
            self.last_event_id = Some(id.clone());
        }
        let name = String::from_utf8_lossy(&event.name);
        event.data.map(|data| {
            SseItem::Event(SseEvent {
                event: if name.is_empty() {
                    DEFAULT_EVENT
                } else {
                    &name
                }
                .to_owned(),
                data,
                id: event.id,
                retry: event.retry,
            })
        })
    }

    /// Bytes that may still come before something is to be said.
    fn room(&self) -> usize {
        let limit = match self.event.overflow {
            Overflow::No => self.limit,
            Overflow::Said => self.limit.saturating_mul(ENDLESS_FACTOR),
            Overflow::Endless => usize::MAX,
        };
        limit.saturating_sub(self.event.size)
    }

    /// What is to be said of the event's size, once.
    fn overflow(&mut self) -> Option<SseItem> {
        let event = &mut self.event;
        match event.overflow {
            Overflow::No if event.size > self.limit => {
                event.overflow = Overflow::Said;
                event.name = Vec::new();
                let mut head = event.data.take().unwrap_or_default();
                head.truncate(HEAD_SIZE.min(self.limit));
                head.shrink_to_fit();
                Some(SseItem::Oversize { head })
            }
            Overflow::Said if event.size > self.limit.saturating_mul(ENDLESS_FACTOR) => {
                event.overflow = Overflow::Endless;
                Some(SseItem::Endless)
            }
            _ => None,
        }
    }
}

/// Length of the longest name of a field, in bytes.
const LONGEST_NAME: usize = 5;

impl Field {
    fn of(name: &[u8]) -> Self {
        match name {
            b"data" => Self::Data,
            b"event" => Self::Event,
            b"id" => Self::Id,
            b"retry" => Self::Retry,
            _ => Self::Ignored,
        }
    }
}

impl Partial {
    fn begin(&mut self, field: Field, limit: usize) {
        match field {
            Field::Data if self.data.is_some() => self.add(Field::Data, b"\n", limit),
            Field::Data if self.overflow == Overflow::No => self.data = Some(Vec::new()),
            // A later name stands in for an earlier one.
            Field::Event => self.name.clear(),
            Field::Id | Field::Retry => self.short.clear(),
            Field::Data | Field::Ignored => {}
        }
    }

    fn add(&mut self, field: Field, bytes: &[u8], limit: usize) {
        self.size = self.size.saturating_add(bytes.len());
        let kept = self.overflow == Overflow::No;
        match field {
            Field::Data if kept => append(self.data.get_or_insert_default(), bytes, limit),
            Field::Event if kept => append(&mut self.name, bytes, limit),
            Field::Id | Field::Retry => {
                let room = (LONGEST_ID + 1).saturating_sub(self.short.len());
                self.short.extend(bytes.iter().take(room));
            }
            Field::Data | Field::Event | Field::Ignored => {}
        }
    }

    /// The field's line has ended.
    fn end(&mut self, field: Field) {
        let value = &self.short;
        let short = value.len() <= LONGEST_ID;
        match field {
            Field::Id if short && !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            Field::Retry if short => self.retry = milliseconds(value).or(self.retry),
            _ => {}
        }
    }
}

/// A whole number of milliseconds, if it is nothing but ASCII digits.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = std::str::from_utf8(value).ok()?;
    Some(Duration::from_millis(digits.parse().unwrap_or(u64::MAX)))
}

/// Adds bytes to a buffer. It makes no room beyond `most`, unless they need it.
fn append(buffer: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let needed = buffer.len().saturating_add(bytes.len());
    if buffer.capacity() < needed {
        // Doubling keeps the cost of a large event linear; the limit keeps the doubling bounded.
        let size = buffer.capacity().saturating_mul(2).min(most).max(needed);
        buffer.reserve_exact(size - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}

fn skip(input: &mut &[u8], count: usize) {
    *input = input.get(count..).unwrap_or_default();
}
