//! A server that is reached over HTTP: where it is, and which of the two protocols it speaks.

use http::HeaderMap;
use toolspan_io::http::HttpClient;
use url::Url;

/// Which protocol a remote server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteKind {
    /// Streamable HTTP, and HTTP with SSE where the server refuses that with 400, 404 or 405. What
    /// worked is tried first at the next start.
    #[default]
    Auto,
    /// Streamable HTTP (MCP 2025-03-26 and newer).
    StreamableHttp,
    /// HTTP with SSE (MCP 2024-11-05).
    Sse,
}

/// A server at a URL, with the client that reaches it. A clone shares the client's connections.
#[derive(Clone)]
pub struct RemoteServer {
    url: Url,
    client: HttpClient,
    kind: RemoteKind,
    headers: HeaderMap,
}

impl RemoteServer {
    /// A server at a URL that the user wrote. `client` must be made for the same URL.
    pub fn new(url: Url, client: HttpClient) -> Self {
        Self {
            url,
            client,
            kind: RemoteKind::Auto,
            headers: HeaderMap::new(),
        }
    }

    /// Sets which protocol it speaks. Default: [`RemoteKind::Auto`].
    #[must_use]
    pub fn with_kind(mut self, kind: RemoteKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the headers that go with every request, such as `authorization`. They are marked as
    /// sensitive. One that belongs to the protocol (`host`, `accept`, `mcp-…`, see
    /// [`is_reserved_header`]) makes every start fail with a `config` error that names it.
    #[must_use]
    pub fn with_headers(mut self, mut headers: HeaderMap) -> Self {
        for value in headers.values_mut() {
            value.set_sensitive(true);
        }
        self.headers = headers;
        self
    }

    /// Where it is, with everything that the user wrote: not for people.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// What reaches it.
    pub fn client(&self) -> &HttpClient {
        &self.client
    }

    /// Which protocol it speaks, as far as the config says.
    pub fn kind(&self) -> RemoteKind {
        self.kind
    }

    /// The headers that go with every request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Whether a header, by its name in any case, belongs to the protocol, so that neither a config nor a
/// call may set it.
pub fn is_reserved_header(name: &str) -> bool {
    http::HeaderName::from_bytes(name.as_bytes())
        .is_ok_and(|name| crate::posts::headers::is_reserved(&name))
}

impl std::fmt::Debug for RemoteServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        formatter
            .debug_struct("RemoteServer")
            .field("url", &shown(&self.url))
            .field("kind", &self.kind)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

/// A URL for people: without userinfo, query and fragment, which may hold secrets.
pub(crate) fn shown(url: &Url) -> String {
    /// Longest path that is shown, in characters.
    const PATH: usize = 120;
    let path = toolspan_core::guard::sanitise::one_line(url.path(), PATH);
    format!("{}{path}", site(url))
}

/// Scheme, host and port of a URL; the scheme alone where it has no host.
pub(crate) fn site(url: &Url) -> String {
    /// Longest host that is shown, in characters.
    const HOST: usize = 253;
    let scheme = url.scheme();
    let Some(host) = url.host_str() else {
        return format!("a {scheme}: address");
    };
    let host = toolspan_core::guard::sanitise::one_line(host, HOST);
    match url.port() {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}
