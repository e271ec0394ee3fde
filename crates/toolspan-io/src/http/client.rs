//! How does a request go out and its answer come back?

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderName, HeaderValue};
use rustls::ClientConfig;
use url::Url;

use super::address::{is_local_name, not_public};
use super::classify::{Exchange, failure};
use super::connections::Connections;
use super::door::{Doors, Route};
use super::error::{HttpError, WaitedFor};
use super::outgoing::{Outgoing, Start};
use super::policy::{self, Reach};
use super::redirect;
use super::request::HttpRequest;
use super::resolve::{Lookup, LookupError};
use super::response::HttpResponse;
use super::settings::HttpSettings;
use super::shown;
use super::tls::client_config;
use super::unpack;
use super::warnings::Warnings;

/// Headers that frame a message or steer its way; the client alone sets them.
const OURS: [HeaderName; 9] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("keep-alive"),
];

/// An HTTP client for one server of a config. A clone shares its connections.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    settings: HttpSettings,
    tls: ClientConfig,
    lookup: Lookup,
    doors: Doors,
    connections: Connections,
    warnings: Warnings,
}

impl HttpClient {
    /// Makes a client; nobody is contacted. The error is [`HttpError::Invalid`] where a certificate
    /// or key of the settings cannot be used.
    pub fn new(settings: HttpSettings) -> Result<Self, HttpError> {
        let tls = client_config(&settings.tls)?;
        let lookup = Lookup {
            resolver: settings.resolver.clone(),
            limit: settings.dns,
        };
        let connections = Connections::default();
        let doors = Doors::new(&settings, &tls, &lookup, &connections)?;
        let warnings = Warnings::default();
        if settings.tls.insecure {
            warnings.add(format!(
                "certificates of {} are not checked (`tls.insecure`): whoever is on the way can read \
                 and change everything",
                shown::site(&settings.base)
            ));
        }
        let inner = Inner {
            settings,
            tls,
            lookup,
            doors,
            connections,
            warnings,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Sends a request and waits for the head of its response. Dropping the future ends the
    /// exchange and its connection.
    pub async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut request = request;
        let mut named_by = None;
        // Each kind of redirect has its own bound, of three at most.
        for followed in 0_usize.. {
            let response = self
                .inner
                .exchange(&request)
                .await
                .map_err(|error| in_redirect(error, named_by))?;
            let (status, headers) = (response.status, &response.headers);
            match redirect::next(&request, status, headers, followed)? {
                None => return Ok(response),
                Some(next) => request = next,
            }
            named_by = Some(status.as_u16());
        }
        Err(HttpError::Invalid {
            problem: "it was redirected for ever".to_owned(),
        })
    }

    /// What the user should be told although requests work, each once: that certificates are not
    /// checked, that a request went to a public address without TLS. At most eight.
    pub fn warnings(&self) -> Vec<String> {
        self.inner.warnings.all()
    }

    /// How many connections were tried so far, for diagnoses and tests.
    pub fn connections(&self) -> u64 {
        self.inner.connections.count()
    }

    /// What the client was made with.
    pub fn settings(&self) -> &HttpSettings {
        &self.inner.settings
    }

    pub(super) fn tls(&self) -> &ClientConfig {
        &self.inner.tls
    }

    pub(super) fn lookup(&self) -> &Lookup {
        &self.inner.lookup
    }
}

impl Inner {
    async fn exchange(&self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(name) = OURS.iter().find(|name| request.headers.contains_key(*name)) {
            return Err(HttpError::Invalid {
                problem: format!("the header `{name}` is set by the client alone"),
            });
        }
        let url = &request.url;
        let reach = policy::judge(url, request.source, &self.settings.base)?;
        let proxy = self.settings.proxies.route(url);
        if proxy.is_some() && reach == Reach::Public {
            self.look_before_the_proxy(url).await?;
        }
        let route = if proxy.is_some() {
            Route::Proxied
        } else {
            Route::Direct
        };
        let start = Start::new(request.begun.clone());
        let exchange = Exchange {
            url: url.clone(),
            proxy: proxy.map(shown::site),
            connect_limit: self.settings.connect + self.settings.tls_handshake,
            start: start.clone(),
        };
        let answer = self
            .doors
            .get(reach, route)
            .execute(outgoing(request, &start));
        let response = within(request.header_limit, &start, answer)
            .await?
            .map_err(|error| failure(&error, &exchange))?;
        self.note_plain_http(url, proxy.is_some(), response.remote_addr().map(|a| a.ip()));
        Ok(HttpResponse::new(response, exchange, request.idle_limit))
    }

    /// A proxy resolves names itself, out of our sight. So a derived name is resolved here first.
    async fn look_before_the_proxy(&self, url: &Url) -> Result<(), HttpError> {
        let (None, Some(host)) = (policy::literal(url), url.host_str()) else {
            return Ok(());
        };
        match self.lookup.addresses(host, Reach::Public).await {
            Ok(_) => Ok(()),
            Err(LookupError::Failed(error)) => Err(error),
            Err(LookupError::Refused(reason)) => Err(HttpError::Refused {
                target: shown::address(url),
                reason,
            }),
        }
    }

    /// Plain http is free within the machine and its network; elsewhere it is said once.
    fn note_plain_http(&self, url: &Url, proxied: bool, peer: Option<IpAddr>) {
        if url.scheme() != "http" {
            return;
        }
        let peer = policy::literal(url).or(peer.filter(|_| !proxied));
        let public = match peer {
            Some(address) => not_public(address).is_none(),
            None => !url.host_str().is_some_and(is_local_name),
        };
        if public {
            self.warnings.add(format!(
                "{} is asked without TLS at a public address: whoever is on the way can read and \
                 change everything, credentials included; use https",
                shown::site(url)
            ));
        }
    }
}

fn outgoing(request: &HttpRequest, start: &Arc<Start>) -> reqwest::Request {
    let mut outgoing = reqwest::Request::new(request.method.clone(), request.url.clone());
    *outgoing.headers_mut() = request.headers.clone();
    outgoing
        .headers_mut()
        .entry(header::ACCEPT_ENCODING)
        .or_insert(HeaderValue::from_static(unpack::ACCEPTED));
    let body = Outgoing::new(request.body.clone(), start.clone());
    *outgoing.body_mut() = Some(reqwest::Body::wrap(body));
    outgoing
}

/// Bounds the wait for the head, counted from the moment the request leaves: the way there has
/// limits of its own.
async fn within<T>(
    limit: Option<Duration>,
    start: &Start,
    answer: impl Future<Output = T>,
) -> Result<T, HttpError> {
    let Some(limit) = limit else {
        return Ok(answer.await);
    };
    let over = async {
        start.begun().await;
        tokio::time::sleep(limit).await;
    };
    tokio::select! {
        biased;
        answer = answer => Ok(answer),
        () = over => Err(HttpError::Timeout {
            waited_for: WaitedFor::Head,
            after: limit,
            sent: true,
        }),
    }
}

/// A refusal behind a redirect names the redirect: the user never saw the URL.
fn in_redirect(error: HttpError, named_by: Option<u16>) -> HttpError {
    match (error, named_by) {
        (HttpError::Refused { target, reason }, Some(status)) => HttpError::Redirect {
            status,
            to: target,
            reason: reason.to_string(),
        },
        (error, _) => error,
    }
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HttpClient")
            .field("settings", &self.inner.settings)
            .field("connections", &self.connections())
            .finish_non_exhaustive()
    }
}
