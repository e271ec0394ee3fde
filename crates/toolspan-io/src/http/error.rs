//! What can go wrong with a request over HTTP?

use std::time::Duration;

use super::refusal::Refusal;
use super::tls_problem::TlsProblem;

/// Why a request has no usable answer. Messages name hosts and paths, never userinfo, query,
/// header values or what a proxy asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The policy for addresses forbids the URL. Nobody was contacted.
    #[error("{target} was not contacted: {reason}")]
    Refused {
        /// The URL without secrets.
        target: String,
        /// What is forbidden about it.
        reason: Refusal,
    },
    /// The name has no address, or none came within the limit.
    #[error("the name {host:?} was not resolved: {reason}; check its spelling and the network")]
    Dns {
        /// The name.
        host: String,
        /// The system's answer, or the limit.
        reason: String,
    },
    /// No connection was made.
    #[error("no connection to {target}: {reason}")]
    Connect {
        /// Scheme, host and port.
        target: String,
        /// Why, in plain words.
        reason: String,
    },
    /// The TLS handshake failed. A connection without TLS is never tried in its place.
    #[error("no TLS connection to {target}: {problem}")]
    Tls {
        /// Scheme, host and port.
        target: String,
        /// What is wrong, in plain words.
        problem: TlsProblem,
    },
    /// The proxy was not reached or did not let the request through.
    #[error("no connection to {target} through the proxy {proxy}: {reason}")]
    Proxy {
        /// Scheme, host and port that were asked of the proxy.
        target: String,
        /// The proxy without its credentials.
        proxy: String,
        /// Why, in plain words.
        reason: String,
    },
    /// A limit of time was over.
    #[error("{waited_for} did not come within {} s", after.as_secs_f64())]
    Timeout {
        /// What was waited for.
        waited_for: WaitedFor,
        /// The limit.
        after: Duration,
        /// Whether the request may have reached the server.
        sent: bool,
    },
    /// The connection ended, or what came is not HTTP.
    #[error("the exchange with {target} broke: {reason}")]
    Broken {
        /// Scheme, host and port.
        target: String,
        /// Why, in plain words.
        reason: String,
        /// Whether the request may have reached the server.
        sent: bool,
    },
    /// The body is longer than the caller allows. The connection was dropped.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes, counted after unpacking.
        limit: usize,
    },
    /// A packed body grows beyond the allowed ratio, or is not what its encoding says.
    #[error("the packed response cannot be used: {reason}")]
    Unpacking {
        /// Why, in plain words.
        reason: String,
    },
    /// The server sends the request elsewhere, which is not followed.
    #[error("the server answered {status} and names {to}, which is not followed: {reason}")]
    Redirect {
        /// The status, 300 to 399.
        status: u16,
        /// The target without secrets, or what is wrong with it.
        to: String,
        /// Why it is not followed.
        reason: String,
    },
    /// The request cannot be sent as it is.
    #[error("the request cannot be sent: {problem}")]
    Invalid {
        /// What is wrong; never a header's value.
        problem: String,
    },
}

/// What a limit of time was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitedFor {
    /// A connection: TCP, TLS and proxy together.
    Connection,
    /// The head of the response.
    Head,
    /// The next piece of the body.
    Body,
}

impl std::fmt::Display for WaitedFor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Connection => "a connection to the server",
            Self::Head => "the head of the response",
            Self::Body => "the next part of the response",
        })
    }
}

impl HttpError {
    /// Whether the server may have seen the request: true as soon as its first byte may have gone
    /// out. False means that it is safe to send it again.
    pub fn was_sent(&self) -> bool {
        match self {
            Self::Refused { .. }
            | Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Proxy { .. }
            | Self::Invalid { .. } => false,
            Self::Timeout { sent, .. } | Self::Broken { sent, .. } => *sent,
            Self::TooLarge { .. } | Self::Unpacking { .. } | Self::Redirect { .. } => true,
        }
    }

    /// Whether the server answered: its status came, whatever was wrong behind it.
    pub fn was_answered(&self) -> bool {
        matches!(
            self,
            Self::TooLarge { .. } | Self::Unpacking { .. } | Self::Redirect { .. }
        )
    }
}
