//! Is a server behind TLS reached when its certificate is right, and named with a plain reason when
//! it is not?

use std::time::Duration;

use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolspan_io::http::{
    HttpClient, HttpError, HttpRequest, HttpResponse, HttpSettings, TlsProblem, TlsSettings,
};
use url::Url;

use super::authority::{Authority, Leaf};
use super::exchange::counter;
use super::server::{Server, read_request, response, write};

/// A server behind TLS; `clients` is who must have signed the certificates of clients.
async fn server(leaf: &Leaf, clients: Option<&Authority>) -> Server {
    let acceptor = leaf.acceptor(clients);
    Server::start(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = match acceptor.accept(stream).into_fallible().await {
                Ok(stream) => stream,
                Err((_, stream)) => return drain(stream).await,
            };
            while read_request(&mut stream).await.is_some() {
                write(&mut stream, response("200 OK", "", "secure")).await;
            }
        }
    })
    .await
}

/// Reads whatever else comes, so that the end is no reset.
async fn drain(mut stream: TcpStream) {
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

fn url(server: &Server, host: &str) -> Url {
    Url::parse(&format!(
        "https://{host}:{}/x?token=hidden",
        server.address.port()
    ))
    .expect("a URL")
}

async fn get(url: &Url, tls: TlsSettings) -> Result<HttpResponse, HttpError> {
    let client = HttpClient::new(HttpSettings::new(url.clone()).with_tls(tls))?;
    client
        .send(HttpRequest::new(Method::GET, url.clone()))
        .await
}

/// The problem of a handshake that has to fail.
async fn problem(url: &Url, tls: TlsSettings) -> TlsProblem {
    let error = get(url, tls).await.expect_err("the handshake has to fail");
    assert!(!error.was_sent(), "{error}");
    match error {
        HttpError::Tls { target, problem } => {
            assert!(url.as_str().starts_with(&target), "{target}");
            assert!(!target.contains("hidden"), "{target}");
            problem
        }
        other => TlsProblem::Other {
            detail: other.to_string(),
        },
    }
}

fn trusting(authority: &Authority) -> TlsSettings {
    TlsSettings::default().with_ca(authority.pem())
}

#[tokio::test]
async fn an_authority_of_the_config_is_trusted() {
    let authority = Authority::new();
    let server = server(&authority.leaf("localhost"), None).await;
    let url = url(&server, "localhost");
    let mut answer = get(&url, trusting(&authority)).await.unwrap();
    assert_eq!(answer.read_whole(10).await.unwrap(), "secure");
}

#[tokio::test]
async fn each_wrong_certificate_has_its_own_reason() {
    let authority = Authority::new();
    let strangers = Authority::named("strangers");
    let anew = Authority::new();
    let cases = [
        (
            authority.leaf_between("localhost", 2000, 2001),
            TlsProblem::Expired,
        ),
        (
            authority.leaf_between("localhost", 2090, 2091),
            TlsProblem::NotValidYet,
        ),
        (authority.leaf("elsewhere.test"), TlsProblem::WrongHost),
        (strangers.leaf("localhost"), TlsProblem::UnknownIssuer),
        (anew.leaf("localhost"), TlsProblem::UnknownIssuer),
        (Leaf::by_itself("localhost"), TlsProblem::SelfSigned),
    ];
    for (leaf, expected) in cases {
        let server = server(&leaf, None).await;
        let url = url(&server, "localhost");
        let found = problem(&url, trusting(&authority)).await;
        assert_eq!(found, expected);
        // One try, and none without TLS.
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn a_certificate_that_signed_itself_is_trusted_when_it_is_named_as_authority() {
    let leaf = Leaf::by_itself("localhost");
    let server = server(&leaf, None).await;
    let url = url(&server, "localhost");
    let tls = TlsSettings::default().with_ca(leaf.pem.clone());
    let answer = get(&url, tls).await;
    assert_eq!(answer.unwrap().status, 200);
}

#[tokio::test]
async fn one_that_is_an_authority_at_once_is_trusted_for_its_name_and_time_alone() {
    let leaf = Leaf::by_itself_as_authority("localhost", 2020, 2090);
    let server = server(&leaf, None).await;
    let named = TlsSettings::default().with_ca(leaf.pem.clone());
    let answer = get(&url(&server, "localhost"), named.clone()).await;
    assert_eq!(answer.unwrap().status, 200);
    let another = Leaf::by_itself_as_authority("localhost", 2020, 2090);
    let cases = [
        ("127.0.0.1", named, TlsProblem::WrongHost),
        (
            "localhost",
            TlsSettings::default().with_ca(another.pem),
            TlsProblem::SelfSigned,
        ),
    ];
    for (host, tls, expected) in cases {
        assert_eq!(problem(&url(&server, host), tls).await, expected);
    }
    for (from, until, expected) in [
        (2000, 2001, TlsProblem::Expired),
        (2090, 2091, TlsProblem::NotValidYet),
    ] {
        let leaf = Leaf::by_itself_as_authority("localhost", from, until);
        let server = self::server(&leaf, None).await;
        let tls = TlsSettings::default().with_ca(leaf.pem.clone());
        assert_eq!(problem(&url(&server, "localhost"), tls).await, expected);
    }
}

#[tokio::test]
async fn insecure_takes_any_certificate_and_says_so_loudly() {
    let server = server(&Leaf::by_itself("elsewhere.test"), None).await;
    let url = url(&server, "localhost");
    let tls = TlsSettings::default().with_insecure(true);
    let client = HttpClient::new(HttpSettings::new(url.clone()).with_tls(tls)).unwrap();
    client
        .send(HttpRequest::new(Method::GET, url.clone()))
        .await
        .unwrap();
    assert_eq!(
        client.warnings(),
        [format!(
            "certificates of https://localhost:{} are not checked (`tls.insecure`): whoever is on the \
             way can read and change everything",
            server.address.port()
        )]
    );
}

#[tokio::test]
async fn a_client_certificate_is_asked_for_by_name_and_accepted_when_given() {
    let authority = Authority::new();
    let server = server(&authority.leaf("localhost"), Some(&authority)).await;
    let url = url(&server, "localhost");
    let without = problem(&url, trusting(&authority)).await;
    assert_eq!(without, TlsProblem::ClientCertificateNeeded);
    for strangers in [Authority::new(), Authority::named("strangers")] {
        let wrong = trusting(&authority).with_identity(strangers.leaf("me").pem);
        let found = problem(&url, wrong).await;
        assert_eq!(found, TlsProblem::ClientCertificateRefused);
    }
    let right = trusting(&authority).with_identity(authority.leaf("me").pem);
    assert_eq!(get(&url, right).await.unwrap().status, 200);
}

/// Reads the start of a handshake and answers with these bytes.
async fn answering_raw(bytes: Vec<u8>) -> Server {
    Server::start(move |mut stream, _| {
        let bytes = bytes.clone();
        async move {
            let mut hello = [0; 5];
            let _ = stream.read_exact(&mut hello).await;
            write(&mut stream, bytes).await;
            drain(stream).await;
        }
    })
    .await
}

#[tokio::test]
async fn old_versions_and_what_is_no_tls_are_told_apart() {
    // The alert "protocol version" in a record of TLS 1.1.
    let alert = vec![0x15, 3, 2, 0, 2, 2, 70];
    // A ServerHello of TLS 1.1 (RFC 4346, section 7.4.1.3).
    let mut hello = vec![0x16, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 0x2f, 0]);
    let plain = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_vec();
    let refusal = vec![0x15, 3, 3, 0, 2, 2, 40];
    for (bytes, expected) in [
        (alert, TlsProblem::OldVersion),
        (hello, TlsProblem::OldVersion),
        (plain, TlsProblem::NotTls),
        (refusal, TlsProblem::NothingInCommon),
    ] {
        let server = answering_raw(bytes).await;
        let found = problem(&url(&server, "localhost"), TlsSettings::default()).await;
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_server_that_ends_in_the_handshake_is_named() {
    let server = Server::start(|mut stream, _| async move {
        let mut hello = [0; 5];
        let _ = stream.read_exact(&mut hello).await;
    })
    .await;
    let found = problem(&url(&server, "localhost"), TlsSettings::default()).await;
    assert_eq!(found, TlsProblem::Ended);
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_hangs_ends_at_the_limit() {
    let server = Server::start(|stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let url = Url::parse(&format!("https://127.0.0.1:{}/", server.address.port())).unwrap();
    let started = tokio::time::Instant::now();
    let (count, begun) = counter();
    let client = HttpClient::new(HttpSettings::new(url.clone())).unwrap();
    let request = HttpRequest::new(Method::POST, url)
        .with_body("x")
        .with_begun(begun);
    let error = client.send(request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a connection to the server did not come within 25 s"
    );
    assert!(started.elapsed() < Duration::from_millis(25_010));
    assert!(!error.was_sent());
    assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_is_no_certificate_is_an_error_without_its_text() {
    let base = Url::parse("https://config.test/").unwrap();
    let leaf = Authority::new().leaf("me");
    let only_key = leaf.pem.split_inclusive("-----END CERTIFICATE-----").nth(1);
    let only_certificate = Leaf::by_itself("me").pem;
    let garbled = leaf
        .pem
        .replace("-----BEGIN PRIVATE KEY-----", "-----BEGIN hidden");
    for (tls, expected) in [
        (
            TlsSettings::default().with_ca(""),
            "`tls.ca` cannot be used",
        ),
        (
            TlsSettings::default().with_ca("hidden"),
            "`tls.ca` cannot be used",
        ),
        (
            TlsSettings::default()
                .with_ca("-----BEGIN CERTIFICATE-----\nhidden\n-----END CERTIFICATE-----\n"),
            "`tls.ca` cannot be used",
        ),
        (
            TlsSettings::default()
                .with_ca("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            "`tls.ca` cannot be used",
        ),
        (
            TlsSettings::default().with_identity(only_key.unwrap()),
            "`tls.cert` cannot be used",
        ),
        (
            TlsSettings::default().with_identity(only_certificate),
            "`tls.key` cannot be used",
        ),
        (
            TlsSettings::default().with_identity(garbled),
            "cannot be used",
        ),
    ] {
        let error = HttpClient::new(HttpSettings::new(base.clone()).with_tls(tls)).unwrap_err();
        assert!(matches!(error, HttpError::Invalid { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!error.to_string().contains("hidden"), "{error}");
    }
}
