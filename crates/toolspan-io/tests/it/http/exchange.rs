//! Does a plain exchange work, and does the client know when a request leaves?

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use toolspan_io::http::{Begun, HttpClient, HttpError, HttpRequest, HttpSettings, WaitedFor};
use url::Url;

use super::server::{Nobody, Server, read_request, response, write};

/// A client with defaults for a URL.
pub(crate) fn client(base: &Url) -> HttpClient {
    HttpClient::new(HttpSettings::new(base.clone())).expect("plain settings")
}

/// Counts how often a request began.
pub(crate) fn counter() -> (Arc<AtomicUsize>, Begun) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let begun: Begun = Arc::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        true
    });
    (count, begun)
}

#[tokio::test]
async fn a_post_arrives_whole_and_its_answer_comes_back() {
    let server = Server::start(|mut stream, _| async move {
        let request = read_request(&mut stream).await.unwrap();
        let echo = response("201 Created", "x-kind: echo\r\n", &request);
        write(&mut stream, echo).await;
    })
    .await;
    let url = server.url("/mcp?a=b");
    let mut headers = HeaderMap::new();
    headers.insert("x-mine", HeaderValue::from_static("yes"));
    let request = HttpRequest::new(Method::POST, url.clone())
        .with_headers(headers)
        .with_body("{\"id\":1}");
    let mut answer = client(&url).send(request).await.unwrap();
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.headers["x-kind"], "echo");
    assert_eq!(answer.url, url);
    let echoed = answer.read_whole(4096).await.unwrap();
    let echoed = std::str::from_utf8(&echoed).unwrap();
    assert!(echoed.starts_with("POST /mcp?a=b HTTP/1.1\r\n"), "{echoed}");
    assert!(echoed.contains("content-length: 8\r\n"), "{echoed}");
    assert!(echoed.contains("x-mine: yes\r\n"), "{echoed}");
    assert!(echoed.contains("user-agent: toolspan/"), "{echoed}");
    assert!(
        echoed.contains("accept-encoding: gzip, deflate, br\r\n"),
        "{echoed}"
    );
    assert!(
        !echoed.contains("referer") && !echoed.contains("cookie"),
        "{echoed}"
    );
    assert!(echoed.ends_with("\r\n\r\n{\"id\":1}"), "{echoed}");
}

#[tokio::test]
async fn connections_are_kept_for_the_next_request() {
    let server = Server::answering(response("200 OK", "", "hello")).await;
    let url = server.url("/");
    let client = client(&url);
    for _ in 0..3 {
        let request = HttpRequest::new(Method::GET, url.clone());
        let mut answer = client.send(request).await.unwrap();
        assert_eq!(answer.read_whole(5).await.unwrap(), "hello");
    }
    assert_eq!(server.accepted(), 1);
    assert_eq!(client.connections(), 1);
}

#[tokio::test]
async fn the_start_of_a_request_is_told_once_it_has_a_connection_and_not_before() {
    let server = Server::answering(response("200 OK", "", "")).await;
    let url = server.url("/");
    let client = client(&url);
    for (method, body) in [(Method::POST, "x"), (Method::GET, ""), (Method::DELETE, "")] {
        let (count, begun) = counter();
        let request = HttpRequest::new(method, url.clone())
            .with_body(body)
            .with_begun(begun);
        client.send(request).await.unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
    let nowhere = Nobody::new();
    let nobody = Url::parse(&format!("http://{}/", nowhere.address)).unwrap();
    for (method, body) in [(Method::POST, "x"), (Method::GET, ""), (Method::DELETE, "")] {
        let (count, begun) = counter();
        let request = HttpRequest::new(method, nobody.clone())
            .with_body(body)
            .with_begun(begun);
        let error = client.send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Connect { .. }), "{error:?}");
        assert!(!error.was_sent());
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn of_a_request_that_is_taken_back_at_its_start_not_one_byte_goes_out() {
    let (came, mut heard) = tokio::sync::mpsc::channel(1);
    let server = Server::start(move |mut stream, _| {
        let came = came.clone();
        async move {
            let mut bytes = Vec::new();
            let end = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut bytes).await;
            came.send((end.is_ok(), bytes)).await.unwrap();
        }
    })
    .await;
    let url = server.url("/");
    let request = HttpRequest::new(Method::POST, url.clone())
        .with_body("x")
        .with_begun(Arc::new(|| false));
    let error = client(&url).send(request).await.unwrap_err();
    assert!(matches!(error, HttpError::Invalid { .. }), "{error:?}");
    assert!(!error.was_sent());
    assert_eq!(heard.recv().await, Some((true, Vec::new())));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_is_a_timeout_counted_from_the_start() {
    let (arrived, mut heard) = tokio::sync::mpsc::channel(1);
    let server = Server::start(move |mut stream, _| {
        let arrived = arrived.clone();
        async move {
            read_request(&mut stream).await;
            arrived.send(()).await.unwrap();
            std::future::pending::<()>().await;
        }
    })
    .await;
    let url = server.url("/");
    let limit = Duration::from_secs(30);
    let request = HttpRequest::new(Method::POST, url.clone())
        .with_body("x")
        .with_header_limit(limit);
    let client = client(&url);
    let sending = tokio::spawn(async move { client.send(request).await });
    heard.recv().await.unwrap();
    let error = sending.await.unwrap().unwrap_err();
    let expected = HttpError::Timeout {
        waited_for: WaitedFor::Head,
        after: limit,
        sent: true,
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "the head of the response did not come within 30 s"
    );
}

#[tokio::test]
async fn headers_that_frame_a_message_are_refused_by_name() {
    let url = Url::parse("http://127.0.0.1:9/").unwrap();
    let client = client(&url);
    for name in [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static("5"));
        headers.insert(
            AUTHORIZATION,
            HeaderValue::from_static("Bearer hidden-value"),
        );
        let request = HttpRequest::new(Method::GET, url.clone()).with_headers(headers);
        assert!(!format!("{request:?}").contains("hidden-value"));
        let error = client.send(request).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the request cannot be sent: the header `{name}` is set by the client alone")
        );
    }
    assert_eq!(client.connections(), 0);
}

#[tokio::test]
async fn a_url_that_http_cannot_write_is_an_invalid_request() {
    let url = Url::parse(&format!("http://127.0.0.1:9/{}", "x".repeat(70_000))).unwrap();
    let client = client(&url);
    let request = HttpRequest::new(Method::GET, url);
    let error = client.send(request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the request cannot be sent: its URL is too long, or not one of HTTP"
    );
    assert_eq!(client.connections(), 0);
}
