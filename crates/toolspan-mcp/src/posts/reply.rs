//! The response to a request: one JSON document, or a stream of events that may be cut and resumed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Method, StatusCode};
use toolspan_core::{Error, Outcome, Phase, Result};
use toolspan_io::http::{Body, HttpError, HttpRequest, HttpResponse};

use super::events::Events;
use super::headers::{self, Media};
use super::{Post, Posts, Unfit, fault, refusal};
use crate::core::receive::Replies;
use crate::error;

/// How often in a row a stream is asked for again without anything new coming.
const MOST_TRIES: usize = 5;
/// How long the head of a stream that is taken up again may take.
const HEAD_LIMIT: Duration = Duration::from_secs(30);
/// How long the end of a stream is waited for after the reply: a connection that is read to its end
/// can be used again. The caller has its reply by then.
const LINGER: Duration = Duration::from_secs(1);

impl Posts {
    /// Reads the reply out of a response of status 200.
    pub(super) async fn read_reply(
        self: &Arc<Self>,
        post: &Post,
        response: HttpResponse,
    ) -> Result<()> {
        match headers::media(&response.headers) {
            Media::Json => self.read_document(post, response).await,
            Media::Events => self.read_events(post, response.into_body()).await,
            Media::Other(name) => {
                let refusal = refusal::Refusal::read(response, &self.redactor).await;
                let what = match name.as_str() {
                    "" if refusal.is_empty() => "an empty body".to_owned(),
                    "" => "a body of no known kind".to_owned(),
                    name => name.to_owned(),
                };
                let message = format!("{what} came in place of JSON or a stream of events");
                Err(unusable(&message, refusal.excerpt()))
            }
        }
    }

    async fn read_document(self: &Arc<Self>, post: &Post, response: HttpResponse) -> Result<()> {
        let most = self.link.limits.message_bytes;
        let body = response.into_body().read_whole(most).await;
        let body = body.map_err(|error| fault::of(&error, most))?;
        let excerpt = || refusal::excerpt(&body, &self.redactor);
        if body.trim_ascii().is_empty() {
            return Err(unusable("its body is empty", ""));
        }
        let event = self.receiver(Replies::Of(post.id())).message_bytes(&body);
        self.handle(event).map_err(|unfit| match unfit {
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
    async fn read_events(self: &Arc<Self>, post: &Post, mut body: Body) -> Result<()> {
        let most = self.link.limits.message_bytes;
        let mut events = Events::new(self.receiver(Replies::Of(post.id())), most);
        let mut tries = 0;
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
                tries = 0;
            }
            body = self.resume(&mut events, &mut tries, cut).await?;
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
            let taken = events.take(self, &piece);
            if !self.is_waiting(post) {
                return Ok(End::Replied);
            }
            taken.map_err(|unfit| match unfit {
                Unfit::Message(reason) => {
                    unusable(&reason, &refusal::excerpt(events.unfit(), &self.redactor))
                }
                Unfit::TooLarge => error::too_large(self.link.limits.message_bytes),
                Unfit::Server(error) => error,
            })?;
        }
    }

    /// Asks for the rest of a stream that was cut before the reply (MCP 2025-11-25, "Resumability and
    /// Redelivery").
    async fn resume(
        self: &Arc<Self>,
        events: &mut Events,
        tries: &mut usize,
        cut: Option<HttpError>,
    ) -> Result<Body> {
        let mut why = match cut {
            Some(error) => error.to_string(),
            None => "it ended".to_owned(),
        };
        if events.last_id().is_none() {
            return Err(lost(&format!("the stream was cut before the reply: {why}")));
        }
        while *tries < MOST_TRIES {
            *tries += 1;
            tokio::time::sleep(events.retry()).await;
            match self.ask_for_rest(events).await {
                Ok(Ok(body)) => return Ok(body),
                Ok(Err(refused)) => return Err(refused),
                Err(error) => why = error.to_string(),
            }
        }
        Err(lost(&format!(
            "the stream was cut before the reply, and {MOST_TRIES} times brought nothing new: {why}"
        )))
    }

    /// One try. The inner error means that there is no use in another one.
    async fn ask_for_rest(&self, events: &Events) -> Result<Result<Body>, HttpError> {
        let live = self.session.live();
        let request = HttpRequest::new(Method::GET, self.url.clone())
            .with_source(self.source)
            .with_headers(headers::of_stream(&live.headers, events.last_id()))
            .with_header_limit(HEAD_LIMIT);
        let response = self.client.send(request).await?;
        let is_stream = headers::media(&response.headers) == Media::Events;
        match response.status {
            StatusCode::OK if is_stream => Ok(Ok(response.into_body())),
            status => {
                let message = format!(
                    "the stream was cut before the reply, and is not sent again: HTTP {status}"
                );
                Ok(Err(lost(&message).with_http_status(status.as_u16())))
            }
        }
    }

    /// Reads on after the reply, for a short while, so that the connection can be used again.
    async fn linger(self: &Arc<Self>, mut events: Events, mut body: Body) {
        let Ok(_place) = self.lingering.try_acquire() else {
            return;
        };
        let rest = async {
            while let Ok(Some(piece)) = body.chunk().await {
                if events.take(self, &piece).is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(LINGER, rest).await;
    }
}

/// How the reading of one connection ended.
enum End {
    Replied,
    /// It was cut, by this fault or by its end.
    Cut(Option<HttpError>),
}

/// The error of an answer that is none.
fn unusable(reason: &str, excerpt: &str) -> Error {
    let shown = match excerpt {
        "" => String::new(),
        excerpt => format!(": {excerpt:?}"),
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
