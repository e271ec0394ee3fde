//! Does a diagnosis name the step at which the way to a server ends?

use std::sync::Arc;
use std::time::Duration;

use toolspan_io::http::{HttpClient, HttpSettings, ProbeStep, Proxies, TlsSettings};
use url::Url;

use super::authority::{Authority, Leaf};
use super::names::{Names, Silent};
use super::server::{Nobody, Server, response};

fn settings(url: &str) -> HttpSettings {
    HttpSettings::new(Url::parse(url).expect("a URL"))
}

async fn probe(settings: HttpSettings) -> Vec<ProbeStep> {
    let url = settings.base.clone();
    let client = HttpClient::new(settings).expect("plain settings");
    client.probe(&url).await
}

/// Each step as one line, with the port of loopback as `PORT`.
fn lines(steps: &[ProbeStep], port: u16) -> Vec<String> {
    steps
        .iter()
        .map(|step| {
            let said = match &step.result {
                Ok(found) => found.clone(),
                Err(error) => format!("FAILED {error}"),
            };
            let port = format!(":{port}");
            format!("{}: {said}", step.what).replace(&port, ":PORT")
        })
        .collect()
}

async fn secure(leaf: &Leaf) -> Server {
    let acceptor = leaf.acceptor(None);
    Server::start(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                super::server::read_request(&mut stream).await;
            }
        }
    })
    .await
}

#[tokio::test]
async fn each_step_says_what_was_found() {
    let authority = Authority::new();
    let server = secure(&authority.leaf("site.test")).await;
    let port = server.address.port();
    let names = Names::new().with("site.test", &["127.0.0.1"]).shared();
    let settings = settings(&format!("https://site.test:{port}/mcp"))
        .with_resolver(names)
        .with_tls(TlsSettings::default().with_ca(authority.pem()));
    let steps = probe(settings).await;
    assert_eq!(
        lines(&steps, port),
        [
            "dns: 127.0.0.1",
            "tcp: 127.0.0.1:PORT",
            "tls: TLS 1.3, certificate valid until 2090-01-01"
        ]
    );
    assert!(steps.iter().all(|step| step.took < Duration::from_secs(60)));
}

#[tokio::test]
async fn the_first_step_that_fails_is_the_last() {
    let server = secure(&Leaf::by_itself("site.test")).await;
    let port = server.address.port();
    let names = || Names::new().with("site.test", &["127.0.0.1"]).shared();
    let base = format!("https://site.test:{port}/mcp?token=hidden");
    let steps = probe(settings(&base).with_resolver(names())).await;
    assert_eq!(
        lines(&steps, port),
        [
            "dns: 127.0.0.1",
            "tcp: 127.0.0.1:PORT",
            "tls: FAILED no TLS connection to https://site.test:PORT: the server signed its \
             certificate itself; if that is meant to be so, name the certificate as `tls.ca`"
        ]
    );
    drop(server);
    let nobody = Nobody::new();
    let port = nobody.address.port();
    let base = format!("https://site.test:{port}/mcp?token=hidden");
    let steps = probe(settings(&base).with_resolver(names())).await;
    assert_eq!(
        lines(&steps, port),
        [
            "dns: 127.0.0.1",
            "tcp: FAILED no connection to https://site.test:PORT: the connection was refused; is \
             anything running there, and the port right?"
        ]
    );
    let steps = probe(settings("https://other.test/").with_resolver(names())).await;
    assert_eq!(
        lines(&steps, 1),
        [
            "dns: FAILED the name \"other.test\" was not resolved: no such name; check its spelling \
          and the network"
        ]
    );
}

#[tokio::test]
async fn an_address_needs_no_name_and_plain_http_no_tls() {
    let server = Server::answering(response("200 OK", "", "")).await;
    let port = server.address.port();
    let steps = probe(settings(server.url("/mcp").as_str())).await;
    assert_eq!(lines(&steps, port), ["tcp: 127.0.0.1:PORT"]);
}

#[tokio::test]
async fn through_a_proxy_the_way_ends_there() {
    let proxy = Server::answering(response("200 OK", "", "")).await;
    let port = proxy.address.port();
    let proxies = Proxies::one("proxy", &format!("http://me:hidden@127.0.0.1:{port}")).unwrap();
    let steps = probe(settings("https://site.test/mcp").with_proxies(proxies)).await;
    assert_eq!(
        lines(&steps, port),
        [
            "proxy: goes through http://127.0.0.1:PORT; the steps below end there",
            "tcp: 127.0.0.1:PORT"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_resolver_and_a_silent_handshake_end_at_their_limits() {
    let steps = probe(settings("https://site.test/").with_resolver(Arc::new(Silent))).await;
    assert_eq!(
        lines(&steps, 1),
        [
            "dns: FAILED the name \"site.test\" was not resolved: no answer within 5 s; check its \
          spelling and the network"
        ]
    );
    let server = Server::start(|stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let port = server.address.port();
    let steps = probe(settings(&format!("https://127.0.0.1:{port}/"))).await;
    assert_eq!(
        lines(&steps, port),
        [
            "tcp: 127.0.0.1:PORT",
            "tls: FAILED no TLS connection to https://127.0.0.1:PORT: the handshake did not end \
             within 15 s"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn who_waits_no_longer_still_learns_what_did_not_end() {
    let server = Server::start(|stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let port = server.address.port();
    let settings = settings(&format!("https://127.0.0.1:{port}/"));
    let url = settings.base.clone();
    let client = HttpClient::new(settings).unwrap();
    let steps = client.probe_within(&url, Duration::from_secs(3)).await;
    assert_eq!(
        lines(&steps, port),
        [
            "tcp: 127.0.0.1:PORT",
            "tls: FAILED no TLS connection to https://127.0.0.1:PORT: the handshake did not end \
             within 2 s"
        ]
    );
}

#[tokio::test]
async fn a_url_with_credentials_is_refused_before_any_step() {
    let steps = probe(settings("https://me:hidden@site.test/")).await;
    let lines = lines(&steps, 1);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("put them in `headers`"), "{lines:?}");
    assert!(!lines[0].contains("hidden"), "{lines:?}");
}
