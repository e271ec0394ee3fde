//! How does a test see what a server over HTTP puts on the wire? By a client that believes nothing.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// No server of a test lives longer, in seconds.
const LIFETIME: &str = "120";

/// No read of a test takes longer, also on a loaded machine.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// A server over HTTP; killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "this test is about the process itself"
        )]
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolspan-faults"));
        command.args(arguments).args(["--lifetime", LIFETIME]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("readable");
        let value: Value = serde_json::from_str(&line).expect("a line of JSON");
        Self {
            url: value["url"].as_str().expect("a URL").to_owned(),
            input: child.stdin.take(),
            output,
            child,
        }
    }

    /// Plays steps over streamable HTTP.
    pub(crate) fn playing(steps: &Value) -> Self {
        Self::start(["--http", "--steps", &steps.to_string()])
    }

    /// Plays steps over HTTP+SSE.
    pub(crate) fn playing_legacy(steps: &Value) -> Self {
        Self::start(["--sse", "--steps", &steps.to_string()])
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").expect("no TLS");
        rest.split('/').next().expect("an authority")
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address())
    }

    /// A connection on which the session was begun, whose id comes with it.
    pub(crate) fn begin(&self) -> (Client, String) {
        let mut client = self.connect();
        client.post("", &initialize());
        let session = client.response().header("mcp-session-id").to_owned();
        (client, session)
    }

    /// Begins a session and calls `echo` with the text `hi` under the id 7; the response is unread.
    pub(crate) fn called(&self) -> Client {
        let (mut client, session) = self.begin();
        client.post(&session, &call(7, "hi"));
        client
    }

    /// Ends the input, and returns how the program ended and what else it wrote.
    pub(crate) fn end(&mut self) -> (ExitStatus, String) {
        self.input = None;
        let status = self.child.wait().expect("our child");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        (status, rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; either way it is reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

/// A response whose body ended as its head said.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The head as it came, with the empty line.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(READ_LIMIT)).expect("above 0");
        Self {
            stream: BufReader::new(stream),
        }
    }

    /// Writes a request; each header line ends in `\r\n`.
    pub(crate) fn send(&mut self, line: &str, headers: &str, body: &str) {
        let length = body.len();
        let text = format!(
            "{line} HTTP/1.1\r\nhost: a\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        self.stream
            .get_mut()
            .write_all(text.as_bytes())
            .expect("it reads");
    }

    /// Posts a message to `/mcp` in a session; an empty id is none.
    pub(crate) fn post(&mut self, session: &str, message: &Value) {
        self.send("POST /mcp", &session_header(session), &message.to_string());
    }

    /// Posts a message and returns the response.
    pub(crate) fn ask(&mut self, session: &str, message: &Value) -> Response {
        self.post(session, message);
        self.response()
    }

    /// Asks for the stream of a session.
    pub(crate) fn get(&mut self, session: &str) {
        self.send("GET /mcp", &session_header(session), "");
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("readable text");
        line
    }

    /// The status line and the headers with the empty line.
    pub(crate) fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let line = self.line();
            assert!(!line.is_empty(), "a head breaks off: {head}");
            head.push_str(&line);
        }
        head
    }

    /// Reads a response to its end by its framing.
    pub(crate) fn response(&mut self) -> Response {
        let head = self.head();
        let status = head[9..12].parse().expect("a status");
        let mut response = Response {
            status,
            head,
            body: Vec::new(),
        };
        if response.header("transfer-encoding") == "chunked" {
            while let Some(chunk) = self.chunk() {
                response.body.extend(chunk);
            }
        } else {
            let length = response.header("content-length").parse().unwrap_or(0);
            response.body = vec![0; length];
            self.stream
                .read_exact(&mut response.body)
                .expect("a whole body");
        }
        response
    }

    /// The next chunk; nothing for the last one.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.line();
        let size = usize::from_str_radix(size.trim_end(), 16).expect("the size of a chunk");
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).expect("a whole chunk");
        assert!(chunk.ends_with(b"\r\n"));
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    /// A chunk as text.
    pub(crate) fn event(&mut self) -> String {
        String::from_utf8(self.chunk().expect("one more event")).expect("text")
    }

    /// What comes until the connection ends, and how it ends.
    pub(crate) fn rest(&mut self) -> (String, Result<(), ErrorKind>) {
        let mut bytes = Vec::new();
        let end = self.stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (text, end.map(drop).map_err(|error| error.kind()))
    }

    /// As [`rest`](Self::rest) after our own end is closed, so that a kept connection ends, too.
    pub(crate) fn first_event_and_rest(&mut self) -> (String, Result<(), ErrorKind>) {
        let mut head = self.head();
        if let Some(chunk) = self.chunk() {
            head.push_str(&String::from_utf8_lossy(&chunk));
        }
        let _ = self.stream.get_ref().shutdown(Shutdown::Write);
        let (rest, end) = self.rest();
        (head + &rest, end)
    }

    /// So many bytes.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).expect("so many bytes");
        bytes
    }

    /// Whether nothing more comes before our own end of the connection makes the server close its.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.stream
            .get_ref()
            .shutdown(Shutdown::Write)
            .expect("connected");
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => rest.is_empty(),
            Err(error) => panic!("it ends otherwise: {error}"),
        }
    }

    /// Reads up to so many bytes without keeping them; returns how many came.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<u64> {
        io::copy(&mut self.stream.by_ref().take(count), &mut io::sink())
    }
}

impl Response {
    /// The value of a header, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        header(&self.head, name)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

/// The value of a header of a head, or an empty text.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let pairs = head.lines().filter_map(|line| line.split_once(": "));
    let mut values = pairs
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| value);
    values.next().unwrap_or_default()
}

fn session_header(session: &str) -> String {
    if session.is_empty() {
        String::new()
    } else {
        format!("mcp-session-id: {session}\r\n")
    }
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18"}})
}

pub(crate) fn call(id: u32, text: &str) -> Value {
    crate::stage::call(id, text)
}

/// The honest reply to [`call`].
pub(crate) fn reply(id: u32, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id,
        "result": {"content": [{"type": "text", "text": text}], "isError": false}})
}
