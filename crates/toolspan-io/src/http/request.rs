//! What is one request over HTTP?

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use url::Url;

/// Asked when the first byte of a request is about to go out, at most once per try. False takes a
/// request with a body back: nothing of it goes out (over HTTP/2 at most its head, and then a reset in
/// place of the body), and it ends as an invalid one.
pub type Begun = Arc<dyn Fn() -> bool + Send + Sync>;

/// Who named a URL; it decides where the URL may point (see [the module](super)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlSource {
    /// The user, in a trusted config.
    Written,
    /// A server or a document: an endpoint of SSE, metadata, the target of a redirect.
    Derived,
}

/// Which redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redirects {
    /// None: each is an error that names its target.
    None,
    /// One 307 or 308 to another path of the same origin, with the same method and body.
    SameOriginOnce,
    /// For a GET at most three, to https or within the same origin; each target is judged as a
    /// derived URL. To another origin neither headers of the caller nor secrets of the query go.
    Discovery,
}

/// One request.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The whole URL; its fragment is not sent.
    pub url: Url,
    /// Who named the URL. Default: [`UrlSource::Written`].
    pub source: UrlSource,
    /// The headers. Those that frame a message (`host`, `content-length`, `connection` …) are refused.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Asked when the first byte of the request is about to go out.
    pub begun: Option<Begun>,
    /// How long the head of the response may take from that moment on. None by default: the caller
    /// has a deadline of its own.
    pub header_limit: Option<Duration>,
    /// How long each further piece of the body may take. None by default.
    pub idle_limit: Option<Duration>,
    /// Which redirects are followed. Default: [`Redirects::None`].
    pub redirects: Redirects,
}

impl HttpRequest {
    /// A request without headers and body, for a URL that the user wrote.
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            source: UrlSource::Written,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            begun: None,
            header_limit: None,
            idle_limit: None,
            redirects: Redirects::None,
        }
    }

    /// Says who named the URL.
    #[must_use]
    pub fn with_source(mut self, source: UrlSource) -> Self {
        self.source = source;
        self
    }

    /// Sets the headers, in place of all before.
    #[must_use]
    pub fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets who is asked when the first byte of the request is about to go out. It runs on the task
    /// that writes, so it must be quick.
    #[must_use]
    pub fn with_begun(mut self, begun: Begun) -> Self {
        self.begun = Some(begun);
        self
    }

    /// Bounds the wait for the head of the response.
    #[must_use]
    pub fn with_header_limit(mut self, limit: Duration) -> Self {
        self.header_limit = Some(limit);
        self
    }

    /// Bounds the wait for each piece of the body.
    #[must_use]
    pub fn with_idle_limit(mut self, limit: Duration) -> Self {
        self.idle_limit = Some(limit);
        self
    }

    /// Says which redirects are followed.
    #[must_use]
    pub fn with_redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }
}

impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        formatter
            .debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &super::shown::address(&self.url))
            .field("source", &self.source)
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .field("header_limit", &self.header_limit)
            .field("idle_limit", &self.idle_limit)
            .field("redirects", &self.redirects)
            .finish_non_exhaustive()
    }
}
