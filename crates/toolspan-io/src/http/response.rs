//! What comes back from a server, and how is it read within bounds?

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use url::Url;

use super::classify::Exchange;
use super::error::{HttpError, WaitedFor};
use super::retry_after::{http_date, retry_after};
use super::unpack::Pieces;

/// The head of a response, with its body still to be read. Dropping it ends the exchange.
#[non_exhaustive]
pub struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers: at most 100.
    pub headers: HeaderMap,
    /// The URL that answered, after redirects.
    pub url: Url,
    body: Body,
}

impl HttpResponse {
    pub(super) fn new(
        response: reqwest::Response,
        exchange: Exchange,
        idle_limit: Option<Duration>,
    ) -> Self {
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            url: exchange.url.clone(),
            body: Body {
                announced: response.content_length(),
                pieces: Pieces::new(response, exchange),
                idle_limit,
            },
        }
    }

    /// The body, to be read piece by piece.
    pub fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    /// The body by itself.
    pub fn into_body(self) -> Body {
        self.body
    }

    /// Reads the whole body, of at most `limit` bytes after unpacking.
    pub async fn read_whole(&mut self, limit: usize) -> Result<Bytes, HttpError> {
        self.body.read_whole(limit).await
    }

    /// The first `bytes` bytes of the body as text for people: control characters and runs of blanks
    /// become one blank. Empty when nothing comes, or what comes is no text. It may hold secrets that
    /// the server knows.
    pub async fn excerpt(&mut self, bytes: usize) -> String {
        self.body.excerpt(bytes).await
    }

    /// How long the server asks to wait by `Retry-After`; a date counts from the response's `Date`.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = |name| self.headers.get(name)?.to_str().ok();
        let now = text(header::DATE).and_then(http_date);
        retry_after(text(header::RETRY_AFTER)?, now)
    }
}

impl std::fmt::Debug for HttpResponse {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("url", &super::shown::address(&self.url))
            .finish_non_exhaustive()
    }
}

/// The body of a response.
pub struct Body {
    /// What `Content-Length` says, before unpacking.
    announced: Option<u64>,
    pieces: Pieces,
    idle_limit: Option<Duration>,
}

impl Body {
    /// The next piece, unpacked; `None` at the end. A piece has at most about 400 KiB. Waits at most
    /// the request's `idle_limit`. May be dropped and asked again without a loss.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        match self.idle_limit {
            None => self.pieces.next().await,
            Some(limit) => tokio::time::timeout(limit, self.pieces.next())
                .await
                .unwrap_or(Err(HttpError::Timeout {
                    waited_for: WaitedFor::Body,
                    after: limit,
                    sent: true,
                })),
        }
    }

    /// Reads all that is left into one buffer. More than `limit` bytes are an error: at once where
    /// `Content-Length` says so, else as soon as they came. What is kept never exceeds the limit.
    pub async fn read_whole(&mut self, limit: usize) -> Result<Bytes, HttpError> {
        let too_large = HttpError::TooLarge { limit };
        let announced = match self.announced.map(usize::try_from) {
            None => 0,
            Some(Ok(announced)) if announced <= limit => announced,
            Some(_) => return Err(too_large),
        };
        // A packed body is longer than announced, a lying one shorter: this is a first guess, and
        // memory that is not written to costs nothing.
        let mut whole: Vec<u8> = Vec::with_capacity(announced);
        while let Some(piece) = self.chunk().await? {
            let length = whole.len() + piece.len();
            if length > limit {
                return Err(too_large);
            }
            if length > whole.capacity() {
                let room = (whole.capacity() * 2).clamp(length, limit);
                whole.reserve_exact(room - whole.len());
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.into())
    }

    /// See [`HttpResponse::excerpt`].
    pub async fn excerpt(&mut self, bytes: usize) -> String {
        let mut start = Vec::new();
        while start.len() < bytes {
            match self.chunk().await {
                Ok(Some(piece)) => start.extend(piece.into_iter().take(bytes - start.len())),
                Ok(None) | Err(_) => break,
            }
        }
        if start.contains(&0) {
            return String::new();
        }
        let text = String::from_utf8_lossy(&start);
        // A character that was cut in two shows as one sign at the end.
        let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        let words = text.split(|c: char| c.is_whitespace() || c.is_control());
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Body")
            .field("announced", &self.announced)
            .finish_non_exhaustive()
    }
}
