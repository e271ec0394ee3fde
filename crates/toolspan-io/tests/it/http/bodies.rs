//! Is a body read within its bounds, whatever its server announces, packs or breaks off?

use std::sync::Arc;
use std::time::Duration;

use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZlibEncoder};
use http::Method;
use tokio::io::AsyncWriteExt as _;
use toolspan_io::http::{HttpError, HttpRequest, HttpResponse, WaitedFor};

use super::exchange::client;
use super::server::{Server, read_request, response, write};

const MIB: usize = 1024 * 1024;

async fn get(server: &Server) -> HttpResponse {
    let url = server.url("/");
    let request =
        HttpRequest::new(Method::GET, url.clone()).with_idle_limit(Duration::from_secs(60));
    client(&url).send(request).await.expect("a head")
}

/// A response with this header and body, as its bytes.
fn bytes(header: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A response that is sent once, after which the connection is closed.
async fn once(bytes: Vec<u8>) -> Server {
    Server::start(move |mut stream, _| {
        let bytes = bytes.clone();
        async move {
            read_request(&mut stream).await;
            write(&mut stream, bytes).await;
        }
    })
    .await
}

/// Sends a piece again and again, for as long as somebody reads.
async fn endless(
    head: &'static str,
    piece: impl Into<Vec<u8>>,
) -> (Server, tokio::sync::mpsc::Receiver<()>) {
    let (ended, end) = tokio::sync::mpsc::channel(1);
    let piece: Arc<[u8]> = piece.into().into();
    let server = Server::start(move |mut stream, _| {
        let (ended, piece) = (ended.clone(), piece.clone());
        async move {
            read_request(&mut stream).await;
            write(&mut stream, head).await;
            while stream.write_all(&piece).await.is_ok() {}
            ended.send(()).await.expect("the test listens");
        }
    })
    .await;
    (server, end)
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_at_once() {
    let server = once(bytes(
        &format!("content-length: {}", 256 * MIB),
        b"never read",
    ))
    .await;
    let error = get(&server).await.read_whole(16 * MIB).await.unwrap_err();
    assert_eq!(error, HttpError::TooLarge { limit: 16 * MIB });
    assert_eq!(
        error.to_string(),
        "the response is larger than 16777216 bytes"
    );
    assert!(error.was_answered());
}

#[tokio::test]
async fn an_endless_body_ends_at_the_limit_and_its_connection_is_dropped() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let (server, mut end) = endless(head, chunk).await;
    let mut answer = get(&server).await;
    let error = answer.read_whole(MIB).await.unwrap_err();
    assert_eq!(error, HttpError::TooLarge { limit: MIB });
    drop(answer);
    end.recv().await.unwrap();
}

#[tokio::test]
async fn a_body_as_long_as_the_limit_is_whole_and_one_byte_more_is_not() {
    for (length, limit, fits) in [
        (1000, 1000, true),
        (1001, 1000, false),
        (0, 0, true),
        (1, 0, false),
    ] {
        let body = "x".repeat(length);
        let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
        let chunked = if length == 0 {
            "0\r\n\r\n".to_owned()
        } else {
            chunked
        };
        for server in [
            once(response("200 OK", "", &body).into_bytes()).await,
            once(bytes("transfer-encoding: chunked", chunked.as_bytes())).await,
        ] {
            let whole = get(&server).await.read_whole(limit).await;
            assert_eq!(whole.is_ok_and(|whole| whole.len() == length), fits);
        }
    }
}

#[tokio::test]
async fn each_encoding_that_is_asked_for_is_unpacked() {
    let text = b"hello, hello, hello and hello ".repeat(100);
    let mut gzip = GzipEncoder::new(Vec::new());
    gzip.write_all(&text).await.unwrap();
    gzip.shutdown().await.unwrap();
    let mut deflate = ZlibEncoder::new(Vec::new());
    deflate.write_all(&text).await.unwrap();
    deflate.shutdown().await.unwrap();
    let mut brotli = BrotliEncoder::new(Vec::new());
    brotli.write_all(&text).await.unwrap();
    brotli.shutdown().await.unwrap();
    for (name, packed) in [
        ("gzip", gzip.into_inner()),
        ("GZIP", Vec::new()),
        ("deflate", deflate.into_inner()),
        ("br", brotli.into_inner()),
        ("identity", text.clone()),
    ] {
        let header = format!(
            "content-encoding: {name}\r\ncontent-length: {}",
            packed.len()
        );
        let whole = get(&once(bytes(&header, &packed)).await)
            .await
            .read_whole(text.len())
            .await;
        if packed.is_empty() {
            assert!(matches!(whole, Ok(whole) if whole.is_empty()));
        } else {
            assert_eq!(whole.unwrap(), text, "{name}");
        }
    }
}

#[tokio::test]
async fn a_packed_stream_is_given_out_as_it_comes() {
    let mut gzip = GzipEncoder::new(Vec::new());
    let mut brotli = BrotliEncoder::new(Vec::new());
    let mut events = Vec::new();
    for event in [b"data: 1\n\n", b"data: 2\n\n"] {
        gzip.write_all(event).await.unwrap();
        gzip.flush().await.unwrap();
        brotli.write_all(event).await.unwrap();
        brotli.flush().await.unwrap();
        events.push((
            std::mem::take(gzip.get_mut()),
            std::mem::take(brotli.get_mut()),
        ));
    }
    let (gzip, brotli): (Vec<_>, Vec<_>) = events.into_iter().unzip();
    for (name, pieces) in [("gzip", gzip), ("br", brotli)] {
        let (arrived, mut heard) = tokio::sync::mpsc::channel(1);
        let gate = Arc::new(tokio::sync::Notify::new());
        let (head, open) = (
            format!("HTTP/1.1 200 OK\r\ncontent-encoding: {name}\r\n\r\n"),
            gate.clone(),
        );
        let server = Server::start(move |mut stream, _| {
            let (pieces, head, open) = (pieces.clone(), head.clone(), open.clone());
            let arrived = arrived.clone();
            async move {
                read_request(&mut stream).await;
                write(&mut stream, head).await;
                write(&mut stream, &pieces[0]).await;
                // The second event waits until the first has been read.
                open.notified().await;
                write(&mut stream, &pieces[1]).await;
                arrived.send(stream).await.expect("the test listens");
            }
        })
        .await;
        let mut answer = get(&server).await;
        assert_eq!(
            answer.body().chunk().await.unwrap().unwrap(),
            "data: 1\n\n",
            "{name}"
        );
        gate.notify_one();
        let stream = heard.recv().await.unwrap();
        assert_eq!(
            answer.body().chunk().await.unwrap().unwrap(),
            "data: 2\n\n",
            "{name}"
        );
        drop(stream);
    }
}

#[tokio::test]
async fn a_bomb_is_found_by_its_ratio_and_costs_no_more_than_the_reader_takes() {
    let zeros = vec![0_u8; 4 * MIB];
    let mut gzip = GzipEncoder::new(Vec::new());
    gzip.write_all(&zeros).await.unwrap();
    gzip.shutdown().await.unwrap();
    let packed = gzip.into_inner();
    assert!(zeros.len() / packed.len() > 900, "{}", packed.len());
    let header = format!("content-encoding: gzip\r\ncontent-length: {}", packed.len());
    let server = once(bytes(&header, &packed)).await;
    let error = get(&server).await.read_whole(16 * MIB).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the packed response cannot be used: it grows to more than 100 times its packed size"
    );
    // The limit counts what comes out, not what came in.
    let error = get(&server).await.read_whole(MIB / 2).await.unwrap_err();
    assert_eq!(error, HttpError::TooLarge { limit: MIB / 2 });
}

#[tokio::test]
async fn what_is_not_packed_as_it_says_is_an_error() {
    for (encoding, reason) in [
        ("gzip", "it is not what its encoding says"),
        ("deflate", "it is not what its encoding says"),
        ("br", "it is not what its encoding says"),
        ("zstd", "its encoding \"zstd\" was not asked for"),
        ("gzip, br", "its encoding \"gzip, br\" was not asked for"),
    ] {
        let server = once(bytes(
            &format!("content-encoding: {encoding}\r\ncontent-length: 20"),
            b"this is nothing like",
        ))
        .await;
        let error = get(&server).await.read_whole(100).await.unwrap_err();
        assert!(matches!(error, HttpError::Unpacking { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn a_body_that_ends_early_is_broken() {
    let chunked = "transfer-encoding: chunked";
    for (header, body) in [
        ("content-length: 100", "only this"),
        (chunked, "5\r\nhello\r\n"),
        (chunked, "5\r\nhel"),
        (chunked, "FFFFFFFFFFFFFFFF\r\nhello"),
        (chunked, "FFFFFFFFFFFFFFFFF\r\nhello"),
        (chunked, "what\r\nhello"),
    ] {
        let server = once(bytes(header, body.as_bytes())).await;
        let error = get(&server).await.read_whole(100).await.unwrap_err();
        assert!(
            matches!(error, HttpError::Broken { sent: true, .. }),
            "{header}, {body}: {error:?}"
        );
    }
    // So is a packed one.
    let mut gzip = GzipEncoder::new(Vec::new());
    gzip.write_all(b"some text that is cut").await.unwrap();
    gzip.shutdown().await.unwrap();
    let packed = gzip.into_inner();
    let server = once(bytes(
        "content-encoding: gzip\r\ncontent-length: 900",
        &packed[..12],
    ))
    .await;
    let error = get(&server).await.read_whole(1000).await.unwrap_err();
    assert!(
        matches!(error, HttpError::Broken { sent: true, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_body_longer_than_its_length_is_cut_there_and_its_connection_is_not_used_again() {
    let server = once(bytes(
        "content-length: 5",
        b"hello and HTTP/1.1 200 OK\r\n\r\n",
    ))
    .await;
    let url = server.url("/");
    let client = client(&url);
    for nth in 1..=2 {
        let request = HttpRequest::new(Method::GET, url.clone());
        let mut answer = client.send(request).await.unwrap();
        assert_eq!(answer.read_whole(100).await.unwrap(), "hello");
        assert_eq!(server.accepted(), nth);
    }
}

#[tokio::test]
async fn with_two_lengths_the_response_is_refused_or_chunks_win() {
    let server = once(bytes("content-length: 5\r\ncontent-length: 6", b"hello!")).await;
    let url = server.url("/");
    let request = HttpRequest::new(Method::GET, url.clone());
    let error = client(&url).send(request).await.unwrap_err();
    assert!(
        matches!(error, HttpError::Broken { sent: true, .. }),
        "{error:?}"
    );
    let both = "content-length: 900\r\ntransfer-encoding: chunked";
    let server = once(bytes(both, b"5\r\nhello\r\n0\r\n\r\n")).await;
    let whole = get(&server).await.read_whole(100).await;
    assert_eq!(whole.unwrap(), "hello");
}

#[tokio::test]
async fn the_head_of_a_response_has_bounds() {
    let many: String = (0..101).map(|nth| format!("x-{nth}: 1\r\n")).collect();
    let long = format!("x-long: {}\r\n", "x".repeat(MIB));
    let headers = format!("content-length: 0\r\n{many}");
    for head in [headers.as_str(), long.as_str()] {
        let server = once(bytes(head.trim_end(), b"")).await;
        let url = server.url("/");
        let request = HttpRequest::new(Method::GET, url.clone());
        let error = client(&url).send(request).await.unwrap_err();
        let HttpError::Broken {
            reason, sent: true, ..
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!(
            reason,
            "what came cannot be read as HTTP (message head is too large)"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stands_still_ends_at_the_idle_limit() {
    let server = Server::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        write(&mut stream, bytes("content-length: 10", b"hello")).await;
        std::future::pending::<()>().await;
    })
    .await;
    let mut answer = get(&server).await;
    assert_eq!(answer.body().chunk().await.unwrap().unwrap(), "hello");
    let started = tokio::time::Instant::now();
    let error = answer.body().chunk().await.unwrap_err();
    assert!(started.elapsed() >= Duration::from_secs(60));
    assert!(started.elapsed() < Duration::from_millis(60_010));
    let expected = HttpError::Timeout {
        waited_for: WaitedFor::Body,
        after: Duration::from_secs(60),
        sent: true,
    };
    assert_eq!(error, expected);
}

#[tokio::test]
async fn an_excerpt_is_short_clean_and_empty_for_what_is_no_text() {
    for (body, expected) in [
        ("<h1>\n  Log\tin\u{1b}[31m</h1>", "<h1> Log in [31m</h1>"),
        ("", ""),
        ("\0\0binary", ""),
        (
            "0123456789012345678901234567890",
            "0123456789012345678901234",
        ),
        ("012345678901234567890123é and", "012345678901234567890123"),
    ] {
        let server = once(response("500 Sorry", "", body).into_bytes()).await;
        assert_eq!(get(&server).await.excerpt(25).await, expected);
    }
    let (server, _end) = endless("HTTP/1.1 500 Sorry\r\n\r\n", b"no end ").await;
    assert_eq!(get(&server).await.excerpt(13).await, "no end no end");
}

#[tokio::test]
async fn a_hint_to_wait_is_read_with_the_servers_own_clock() {
    let date = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    for (hint, expected) in [
        ("7", Some(7)),
        ("99999", Some(86_400)),
        ("Sun, 06 Nov 1994 08:49:57 GMT", Some(20)),
        ("Sat, 05 Nov 1994 08:49:57 GMT", Some(0)),
        ("abc", None),
    ] {
        let headers = format!("{date}retry-after: {hint}\r\n");
        let server = once(response("429 Too Many Requests", &headers, "").into_bytes()).await;
        let found = get(&server).await.retry_after();
        assert_eq!(found, expected.map(Duration::from_secs), "{hint}");
    }
}
