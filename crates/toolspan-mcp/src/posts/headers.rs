//! The HTTP headers of a message: those of the protocol, of the config and of one call.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use toolspan_core::guard::{Secret, sanitise};
use toolspan_core::{Error, ErrorKind, Phase, Result};

use crate::wire::version::Version;

/// The session that a request belongs to (MCP 2025-11-25, "Session Management").
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision that was settled on (MCP 2025-11-25, "Protocol Version Header").
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The last event of a stream that is taken up again (HTML standard, "Server-sent events").
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Longest name of a session: 1 KiB. It goes out with every request.
const SESSION_BYTES: usize = 1 << 10;

/// Headers that frame the message or belong to one connection (RFC 9110, sections 6 to 8).
const RESERVED: [&str; 20] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "last-event-id",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
];

/// Whether only the protocol itself may set this header.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.starts_with("mcp-") || RESERVED.contains(&name)
}

/// Refuses headers of a config that are the protocol's own.
///
/// # Errors
///
/// `config`, naming the header.
pub(crate) fn check(headers: &HeaderMap) -> Result<()> {
    match headers.keys().find(|name| is_reserved(name)) {
        Some(name) => Err(reserved(name.as_str(), ErrorKind::Config, Phase::Config)),
        None => Ok(()),
    }
}

fn reserved(name: &str, kind: ErrorKind, phase: Phase) -> Error {
    let message = format!("the header {name:?} cannot be set: it belongs to the protocol");
    Error::new(kind, phase, message).with_hint("leave it out")
}

/// The headers that a caller wants for one call.
///
/// # Errors
///
/// `usage`, naming the header: it is none, or is the protocol's own. Never shows a value.
pub(crate) fn of_call(headers: &[(String, Secret)]) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let shown = sanitise::one_line(name, 60);
        let usage = |message: String| Error::new(ErrorKind::Usage, Phase::Send, message);
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| usage(format!("{shown:?} is no name of an HTTP header")))?;
        if is_reserved(&header) {
            return Err(reserved(&shown, ErrorKind::Usage, Phase::Send));
        }
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| {
            let message = "holds characters that no HTTP header may hold";
            usage(format!("the value of the header {shown:?} {message}"))
        })?;
        value.set_sensitive(true);
        map.append(header, value);
    }
    Ok(map)
}

/// The headers of a POST before there is a session.
pub(super) fn base(of_config: &HeaderMap) -> HeaderMap {
    let mut headers = of_config.clone();
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, accept);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

/// Adds what every request of a session carries.
pub(super) fn add_session(
    headers: &mut HeaderMap,
    version: Version,
    session: Option<&HeaderValue>,
) {
    headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
    if let Some(session) = session {
        headers.insert(SESSION, session.clone());
    }
}

/// The headers of a GET that asks for a stream, out of those of a POST.
pub(super) fn of_stream(of_post: &HeaderMap, last_event: Option<&str>) -> HeaderMap {
    let mut headers = of_post.clone();
    headers.remove(CONTENT_TYPE);
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    // An id that no header can carry is as good as none.
    if let Some(id) = last_event.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()) {
        headers.insert(LAST_EVENT, id);
    }
    headers
}

/// Puts the headers of a call in place of those of the config.
pub(super) fn merge(headers: &mut HeaderMap, of_call: &HeaderMap) {
    for name in of_call.keys() {
        headers.remove(name);
    }
    for (name, value) in of_call {
        headers.append(name.clone(), value.clone());
    }
}

/// The name that a server gives the session, where it gives one.
///
/// # Errors
///
/// What is wrong with it, in plain words; never the name itself, which is a secret.
pub(super) fn session_of(headers: &HeaderMap) -> Result<Option<HeaderValue>, String> {
    let mut values = headers.get_all(SESSION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let bytes = value.as_bytes();
    if values.next().is_some() {
        return Err("it gives the session two names".to_owned());
    }
    if bytes.len() > SESSION_BYTES {
        let length = bytes.len();
        return Err(format!(
            "the session's name is {length} bytes long; {SESSION_BYTES} are the most"
        ));
    }
    if bytes.is_empty() || !bytes.iter().all(u8::is_ascii_graphic) {
        let message = "the session's name holds characters other than visible ASCII";
        return Err(message.to_owned());
    }
    let mut value = value.clone();
    value.set_sensitive(true);
    Ok(Some(value))
}

/// What a response's body is, as its head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    Events,
    /// Something else, by its name; empty when the head does not say.
    Other(String),
}

/// The kind of the body, whatever its parameters and case (RFC 9110, section 8.3.1).
pub(super) fn media(headers: &HeaderMap) -> Media {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let value = String::from_utf8_lossy(value.unwrap_or_default());
    let name = value.split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("application/json") {
        Media::Json
    } else if name.eq_ignore_ascii_case("text/event-stream") {
        Media::Events
    } else {
        Media::Other(sanitise::one_line(name, 60))
    }
}
