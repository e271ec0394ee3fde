//! When a connection breaks, is the error there at once, and right about what was sent?

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::Method;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use toolspan_io::http::{HttpError, HttpRequest};

use super::exchange::{client, counter};
use super::server::{Server, read_request, response, write};

/// Closes a connection by a reset.
fn reset(stream: TcpStream) {
    stream.set_zero_linger().expect("a socket");
    drop(stream);
}

#[tokio::test]
async fn a_reset_before_the_status_is_an_error_and_the_request_may_have_arrived() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        reset(stream);
    })
    .await;
    for (method, body) in [(Method::POST, "x"), (Method::GET, "")] {
        let (count, begun) = counter();
        let request = HttpRequest::new(method, server.url("/"))
            .with_body(body)
            .with_begun(begun);
        let error = client(&server.url("/")).send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
        assert!(error.was_sent() && !error.was_answered());
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert!(
            error
                .to_string()
                .ends_with("broke: the connection was reset"),
            "{error}"
        );
    }
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn an_end_before_or_within_the_status_is_an_error_and_nothing_is_sent_again() {
    for start in ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\ncontent-le"] {
        let server = Server::start(move |mut stream, _| async move {
            read_request(&mut stream).await;
            write(&mut stream, start).await;
        })
        .await;
        let request = HttpRequest::new(Method::POST, server.url("/")).with_body("x");
        let error = client(&server.url("/")).send(request).await.unwrap_err();
        assert!(error.was_sent());
        assert!(
            error.to_string().contains("ended before the response did"),
            "{error}"
        );
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn a_reset_behind_the_headers_or_within_the_body_is_an_error_of_the_body() {
    for body in ["", "12345"] {
        let (go, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (wait, tell) = (go.clone(), gone.clone());
        let server = Server::start(move |mut stream, _| {
            let (wait, tell) = (wait.clone(), tell.clone());
            async move {
                read_request(&mut stream).await;
                let head = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n";
                write(&mut stream, format!("{head}{body}")).await;
                wait.notified().await;
                reset(stream);
                tell.notify_one();
            }
        })
        .await;
        let request = HttpRequest::new(Method::POST, server.url("/")).with_body("x");
        let mut answer = client(&server.url("/")).send(request).await.unwrap();
        if !body.is_empty() {
            assert_eq!(answer.body().chunk().await.unwrap().unwrap(), body);
        }
        go.notify_one();
        gone.notified().await;
        let error = answer.read_whole(100).await.unwrap_err();
        assert!(
            matches!(error, HttpError::Broken { sent: true, .. }),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn what_is_no_http_is_named_so() {
    for answer in [
        "SSH-2.0-OpenSSH_9.6\r\n",
        "HTTP/1.1 9999 OK\r\n\r\n",
        "\u{0}\u{1}\u{2}\r\n\r\n",
    ] {
        let server = Server::start(move |mut stream, _| async move {
            read_request(&mut stream).await;
            write(&mut stream, answer).await;
        })
        .await;
        let request = HttpRequest::new(Method::GET, server.url("/"));
        let error = client(&server.url("/")).send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
        assert!(
            error.to_string().contains("cannot be read as HTTP"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_the_server_closed_meanwhile_is_not_used() {
    let (closed, mut was_closed) = mpsc::channel(1);
    let server = Server::start(move |mut stream, nth| {
        let closed = closed.clone();
        async move {
            read_request(&mut stream).await;
            write(&mut stream, response("200 OK", "", "ok")).await;
            if nth == 0 {
                drop(stream);
                closed.send(()).await.expect("the test listens");
            }
        }
    })
    .await;
    let client = client(&server.url("/"));
    for nth in 0..2 {
        let (count, begun) = counter();
        let request = HttpRequest::new(Method::POST, server.url("/"))
            .with_body("x")
            .with_begun(begun);
        let mut answer = client.send(request).await.unwrap();
        assert_eq!(answer.read_whole(10).await.unwrap(), "ok");
        // Exactly once each: the request was not begun on the dead connection.
        assert_eq!(count.load(Ordering::SeqCst), 1);
        if nth == 0 {
            was_closed.recv().await.unwrap();
        }
    }
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn a_request_written_to_a_connection_that_dies_is_not_sent_again() {
    // The first answer keeps the connection; the second request is taken and not answered.
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        write(&mut stream, response("200 OK", "", "ok")).await;
        read_request(&mut stream).await;
    })
    .await;
    let client = client(&server.url("/"));
    let request = HttpRequest::new(Method::POST, server.url("/")).with_body("x");
    client
        .send(request.clone())
        .await
        .unwrap()
        .read_whole(10)
        .await
        .unwrap();
    let error = client.send(request).await.unwrap_err();
    assert!(error.was_sent(), "{error:?}");
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_dropped_request_ends_its_connection() {
    let (arrived, mut has_arrived) = mpsc::channel(1);
    let (ended, mut has_ended) = mpsc::channel(1);
    let server = Server::start(move |mut stream, _| {
        let (arrived, ended) = (arrived.clone(), ended.clone());
        async move {
            read_request(&mut stream).await;
            arrived.send(()).await.expect("the test listens");
            assert_eq!(read_request(&mut stream).await, None);
            ended.send(()).await.expect("the test listens");
        }
    })
    .await;
    let client = client(&server.url("/"));
    let request = HttpRequest::new(Method::POST, server.url("/")).with_body("x");
    let sending = tokio::spawn(async move { client.send(request).await });
    has_arrived.recv().await.unwrap();
    sending.abort();
    has_ended.recv().await.unwrap();
}
