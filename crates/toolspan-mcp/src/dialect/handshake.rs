//! Messages of the era with a handshake (MCP 2024-11-05 to 2025-11-25), each one line.

use serde_json::{Value, json};

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
pub(crate) fn call(id: u64, call: &Call<'_>) -> Vec<u8> {
    let (name, arguments) = (Value::from(call.name), call.arguments);
    let meta = if call.meta.is_empty() {
        format!("{{\"progressToken\":{id}}}")
    } else {
        let mut meta = call.meta.clone();
        meta.insert("progressToken".to_owned(), id.into());
        Value::Object(meta).to_string()
    };
    let params = format!("{{\"name\":{name},\"arguments\":{arguments},\"_meta\":{meta}}}");
    request(id, "tools/call", &params)
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
    use serde_json::Map;

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
