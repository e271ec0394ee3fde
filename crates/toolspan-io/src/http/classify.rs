//! What does an error of the library mean for whoever asked?

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::error::{HttpError, WaitedFor};
use super::outgoing::Start;
use super::resolve::LookupError;
use super::shown;
use super::tls_problem::{TlsProblem, judges_client};

/// Longest chain of causes that is looked at.
const CAUSES: usize = 16;

/// What is known of the exchange in which an error came up.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) url: Url,
    /// The proxy without credentials.
    pub(super) proxy: Option<String>,
    pub(super) connect_limit: Duration,
    pub(super) start: Arc<Start>,
}

/// The error of a request, or of reading its answer.
pub(super) fn failure(error: &reqwest::Error, exchange: &Exchange) -> HttpError {
    if error.is_connect() {
        connect_failure(error, exchange)
    } else if error.is_builder() {
        HttpError::Invalid {
            problem: "its URL is too long, or not one of HTTP".to_owned(),
        }
    } else if error.is_request() && by_user(error) {
        HttpError::Invalid {
            problem: innermost(error),
        }
    } else {
        broken(error, exchange)
    }
}

fn connect_failure(error: &reqwest::Error, exchange: &Exchange) -> HttpError {
    if let Some(error) = find::<LookupError>(error) {
        return match error {
            LookupError::Failed(error) => lookup_failure(error, exchange),
            LookupError::Refused(reason) => HttpError::Refused {
                target: shown::address(&exchange.url),
                reason: reason.clone(),
            },
        };
    }
    let target = shown::site(&exchange.url);
    let through_tunnel = causes(error).any(|cause| cause.to_string().starts_with("tunnel error"));
    if let Some(proxy) = exchange.proxy.clone() {
        // Inside a tunnel the handshake is the server's, before it the proxy's.
        let of_proxy = through_tunnel || find::<rustls::Error>(error).is_none();
        if of_proxy {
            return HttpError::Proxy {
                target,
                proxy,
                reason: connect_reason(error, exchange),
            };
        }
    }
    if let Some(error) = find::<rustls::Error>(error) {
        return HttpError::Tls {
            target,
            problem: TlsProblem::of(error),
        };
    }
    if error.is_timeout() {
        return HttpError::Timeout {
            waited_for: WaitedFor::Connection,
            after: exchange.connect_limit,
            sent: false,
        };
    }
    let in_handshake = io_kind(error).is_some_and(ended);
    if exchange.url.scheme() == "https" && in_handshake {
        return HttpError::Tls {
            target,
            problem: TlsProblem::Ended,
        };
    }
    HttpError::Connect {
        target,
        reason: connect_reason(error, exchange),
    }
}

/// A name that was not found is that of the URL or that of the proxy.
fn lookup_failure(error: &HttpError, exchange: &Exchange) -> HttpError {
    let of_url = exchange.url.host_str().map(shown::host);
    match (error, &exchange.proxy) {
        (HttpError::Dns { host, .. }, Some(proxy)) if of_url.as_ref() != Some(host) => {
            HttpError::Proxy {
                target: shown::site(&exchange.url),
                proxy: proxy.clone(),
                reason: error.to_string(),
            }
        }
        _ => error.clone(),
    }
}

fn connect_reason(error: &reqwest::Error, exchange: &Exchange) -> String {
    if error.is_timeout() {
        return format!("none within {} s", exchange.connect_limit.as_secs_f64());
    }
    if let Some(error) = find::<rustls::Error>(error) {
        return TlsProblem::of(error).to_string();
    }
    if let Some(words) = io_kind(error).and_then(connect_words) {
        return words.to_owned();
    }
    let text = innermost(error);
    proxy_words(&text).map_or(text, str::to_owned)
}

/// What a proxy's failure means; its types are not public, so their texts are all there is.
fn proxy_words(text: &str) -> Option<&'static str> {
    match text {
        "tunnel error: proxy authorization required" => {
            Some("it asks for a name and a password; put them into the proxy's URL")
        }
        "tunnel error: unsuccessful" => Some("it refuses to connect there"),
        "tunnel error: unexpected end of file" => Some("it ended the connection"),
        "SOCKS error: failed to create underlying connection" => {
            Some("it takes no connection; is anything running there, and the port right?")
        }
        _ => None,
    }
}

/// Why a connection was not made, for what the system says most.
pub(super) fn connect_words(kind: io::ErrorKind) -> Option<&'static str> {
    match kind {
        io::ErrorKind::ConnectionRefused => {
            Some("the connection was refused; is anything running there, and the port right?")
        }
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            Some("there is no way to this address; check the network")
        }
        io::ErrorKind::TimedOut => Some("the address does not answer"),
        kind if ended(kind) => Some("the connection was ended at once"),
        _ => None,
    }
}

fn broken(error: &reqwest::Error, exchange: &Exchange) -> HttpError {
    let target = shown::site(&exchange.url);
    // With TLS 1.3 the server judges our certificate when the handshake is over for us. It has not
    // looked at the request then.
    if let Some(rustls::Error::AlertReceived(alert)) = find::<rustls::Error>(error)
        && judges_client(*alert)
    {
        return HttpError::Tls {
            target,
            problem: TlsProblem::of(&rustls::Error::AlertReceived(*alert)),
        };
    }
    HttpError::Broken {
        target,
        reason: broken_reason(error),
        sent: exchange.start.has_begun() && !refused_unread(error),
    }
}

/// Whether a server of HTTP/2 says that it did not look at the request (RFC 9113, section 8.7).
fn refused_unread(error: &reqwest::Error) -> bool {
    find::<h2::Error>(error).is_some_and(|error| {
        error.is_remote() && error.reason() == Some(h2::Reason::REFUSED_STREAM)
    })
}

fn broken_reason(error: &reqwest::Error) -> String {
    if let Some(error) = find::<hyper::Error>(error) {
        if error.is_incomplete_message() {
            return "the connection ended before the response did".to_owned();
        }
        if error.is_parse() {
            return format!("what came cannot be read as HTTP ({error})");
        }
        if error.is_canceled() || error.is_closed() {
            return "the connection was closed".to_owned();
        }
    }
    match io_kind(error) {
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted) => {
            "the connection was reset".to_owned()
        }
        Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe) => {
            "the connection ended before the response did".to_owned()
        }
        _ => innermost(error),
    }
}

fn ended(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
    )
}

fn by_user(error: &reqwest::Error) -> bool {
    find::<hyper::Error>(error).is_some_and(hyper::Error::is_user)
}

/// The words of the last cause: the outer ones repeat the URL.
fn innermost(error: &reqwest::Error) -> String {
    causes(error).last().map_or_else(
        || "it cannot be written as HTTP".to_owned(),
        ToString::to_string,
    )
}

fn find<E: Error + 'static>(error: &reqwest::Error) -> Option<&E> {
    causes(error).find_map(|cause| cause.downcast_ref::<E>())
}

/// The kind of the innermost I/O error: those around it say "other".
fn io_kind(error: &reqwest::Error) -> Option<io::ErrorKind> {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .last()
        .map(io::Error::kind)
}

/// The causes of an error, the outermost first. An I/O error hides its own cause from `source`.
fn causes<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let first: Option<&'a (dyn Error + 'static)> = error.source();
    std::iter::successors(first, |cause: &&'a (dyn Error + 'static)| {
        let cause: &'a (dyn Error + 'static) = *cause;
        match cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(inner) => Some(inner as &'a (dyn Error + 'static)),
            None => cause.source(),
        }
    })
    .take(CAUSES)
}
