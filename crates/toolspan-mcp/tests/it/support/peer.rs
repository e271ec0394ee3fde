//! A server in memory that the test plays itself, message by message.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_mcp::{McpServer, Transport};

use super::tools::{KEY, Tools};

/// Where the starts of a server in memory arrive.
pub(crate) struct Server {
    starts: mpsc::UnboundedReceiver<DuplexStream>,
    count: Arc<Mutex<usize>>,
}

impl Server {
    /// A server, and the way to it.
    pub(crate) fn new() -> (Self, Transport) {
        let (sender, starts) = mpsc::unbounded_channel();
        let count = Arc::<Mutex<usize>>::default();
        let counted = Arc::clone(&count);
        let transport = Transport::Memory(Arc::new(move |stream| {
            *counted.lock().unwrap() += 1;
            // A test that is over takes no more starts.
            let _ = sender.send(stream);
        }));
        (Self { starts, count }, transport)
    }

    /// Waits for the next start.
    pub(crate) async fn accept(&mut self) -> Peer {
        let stream = self.starts.recv().await.expect("the toolbox is there");
        let (reader, writer) = tokio::io::split(stream);
        Peer {
            reader: BufReader::new(reader),
            writer,
        }
    }

    /// Waits for the next start, and plays its handshake.
    pub(crate) async fn ready(&mut self) -> Peer {
        let mut peer = self.accept().await;
        peer.shake_hands().await;
        peer
    }

    /// How often it was started.
    pub(crate) fn started(&self) -> usize {
        *self.count.lock().unwrap()
    }
}

/// The server's end of a connection. Dropping it is its death.
pub(crate) struct Peer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Peer {
    /// The next message; nothing at the end of input.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self
            .reader
            .read_line(&mut line)
            .await
            .expect("a stream in memory")
        {
            0 => None,
            _ => Some(serde_json::from_str(&line).expect("one message a line")),
        }
    }

    /// The next message, which must have this method.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await.expect("a message before the end");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_raw(format!("{message}\n").as_bytes()).await;
    }

    /// Sends bytes as they are.
    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        self.writer
            .write_all(bytes)
            .await
            .expect("the client reads");
    }

    /// Answers a request with a result.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }

    /// Answers a call of `echo` with its text.
    pub(crate) async fn echo(&mut self, call: &Value) {
        let text = call["params"]["arguments"]["text"].clone();
        self.answer(call, text_result(&text)).await;
    }

    /// Reports progress of a call.
    pub(crate) async fn progress(&mut self, call: &Value, progress: f64) {
        let token = &call["params"]["_meta"]["progressToken"];
        self.send(json!({
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": progress},
        }))
        .await;
    }

    /// Plays the handshake.
    pub(crate) async fn shake_hands(&mut self) {
        let initialize = self.expect("initialize").await;
        self.answer(&initialize, hello("2025-11-25")).await;
        self.expect("notifications/initialized").await;
    }

    /// Lists the one tool `echo`.
    pub(crate) async fn list(&mut self) {
        let list = self.expect("tools/list").await;
        self.answer(&list, json!({"tools": [echo_tool()]})).await;
    }

    /// Closes the output, as a server does that ends.
    pub(crate) async fn end_output(&mut self) {
        self.writer.shutdown().await.expect("a stream in memory");
    }
}

/// The result of `initialize`.
pub(crate) fn hello(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "peer", "version": "1"},
    })
}

/// A tool result of one text.
pub(crate) fn text_result(text: &Value) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The tool `echo`, which takes any arguments.
pub(crate) fn echo_tool() -> Value {
    json!({"name": "echo", "inputSchema": {"type": "object"}})
}

/// A toolbox over a server in memory that is not started.
pub(crate) fn memory(limits: Limits, timeouts: Timeouts) -> (Tools, Server) {
    let (server, transport) = Server::new();
    (Tools::new(transport, limits, timeouts), server)
}

/// A toolbox with default bounds over a server in memory, connected and listed.
pub(crate) async fn connect() -> (Tools, Server, Peer) {
    connect_within(Limits::default(), Timeouts::default()).await
}

/// As [`connect`], with bounds.
pub(crate) async fn connect_within(limits: Limits, timeouts: Timeouts) -> (Tools, Server, Peer) {
    let (server, transport) = Server::new();
    connect_to(
        McpServer::new(KEY, transport).with_bounds(limits, timeouts),
        server,
    )
    .await
}

/// As [`connect`], with everything that is known of a server.
pub(crate) async fn connect_to(known: McpServer, mut server: Server) -> (Tools, Server, Peer) {
    let tools = Tools::of(known);
    let play = async {
        let mut peer = server.accept().await;
        peer.shake_hands().await;
        peer.list().await;
        peer
    };
    let (discovered, peer) = tokio::join!(tools.discover(), play);
    discovered.expect("an honest server");
    (tools, server, peer)
}
