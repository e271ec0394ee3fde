//! Does everything hold over HTTP/2 as well?

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, Method, Request, Response};
use tokio::sync::Barrier;
use toolspan_io::http::{HttpClient, HttpError, HttpRequest, HttpSettings, TlsSettings};
use url::Url;

use super::authority::Authority;
use super::exchange::counter;
use super::server::Server;

type Asked = Request<RecvStream>;

/// A server and a client that trusts it. `serve` gets each request.
async fn pair<S, F>(serve: S) -> (Server, HttpClient, Url)
where
    S: Fn(Asked, SendResponse<Bytes>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let authority = Authority::new();
    let acceptor = authority.leaf("localhost").acceptor_of_http2();
    let server = Server::start(move |stream, _| {
        let (acceptor, serve) = (acceptor.clone(), serve.clone());
        async move {
            let stream = acceptor.accept(stream).await.expect("a handshake");
            let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
            let mut running = tokio::task::JoinSet::new();
            while let Some(Ok((request, respond))) = connection.accept().await {
                running.spawn(serve(request, respond));
            }
        }
    })
    .await;
    let url = Url::parse(&format!("https://localhost:{}/mcp", server.address.port()));
    let url = url.expect("a URL");
    let tls = TlsSettings::default().with_ca(authority.pem());
    let client = HttpClient::new(HttpSettings::new(url.clone()).with_tls(tls));
    (server, client.expect("plain settings"), url)
}

async fn read(mut request: Asked) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(Ok(piece)) = request.body_mut().data().await {
        whole.extend_from_slice(&piece);
    }
    whole
}

#[tokio::test]
async fn many_requests_share_one_connection() {
    let together = Arc::new(Barrier::new(32));
    let (server, client, url) = pair(move |request, mut respond| {
        let together = together.clone();
        async move {
            let body = read(request).await;
            // No answer before all have come.
            together.wait().await;
            let mut stream = respond
                .send_response(Response::new(()), false)
                .expect("a head");
            stream.send_data(body.into(), true).expect("a body");
        }
    })
    .await;
    // The first opens the connection that the others then share.
    let (count, begun) = counter();
    let mut running = tokio::task::JoinSet::new();
    let (first, is_begun) = (std::sync::Once::new(), Arc::new(tokio::sync::Notify::new()));
    let tell = is_begun.clone();
    let begun: toolspan_io::http::Begun = Arc::new(move || {
        first.call_once(|| tell.notify_one());
        begun()
    });
    for nth in 0..32 {
        let (client, url, begun) = (client.clone(), url.clone(), begun.clone());
        running.spawn(async move {
            let request = HttpRequest::new(Method::POST, url)
                .with_body(nth.to_string())
                .with_begun(begun);
            let mut answer = client.send(request).await.expect("an answer");
            assert_eq!(
                answer.read_whole(10).await.expect("a body"),
                nth.to_string()
            );
        });
        if nth == 0 {
            is_begun.notified().await;
        }
    }
    running.join_all().await;
    assert_eq!(count.load(Ordering::SeqCst), 32);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_request_that_the_server_refused_unread_was_not_sent() {
    for (reason, sent) in [
        (h2::Reason::REFUSED_STREAM, false),
        (h2::Reason::INTERNAL_ERROR, true),
    ] {
        let (_server, client, url) = pair(move |_request, mut respond| async move {
            respond.send_reset(reason);
        })
        .await;
        let request = HttpRequest::new(Method::POST, url).with_body("x");
        let error = client.send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
        assert_eq!(error.was_sent(), sent, "{error}");
    }
}

#[tokio::test]
async fn a_request_that_is_taken_back_at_its_start_is_reset_without_its_body() {
    let (told, mut tell) = tokio::sync::mpsc::channel(1);
    let (_server, client, url) = pair(move |mut request, _respond| {
        let told = told.clone();
        async move {
            let body = request.body_mut().data().await;
            let came = body.is_some_and(|piece| piece.is_ok());
            told.send(came).await.expect("the test listens");
        }
    })
    .await;
    let request = HttpRequest::new(Method::POST, url)
        .with_body("x")
        .with_begun(Arc::new(|| false));
    let error = client.send(request).await.unwrap_err();
    assert!(!error.was_sent(), "{error:?}");
    assert_eq!(tell.recv().await, Some(false), "the body did not come");
}

#[tokio::test]
async fn a_stream_that_is_reset_within_the_body_is_broken() {
    let (_server, client, url) = pair(|_request, mut respond| async move {
        let mut stream = respond
            .send_response(Response::new(()), false)
            .expect("a head");
        stream.send_data("start".into(), false).expect("a piece");
        stream.send_reset(h2::Reason::CANCEL);
    })
    .await;
    let request = HttpRequest::new(Method::GET, url);
    let error = match client.send(request).await {
        Ok(mut answer) => answer.read_whole(100).await.unwrap_err(),
        Err(error) => error,
    };
    assert!(
        matches!(error, HttpError::Broken { sent: true, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_head_of_a_response_has_bounds() {
    let (_server, client, url) = pair(|_request, mut respond| async move {
        let mut response = Response::new(());
        let mut headers = HeaderMap::new();
        for _ in 0..40 {
            headers.append("x-long", "x".repeat(8 * 1024).parse().expect("a value"));
        }
        *response.headers_mut() = headers;
        // The client's own settings may stop it already here.
        let _ = respond.send_response(response, true);
    })
    .await;
    let error = client
        .send(HttpRequest::new(Method::GET, url))
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
}
