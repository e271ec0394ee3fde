//! The response to a request: one JSON document, or a stream of events that may be cut and resumed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Method;
use toolspan_core::{Error, Outcome, Phase, Result};
use toolspan_io::http::{Body, HttpError, HttpRequest, HttpResponse};

use super::events::Events;
use super::excerpt;
use super::headers::{self, Media};
use super::refusal::{self, Refusal};
use super::session::Live;
use super::{Post, Posts, Unfit, fault};
use crate::core::receive::Replies;
use crate::error;

/// What is said of a stream that broke off.
const CUT: &str = "the stream was cut before the reply came";
/// How often in a row a stream is asked for again without anything new coming.
const MOST_TRIES: usize = 5;
/// How long the head of a stream that is taken up again may take.
const HEAD_LIMIT: Duration = Duration::from_secs(30);
/// How long the end of a stream is waited for after the reply: a connection that is read to its end
/// can be used again. The caller has its reply by then.
const LINGER: Duration = Duration::from_secs(1);

impl Posts {
    /// Reads the reply to a request that was sent in this session out of a response of status 200.
    pub(super) async fn read_reply(
        self: &Arc<Self>,
        post: &Post,
        live: &Live,
        response: HttpResponse,
    ) -> Result<()> {
        match headers::media(&response.headers) {
            Media::Json => self.read_document(post, response).await,
            // In boxes: a future is as large as its largest part, and is moved for every request.
            Media::Events => Box::pin(self.read_events(post, live, response.into_body())).await,
            Media::Other(name) => Err(Box::pin(self.neither(post, response, &name)).await),
        }
    }

    /// The error of a body that is neither JSON nor a stream of events.
    async fn neither(&self, post: &Post, response: HttpResponse, name: &str) -> Error {
        let refusal = Refusal::read(response, &self.veil(Some(post))).await;
        let what = match name {
            "" if refusal.is_empty() => "an empty body",
            "" => "a body of no known kind",
            name => name,
        };
        let message = format!("{what} came in place of JSON or a stream of events");
        unusable(&message, refusal.excerpt())
    }

    async fn read_document(self: &Arc<Self>, post: &Post, response: HttpResponse) -> Result<()> {
        let most = self.link.limits.message_bytes;
        let body = response.into_body().read_whole(most).await;
        let body = body.map_err(|error| fault::of(&error, most))?;
        let excerpt = || excerpt::of(&body, &Media::Json, &self.veil(Some(post)));
        if body.trim_ascii().is_empty() {
            return Err(unusable("its body is empty", ""));
        }
        let event = self.receiver(Replies::Of(post.id())).message_bytes(&body);
        self.handle(event, Some(post))
            .map_err(|unfit| match unfit {
                Unfit::Message(reason) => unusable(&reason, &excerpt()),
                Unfit::TooLarge => error::too_large(most),
                Unfit::Server(error) => error,
            })?;
        match self.is_waiting(post) {
            true => Err(unusable("it holds no reply", &excerpt())),
            false => Ok(()),
        }
    }

    /// Whether the reply has not come yet. A caller that went away does not wait.
    fn is_waiting(&self, post: &Post) -> bool {
        self.link.pending.get(post.id()).is_some()
    }

    /// Reads events until the reply is among them, over as many connections as that takes.
    async fn read_events(self: &Arc<Self>, post: &Post, live: &Live, mut body: Body) -> Result<()> {
        let most = self.link.limits.message_bytes;
        let mut events = Events::new(self.receiver(Replies::Of(post.id())), most);
        let mut resuming = Resuming { live, tries: 0 };
        loop {
            let end = self.read_to_reply(post, &mut events, &mut body).await?;
            let cut = match end {
                End::Replied => {
                    self.linger(events, body).await;
                    return Ok(());
                }
                End::Cut(cut) => cut,
            };
            if events.cut() > 0 {
                resuming.tries = 0;
            }
            if post.opens() || events.last_id().is_none() {
                // A session that is just being opened has no name yet to ask by.
                return Err(lost(&why(&cut)));
            }
            body = self.resume(&events, &mut resuming, why(&cut)).await?;
            self.notes.resumed.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn read_to_reply(
        self: &Arc<Self>,
        post: &Post,
        events: &mut Events,
        body: &mut Body,
    ) -> Result<End> {
        loop {
            let piece = match body.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(End::Cut(None)),
                Err(error @ (HttpError::Broken { .. } | HttpError::Timeout { .. })) => {
                    return Ok(End::Cut(Some(error)));
                }
                Err(error) => return Err(fault::of(&error, self.link.limits.message_bytes)),
            };
            let taken = events.take(self, Some(post), &piece);
            if !self.is_waiting(post) {
                return Ok(End::Replied);
            }
            taken.map_err(|unfit| match unfit {
                Unfit::Message(reason) => unusable(
                    &reason,
                    &excerpt::of(events.unfit(), &Media::Events, &self.veil(Some(post))),
                ),
                Unfit::TooLarge => error::too_large(self.link.limits.message_bytes),
                Unfit::Server(error) => error,
            })?;
        }
    }

    /// Asks for the rest of a stream that was cut before the reply (MCP 2025-11-25, "Resumability and
    /// Redelivery").
    async fn resume(
        &self,
        events: &Events,
        resuming: &mut Resuming<'_>,
        mut why: String,
    ) -> Result<Body> {
        while resuming.tries < MOST_TRIES {
            resuming.tries += 1;
            tokio::time::sleep(events.retry()).await;
            let again = match self.ask_for_rest(events, resuming.live).await {
                Err(error) => error.to_string(),
                Ok(response) => match response.status.as_u16() {
                    200 if headers::media(&response.headers) == Media::Events => {
                        return Ok(response.into_body());
                    }
                    408 | 429 | 500.. => refusal::shown(response.status),
                    status => {
                        let words = refusal::shown(response.status);
                        let message = format!("{why}, and is not taken up again ({words})");
                        return Err(lost(&message).with_http_status(status));
                    }
                },
            };
            why = format!("{CUT}: {again}");
        }
        Err(lost(&format!(
            "{why}; it was asked for again {MOST_TRIES} times and brought nothing new"
        )))
    }

    async fn ask_for_rest(&self, events: &Events, live: &Live) -> Result<HttpResponse, HttpError> {
        let request = HttpRequest::new(Method::GET, self.url.clone())
            .with_source(self.source)
            .with_headers(headers::of_stream(&live.headers, events.last_id()))
            .with_header_limit(HEAD_LIMIT);
        self.client.send(request).await
    }

    /// Reads on after the reply, for a short while, so that the connection can be used again.
    async fn linger(self: &Arc<Self>, mut events: Events, mut body: Body) {
        let Ok(_place) = self.lingering.try_acquire() else {
            return;
        };
        let rest = async {
            while let Ok(Some(piece)) = body.chunk().await {
                if events.take(self, None, &piece).is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(LINGER, rest).await;
    }
}

/// How a stream is taken up again.
struct Resuming<'a> {
    /// The session that it belongs to.
    live: &'a Live,
    /// Tries in a row that brought nothing new.
    tries: usize,
}

/// How the reading of one connection ended.
enum End {
    Replied,
    /// It was cut, by this fault or by its end.
    Cut(Option<HttpError>),
}

/// Why a stream was cut, for people.
fn why(cut: &Option<HttpError>) -> String {
    match cut {
        Some(error) => format!("{CUT}: {error}"),
        None => "the stream ended before the reply came".to_owned(),
    }
}

/// The error of an answer that is none.
fn unusable(reason: &str, excerpt: &str) -> Error {
    let shown = match excerpt {
        "" => String::new(),
        excerpt => format!("; it says: {excerpt}"),
    };
    let message = format!("the server's answer (HTTP 200 OK) cannot be used: {reason}{shown}");
    error::protocol(message).with_http_status(200)
}

/// The error of a call whose reply was lost on the way.
fn lost(message: &str) -> Error {
    error::closed(message)
        .with_phase(Phase::Observe)
        .with_outcome(Outcome::Unknown)
}
