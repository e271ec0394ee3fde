//! What is the least an honest MCP server over HTTP can cost?

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use memchr::memmem;
use serde_json::Value;

use crate::honest::Honest;
use crate::http::serve::{announce, watch_input};
use crate::null_server::{CALL_RESULT, Envelope, scan};

/// The longest request in bytes, head and body: 16 MiB. A longer one ends its connection.
const MAX_REQUEST_BYTES: usize = 16 << 20;

/// How many connections there may be at once; one more is closed unread.
const MAX_CONNECTIONS: usize = 512;

/// How much is read at a time, at first, in bytes.
const READ_BYTES: usize = 64 << 10;

/// What comes before the length of a body.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";

/// The answer to what has no reply.
const ACCEPTED: &[u8] = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";

/// The answer to what is no message; no stream is offered, which MCP allows.
const REFUSED: &[u8] =
    b"HTTP/1.1 405 Method Not Allowed\r\nallow: POST\r\ncontent-length: 0\r\n\r\n";

/// Serves streamable HTTP at `127.0.0.1` and this port (0: a free one), writes the line with the URL
/// to the standard output, and returns at the end of the standard input.
///
/// Every `tools/call` gets the text `ok` without its message being parsed; all else is answered as an
/// honest server does that keeps no sessions and offers no stream. One thread for each connection,
/// one read and one write for each call. For benchmarks: what a client measures against it is mostly
/// the client.
pub fn serve_nothing_over_http(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        let open = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming().flatten() {
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let open = Arc::clone(&open);
            thread::spawn(move || {
                // A client that breaks its connection off is no news.
                serve(stream).unwrap_or_default();
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    announce(&format!("http://127.0.0.1:{port}/mcp"))?;
    let (ended, wait) = sync_channel(1);
    watch_input(move || ended.send(()).unwrap_or_default());
    wait.recv()
        .map_err(|_| io::Error::other("the input's thread died"))
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let honest = Honest::default();
    let mut buffer = vec![0; READ_BYTES];
    let mut filled = 0;
    let mut reply = Vec::with_capacity(4096);
    loop {
        let mut start = 0;
        while let Some(request) = find_request(buffer.get(start..filled).unwrap_or_default()) {
            let end = start + request.length;
            let bytes = buffer.get(start..end).unwrap_or_default();
            answer(bytes, request.head, &honest, &mut reply);
            start = end;
        }
        if !reply.is_empty() {
            stream.write_all(&reply)?;
            reply.clear();
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        if filled == buffer.len() {
            if filled >= MAX_REQUEST_BYTES {
                return Ok(());
            }
            buffer.resize(filled * 2, 0);
        }
        match stream.read(buffer.get_mut(filled..).unwrap_or_default())? {
            0 => return Ok(()),
            count => filled += count,
        }
    }
}

/// How many bytes a request has: its head with the empty line, and all of it.
struct Extent {
    head: usize,
    length: usize,
}

/// The first request of a buffer, if it is there as a whole. Only bodies with a length are known.
fn find_request(bytes: &[u8]) -> Option<Extent> {
    let head = memmem::find(bytes, b"\r\n\r\n")? + 4;
    let body = content_length(bytes.get(..head)?);
    let length = head.saturating_add(body);
    (length <= bytes.len()).then_some(Extent { head, length })
}

fn content_length(head: &[u8]) -> usize {
    let name = b"content-length:";
    let lines = head.split(|byte| *byte == b'\n');
    let values = lines.filter_map(|line| {
        let (start, value) = line.split_at_checked(name.len())?;
        start.eq_ignore_ascii_case(name).then_some(value)
    });
    let mut numbers =
        values.map(|value| std::str::from_utf8(value.trim_ascii()).ok()?.parse().ok());
    numbers.next().flatten().unwrap_or_default()
}

fn answer(request: &[u8], head: usize, honest: &Honest, reply: &mut Vec<u8>) {
    let body = request.get(head..).unwrap_or_default();
    if !request.starts_with(b"POST ") {
        reply.extend_from_slice(REFUSED);
        return;
    }
    match scan(body) {
        Some(Envelope {
            id: Some(id),
            method: Some(b"\"tools/call\""),
        }) => {
            let start = br#"{"jsonrpc":"2.0","id":"#;
            begin(start.len() + id.len() + CALL_RESULT.len(), reply);
            for piece in [start.as_slice(), id, CALL_RESULT] {
                reply.extend_from_slice(piece);
            }
        }
        _ => {
            let message = serde_json::from_slice::<Value>(body).ok();
            match message.and_then(|message| honest.answer(&message)) {
                Some(answer) => {
                    let text = answer.to_string();
                    begin(text.len(), reply);
                    reply.extend_from_slice(text.as_bytes());
                }
                None => reply.extend_from_slice(ACCEPTED),
            }
        }
    }
}

/// Writes the head of a body of so many bytes.
fn begin(length: usize, reply: &mut Vec<u8>) {
    reply.extend_from_slice(HEAD);
    reply.extend_from_slice(length.to_string().as_bytes());
    reply.extend_from_slice(b"\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_when_its_body_is_there() {
        let text = b"POST /mcp HTTP/1.1\r\nCONTENT-LENGTH: 3\r\n\r\nabcPOST";
        for end in 0..text.len() - 4 {
            assert!(find_request(&text[..end]).is_none(), "{end}");
        }
        let found = find_request(text).expect("a request");
        assert_eq!(&text[found.head..found.length], b"abc");
    }

    #[test]
    fn a_call_is_answered_under_its_id_and_nothing_else_is_parsed() {
        let mut reply = Vec::new();
        let request = b"POST / HTTP/1.1\r\n\r\n{\"id\":7,\"method\":\"tools/call\",\"params\":{";
        let head = memmem::find(request, b"\r\n\r\n").expect("a head") + 4;
        answer(request, head, &Honest::default(), &mut reply);
        let text = String::from_utf8(reply).expect("text");
        let (_, body) = text.split_once("\r\n\r\n").expect("a head");
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\
                        \"text\":\"ok\"}],\"isError\":false}}";
        assert_eq!(body, expected);
        assert!(
            text.contains(&format!("content-length: {}\r\n", body.len())),
            "{text}"
        );
    }
}
