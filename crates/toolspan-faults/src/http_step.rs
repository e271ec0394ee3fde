//! What can a script say that exists over HTTP only?

use std::fmt;

use serde::Deserialize;
use serde::de::{
    self, Deserializer, MapAccess, SeqAccess, Visitor,
    value::{MapAccessDeserializer, SeqAccessDeserializer},
};
use serde_json::Value;

use crate::step::Part;

/// Settings of [`Step::ExpectRequest`](crate::Step::ExpectRequest); a plain string is the method alone.
///
/// The request itself is waited for, whatever it carries: `"GET"` is the opening of a stream, `"POST"`
/// any message. What the script then sends or responds goes to it; the placeholders still speak of the
/// latest expected message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpectRequest {
    /// The HTTP method, in capitals; `*` is any.
    pub method: String,
    /// The path it has to begin with. Default: any.
    pub path: String,
    /// Headers it has to have, each with its value; `*` is any value. Names in any case.
    pub headers: Headers,
    /// Which arrival to stop at; earlier ones are treated like any other request. Default 1.
    pub nth: u32,
}

/// Headers in the order written; a name may come twice. In JSON an object from name to value, which
/// is a text with its placeholders or an array of parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, Vec<Part>)>);

/// Settings of [`Step::Respond`](crate::Step::Respond).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Respond {
    /// The status code.
    pub status: u16,
    /// Headers beside those of the framing. A message has `content-type: application/json` unless
    /// one is given.
    #[serde(default)]
    pub headers: Headers,
    /// The body as pieces, as in `send_raw` but without a newline.
    #[serde(default)]
    pub body: Vec<Part>,
    /// The body as one JSON value with its placeholders filled in; then `body` is left out.
    pub message: Option<Value>,
    /// How the end of the body is told.
    #[serde(default)]
    pub framing: Framing,
    /// What becomes of the connection.
    #[serde(default)]
    pub then: Then,
}

/// How the end of a body is told, truly or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Framing {
    /// By its length.
    #[default]
    Length,
    /// In one chunk and the last one.
    Chunked,
    /// By the end of the connection.
    Close,
    /// By its length and in chunks at once, which no message may do (RFC 9112, section 6.3).
    Both,
    /// By this length, whatever is sent.
    Claims(u64),
    /// In one chunk whose size is written so, then the body and no last chunk.
    ChunkSize(String),
    /// Nothing is told and nothing is sent.
    None,
}

/// What becomes of the connection after a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Then {
    /// It can be used again; after `"framing": "close"` it is closed.
    #[default]
    Keep,
    /// It is closed in order.
    Close,
    /// It is reset.
    Reset,
    /// It stays, and the response is never over.
    Hang,
}

/// Settings of [`Step::Sse`](crate::Step::Sse): opens a stream of server-sent events as the response,
/// or goes on with the one that is open.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Sse {
    /// The status code, if the stream is opened here.
    pub status: u16,
    /// Headers beside `content-type: text/event-stream`, if the stream is opened here.
    pub headers: Headers,
    /// Whether a byte order mark comes first.
    pub bom: bool,
    /// What ends a line.
    pub line_end: LineEnd,
    /// The events.
    pub events: Vec<Event>,
    /// What happens after them.
    pub end: StreamEnd,
}

impl Default for Sse {
    fn default() -> Self {
        Self {
            status: 200,
            headers: Headers::default(),
            bom: false,
            line_end: LineEnd::Lf,
            events: Vec::new(),
            end: StreamEnd::Close,
        }
    }
}

/// What ends a line of a stream; the HTML standard allows all three.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineEnd {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    Crlf,
    /// `\r`
    Cr,
}

impl LineEnd {
    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

/// One event; its fields are written in the order they stand here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Event {
    /// A comment line before it.
    pub comment: Option<String>,
    /// The type of the event.
    pub event: Option<String>,
    /// The event's id, with `${name}` filled in.
    pub id: Option<String>,
    /// The pause before a reconnection, in milliseconds; a text is written as it stands.
    pub retry: Option<Value>,
    /// The data, one `data:` line for each of its lines; `${name}` is replaced by JSON.
    pub data: Option<String>,
    /// The data as one JSON value with its placeholders filled in.
    pub message: Option<Value>,
    /// Bytes written as they are; nothing ends them but what they hold.
    pub raw: Vec<Part>,
    /// Leaves out the blank line that ends the event.
    pub unfinished: bool,
}

/// What happens after the events of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamEnd {
    /// The stream ends in order.
    #[default]
    Close,
    /// The stream stays open; a later step can go on with it.
    Keep,
    /// The connection is closed before the stream has ended.
    Cut,
    /// The connection is reset.
    Reset,
}

/// Settings of [`Step::Break`](crate::Step::Break).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Break {
    /// How far the honest response comes.
    pub at: Place,
    /// What happens there.
    pub by: Breach,
}

/// A place in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Place {
    /// Nothing of it is written.
    BeforeStatus,
    /// The status line and half a header.
    MidHeaders,
    /// All headers, and nothing of the body that they announce.
    AfterHeaders,
    /// All headers and half the body.
    MidBody,
}

/// How a response breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Breach {
    /// The connection is reset.
    Reset,
    /// The connection is closed in order.
    Close,
    /// Nothing more comes; the connection stays.
    Hang,
}

/// What [`Set::http`](crate::Set::http) can change. What is left out stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SetHttp {
    /// Whether replies are JSON bodies (default) or streams of one event.
    pub replies: Option<ReplyStyle>,
    /// Whether `initialize` begins a session (default); without, none is asked for.
    pub sessions: Option<bool>,
    /// The id given to every session from here on, as text or parts. Default: a new one each.
    pub session_id: Option<SessionId>,
    /// More headers of every honest response to a request of JSON-RPC.
    pub headers: Option<Headers>,
    /// Whether the connection is closed after each honest response, without a word about it.
    pub close_after_reply: Option<bool>,
}

/// How honest replies are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyStyle {
    /// As the body.
    #[default]
    Json,
    /// As the one event of a stream.
    Sse,
}

/// The id of a session: a text with its placeholders, or parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(pub Vec<Part>);

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartsVisitor).map(Self)
    }
}

/// A header's value.
struct WrittenParts(Vec<Part>);

impl<'de> Deserialize<'de> for WrittenParts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartsVisitor).map(Self)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Vec<Part>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text, or an array of parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<Part>, E> {
        Ok(vec![Part::Plain(text.to_owned())])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Vec<Part>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts))
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeadersVisitor)
    }
}

struct HeadersVisitor;

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object from header names to values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
        let mut headers = Vec::new();
        while let Some((name, WrittenParts(value))) = map.next_entry::<String, WrittenParts>()? {
            if name.is_empty() || name.contains(|it: char| it.is_ascii_control() || it == ':') {
                return Err(de::Error::custom(format!("`{name}` is no header name")));
            }
            headers.push((name, value));
        }
        Ok(Headers(headers))
    }
}

impl<'de> Deserialize<'de> for ExpectRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExpectRequestVisitor)
    }
}

struct ExpectRequestVisitor;

impl<'de> Visitor<'de> for ExpectRequestVisitor {
    type Value = ExpectRequest;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str("an HTTP method, or an object with `method`, `path`, `headers` and `nth`")
    }

    fn visit_str<E: de::Error>(self, method: &str) -> Result<ExpectRequest, E> {
        Ok(ExpectRequest {
            method: method.to_owned(),
            path: String::new(),
            headers: Headers::default(),
            nth: 1,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectRequest, A::Error> {
        let written = WrittenExpectRequest::deserialize(MapAccessDeserializer::new(map))?;
        if written.nth == 0 {
            return Err(de::Error::custom("`nth` counts from 1"));
        }
        Ok(ExpectRequest {
            method: written.method,
            path: written.path,
            headers: written.headers,
            nth: written.nth,
        })
    }
}

/// The long form of [`ExpectRequest`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExpectRequest {
    method: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    headers: Headers,
    #[serde(default = "one")]
    nth: u32,
}

fn one() -> u32 {
    1
}
