//! What is sent beside the calls: notices, answers to requests of the server, and the good-bye.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{HeaderMap, Method};
use toolspan_core::Result;
use toolspan_io::http::{HttpRequest, Redirects};

use super::refusal::Refusal;
use super::{Posts, Style, fault};

/// How long the server may take to say that it has a message.
const TAKEN_LIMIT: Duration = Duration::from_secs(30);

impl Posts {
    /// Sends a message that has no reply, and waits until the server has taken it.
    ///
    /// # Errors
    ///
    /// When it is not reached, or answers with a status other than a success.
    pub(super) async fn tell(&self, frame: Vec<u8>, headers: HeaderMap) -> Result<()> {
        let request = HttpRequest::new(Method::POST, self.url.clone())
            .with_source(self.source)
            .with_headers(headers)
            .with_body(frame)
            .with_header_limit(TAKEN_LIMIT)
            .with_redirects(Redirects::SameOriginOnce);
        let response = self.client.send(request).await;
        let response =
            response.map_err(|error| fault::of(&error, self.link.limits.message_bytes))?;
        if response.status.is_success() {
            return Ok(());
        }
        Err(Refusal::read(response, &self.veil(None)).await.error())
    }

    /// Sends a notice without waiting. When too many are under way it is left out: a server that
    /// takes none would not take this one.
    pub(crate) fn notify(self: &Arc<Self>, frame: Vec<u8>) {
        if let Ok(place) = Arc::clone(&self.notices).try_acquire_owned() {
            let task = self.telling_aside(frame, place);
            self.spawn_in(&self.telling, task);
        }
    }

    /// Answers a request of the server. When too many answers are under way there is none.
    pub(super) fn answer(self: &Arc<Self>, frame: Vec<u8>) {
        match Arc::clone(&self.answers).try_acquire_owned() {
            Ok(place) => {
                let task = self.telling_aside(frame, place);
                self.spawn(task);
            }
            Err(_) => {
                let unanswered = &self.link.counters.unanswered;
                unanswered.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn telling_aside(
        self: &Arc<Self>,
        frame: Vec<u8>,
        place: tokio::sync::OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + Send + use<> {
        let posts = Arc::clone(self);
        let headers = self.session.live().headers.clone();
        async move {
            if posts.tell(frame, headers).await.is_err() {
                posts.notes.refused.fetch_add(1, Ordering::Relaxed);
            }
            drop(place);
        }
    }

    /// Ends the session at the server (MCP 2025-11-25, "Session Management"). A server may refuse
    /// that; the caller bounds how long it may take.
    pub(crate) async fn say_good_bye(&self) {
        let live = self.session.live();
        if !live.has_id() || matches!(self.style, Style::Legacy(_)) {
            return;
        }
        let mut headers = live.headers.clone();
        headers.remove(http::header::CONTENT_TYPE);
        let request = HttpRequest::new(Method::DELETE, self.url.clone())
            .with_source(self.source)
            .with_headers(headers)
            .with_header_limit(TAKEN_LIMIT);
        let _ = self.client.send(request).await;
    }
}
