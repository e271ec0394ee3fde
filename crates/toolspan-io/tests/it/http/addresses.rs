//! Is nobody contacted who may not be, whatever names resolve to and servers answer?

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use toolspan_io::http::{
    HttpClient, HttpError, HttpRequest, HttpSettings, Redirects, Refusal, Resolve, UrlSource,
};
use url::Url;

use super::names::{Names, Silent};
use super::server::{Server, read_request, response, write};

fn client(base: &Url, resolver: Arc<dyn Resolve>) -> HttpClient {
    HttpClient::new(HttpSettings::new(base.clone()).with_resolver(resolver))
        .expect("plain settings")
}

fn derived(url: &str) -> HttpRequest {
    HttpRequest::new(Method::GET, Url::parse(url).expect("a URL")).with_source(UrlSource::Derived)
}

fn base() -> Url {
    Url::parse("https://config.test/mcp").expect("a URL")
}

#[tokio::test]
async fn a_forbidden_url_of_a_server_is_refused_before_anybody_is_asked() {
    let names = Names::new().shared();
    let client = client(&base(), names.clone());
    for url in [
        "http://127.0.0.1:9090/",
        "https://127.0.0.1:9090/",
        "http://localhost.evil.test/",
        "http://evil.test#@127.0.0.1",
        "https://127.0.0.1@evil.test/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://[::ffff:7f00:1]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://0/",
        "https://[::]/",
        "https://127.1/",
        "https://169.254.169.254./",
        "https://①②⑦.0.0.1/",
        "https://169.254.169.254/",
        "https://10.0.0.5/",
        "https://[fd00:ec2::254]/",
        "https://168.63.129.16/",
        "https://localhost/",
        "https://metadata.google.internal/",
        "https://printer.local/",
        "file:///etc/passwd",
        "gopher://evil.test/",
        "ftp://evil.test/",
        "javascript:alert(1)",
        "http://config.test/mcp",
        "http://config.test:443/mcp",
    ] {
        let error = client.send(derived(url)).await.unwrap_err();
        assert!(
            matches!(error, HttpError::Refused { .. }),
            "{url}: {error:?}"
        );
        assert!(!error.was_sent());
    }
    assert_eq!(names.asked(), [""; 0]);
    assert_eq!(client.connections(), 0);
}

#[tokio::test]
async fn a_name_with_one_address_that_is_not_public_is_refused_whole() {
    for addresses in [
        vec!["127.0.0.1"],
        vec!["8.8.8.8", "127.0.0.1"],
        vec!["8.8.8.8", "2606:4700::1111", "10.0.0.1"],
        vec!["::ffff:169.254.169.254"],
        vec!["64:ff9b::7f00:1", "8.8.8.8"],
    ] {
        let inside = Server::answering(response("200 OK", "", "secret")).await;
        let port = inside.address.port();
        let names = Names::new().with("evil.test", &addresses).shared();
        let client = client(&base(), names.clone());
        let error = client
            .send(derived(&format!("https://evil.test:{port}/x?token=hidden")))
            .await
            .unwrap_err();
        let HttpError::Refused { target, reason } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(*target, format!("https://evil.test:{port}/x"));
        assert!(matches!(reason, Refusal::Address { .. }), "{reason:?}");
        assert!(!error.was_sent());
        assert_eq!(names.asked(), ["evil.test"]);
        assert_eq!(inside.accepted(), 0);
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_connection_goes_to_that_answer() {
    let right = Server::answering(response("200 OK", "", "right")).await;
    // The second answer would lead to an address where nobody listens.
    let names = Names::new()
        .with("config.test", &["127.0.0.1"])
        .with("config.test", &["127.0.0.2"])
        .shared();
    let url = Url::parse(&format!("http://config.test:{}/", right.address.port())).unwrap();
    let client = client(&url, names.clone());
    for _ in 0..2 {
        let request = HttpRequest::new(Method::GET, url.clone());
        let mut answer = client.send(request).await.unwrap();
        assert_eq!(answer.read_whole(100).await.unwrap(), "right");
    }
    assert_eq!(names.asked(), ["config.test"]);
    assert_eq!(right.accepted(), 1);
}

#[tokio::test]
async fn the_origin_of_the_users_url_may_be_named_by_a_server() {
    let server = Server::answering(response("200 OK", "", "ok")).await;
    let client = client(&server.url("/mcp"), Names::new().shared());
    let request = HttpRequest::new(Method::GET, server.url("/messages?session=1"))
        .with_source(UrlSource::Derived);
    assert_eq!(client.send(request).await.unwrap().status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_silent_resolver_is_an_error_after_five_seconds() {
    let url = Url::parse("http://config.test/").unwrap();
    let client = client(&url, Arc::new(Silent));
    let started = tokio::time::Instant::now();
    let error = client
        .send(HttpRequest::new(Method::GET, url))
        .await
        .unwrap_err();
    assert_eq!(started.elapsed().as_secs(), 5);
    assert!(started.elapsed() < Duration::from_millis(5010));
    assert_eq!(
        error.to_string(),
        "the name \"config.test\" was not resolved: no answer within 5 s; check its spelling and \
         the network"
    );
    assert!(!error.was_sent());
}

#[tokio::test]
async fn a_name_that_is_not_there_or_has_no_address_says_so() {
    let names = Names::new().with("empty.test", &[]).shared();
    let client = client(&base(), names);
    for (host, reason) in [
        ("missing.test", "no such name"),
        ("empty.test", "it has no address"),
    ] {
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        let error = client
            .send(HttpRequest::new(Method::GET, url))
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::Dns { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!error.was_sent());
    }
}

#[tokio::test]
async fn a_redirect_to_where_it_may_not_go_is_refused_and_nobody_else_is_asked() {
    let other = Server::answering(response("200 OK", "", "")).await;
    let loopback = other.url("/secret").to_string();
    let secure = loopback.replace("http:", "https:");
    for (location, reason) in [
        (loopback.as_str(), "another origin must be https"),
        (secure.as_str(), "a loopback address"),
        ("https://localhost/", "belongs to this machine"),
        ("https://inside.test/", "a private address"),
        ("file:///etc/passwd", "another origin must be https"),
        ("http://:99999", "no readable URL"),
    ] {
        for status in ["302 Found", "307 Temporary Redirect"] {
            let head = format!("location: {location}\r\nset-cookie: a=b\r\n");
            let server = Server::answering(response(status, &head, "")).await;
            let names = Names::new().with("inside.test", &["10.0.0.1"]).shared();
            let client = client(&server.url("/"), names);
            let request =
                HttpRequest::new(Method::GET, server.url("/")).with_redirects(Redirects::Discovery);
            let error = client.send(request).await.unwrap_err();
            assert!(matches!(error, HttpError::Redirect { .. }), "{error:?}");
            assert!(error.to_string().contains(reason), "{location}: {error}");
            assert!(error.was_answered());
        }
    }
    assert_eq!(other.accepted(), 0);
}

#[tokio::test]
async fn a_loop_of_redirects_ends_after_the_third() {
    let server = Server::start(|mut stream, _| async move {
        let mut nth = 0;
        while read_request(&mut stream).await.is_some() {
            nth += 1;
            let head = format!("location: /{nth}\r\nset-cookie: session=1\r\n");
            write(&mut stream, response("302 Found", &head, "")).await;
        }
    })
    .await;
    let client = client(&server.url("/"), Names::new().shared());
    let request =
        HttpRequest::new(Method::GET, server.url("/0")).with_redirects(Redirects::Discovery);
    let error = client.send(request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the server answered 302 and names {}, which is not followed: three redirects are \
             followed and no fourth",
            server.url("/4")
        )
    );
}

#[tokio::test]
async fn a_post_is_sent_on_once_within_its_origin_with_method_and_body_and_no_cookie() {
    let (seen, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::start(move |mut stream, _| {
        let seen = seen.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                let answer = if request.starts_with("POST /old ") {
                    let head = "location: /new\r\nset-cookie: session=1\r\n";
                    response("307 Temporary Redirect", head, "moved")
                } else {
                    response("200 OK", "", "here")
                };
                seen.send(request).expect("the test listens");
                write(&mut stream, answer).await;
            }
        }
    })
    .await;
    let client = client(&server.url("/old"), Names::new().shared());
    let request = HttpRequest::new(Method::POST, server.url("/old"))
        .with_body("the body")
        .with_redirects(Redirects::SameOriginOnce);
    let mut answer = client.send(request).await.unwrap();
    assert_eq!(answer.url, server.url("/new"));
    assert_eq!(answer.read_whole(10).await.unwrap(), "here");
    requests.recv().await.unwrap();
    let second = requests.recv().await.unwrap();
    assert!(second.starts_with("POST /new HTTP/1.1\r\n"), "{second}");
    assert!(second.ends_with("the body"), "{second}");
    assert!(!second.to_lowercase().contains("cookie"), "{second}");
}

#[tokio::test]
async fn a_post_to_another_port_is_not_sent_on() {
    let other = Server::answering(response("200 OK", "", "")).await;
    let head = format!("location: {}\r\n", other.url("/mcp"));
    let server = Server::answering(response("307 Temporary Redirect", &head, "")).await;
    let client = client(&server.url("/"), Names::new().shared());
    let request = HttpRequest::new(Method::POST, server.url("/"))
        .with_body("x")
        .with_redirects(Redirects::SameOriginOnce);
    let error = client.send(request).await.unwrap_err();
    assert!(
        error.to_string().contains(other.url("/mcp").as_str()),
        "{error}"
    );
    assert_eq!(other.accepted(), 0);
}

#[tokio::test]
async fn plain_http_within_the_machine_gives_no_warning() {
    let server = Server::answering(response("200 OK", "", "")).await;
    let names = Names::new().with("config.test", &["127.0.0.1"]).shared();
    let url = Url::parse(&format!("http://config.test:{}/", server.address.port())).unwrap();
    let client = client(&url, names);
    client
        .send(HttpRequest::new(Method::GET, url))
        .await
        .unwrap();
    client
        .send(HttpRequest::new(Method::GET, server.url("/")))
        .await
        .unwrap();
    assert_eq!(client.warnings(), [""; 0]);
}
