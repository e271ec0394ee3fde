//! A server that says back everything it was sent, in the places where servers say what went wrong.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Headers that every request has, and that are nobody's secret.
const USUAL: [&str; 9] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "mcp-protocol-version",
    "proxy-connection",
    "user-agent",
];

const TEXT: &str = "content-type: text/plain";
const HTML: &str = "content-type: text/html";
const JSON: &str = "content-type: application/json";
const EVENTS: &str = "content-type: text/event-stream";

/// A server at a port of its own. The first part of a path says how it answers, the second how what
/// it says back is written: `plain`, `base64`, `percent` or `quoted`.
///
/// | path | answer |
/// |---|---|
/// | `/fails` | 500 |
/// | `/refuses` | 401, the header `www-authenticate` says it, too |
/// | `/forbids` | 403 with a page |
/// | `/decodes` | 401, with what the base64 of `authorization` means |
/// | `/odd` | 200 with a page |
/// | `/error` | a session, one tool, and an error of the protocol to its call |
/// | `/logs` | the same, with a log message before the error |
/// | `/moved` | a redirect to what [`Echo::start`] was given |
/// | `/endpoint` | an `endpoint` event with the same |
/// | an absolute URL | 407, as a proxy |
pub(crate) struct Echo {
    address: SocketAddr,
    seen: Arc<Mutex<String>>,
    over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Echo {
    /// Starts it. `elsewhere` is the URL of another origin, `session` the name of its sessions.
    pub(crate) fn start(elsewhere: &str, session: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::<Mutex<String>>::default();
        let over = Arc::<AtomicBool>::default();
        let answers = Arc::new(Answers {
            elsewhere: elsewhere.to_owned(),
            session: session.to_owned(),
            seen: Arc::clone(&seen),
        });
        let ends = Arc::clone(&over);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let answers = Arc::clone(&answers);
                // It ends when its client does; a connection that breaks is no news.
                std::thread::spawn(move || answers.talk(&stream).unwrap_or_default());
            }
        });
        Self {
            address,
            seen,
            over,
            accepting: Some(accepting),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request line and header that came.
    pub(crate) fn seen(&self) -> String {
        self.seen.lock().expect("no test panics in it").clone()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // One more connection, so that it looks.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.accepting.take() {
            drop(thread.join());
        }
    }
}

/// A request as far as it matters.
struct Request {
    target: String,
    authorization: String,
    /// The query, and the values of headers that are not usual.
    said: String,
    message: Value,
}

struct Answers {
    elsewhere: String,
    session: String,
    seen: Arc<Mutex<String>>,
}

impl Answers {
    fn talk(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut input = BufReader::new(stream);
        let mut stream = stream;
        while let Some(request) = self.read(&mut input)? {
            stream.write_all(self.answer(&request).as_bytes())?;
        }
        Ok(())
    }

    fn read(&self, input: &mut BufReader<&TcpStream>) -> std::io::Result<Option<Request>> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if input.read_line(&mut head)? == 0 {
                return Ok(None);
            }
        }
        self.seen
            .lock()
            .expect("no test panics in it")
            .push_str(&head);
        let mut lines = head.lines();
        let target = lines.next().and_then(|line| line.split(' ').nth(1));
        let target = target.unwrap_or_default().to_owned();
        let headers: Vec<(String, &str)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        let value = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| name == wanted);
            found.map_or("", |(_, value)| value)
        };
        let mut body = vec![0; value("content-length").parse().unwrap_or(0)];
        input.read_exact(&mut body)?;
        let (_, query) = target.split_once('?').unwrap_or_default();
        let mut said = query.to_owned();
        for (name, value) in &headers {
            if !USUAL.contains(&name.as_str()) {
                write!(said, " {value}").expect("a string");
            }
        }
        Ok(Some(Request {
            authorization: value("authorization").to_owned(),
            message: serde_json::from_slice(&body).unwrap_or_default(),
            said: said.trim_start().to_owned(),
            target,
        }))
    }

    fn answer(&self, request: &Request) -> String {
        let path = request.target.split('?').next().unwrap_or_default();
        let mut parts = path.split('/').skip(1);
        let (how, form) = (parts.next().unwrap_or_default(), parts.next());
        let said = written(&request.said, form.unwrap_or("plain"));
        let page = format!("<html><body>{said}</body></html>");
        match how {
            _ if request.target.starts_with("http://") => response("407 No", &[], &said),
            "fails" => response("500 No", &[TEXT], &said),
            "refuses" => {
                let realm = format!("www-authenticate: Bearer realm=\"{said}\"");
                response("401 No", &[&realm], &said)
            }
            "forbids" => response("403 No", &[HTML], &page),
            "decodes" => {
                let (_, encoded) = request.authorization.split_once(' ').unwrap_or_default();
                let meant = STANDARD.decode(encoded).unwrap_or_default();
                let meant = String::from_utf8_lossy(&meant);
                response("401 No", &[TEXT], &format!("who is {meant}?"))
            }
            "odd" => response("200 OK", &[HTML], &page),
            "moved" => {
                let location = format!("location: {}", self.elsewhere);
                response("307 Moved", &[&location], "")
            }
            "endpoint" => {
                let event = format!("event: endpoint\ndata: {}\n\n", self.elsewhere);
                response("200 OK", &[EVENTS], &event)
            }
            _ => self.serve(request, how, &said),
        }
    }

    /// An honest server, until its tool is called.
    fn serve(&self, request: &Request, how: &str, said: &str) -> String {
        let id = request.message.get("id").unwrap_or(&Value::Null);
        let reply = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {
            "code": -32_000, "message": said, "data": {"said": said},
        }});
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {
            "level": "error", "data": said,
        }});
        let answer = match request.message.get("method").and_then(Value::as_str) {
            Some("initialize") => reply(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            })),
            Some("tools/list") => {
                let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
                reply(json!({"tools": [tool]}))
            }
            Some("tools/call") if how == "logs" => {
                let events = format!("data: {log}\n\ndata: {error}\n\n");
                return response("200 OK", &[EVENTS], &events);
            }
            Some("tools/call") => error,
            Some(_) if id.is_null() => return response("202 Accepted", &[], ""),
            _ => return response("405 No", &[], ""),
        };
        let session = format!("mcp-session-id: {}", self.session);
        response("200 OK", &[JSON, &session], &answer.to_string())
    }
}

/// A response with this status, these header lines and this body.
fn response(status: &str, headers: &[&str], body: &str) -> String {
    let mut response = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        write!(response, "{header}\r\n").expect("a string");
    }
    response + "\r\n" + body
}

/// A text in a form.
fn written(text: &str, form: &str) -> String {
    match form {
        "base64" => STANDARD.encode(text),
        "percent" => percent_encoded(text),
        "quoted" => json!(text).to_string(),
        _ => text.to_owned(),
    }
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => write!(encoded, "%{byte:02X}").expect("a string"),
        }
    }
    encoded
}
