//! Where are the clients of reqwest made? Here and nowhere else.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use super::connections::Connections;
use super::error::HttpError;
use super::policy::Reach;
use super::resolve::{Checked, Lookup};
use super::settings::HttpSettings;

/// How a client names itself to servers.
const USER_AGENT: &str = concat!("toolspan/", env!("CARGO_PKG_VERSION"));

/// Most headers of a response. Their bytes are bounded too: hyper takes heads up to about 400 KiB
/// over HTTP/1, and over HTTP/2 what is set below.
const HEADERS: usize = 100;

/// Most bytes of a response's head over HTTP/2.
const HEAD_BYTES: u32 = 256 * 1024;

/// Most connections to one host that are kept open while nobody uses them.
const IDLE_CONNECTIONS: usize = 8;

/// A connection of HTTP/2 with requests under way is asked this often whether it still stands, and
/// is given up when no answer comes: one dead connection would hold up all its requests.
const PING: Duration = Duration::from_secs(30);
/// How long the answer may take.
const PONG: Duration = Duration::from_secs(15);

/// How a request travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Direct,
    Proxied,
}

/// One client for each reach and route, since a client's resolver does not learn for whom it looks
/// a name up. They share no connection, so a request never travels over one that a laxer rule made.
pub(super) struct Doors {
    anywhere: reqwest::Client,
    public: reqwest::Client,
    /// The same two with proxies, where there are any.
    proxied: Option<(reqwest::Client, reqwest::Client)>,
}

impl Doors {
    pub(super) fn new(
        settings: &HttpSettings,
        tls: &ClientConfig,
        lookup: &Lookup,
        connections: &Connections,
    ) -> Result<Self, HttpError> {
        let make = |reach, route| {
            let resolver = Checked {
                lookup: lookup.clone(),
                reach,
                exempt: match route {
                    Route::Direct => Vec::new(),
                    Route::Proxied => settings.proxies.hosts(),
                },
            };
            let builder = builder(settings, tls.clone())
                .dns_resolver(Arc::new(resolver))
                .connector_layer(connections.clone());
            let builder = match route {
                Route::Direct => builder,
                Route::Proxied => {
                    let proxies = settings.proxies.clone();
                    builder.proxy(reqwest::Proxy::custom(move |url| {
                        proxies.route(url).cloned()
                    }))
                }
            };
            builder.build().map_err(|error| HttpError::Invalid {
                problem: format!("the HTTP client cannot be set up: {error}"),
            })
        };
        let proxied = if settings.proxies.is_empty() {
            None
        } else {
            let anywhere = make(Reach::Anywhere, Route::Proxied)?;
            Some((anywhere, make(Reach::Public, Route::Proxied)?))
        };
        Ok(Self {
            anywhere: make(Reach::Anywhere, Route::Direct)?,
            public: make(Reach::Public, Route::Direct)?,
            proxied,
        })
    }

    /// The client for a request.
    pub(super) fn get(&self, reach: Reach, route: Route) -> &reqwest::Client {
        let (anywhere, public) = match (&self.proxied, route) {
            (Some((anywhere, public)), Route::Proxied) => (anywhere, public),
            _ => (&self.anywhere, &self.public),
        };
        match reach {
            Reach::Anywhere => anywhere,
            Reach::Public => public,
        }
    }
}

/// No redirects, cookies, referer, retries or proxies by itself: each is decided by us.
#[expect(clippy::disallowed_methods, reason = "the one door to HTTP")]
fn builder(settings: &HttpSettings, tls: ClientConfig) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .no_proxy()
        .connect_timeout(settings.connect + settings.tls_handshake)
        .http1_max_headers(HEADERS)
        .http2_max_header_list_size(HEAD_BYTES)
        .http2_keep_alive_interval(PING)
        .http2_keep_alive_timeout(PONG)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
}
