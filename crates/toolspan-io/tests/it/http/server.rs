//! What do the tests talk to: a server on loopback that does with a connection what a test says.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use url::Url;

/// A listener on a free port of loopback. It ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Gives each connection to `serve`, with its number from 0 on.
    pub(crate) async fn start<F, S>(serve: S) -> Self
    where
        S: Fn(TcpStream, usize) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = accepted.clone();
        let task = tokio::spawn(async move {
            let mut running = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let nth = count.fetch_add(1, Ordering::SeqCst);
                running.spawn(serve(stream, nth));
            }
        });
        Self {
            address,
            accepted,
            task,
        }
    }

    /// Answers every request of every connection with the same bytes and keeps the connection.
    pub(crate) async fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response: Arc<[u8]> = response.into().into();
        Self::start(move |mut stream, _| {
            let response = response.clone();
            async move {
                while read_request(&mut stream).await.is_some() {
                    if stream.write_all(&response).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// Its URL with this path.
    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).expect("a URL")
    }

    /// How many connections were accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An address of loopback at which nobody listens, for as long as this is kept.
pub(crate) struct Nobody {
    pub(crate) address: SocketAddr,
    _taken: TcpSocket,
}

impl Nobody {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(loopback).expect("a free port");
        Self {
            address: socket.local_addr().expect("an address"),
            _taken: socket,
        }
    }
}

/// Reads one request with its body, as text; `None` at the end of the connection.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte).await {
            Ok(1) => text.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8_lossy(&text).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("a length"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    text.extend(body);
    Some(String::from_utf8(text).expect("text"))
}

/// A whole response with a length.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

/// Writes and does not care whether the other side is still there.
pub(crate) async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: impl AsRef<[u8]>) {
    let _ = stream.write_all(bytes.as_ref()).await;
    let _ = stream.flush().await;
}
