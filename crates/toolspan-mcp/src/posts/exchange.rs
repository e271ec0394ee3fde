//! One request and its reply: posted, sent again where that is right, and always ended.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolspan_core::Result;
use toolspan_io::http::{HttpRequest, HttpResponse, Redirects};

use super::refusal::{self, Refusal};
use super::session::Live;
use super::{Posts, Style, fault, headers};
use crate::core::pending::{CallSlot, Pending};
use crate::error;

/// Longest wait that a server can ask for before a request is sent once more.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How long a server may take to say that it has a request, over HTTP with SSE: some say it after the
/// tool has run. Its caller may be gone by then, as the reply comes on the stream.
const LONGEST_TAKING: Duration = Duration::from_secs(600);

/// A request that is ready to be posted.
pub(crate) struct Post {
    id: u64,
    frame: Bytes,
    slot: Arc<CallSlot>,
    /// Whether it is `initialize`, which belongs to no session and may name one.
    opens: bool,
    /// The headers that the caller wants for it.
    headers: HeaderMap,
    /// When its caller stops waiting; nothing where that is not known here.
    deadline: Option<Instant>,
}

impl Post {
    /// A request within the session.
    pub(crate) fn new(id: u64, frame: Vec<u8>, slot: Arc<CallSlot>) -> Self {
        Self {
            id,
            frame: frame.into(),
            slot,
            opens: false,
            headers: HeaderMap::new(),
            deadline: None,
        }
    }

    /// The request that opens a session.
    pub(crate) fn opening(id: u64, frame: Vec<u8>, slot: Arc<CallSlot>) -> Self {
        Self {
            opens: true,
            ..Self::new(id, frame, slot)
        }
    }

    /// Adds what a caller wants for its call.
    #[must_use]
    pub(crate) fn for_call(mut self, headers: HeaderMap, time_left: Duration) -> Self {
        self.headers = headers;
        self.deadline = Instant::now().checked_add(time_left);
        self
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The values of the headers that the caller wants, which are secrets.
    pub(super) fn header_values(&self) -> impl Iterator<Item = &HeaderValue> {
        self.headers.values()
    }

    pub(super) fn opens(&self) -> bool {
        self.opens
    }
}

/// The session that a request was sent in, and why it was sent again: each reason counts once.
struct Attempt {
    live: Arc<Live>,
    has_renewed: bool,
    has_waited: bool,
}

impl Posts {
    /// Posts a request. Its slot ends whatever happens; the handle takes the request off the way
    /// when its caller goes away.
    pub(crate) fn send(self: &Arc<Self>, post: Post) -> Option<AbortHandle> {
        // In a box: a task moves its future several times, this one is of some kilobytes.
        self.spawn(Box::pin(Arc::clone(self).exchange(post)))
    }

    /// Sees one request through.
    pub(super) async fn exchange(self: Arc<Self>, post: Post) {
        let mut open = Open {
            pending: Arc::clone(&self.link.pending),
            id: post.id,
            is_handed_on: false,
        };
        match self.converse(&post).await {
            Ok(()) => open.is_handed_on = matches!(self.style, Style::Legacy(_)),
            Err(error) => {
                self.link.pending.complete(post.id, Err(error));
            }
        }
    }

    /// Posts the request until it has its reply, or, over HTTP with SSE, until it is taken.
    async fn converse(self: &Arc<Self>, post: &Post) -> Result<()> {
        let mut attempt = Attempt {
            live: self.session.live(),
            has_renewed: false,
            has_waited: false,
        };
        loop {
            let of_session = match post.opens {
                true => &self.base,
                false => &attempt.live.headers,
            };
            let response = self.post(post, of_session).await?;
            if self.is_taken(&response) {
                return Ok(());
            }
            if response.status == StatusCode::OK {
                if post.opens {
                    self.take_session(&response)?;
                }
                return self.read_reply(post, &attempt.live, response).await;
            }
            // In a box, as what is rare: it would make every request's future larger.
            Box::pin(self.overcome(post, response, &mut attempt)).await?;
            attempt.live = self.session.live();
        }
    }

    /// Sends one POST and waits for the head of its response.
    async fn post(&self, post: &Post, of_session: &HeaderMap) -> Result<HttpResponse> {
        let mut headers = of_session.clone();
        headers::merge(&mut headers, &post.headers);
        let slot = Arc::clone(&post.slot);
        let mut request = HttpRequest::new(Method::POST, self.url.clone())
            .with_source(self.source)
            .with_headers(headers)
            .with_body(post.frame.clone())
            .with_begun(Arc::new(move || slot.begin()))
            .with_redirects(Redirects::SameOriginOnce);
        if let Style::Legacy(_) = self.style {
            request = request.with_header_limit(LONGEST_TAKING);
        }
        let response = self.client.send(request).await;
        let response =
            response.map_err(|error| fault::of(&error, self.link.limits.message_bytes))?;
        if post.opens {
            let words = self.words_of(&response);
            self.notes.meet(response.status.as_u16(), words);
        }
        Ok(response)
    }

    /// Over HTTP with SSE any success means that the reply comes on the stream.
    fn is_taken(&self, response: &HttpResponse) -> bool {
        matches!(self.style, Style::Legacy(_)) && response.status.is_success()
    }

    /// Keeps the session that the answer to `initialize` names.
    fn take_session(&self, response: &HttpResponse) -> Result<()> {
        let session = headers::session_of(&response.headers).map_err(|what| {
            let message = format!("the server's header Mcp-Session-Id cannot be used: {what}");
            error::protocol(message).with_http_status(response.status.as_u16())
        })?;
        self.session.offer(session);
        Ok(())
    }

    /// Does what lets a refused request be sent once more.
    ///
    /// # Errors
    ///
    /// What the refusal means, when it must not be sent again.
    async fn overcome(
        self: &Arc<Self>,
        post: &Post,
        refused: HttpResponse,
        attempt: &mut Attempt,
    ) -> Result<()> {
        let refusal = Refusal::read(refused, &self.veil(Some(post))).await;
        if !post.opens && attempt.live.has_id() && refusal.is_of_session() {
            if attempt.has_renewed {
                return Err(refusal.of_new_session());
            }
            attempt.has_renewed = true;
            // The server did not run it.
            post.slot.unsend();
            return self.renew(&attempt.live).await;
        }
        let Some(wait) = refusal.wait().filter(|wait| {
            let ends_in_time = post
                .deadline
                .is_none_or(|deadline| Instant::now() + *wait < deadline);
            !attempt.has_waited && *wait <= LONGEST_WAIT && ends_in_time
        }) else {
            return Err(refusal.error());
        };
        attempt.has_waited = true;
        post.slot.unsend();
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn words_of(&self, response: &HttpResponse) -> String {
        let mut words = refusal::shown(response.status);
        match headers::media(&response.headers) {
            headers::Media::Json => words.push_str(", JSON"),
            headers::Media::Events => words.push_str(", a stream of events"),
            headers::Media::Other(name) if name.is_empty() => {}
            headers::Media::Other(name) => words = format!("{words}, {name}"),
        }
        if response.url != self.url {
            let url = crate::transport::remote::shown(&response.url);
            words = format!("{words}, after a redirect to {url}");
        }
        words
    }
}

/// A request that has not ended. Dropping it ends it: its task was cut short.
struct Open {
    pending: Arc<Pending>,
    id: u64,
    /// Whether its reply comes by another stream.
    is_handed_on: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.is_handed_on
            && let Some(slot) = self.pending.remove(self.id)
        {
            let cause = "the request was cut short: the runtime it ran on was shut down";
            slot.complete(Err(error::closed(cause)));
        }
    }
}
