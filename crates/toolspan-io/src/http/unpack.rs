//! How does a packed body become its content without growing beyond measure?
//!
//! A packed body is unpacked 16 KiB at a time, when somebody asks for more: a bomb costs no memory
//! before it is read, and the reader's limit counts what comes out.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use http::header;
use tokio::io::AsyncRead;
use tokio_util::io::{ReaderStream, StreamReader};

use super::classify::{Exchange, failure};
use super::error::HttpError;

/// What is asked for by `Accept-Encoding`.
pub(super) const ACCEPTED: &str = "gzip, deflate, br";

/// Bytes that are unpacked at a time.
const STEP: usize = 16 * 1024;

/// How much longer than the packed body its content may be.
const RATIO: u64 = 100;

/// Up to here content may be any times longer: a short text of one letter packs that well.
const FREE: u64 = 1024 * 1024;

type Packed = Pin<Box<dyn AsyncRead + Send>>;

/// The content of a body, piece by piece.
pub(super) struct Pieces {
    inner: Inner,
    exchange: Exchange,
}

enum Inner {
    Plain(reqwest::Response),
    Packed {
        content: ReaderStream<Packed>,
        /// Bytes that came, and bytes that were given out.
        taken: Arc<AtomicU64>,
        given: u64,
    },
    /// An encoding that we did not ask for.
    Unknown(String),
}

impl Pieces {
    pub(super) fn new(response: reqwest::Response, exchange: Exchange) -> Self {
        let encoding = response
            .headers()
            .get(header::CONTENT_ENCODING)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
        let inner = match encoding.as_deref().map(str::trim) {
            None | Some("" | "identity") => Inner::Plain(response),
            Some("gzip" | "x-gzip") => packed(response, |bytes| {
                let mut decoder = GzipDecoder::new(bytes);
                // A gzip body may consist of several members (RFC 1952, section 2.2).
                decoder.multiple_members(true);
                Box::pin(decoder)
            }),
            Some("deflate") => packed(response, |bytes| Box::pin(ZlibDecoder::new(bytes))),
            Some("br") => packed(response, |bytes| Box::pin(BrotliDecoder::new(bytes))),
            Some(other) => Inner::Unknown(other.chars().take(40).collect()),
        };
        Self { inner, exchange }
    }

    /// The next piece; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        match &mut self.inner {
            Inner::Plain(response) => response
                .chunk()
                .await
                .map_err(|error| failure(&error, &self.exchange)),
            Inner::Packed {
                content,
                taken,
                given,
            } => match content.next().await {
                None => Ok(None),
                Some(Ok(piece)) => {
                    *given += piece.len() as u64;
                    let allowed = taken.load(Ordering::Relaxed).saturating_mul(RATIO);
                    if *given > FREE.max(allowed) {
                        return Err(HttpError::Unpacking {
                            reason: format!("it grows to more than {RATIO} times its packed size"),
                        });
                    }
                    Ok(Some(piece))
                }
                // An empty body stays empty, whatever it says of itself.
                Some(Err(error))
                    if error.kind() == io::ErrorKind::UnexpectedEof
                        && taken.load(Ordering::Relaxed) == 0 =>
                {
                    Ok(None)
                }
                Some(Err(error)) => Err(self.unpacking_failure(&error)),
            },
            Inner::Unknown(encoding) => Err(HttpError::Unpacking {
                reason: format!("its encoding {encoding:?} was not asked for"),
            }),
        }
    }

    fn unpacking_failure(&self, error: &io::Error) -> HttpError {
        let of_transfer = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<reqwest::Error>());
        match of_transfer {
            Some(error) => failure(error, &self.exchange),
            None => HttpError::Unpacking {
                reason: format!("it is not what its encoding says ({error})"),
            },
        }
    }
}

type Wire = StreamReader<Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>, Bytes>;

fn packed(response: reqwest::Response, unpack: impl FnOnce(Wire) -> Packed) -> Inner {
    let taken = Arc::new(AtomicU64::new(0));
    let count = taken.clone();
    let wire = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(io::Error::other)?;
        count.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Ok(piece)
    });
    let wire: Wire = StreamReader::new(Box::pin(wire));
    Inner::Packed {
        content: ReaderStream::with_capacity(unpack(wire), STEP),
        taken,
        given: 0,
    }
}
