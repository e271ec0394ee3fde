//! The one stream of HTTP with SSE (MCP 2024-11-05): it names where to post to, and brings everything.
//!
//! Its end is the end of the connection, as the end of a process's output is.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{Method, StatusCode};
use tokio::time::timeout;
use toolspan_core::{Error, ErrorKind, Outcome, Phase, Result};
use toolspan_io::http::{Body, HttpError, HttpRequest, Redirects};
use toolspan_io::lines::Line;
use toolspan_io::sse::{SseDecoder, SseEvent, SseItem};
use url::Url;

use super::headers::{self, Media};
use super::refusal::Refusal;
use super::veil::Veil;
use super::{Kept, Posts, Remote, Unfit, fault};
use crate::core::receive::{Event, Receiver, Replies};
use crate::error;
use crate::transport::remote::site;

/// A stream that is quiet for so long while no call waits is given up: what lies between may have
/// dropped it, and a next call would wait in vain.
const QUIET: Duration = Duration::from_secs(300);

/// What helps when the server wants its messages elsewhere.
const OTHER_SITE: &str = "the server, or a proxy before it, goes by another address than the config: \
     use the URL that the server names, if you know it, or correct the server's public address";

/// The stream, opened and not yet read beyond its first event.
pub(crate) struct Stream {
    body: Body,
    decoder: SseDecoder,
    /// Bytes that came and were not decoded yet.
    rest: Bytes,
}

/// Opens the stream and waits for where to post to. The caller bounds the wait.
///
/// # Errors
///
/// `connect` when the server is not reached; what a status other than 200 means; `protocol` when what
/// comes is no such stream, or names an address of another origin.
pub(crate) async fn open(remote: &Remote<'_>, message_bytes: usize) -> Result<(Url, Stream)> {
    let url = remote.server.url();
    let base = headers::base(remote.server.headers());
    let request = HttpRequest::new(Method::GET, url.clone())
        .with_headers(headers::of_stream(&base, None))
        .with_redirects(Redirects::SameOriginOnce);
    let response = remote.server.client().send(request).await;
    let response = response.map_err(|error| fault::of(&error, message_bytes))?;
    let status = response.status;
    let is_stream = headers::media(&response.headers) == Media::Events;
    if status != StatusCode::OK || !is_stream {
        let refusal = Refusal::read(response, &Veil::of_config(&remote.redactor)).await;
        return Err(match status.as_u16() {
            200..300 | 400 | 404 | 405 => not_a_stream(&refusal, status),
            _ => refusal.error(),
        });
    }
    let final_url = response.url.clone();
    let mut stream = Stream {
        body: response.into_body(),
        decoder: SseDecoder::new(message_bytes),
        rest: Bytes::new(),
    };
    let endpoint = stream.endpoint(message_bytes).await?;
    Ok((resolve(url, &final_url, &endpoint)?, stream))
}

fn not_a_stream(refusal: &Refusal, status: StatusCode) -> Error {
    let kind = match status.is_success() {
        true => ErrorKind::Protocol,
        false => ErrorKind::Connect,
    };
    let said = refusal.said();
    let message = format!("the server offers no stream of events at this URL ({said})");
    Error::new(kind, Phase::Connect, message)
        .with_http_status(status.as_u16())
        .with_hint("check the path of the URL; /mcp and /sse are common")
}

/// The URL that messages are posted to: that of the event, within the origin of the config's URL.
fn resolve(of_config: &Url, of_stream: &Url, endpoint: &[u8]) -> Result<Url> {
    let refused = |what: String| {
        let message = format!("the server's endpoint for messages cannot be used: {what}");
        Error::new(ErrorKind::Protocol, Phase::Connect, message)
    };
    let text = std::str::from_utf8(endpoint).map_err(|_| refused("it is not UTF-8".to_owned()))?;
    let mut url = of_stream
        .join(text.trim())
        .map_err(|_| refused("it is no URL".to_owned()))?;
    let is_same = url.origin() == of_config.origin() && url.origin().is_tuple();
    if !is_same {
        let error = refused(format!(
            "it is at {}, and messages go to {} alone",
            site(&url),
            site(of_config)
        ));
        return Err(match url.has_host() {
            true => error.with_hint(OTHER_SITE),
            false => error,
        });
    }
    // What a server writes before the host is no credential of the user's.
    let _ = url.set_username(of_config.username());
    let _ = url.set_password(of_config.password());
    Ok(url)
}

impl Stream {
    /// The next item; `None` at the end.
    async fn next(&mut self) -> Result<Option<SseItem>, HttpError> {
        loop {
            let mut left: &[u8] = &self.rest;
            let item = self.decoder.next_item(&mut left);
            let used = self.rest.len() - left.len();
            self.rest.advance(used);
            if item.is_some() {
                return Ok(item);
            }
            match self.body.chunk().await? {
                Some(piece) => self.rest = piece,
                None => return Ok(None),
            }
        }
    }

    /// The data of the first event `endpoint`. Others before it do not count.
    async fn endpoint(&mut self, message_bytes: usize) -> Result<Vec<u8>> {
        loop {
            match self.next().await {
                Ok(Some(SseItem::Event(event))) if event.event == "endpoint" => {
                    return Ok(event.data);
                }
                Ok(Some(SseItem::Event(_))) => {}
                Ok(Some(_)) => return Err(error::too_large(message_bytes)),
                Ok(None) => {
                    let message = "the server's stream ended before it said where to post messages";
                    return Err(Error::new(ErrorKind::Protocol, Phase::Connect, message));
                }
                Err(error) => return Err(fault::of(&error, message_bytes)),
            }
        }
    }
}

impl Posts {
    /// Reads the stream until it ends; then fails every waiting call with the reason.
    pub(crate) fn read_all(self: &Arc<Self>, stream: Stream) {
        let kept = Kept(Arc::clone(self));
        let posts = Arc::clone(self);
        self.spawn(async move {
            let cause = posts.read_to_end(stream).await;
            posts.link.pending.close(cause.clone());
            if !posts.is_closed.load(Ordering::Acquire) {
                posts.link.listener.ended(&cause);
            }
            drop(kept);
        });
    }

    async fn read_to_end(self: &Arc<Self>, mut stream: Stream) -> Error {
        let mut receiver = self.receiver(Replies::OfAll).with_source("its stream");
        loop {
            let event = match timeout(QUIET, stream.next()).await {
                Ok(Ok(Some(SseItem::Event(event)))) => message(&mut receiver, &event),
                Ok(Ok(Some(SseItem::Oversize { head }))) => {
                    receiver.line(Line::TooLong { head: &head })
                }
                Ok(Ok(Some(_))) => return error::too_large(self.link.limits.message_bytes),
                Ok(Ok(None)) => return error::closed("the server ended its stream"),
                Ok(Err(error)) => {
                    return error::closed(format!("the server's stream was cut: {error}"))
                        .with_outcome(Outcome::Unknown);
                }
                Err(_) if self.link.pending.len() > 0 => continue,
                Err(_) => {
                    return error::closed(format!("the server's stream was quiet for {QUIET:?}"));
                }
            };
            match self.handle(event, None) {
                Ok(()) => {}
                Err(Unfit::Message(reason)) => return error::protocol(reason),
                Err(Unfit::TooLarge) => {
                    return error::too_large(self.link.limits.message_bytes);
                }
                Err(Unfit::Server(error)) => return error.with_outcome(Outcome::Unknown),
            }
        }
    }
}

/// What an event means. Only the first `endpoint` counts: a later one cannot move the messages.
fn message(receiver: &mut Receiver, event: &SseEvent) -> Event {
    match event.event.as_str() {
        "message" if !event.data.is_empty() => receiver.message_bytes(&event.data),
        _ => Event::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::remote::shown;

    fn endpoint(text: &str) -> String {
        let config = Url::parse("http://me:secret@127.0.0.1:9000/a/sse?key=k").unwrap();
        match resolve(&config, &config, text.as_bytes()) {
            Ok(url) => shown(&url),
            Err(error) => error.to_string(),
        }
    }

    // H6
    #[test]
    fn an_endpoint_of_another_origin_is_refused_and_named_without_secrets() {
        let told = [
            "/messages?session=1",
            "messages",
            "http://127.0.0.1:9000/other",
            "http://127.0.0.1:9001/other",
            "https://127.0.0.1:9000/other",
            "https://evil.test/collect?token=stolen",
            "//evil.test",
            "http://me:secret@evil.test/",
            "javascript:alert(1)",
            "data:text/plain,x",
            "http://[broken",
        ]
        .map(|text| format!("{text}\n  {}", endpoint(text)))
        .join("\n");
        insta::assert_snapshot!(told);
    }
}
