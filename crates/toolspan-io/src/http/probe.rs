//! Where on the way to a server does it fail: name, connection or encryption?
//!
//! For diagnoses alone. Requests do not come this way, but look-up, limits and TLS are set up by
//! the same code.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Url;

use super::certificate;
use super::classify::connect_words;
use super::client::HttpClient;
use super::error::HttpError;
use super::policy::{self, Reach};
use super::request::UrlSource;
use super::resolve::LookupError;
use super::shown;
use super::tls_problem::TlsProblem;

/// Most addresses that a connection is tried to.
const TRIED: usize = 4;

/// One step of the way to a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProbeStep {
    /// `url` (only when it is refused), `proxy`, `dns`, `tcp` or `tls`.
    pub what: &'static str,
    /// How long it took.
    pub took: Duration,
    /// What was found, or why it failed: then no step follows.
    pub result: Result<String, HttpError>,
}

impl HttpClient {
    /// Goes the way to a URL that the user wrote, up to and without HTTP: the name, the connection,
    /// the TLS handshake. Through a proxy the way ends at the proxy, which the first step says.
    pub async fn probe(&self, url: &Url) -> Vec<ProbeStep> {
        self.probe_within(url, Duration::MAX).await
    }

    /// The same, where the connection has a third of a limit and the handshake the rest, if that is
    /// less than their own: whoever waits no longer still learns which of them did not end.
    pub async fn probe_within(&self, url: &Url, limit: Duration) -> Vec<ProbeStep> {
        let mut steps = Vec::new();
        let started = Instant::now();
        if let Err(error) = policy::judge(url, UrlSource::Written, &self.settings().base) {
            push(&mut steps, "url", started, Err(error));
            return steps;
        }
        let proxy = self.settings().proxies.route(url).cloned();
        if let Some(proxy) = &proxy {
            let found = format!(
                "goes through {}; the steps below end there",
                shown::site(proxy)
            );
            push(&mut steps, "proxy", started, Ok(found));
        }
        let nearest = proxy.as_ref().unwrap_or(url);
        let Some(addresses) = self.look_up(nearest, &mut steps).await else {
            return steps;
        };
        let connect = self.connect(nearest, &addresses, limit / 3);
        let Some(stream) = connect.await.told(&mut steps) else {
            return steps;
        };
        if nearest.scheme() == "https" {
            let started = Instant::now();
            let result = self.shake_hands(nearest, stream, limit / 3 * 2).await;
            push(&mut steps, "tls", started, result);
        }
        steps
    }

    async fn look_up(&self, url: &Url, steps: &mut Vec<ProbeStep>) -> Option<Vec<IpAddr>> {
        if let Some(address) = policy::literal(url) {
            return Some(vec![address]);
        }
        let started = Instant::now();
        let host = url.host_str().unwrap_or_default();
        match self.lookup().addresses(host, Reach::Anywhere).await {
            Ok(addresses) => {
                push(steps, "dns", started, Ok(list(&addresses)));
                Some(addresses)
            }
            Err(LookupError::Failed(error)) => {
                push(steps, "dns", started, Err(error));
                None
            }
            Err(LookupError::Refused(reason)) => {
                let target = shown::address(url);
                push(
                    steps,
                    "dns",
                    started,
                    Err(HttpError::Refused { target, reason }),
                );
                None
            }
        }
    }

    async fn connect(&self, url: &Url, addresses: &[IpAddr], limit: Duration) -> Connected {
        let started = Instant::now();
        let port = url.port_or_known_default().unwrap_or(1080);
        let sockets: Vec<SocketAddr> = addresses
            .iter()
            .take(TRIED)
            .map(|address| SocketAddr::new(*address, port))
            .collect();
        let limit = limit.min(self.settings().connect);
        let reason = match timeout(limit, TcpStream::connect(sockets.as_slice())).await {
            Ok(Ok(stream)) => return Connected(started, Ok(stream)),
            Ok(Err(error)) => connect_words(error.kind()).map_or(error.to_string(), str::to_owned),
            Err(_) => format!("none within {} s", limit.as_secs_f64()),
        };
        let target = shown::site(url);
        Connected(started, Err(HttpError::Connect { target, reason }))
    }

    async fn shake_hands(
        &self,
        url: &Url,
        stream: TcpStream,
        limit: Duration,
    ) -> Result<String, HttpError> {
        let failed = |problem| HttpError::Tls {
            target: shown::site(url),
            problem,
        };
        let host = url.host_str().unwrap_or_default();
        let bare = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = ServerName::try_from(bare).map_err(|_| failed(TlsProblem::WrongHost))?;
        let connector = TlsConnector::from(Arc::new(self.tls().clone()));
        let limit = limit.min(self.settings().tls_handshake);
        match timeout(limit, connector.connect(name, stream)).await {
            Err(_) => Err(failed(TlsProblem::Slow { after: limit })),
            Ok(Err(error)) => Err(failed(handshake_problem(&error))),
            Ok(Ok(stream)) => Ok(describe(&stream)),
        }
    }
}

/// When a connection was begun, and what became of it.
struct Connected(Instant, Result<TcpStream, HttpError>);

impl Connected {
    /// The connection, once it is among the steps.
    fn told(self, steps: &mut Vec<ProbeStep>) -> Option<TcpStream> {
        let Self(started, result) = self;
        let peer = |stream: &TcpStream| stream.peer_addr().map(|peer| peer.to_string());
        match result {
            Ok(stream) => {
                push(steps, "tcp", started, Ok(peer(&stream).unwrap_or_default()));
                Some(stream)
            }
            Err(error) => {
                push(steps, "tcp", started, Err(error));
                None
            }
        }
    }
}

fn handshake_problem(error: &io::Error) -> TlsProblem {
    let of_tls = error
        .get_ref()
        .and_then(|e| e.downcast_ref::<rustls::Error>());
    of_tls.map_or(TlsProblem::Ended, TlsProblem::of)
}

fn describe(stream: &TlsStream<TcpStream>) -> String {
    let (_, session) = stream.get_ref();
    let mut text = match session.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3".to_owned(),
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2".to_owned(),
        _ => "TLS".to_owned(),
    };
    if session.alpn_protocol() == Some(b"h2") {
        text.push_str(", HTTP/2");
    }
    let first = session.peer_certificates().and_then(<[_]>::first);
    if let Some(facts) = first.and_then(|certificate| certificate::facts(certificate)) {
        let _ = write!(text, ", certificate valid until {}", facts.expires);
    }
    text
}

fn list(addresses: &[IpAddr]) -> String {
    let shown: Vec<String> = addresses
        .iter()
        .take(TRIED)
        .map(ToString::to_string)
        .collect();
    let more = addresses.len().saturating_sub(TRIED);
    let mut text = shown.join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

fn push(
    steps: &mut Vec<ProbeStep>,
    what: &'static str,
    started: Instant,
    result: Result<String, HttpError>,
) {
    steps.push(ProbeStep {
        what,
        took: started.elapsed(),
        result,
    });
}
