//! What it means when a server answers a request with a status other than 200.

use std::time::Duration;

use http::StatusCode;
use toolspan_core::guard::sanitise;
use toolspan_core::{Error, ErrorKind, Outcome, Phase};
use toolspan_io::http::HttpResponse;

use super::excerpt::{self, HEAD, SHOWN};
use super::headers;
use super::veil::Veil;
use crate::error;
use crate::wire::message::RemoteError;

/// How long the first of a body is waited for: the status says the most.
const PATIENCE: Duration = Duration::from_secs(1);
/// Deepest nesting of an error that is read.
const DEPTH: usize = 32;

/// A response that is no reply, read as far as it is needed.
pub(super) struct Refusal {
    status: StatusCode,
    wait: Option<Duration>,
    /// The error of the protocol in the body, if that is one.
    remote: Option<RemoteError>,
    /// What the body says to people, without secrets.
    excerpt: String,
    is_empty: bool,
}

impl Refusal {
    /// Reads the head of the body, for a short while. `veil` hides the secrets that it may repeat.
    pub(super) async fn read(mut response: HttpResponse, veil: &Veil) -> Self {
        let media = headers::media(&response.headers);
        let mut head = Vec::new();
        let reading = async {
            while head.len() < HEAD
                && let Ok(Some(piece)) = response.body().chunk().await
            {
                head.extend_from_slice(piece.get(..HEAD - head.len()).unwrap_or(&piece));
            }
        };
        let _ = tokio::time::timeout(PATIENCE, reading).await;
        Self {
            status: response.status,
            wait: response.retry_after(),
            remote: RemoteError::of_refusal(&head, DEPTH).map(|remote| RemoteError {
                message: veil.over(&remote.message),
                ..remote
            }),
            excerpt: excerpt::of(&head, &media, veil),
            is_empty: head.trim_ascii().is_empty(),
        }
    }

    /// Whether the server says that it does not know the session. The protocol's word for it is 404;
    /// servers built on older SDKs say 400, with an error that names the session.
    pub(super) fn is_of_session(&self) -> bool {
        let names_it = |remote: &RemoteError| {
            let message = remote.message.to_ascii_lowercase();
            message.contains("session")
        };
        self.status == StatusCode::NOT_FOUND
            || (self.status == StatusCode::BAD_REQUEST
                && self.remote.as_ref().is_some_and(names_it))
    }

    /// How long the server asks to wait before the request is sent once more.
    pub(super) fn wait(&self) -> Option<Duration> {
        self.wait.filter(|_| self.is_overload())
    }

    fn is_overload(&self) -> bool {
        let with_wait = self.status == StatusCode::SERVICE_UNAVAILABLE && self.wait.is_some();
        self.status == StatusCode::TOO_MANY_REQUESTS || with_wait
    }

    /// The error of a request that found the session gone, had a new one begun, and found that gone.
    pub(super) fn of_new_session(&self) -> Error {
        let message = format!(
            "the server does not know the session that it has just begun ({})",
            self.said()
        );
        self.placed(Error::new(ErrorKind::Closed, Phase::Call, message))
    }

    /// What the refusal means.
    pub(super) fn error(&self) -> Error {
        let said = self.said();
        let new = |kind, message: String| self.placed(Error::new(kind, Phase::Call, message));
        match self.status.as_u16() {
            401 => new(
                ErrorKind::Auth,
                format!("the server wants credentials that it accepts ({said})"),
            )
            .with_hint("set headers.Authorization of this server, or renew what is there"),
            403 => new(
                ErrorKind::Auth,
                format!("the server forbids this request ({said})"),
            )
            .with_hint("check what the credentials in headers.Authorization may do"),
            _ if self.is_overload() => self.overloaded(),
            _ if self.remote.is_some() => self.of_protocol(),
            404 => new(
                ErrorKind::Connect,
                format!("the server has nothing at this URL ({said})"),
            )
            .with_hint("check the path of the URL; /mcp and /sse are common"),
            405 => new(
                ErrorKind::Connect,
                format!("the server takes no messages at this URL ({said})"),
            )
            .with_hint("check the path of the URL; /mcp and /sse are common"),
            502 | 504 => new(
                ErrorKind::RemoteError,
                format!("what stands before the server got no answer from it ({said})"),
            )
            .with_outcome(Outcome::Unknown),
            500..=599 => new(
                ErrorKind::RemoteError,
                format!("the server failed ({said})"),
            ),
            200..=299 => new(
                ErrorKind::Protocol,
                format!("the server took the request and gave no reply ({said})"),
            )
            .with_phase(Phase::Observe),
            _ => new(
                ErrorKind::Protocol,
                format!("the server refused the request ({said})"),
            ),
        }
    }

    fn overloaded(&self) -> Error {
        let message = format!("the server has too much to do ({})", self.said());
        let error = self.placed(Error::new(ErrorKind::Overloaded, Phase::Call, message));
        match self.wait {
            Some(wait) if wait.is_zero() => error
                .with_retry_after(wait)
                .with_hint("call again: the server says that it takes calls now"),
            Some(wait) => error
                .with_retry_after(wait)
                .with_hint(format!("call again in {wait:?}: the server asks for that")),
            None => error.with_hint("call again later, or with fewer calls at once"),
        }
    }

    /// The error of the protocol that the body holds.
    fn of_protocol(&self) -> Error {
        let Some(remote) = &self.remote else {
            return error::protocol(self.said());
        };
        let error = error::remote(remote.code, &remote.message);
        let message = format!("{} ({})", error.message(), shown(self.status));
        self.placed(error.with_message(message))
    }

    /// Whether the body holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// What the body says to people.
    pub(super) fn excerpt(&self) -> &str {
        &self.excerpt
    }

    /// The status with what the body says.
    pub(super) fn said(&self) -> String {
        let remote = self.remote.as_ref().map(|remote| &remote.message);
        let words = match remote {
            Some(message) => sanitise::one_line(message, SHOWN),
            None => self.excerpt.clone(),
        };
        let status = shown(self.status);
        match words.as_str() {
            "" => status,
            words => format!("{status}: {words}"),
        }
    }

    fn placed(&self, error: Error) -> Error {
        error
            .with_outcome(Outcome::Answered)
            .with_http_status(self.status.as_u16())
    }
}

/// A status for people, with its name where it has one.
pub(super) fn shown(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    }
}
