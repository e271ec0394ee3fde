//! The stream of what a server sends without being asked, over streamable HTTP.
//!
//! A server may offer none. It never delays a call: it runs beside them, and what is wrong with it is
//! noted and no more.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method};
use tokio::time::{Instant, timeout};
use toolspan_io::backoff::Backoff;
use toolspan_io::http::{Body, HttpError, HttpRequest};

use super::events::Events;
use super::headers::{self, Media};
use super::{Posts, Unfit, refusal};
use crate::core::receive::Replies;

/// Failures in a row after which the stream is given up.
const MOST_FAILURES: usize = 5;
/// A stream that is quiet for so long is opened again: what lies between may have dropped it.
const QUIET: Duration = Duration::from_secs(300);
/// A stream that lasted so long was none that failed, also when nothing came.
const LASTED: Duration = Duration::from_secs(10);
/// How long the head of the response may take. Some servers send it with the first event only.
const HEAD_LIMIT: Duration = Duration::from_secs(300);

/// How one connection of the stream ended.
enum End {
    /// The server offers no stream.
    NotOffered,
    /// There is no use in another try: why.
    Refused(String),
    /// It may be asked for again: why.
    Cut(String),
    /// It was quiet for too long.
    Quiet,
}

impl Posts {
    /// Reads the server's own stream of one session, for as long as it can be had.
    pub(super) async fn listen(self: Arc<Self>, of_session: HeaderMap) {
        let receiver = self.receiver(Replies::OfNone);
        let mut events = Events::new(receiver, self.link.limits.message_bytes);
        let (mut failures, mut backoff) = (0, Backoff::new());
        loop {
            let began = Instant::now();
            let end = self.listen_once(&of_session, &mut events).await;
            let lasted = events.cut() > 0 || began.elapsed() >= LASTED;
            let why = match end {
                End::NotOffered => return,
                End::Refused(why) => {
                    return self.notes.give_up(format!(
                        "no stream for what the server sends unasked: {why}"
                    ));
                }
                End::Quiet => continue,
                End::Cut(why) => why,
            };
            if lasted {
                failures = 0;
                backoff.reset();
            }
            failures += 1;
            if failures >= MOST_FAILURES {
                return self.notes.give_up(format!(
                    "the stream for what the server sends unasked was given up after \
                     {failures} failures: {why}"
                ));
            }
            tokio::time::sleep(events.retry().max(backoff.next_delay())).await;
        }
    }

    /// One connection, from its request to its end.
    async fn listen_once(self: &Arc<Self>, of_session: &HeaderMap, events: &mut Events) -> End {
        let request = HttpRequest::new(Method::GET, self.url.clone())
            .with_source(self.source)
            .with_headers(headers::of_stream(of_session, events.last_id()))
            .with_header_limit(HEAD_LIMIT);
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(error) => return of_fault(&error),
        };
        let status = response.status;
        match status.as_u16() {
            200 if headers::media(&response.headers) == Media::Events => {
                self.read_unasked(events, response.into_body()).await
            }
            // A server that knows no such stream says 405; some say 404, or answer with a page.
            200 | 202 | 204 | 404 | 405 => End::NotOffered,
            408 | 429 | 500.. => End::Cut(refusal::shown(status)),
            _ => End::Refused(refusal::shown(status)),
        }
    }

    async fn read_unasked(self: &Arc<Self>, events: &mut Events, mut body: Body) -> End {
        loop {
            let piece = match timeout(QUIET, body.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => return End::Cut("the server ended it".to_owned()),
                Ok(Err(error)) => return of_fault(&error),
                Err(_) => return End::Quiet,
            };
            match events.take(self, None, &piece) {
                Ok(()) => {}
                Err(Unfit::Message(why)) => return End::Refused(why),
                Err(Unfit::TooLarge) => {
                    return End::Refused("a message over limits.message_bytes".to_owned());
                }
                Err(Unfit::Server(error)) => return End::Refused(error.message().to_owned()),
            }
        }
    }
}

fn of_fault(error: &HttpError) -> End {
    match error {
        HttpError::Redirect { .. } | HttpError::Refused { .. } | HttpError::Invalid { .. } => {
            End::Refused(error.to_string())
        }
        error => End::Cut(error.to_string()),
    }
}
