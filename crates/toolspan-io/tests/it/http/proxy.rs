//! Do requests go through a proxy as they should, and is a proxy's failure named as one?

use std::sync::Arc;

use base64::Engine as _;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{HeaderMap, Method};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use toolspan_io::http::{
    HttpClient, HttpError, HttpRequest, HttpSettings, Proxies, Redirects, TlsSettings, UrlSource,
};
use url::Url;

use super::authority::Authority;
use super::exchange::counter;
use super::names::Names;
use super::server::{Nobody, Server, read_request, response, write};

const SECRET: &str = "me:hidden-pass";

fn settings(proxy: &str, names: Arc<Names>) -> HttpSettings {
    let proxies = Proxies::one("proxy", proxy).expect("a proxy");
    let base = Url::parse("https://config.test/mcp").expect("a URL");
    HttpSettings::new(base)
        .with_proxies(proxies)
        .with_resolver(names)
}

fn get(url: &str) -> HttpRequest {
    HttpRequest::new(Method::GET, Url::parse(url).expect("a URL"))
}

/// A proxy that tells what it was asked and plays every server itself: behind TLS with a certificate
/// of `authority` for `host`, and plain. `answer` makes the response to a request.
async fn proxy(
    authority: &Authority,
    host: &str,
    answer: fn(&str) -> String,
) -> (Server, UnboundedReceiver<String>) {
    let acceptor = authority.leaf(host).acceptor(None);
    let (tell, told) = unbounded_channel();
    let server = Server::start(move |mut stream, _| {
        let (acceptor, tell) = (acceptor.clone(), tell.clone());
        async move {
            let Some(first) = read_request(&mut stream).await else {
                return;
            };
            let tunnel = first.starts_with("CONNECT ");
            tell.send(first.clone()).expect("the test listens");
            if !tunnel {
                return write(&mut stream, answer(&first)).await;
            }
            write(&mut stream, "HTTP/1.1 200 Connected\r\n\r\n").await;
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            while let Some(request) = read_request(&mut stream).await {
                write(&mut stream, answer(&request)).await;
                tell.send(request).expect("the test listens");
            }
        }
    })
    .await;
    (server, told)
}

fn ok(_request: &str) -> String {
    response("200 OK", "", "through")
}

#[tokio::test]
async fn https_goes_by_connect_with_the_credentials_for_the_proxy_alone() {
    let authority = Authority::new();
    let (proxy, mut told) = proxy(&authority, "site.test", ok).await;
    let names = Names::new().shared();
    let url = format!("http://{SECRET}@{}", proxy.address);
    let settings =
        settings(&url, names.clone()).with_tls(TlsSettings::default().with_ca(authority.pem()));
    let client = HttpClient::new(settings).unwrap();
    assert!(!format!("{client:?}").contains("hidden"));
    let mut answer = client.send(get("https://site.test/x?a=b")).await.unwrap();
    assert_eq!(answer.read_whole(10).await.unwrap(), "through");
    let connect = told.recv().await.unwrap();
    assert!(
        connect.starts_with("CONNECT site.test:443 HTTP/1.1\r\n"),
        "{connect}"
    );
    let expected = base64::engine::general_purpose::STANDARD.encode(SECRET);
    assert!(
        connect.contains(&format!("roxy-authorization: Basic {expected}"))
            || connect.contains(&format!("roxy-Authorization: Basic {expected}")),
        "{connect}"
    );
    let inner = told.recv().await.unwrap();
    assert!(inner.starts_with("GET /x?a=b HTTP/1.1\r\n"), "{inner}");
    assert!(
        !inner.to_lowercase().contains("proxy-authorization"),
        "{inner}"
    );
    // The proxy resolves the name of a URL that the user wrote.
    assert_eq!(names.asked(), [""; 0]);
}

#[tokio::test]
async fn http_goes_by_a_request_with_the_whole_url() {
    let (proxy, mut told) = proxy(&Authority::new(), "site.test", ok).await;
    let names = Names::new().shared();
    let url = format!("http://{SECRET}@{}", proxy.address);
    let client = HttpClient::new(settings(&url, names.clone())).unwrap();
    let mut answer = client.send(get("http://site.test/x?a=b")).await.unwrap();
    assert_eq!(answer.read_whole(10).await.unwrap(), "through");
    let request = told.recv().await.unwrap();
    assert!(
        request.starts_with("GET http://site.test/x?a=b HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.contains("proxy-authorization: Basic "), "{request}");
    assert_eq!(names.asked(), [""; 0]);
    assert_eq!(client.warnings().len(), 1, "plain http to who knows where");
    let again = client.send(get("http://site.test/y")).await;
    assert!(again.is_ok());
    assert_eq!(
        client.warnings(),
        [
            "http://site.test is asked without TLS at a public address: whoever is on the way can \
          read and change everything, credentials included; use https"
        ]
    );
}

#[tokio::test]
async fn loopback_is_asked_directly() {
    let server = Server::answering(response("200 OK", "", "direct")).await;
    let (proxy, _told) = proxy(&Authority::new(), "site.test", ok).await;
    let client = HttpClient::new(settings(
        &format!("http://{}", proxy.address),
        Names::new().shared(),
    ))
    .unwrap();
    let mut answer = client.send(get(server.url("/").as_str())).await.unwrap();
    assert_eq!(answer.read_whole(10).await.unwrap(), "direct");
    assert_eq!(proxy.accepted(), 0);
}

#[tokio::test]
async fn a_derived_name_is_looked_up_here_before_the_proxy_hears_of_it() {
    let authority = Authority::new();
    let (proxy, mut told) = proxy(&authority, "public.test", ok).await;
    let names = Names::new()
        .with("public.test", &["8.8.8.8"])
        .with("inside.test", &["8.8.8.8", "10.0.0.1"])
        .shared();
    let settings = settings(&format!("http://{}", proxy.address), names.clone())
        .with_tls(TlsSettings::default().with_ca(authority.pem()));
    let client = HttpClient::new(settings).unwrap();
    let derived = |url: &str| get(url).with_source(UrlSource::Derived);
    let error = client
        .send(derived("https://inside.test/"))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Refused { .. }), "{error:?}");
    let error = client
        .send(derived("https://169.254.169.254/"))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Refused { .. }), "{error:?}");
    let error = client
        .send(derived("https://unknown.test/"))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Dns { .. }), "{error:?}");
    assert_eq!(proxy.accepted(), 0);
    let mut answer = client.send(derived("https://public.test/")).await.unwrap();
    assert_eq!(answer.read_whole(10).await.unwrap(), "through");
    let connect = told.recv().await.unwrap();
    assert!(connect.starts_with("CONNECT public.test:443 "), "{connect}");
    assert_eq!(
        names.asked(),
        ["inside.test", "unknown.test", "public.test"]
    );
}

#[tokio::test]
async fn a_discovery_that_crosses_to_another_origin_leaves_its_secrets_behind() {
    let authority = Authority::new();
    let (proxy, mut told) = proxy(&authority, "public.test", |request| {
        // Reflects nothing of ours but a cookie of its own.
        assert!(!request.contains("hidden"), "{request}");
        response("200 OK", "set-cookie: c=d\r\n", "found")
    })
    .await;
    let head = "location: https://public.test/meta?page=1&token=hidden\r\nset-cookie: a=b\r\n";
    let origin = Server::answering(response("302 Found", head, "")).await;
    let names = Names::new().with("public.test", &["8.8.8.8"]).shared();
    let proxies = Proxies::one("proxy", &format!("http://{}", proxy.address)).unwrap();
    let settings = HttpSettings::new(origin.url("/"))
        .with_proxies(proxies)
        .with_resolver(names)
        .with_tls(TlsSettings::default().with_ca(authority.pem()));
    let client = HttpClient::new(settings).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer hidden"));
    headers.insert("x-mine", HeaderValue::from_static("hidden"));
    headers.insert("accept", HeaderValue::from_static("application/json"));
    let request = get(origin.url("/.well-known/x").as_str())
        .with_headers(headers)
        .with_redirects(Redirects::Discovery);
    let mut answer = client.send(request).await.unwrap();
    assert_eq!(answer.url.as_str(), "https://public.test/meta?page=1");
    assert_eq!(answer.read_whole(10).await.unwrap(), "found");
    told.recv().await.unwrap();
    let second = told.recv().await.unwrap().to_lowercase();
    assert!(
        second.starts_with("get /meta?page=1 http/1.1\r\n"),
        "{second}"
    );
    assert!(second.contains("accept: application/json\r\n"), "{second}");
    assert!(
        !second.contains("cookie") && !second.contains("authorization"),
        "{second}"
    );
}

#[tokio::test]
async fn what_a_proxy_refuses_is_its_failure_and_nothing_was_sent() {
    for (status, reason) in [
        (
            "407 Proxy Authentication Required",
            "it asks for a name and a password",
        ),
        ("502 Bad Gateway", "it refuses to connect there"),
        ("403 Forbidden", "it refuses to connect there"),
    ] {
        let proxy = Server::answering(response(status, "", "")).await;
        let url = format!("http://{SECRET}@{}", proxy.address);
        let client = HttpClient::new(settings(&url, Names::new().shared())).unwrap();
        let (count, begun) = counter();
        let request = get("https://site.test/x?token=hidden").with_begun(begun);
        let error = client.send(request).await.unwrap_err();
        assert!(!error.was_sent());
        assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 0);
        let text = error.to_string();
        let start = format!(
            "no connection to https://site.test through the proxy http://{}: ",
            proxy.address
        );
        assert!(text.starts_with(&start) && text.contains(reason), "{text}");
        assert!(!text.contains("hidden"), "{text}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named() {
    let nobody = Nobody::new();
    let address = nobody.address;
    for scheme in ["http", "socks5"] {
        for target in ["https://site.test/", "http://site.test/"] {
            let names = Names::new().with("site.test", &["10.0.0.1"]).shared();
            let settings = settings(&format!("{scheme}://{address}"), names);
            let client = HttpClient::new(settings).unwrap();
            let error = client.send(get(target)).await.unwrap_err();
            assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
            assert!(
                error.to_string().contains("is anything running there"),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_name_that_is_not_found_is_that_of_the_proxy_or_of_the_server() {
    for (proxy, wanted) in [
        (
            "http://proxy.test:3128",
            "no connection to https://site.test through the proxy http://proxy.test:3128: the name \
             \"proxy.test\" was not resolved: no such name; check its spelling and the network",
        ),
        (
            "socks5://127.0.0.1:1",
            "the name \"site.test\" was not resolved: no such name; check its spelling and the \
             network",
        ),
    ] {
        let client = HttpClient::new(settings(proxy, Names::new().shared())).unwrap();
        let error = client.send(get("https://site.test/")).await.unwrap_err();
        assert_eq!(error.to_string(), wanted);
        assert!(!error.was_sent());
    }
}

#[tokio::test]
async fn behind_a_proxy_the_certificate_of_the_server_is_checked_all_the_same() {
    let (proxy, _told) = proxy(&Authority::new(), "site.test", ok).await;
    let settings = settings(&format!("http://{}", proxy.address), Names::new().shared());
    let client = HttpClient::new(settings).unwrap();
    let error = client.send(get("https://site.test/")).await.unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }), "{error:?}");
}

/// A SOCKS5 proxy (RFC 1928, RFC 1929) that plays the server itself and tells whom it was asked for.
async fn socks(mut stream: TcpStream, tell: UnboundedSender<String>) {
    let mut start = [0; 2];
    stream.read_exact(&mut start).await.expect("a greeting");
    let mut methods = vec![0; usize::from(start[1])];
    stream.read_exact(&mut methods).await.expect("methods");
    if methods.contains(&2) {
        write(&mut stream, [5, 2]).await;
        let mut text = Vec::new();
        stream.read_u8().await.expect("a version");
        for _ in 0..2 {
            let length = stream.read_u8().await.expect("a length");
            let mut word = vec![0; usize::from(length)];
            stream.read_exact(&mut word).await.expect("a word");
            text.push(String::from_utf8(word).expect("text"));
        }
        tell.send(text.join(":")).expect("the test listens");
        write(&mut stream, [1, 0]).await;
    } else {
        write(&mut stream, [5, 0]).await;
    }
    let mut request = [0; 4];
    stream.read_exact(&mut request).await.expect("a request");
    let host = match request[3] {
        1 => {
            let mut address = [0; 4];
            stream.read_exact(&mut address).await.expect("an address");
            std::net::Ipv4Addr::from(address).to_string()
        }
        _ => {
            let length = stream.read_u8().await.expect("a length");
            let mut name = vec![0; usize::from(length)];
            stream.read_exact(&mut name).await.expect("a name");
            String::from_utf8(name).expect("text")
        }
    };
    let port = stream.read_u16().await.expect("a port");
    tell.send(format!("{host}:{port}"))
        .expect("the test listens");
    stream
        .write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
        .expect("an answer");
    while read_request(&mut stream).await.is_some() {
        write(&mut stream, response("200 OK", "", "socks")).await;
    }
}

#[tokio::test]
async fn socks5_gets_an_address_and_socks5h_a_name() {
    for (scheme, user, expected) in [
        ("socks5", "", vec!["10.1.2.3:8080"]),
        ("socks5h", "", vec!["site.test:8080"]),
        (
            "socks5h",
            "me:hidden-pass@",
            vec!["me:hidden-pass", "site.test:8080"],
        ),
    ] {
        let (tell, mut told) = unbounded_channel();
        let proxy = Server::start(move |stream, _| socks(stream, tell.clone())).await;
        let names = Names::new().with("site.test", &["10.1.2.3"]).shared();
        let url = format!("{scheme}://{user}{}", proxy.address);
        let client = HttpClient::new(settings(&url, names)).unwrap();
        let mut answer = client.send(get("http://site.test:8080/x")).await.unwrap();
        assert_eq!(answer.read_whole(10).await.unwrap(), "socks");
        for word in expected {
            assert_eq!(told.recv().await.unwrap(), word);
        }
    }
}

#[tokio::test]
async fn a_derived_name_is_checked_again_where_socks5_resolves_it_here() {
    let (tell, _told) = unbounded_channel();
    let proxy = Server::start(move |stream, _| socks(stream, tell.clone())).await;
    let names = Names::new()
        .with("evil.test", &["8.8.8.8"])
        .with("evil.test", &["127.0.0.1"])
        .shared();
    let url = format!("socks5://{}", proxy.address);
    let client = HttpClient::new(settings(&url, names.clone())).unwrap();
    let request = get("https://evil.test/").with_source(UrlSource::Derived);
    let error = client.send(request).await.unwrap_err();
    assert!(matches!(error, HttpError::Refused { .. }), "{error:?}");
    assert_eq!(proxy.accepted(), 0);
}
