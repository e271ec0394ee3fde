//! What does a large body cost in memory, at the worst moment?
//!
//! Measured in a process of its own, beside the same process with a small body.

use std::path::PathBuf;
use std::process::Command;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::server::{Server, read_request, write};

const MIB: usize = 1024 * 1024;
const BODY: usize = 256 * MIB;
const LIMIT: usize = 16 * MIB;

/// What a read may cost beside the bytes that are kept: hyper's buffer of at most 408 KiB and the
/// allocator's own room. Some 0.6 MiB were seen.
const SLACK: usize = 2 * MIB;

/// Serves `/length`, `/chunked` and `/gzip` with 256 MiB, `/fits` with 16 MiB, `/small` with a word.
async fn serve(mut stream: TcpStream) {
    let request = read_request(&mut stream).await.expect("a request");
    let path = request.split(' ').nth(1).expect("a path");
    let (head, packed) = match path {
        "/length" => (format!("content-length: {BODY}"), false),
        "/fits" => ("transfer-encoding: chunked".to_owned(), false),
        "/chunked" => ("transfer-encoding: chunked".to_owned(), false),
        "/gzip" => ("content-encoding: gzip".to_owned(), true),
        _ => {
            return write(
                &mut stream,
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
            )
            .await;
        }
    };
    write(&mut stream, format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n")).await;
    let pieces = if path == "/fits" { 16 } else { 256 };
    let piece = vec![b'x'; MIB];
    if packed {
        let mut gzip = async_compression::tokio::write::GzipEncoder::new(stream);
        for _ in 0..pieces {
            if gzip.write_all(&piece).await.is_err() {
                return;
            }
        }
        let _ = gzip.shutdown().await;
        return;
    }
    for _ in 0..pieces {
        if path == "/length" {
            write(&mut stream, &piece).await;
        } else {
            write(&mut stream, format!("{MIB:x}\r\n")).await;
            write(&mut stream, &piece).await;
            write(&mut stream, "\r\n").await;
        }
    }
    write(&mut stream, "0\r\n\r\n").await;
}

/// What the example says, and the most memory that it had, in bytes.
async fn fetch(server: &Server, path: &str, limit: Option<usize>) -> (String, usize) {
    let test = std::env::current_exe().expect("the test knows its file");
    let target = test
        .ancestors()
        .nth(2)
        .map(PathBuf::from)
        .expect("target/debug/deps/it");
    let url = server.url(path).to_string();
    let limit = limit.map(|limit| limit.to_string());
    let output = tokio::task::spawn_blocking(move || {
        #[expect(
            clippy::disallowed_methods,
            reason = "the process that is measured is no server"
        )]
        let mut command = Command::new(target.join("examples/fetch"));
        command.arg(url).args(limit).output()
    });
    let output = output
        .await
        .expect("no panic")
        .expect("the example is built");
    let text = String::from_utf8(output.stdout).expect("text");
    let (said, peak) = text.split_once("\nVmHWM:").expect("both lines");
    let peak = peak.trim().trim_end_matches(" kB");
    let kibibytes: usize = peak.parse().expect("a number");
    (said.to_owned(), kibibytes * 1024)
}

#[tokio::test]
async fn a_body_of_256_mib_costs_at_most_the_limit_of_16_mib() {
    let server = Server::start(|stream, _| serve(stream)).await;
    let (said, base) = fetch(&server, "/small", Some(LIMIT)).await;
    assert_eq!(said, "read 2 bytes");
    let too_large = format!("failed: the response is larger than {LIMIT} bytes");
    let bomb = "failed: the packed response cannot be used: it grows to more than 100 times its \
                packed size";
    for (path, limit, expected, kept) in [
        ("/length", Some(LIMIT), too_large.as_str(), 0),
        ("/chunked", Some(LIMIT), too_large.as_str(), LIMIT),
        ("/fits", Some(LIMIT), "read 16777216 bytes", LIMIT),
        ("/gzip", Some(LIMIT), bomb, 2 * MIB),
        ("/chunked", None, "read 268435456 bytes", 0),
    ] {
        let (said, peak) = fetch(&server, path, limit).await;
        assert_eq!(said, expected, "{path}");
        let cost = peak.saturating_sub(base);
        assert!(cost <= kept + SLACK, "{path} {limit:?} costs {cost} bytes");
    }
}
