//! Messages of the era with a handshake (MCP 2024-11-05 to 2025-11-25), each one line.

use serde::Serialize;
use serde_json::json;

use super::Call;
use crate::wire::version::Version;

/// The request that opens a connection. Nothing is advertised that is not answered.
pub(crate) fn initialize(id: u64) -> Vec<u8> {
    let params = json!({
        "protocolVersion": Version::LATEST.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "toolspan", "version": env!("CARGO_PKG_VERSION")},
    });
    request(id, "initialize", &params.to_string())
}

/// The notification that ends the handshake.
pub(crate) fn initialized() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_vec()
}

pub(crate) fn list_tools(id: u64, cursor: Option<&str>) -> Vec<u8> {
    match cursor {
        Some(cursor) => request(id, "tools/list", &json!({"cursor": cursor}).to_string()),
        None => request(id, "tools/list", "{}"),
    }
}

/// A tool call. Its id is its progress token too: progress starts the idle limit anew, so every
/// call asks for it.
///
/// Written piece by piece into one buffer: this is on the way of every call.
pub(crate) fn call(id: u64, call: &Call<'_>) -> Vec<u8> {
    /// All but name and arguments, when the caller adds no meta.
    const AROUND: usize = 160;
    let mut frame = Vec::with_capacity(AROUND + call.name.len() + call.arguments.len());
    frame.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    json(&mut frame, &id);
    frame.extend_from_slice(b",\"method\":\"tools/call\",\"params\":{\"name\":");
    json(&mut frame, call.name);
    frame.extend_from_slice(b",\"arguments\":");
    frame.extend_from_slice(call.arguments.as_bytes());
    frame.extend_from_slice(b",\"_meta\":{");
    for (key, value) in call.meta.iter().filter(|(key, _)| *key != PROGRESS_TOKEN) {
        json(&mut frame, key);
        frame.push(b':');
        json(&mut frame, value);
        frame.push(b',');
    }
    json(&mut frame, PROGRESS_TOKEN);
    frame.push(b':');
    json(&mut frame, &id);
    frame.extend_from_slice(b"}}}\n");
    frame
}

/// The member of `_meta` that asks for progress (MCP 2025-11-25, "Progress").
const PROGRESS_TOKEN: &str = "progressToken";

fn json(frame: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(frame, value)
        .expect("memory takes every byte, and numbers, text and JSON values are always JSON");
}

pub(crate) fn cancelled(id: u64, reason: &str) -> Vec<u8> {
    let params = json!({"requestId": id, "reason": reason});
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}\n")
        .into_bytes()
}

fn request(id: u64, method: &str, params: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    #[test]
    fn every_message_is_one_line_of_json() {
        let mut meta = Map::new();
        meta.insert("note\n".to_owned(), "a\nb".into());
        let none = Map::new();
        let call = |id, name, arguments, meta| {
            call(
                id,
                &Call {
                    name,
                    arguments,
                    meta,
                },
            )
        };
        let frames = [
            initialize(0),
            initialized(),
            list_tools(1, None),
            list_tools(2, Some("a\nb\"")),
            call(3, "odd \"name\"\n", "{\"a\":1}", &none),
            call(4, "x", "{}", &meta),
            cancelled(5, "gone\n"),
        ];
        let text = frames.concat();
        assert_eq!(
            text.iter().filter(|byte| **byte == b'\n').count(),
            frames.len()
        );
        for line in std::str::from_utf8(&text).unwrap().lines() {
            serde_json::from_str::<Value>(line).unwrap();
        }
        insta::assert_snapshot!(
            String::from_utf8_lossy(&text).replace(env!("CARGO_PKG_VERSION"), "VERSION")
        );
    }
}
