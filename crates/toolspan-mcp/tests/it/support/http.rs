//! A server over HTTP that the test plays itself: each request is handed to the test, which answers
//! it with any bytes, in any order, or not at all.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_io::http::{HttpClient, HttpSettings};
use toolspan_mcp::transport::{RemoteKind, RemoteServer};
use toolspan_mcp::{McpServer, Transport};
use url::Url;

use super::peer::{echo_tool, hello, text_result};
use super::tools::{KEY, Tools};

/// The name that the peer gives its sessions, with a number behind it.
pub(crate) const SESSION: &str = "session-of-the-peer";

/// A listening server. Dropping it closes its port.
pub(crate) struct HttpPeer {
    pub(crate) url: Url,
    requests: mpsc::UnboundedReceiver<Incoming>,
    accepted: Arc<AtomicUsize>,
    listening: JoinHandle<()>,
    /// Whether GETs are the test's to answer; without, they are refused as by a server without a
    /// stream.
    offers_streams: bool,
    /// Requests that came while one of the other kind was waited for.
    held: VecDeque<Incoming>,
}

/// A request that came, and the connection that it came on.
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    /// The body as JSON; null where there is none.
    pub(crate) body: Value,
    stream: TcpStream,
    back: oneshot::Sender<TcpStream>,
}

impl HttpPeer {
    /// A server at a free port.
    pub(crate) async fn new() -> Self {
        Self::at("127.0.0.1:0").await
    }

    /// A server at an address.
    pub(crate) async fn at(address: &str) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        let accepted = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&accepted);
        let listening = tokio::spawn(async move {
            // The connections end with the listener.
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                connections.spawn(serve(stream, sender.clone()));
            }
        });
        Self {
            url: Url::parse(&format!("http://{address}/mcp")).unwrap(),
            requests,
            accepted,
            listening,
            offers_streams: false,
            held: VecDeque::new(),
        }
    }

    /// A server whose streams the test opens.
    pub(crate) async fn with_streams() -> Self {
        let mut peer = Self::new().await;
        peer.offers_streams = true;
        peer
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Incoming {
        self.requests.recv().await.expect("the peer listens")
    }

    /// The next request that is no GET.
    pub(crate) async fn next_post(&mut self) -> Incoming {
        self.next_of(false).await
    }

    /// The next GET.
    pub(crate) async fn next_get(&mut self) -> Incoming {
        self.next_of(true).await
    }

    async fn next_of(&mut self, is_get: bool) -> Incoming {
        let is_wanted = |request: &Incoming| (request.method == "GET") == is_get;
        if let Some(index) = self.held.iter().position(is_wanted) {
            return self.held.remove(index).unwrap();
        }
        loop {
            let request = self.next().await;
            match request.method.as_str() {
                _ if is_wanted(&request) => return request,
                "GET" if !self.offers_streams => request.status("405 Method Not Allowed").await,
                _ => self.held.push_back(request),
            }
        }
    }

    /// The next request that is no GET, which must be a message with this method.
    pub(crate) async fn expect(&mut self, method: &str) -> Incoming {
        let request = self.next_post().await;
        assert_eq!(request.body["method"], method, "{}", request.body);
        request
    }

    /// Plays the handshake, with a session.
    pub(crate) async fn shake_hands(&mut self, number: usize) {
        self.greet(number).await;
        self.expect("notifications/initialized")
            .await
            .status("202 Accepted")
            .await;
    }

    /// Answers `initialize`, with a session.
    pub(crate) async fn greet(&mut self, number: usize) {
        let initialize = self.expect("initialize").await;
        assert_eq!(initialize.header("mcp-session-id"), None);
        let session = format!("mcp-session-id: {SESSION}-{number}\r\n");
        initialize.reply_with(&session, hello("2025-11-25")).await;
    }

    /// Lists the one tool `echo`.
    pub(crate) async fn list(&mut self) {
        let list = self.expect("tools/list").await;
        list.reply(json!({"tools": [echo_tool()]})).await;
    }

    /// How many connections were made to it.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Ends it with all its connections, and waits until its port is free.
    pub(crate) async fn end(self) -> String {
        self.listening.abort();
        assert!(self.listening.await.unwrap_err().is_cancelled());
        let host = self.url.host_str().unwrap();
        format!("{host}:{}", self.url.port().unwrap())
    }
}

/// Hands requests of one connection to the test, one after the other.
async fn serve(mut stream: TcpStream, requests: mpsc::UnboundedSender<Incoming>) {
    let mut bytes = Vec::new();
    loop {
        let Some((head, body)) = read(&mut stream, &mut bytes).await else {
            return;
        };
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap().split(' ');
        let (back, returned) = oneshot::channel();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        };
        let incoming = Incoming {
            method: words.next().unwrap().to_owned(),
            path: words.next().unwrap().to_owned(),
            headers: lines.map(header).collect(),
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            stream,
            back,
        };
        if requests.send(incoming).is_err() {
            return;
        }
        match returned.await {
            Ok(used) => stream = used,
            Err(_) => return,
        }
    }
}

/// The next request of a connection: its head and its body.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = head
                .to_ascii_lowercase()
                .split("\r\n")
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0_usize);
            let whole = end + 4 + length;
            if bytes.len() >= whole {
                let body = bytes[end + 4..whole].to_vec();
                bytes.drain(..whole);
                return Some((head, body));
            }
        }
        match stream.read_buf(bytes).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

impl Incoming {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The number of the session that it is in.
    pub(crate) fn session(&self) -> usize {
        let session = self.header("mcp-session-id").expect("a session");
        let number = session.strip_prefix(SESSION).unwrap();
        number.strip_prefix('-').unwrap().parse().unwrap()
    }

    /// Answers with a result, as JSON.
    pub(crate) async fn reply(self, result: Value) {
        self.reply_with("", result).await;
    }

    /// As [`reply`](Self::reply), with further headers, each ending in CRLF.
    pub(crate) async fn reply_with(self, headers: &str, result: Value) {
        let message = self.message(result).to_string();
        let headers = format!("content-type: application/json\r\n{headers}");
        self.respond("200 OK", &headers, &message).await;
    }

    /// Answers a call of `echo` with its text.
    pub(crate) async fn echo(self) {
        let text = text_result(&self.body["params"]["arguments"]["text"]);
        self.reply(text).await;
    }

    /// The reply to this request.
    pub(crate) fn message(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// The reply of `echo` to this request.
    pub(crate) fn echoed(&self) -> Value {
        self.message(text_result(&self.body["params"]["arguments"]["text"]))
    }

    /// Answers with a status and nothing else.
    pub(crate) async fn status(self, status: &str) {
        self.respond(status, "", "").await;
    }

    /// Answers with a status, headers that each end in CRLF, and a body.
    pub(crate) async fn respond(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
        // A client that went away takes no answer.
        let _ = self
            .stream
            .write_all(format!("{head}{body}").as_bytes())
            .await;
        let _ = self.back.send(self.stream);
    }

    /// Answers with bytes as they are, and closes the connection.
    pub(crate) async fn raw(mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.shutdown().await;
    }

    /// Answers with bytes as they are, and resets the connection.
    pub(crate) async fn reset_after(mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
        self.stream.set_zero_linger().unwrap();
    }

    /// Sends a part of the answer, as it is.
    pub(crate) async fn send_part(&mut self, bytes: &[u8]) {
        // A client that has seen enough takes no more.
        let _ = self.stream.write_all(bytes).await;
    }

    /// Opens a stream of events as the answer.
    pub(crate) async fn stream(mut self) -> Events {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    transfer-encoding: chunked\r\n\r\n";
        let _ = self.stream.write_all(head.as_bytes()).await;
        Events {
            stream: self.stream,
            back: self.back,
        }
    }

    /// Waits until the client has ended the connection.
    pub(crate) async fn gone(mut self) {
        let mut byte = [0];
        assert!(matches!(self.stream.read(&mut byte).await, Ok(0) | Err(_)));
    }
}

/// An open stream of events. Dropping it cuts the connection.
pub(crate) struct Events {
    stream: TcpStream,
    back: oneshot::Sender<TcpStream>,
}

impl Events {
    /// Sends text as it is, in one chunk.
    pub(crate) async fn send_raw(&mut self, text: &str) {
        self.send_bytes(text.as_bytes()).await;
    }

    /// Sends bytes as they are, in one chunk.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        let head = format!("{:x}\r\n", bytes.len());
        let chunk = [head.as_bytes(), bytes, b"\r\n"].concat();
        // A client that went away takes no more.
        let _ = self.stream.write_all(&chunk).await;
    }

    /// Sends a message as an event.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_raw(&format!("event: message\ndata: {message}\n\n"))
            .await;
    }

    /// Sends a message as an event with an id.
    pub(crate) async fn send_as(&mut self, id: &str, message: &Value) {
        self.send_raw(&format!("id: {id}\ndata: {message}\n\n"))
            .await;
    }

    /// Ends the stream in order; the connection can be used again.
    pub(crate) async fn end(mut self) {
        let _ = self.stream.write_all(b"0\r\n\r\n").await;
        let _ = self.back.send(self.stream);
    }

    /// Waits until the client has ended the connection.
    pub(crate) async fn gone(mut self) {
        let mut byte = [0];
        assert!(matches!(self.stream.read(&mut byte).await, Ok(0) | Err(_)));
    }
}

/// A server at a URL, reached without a proxy.
pub(crate) fn server_at(url: &Url) -> RemoteServer {
    let client = HttpClient::new(HttpSettings::new(url.clone())).expect("plain settings");
    RemoteServer::new(url.clone(), client).with_kind(RemoteKind::StreamableHttp)
}

/// The way to a server.
pub(crate) fn transport_to(server: RemoteServer) -> Transport {
    Transport::Remote(Arc::new(server))
}

/// A toolbox over a server at a URL that is not connected yet.
pub(crate) fn remote(server: RemoteServer) -> Tools {
    remote_within(server, Limits::default(), Timeouts::default())
}

/// As [`remote`], with bounds.
pub(crate) fn remote_within(server: RemoteServer, limits: Limits, timeouts: Timeouts) -> Tools {
    Tools::of(McpServer::new(KEY, transport_to(server)).with_bounds(limits, timeouts))
}

/// A toolbox over a peer, connected and listed, in session 1.
pub(crate) async fn connected() -> (Tools, HttpPeer) {
    connected_within(Limits::default(), Timeouts::default()).await
}

/// As [`connected`], with bounds.
pub(crate) async fn connected_within(limits: Limits, timeouts: Timeouts) -> (Tools, HttpPeer) {
    let peer = HttpPeer::new().await;
    let tools = remote_within(server_at(&peer.url), limits, timeouts);
    greeted(tools, peer).await
}

/// Plays the first handshake and the first list.
pub(crate) async fn greeted(tools: Tools, mut peer: HttpPeer) -> (Tools, HttpPeer) {
    let play = async {
        peer.shake_hands(1).await;
        peer.list().await;
    };
    let (discovered, ()) = tokio::join!(tools.discover(), play);
    discovered.expect("an honest server");
    (tools, peer)
}
