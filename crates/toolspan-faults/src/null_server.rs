//! What is the least an honest MCP server over stdio can cost?

use std::io::{self, Read, Write};

use memchr::memchr2;
use serde_json::Value;

use crate::honest::Honest;
use crate::lines::{LineError, Lines, MAX_LINE_BYTES};

/// Replies are written when no complete request is left in the buffer, or at this size in bytes.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// What every call is answered with.
pub(crate) const CALL_RESULT: &[u8] =
    br#","result":{"content":[{"type":"text","text":"ok"}],"isError":false}}"#;

/// Serves until the end of input: every `tools/call` gets the text `ok` without its message being
/// parsed, all else is answered as an honest server does. For benchmarks: what a client measures
/// against it is mostly the client.
///
/// One thread; a batch of requests that came together is answered in one write. A client that
/// stops reading ends it without an error. A line that is not a message is ignored.
pub fn serve_nothing(input: Box<dyn Read>, output: &mut dyn Write) -> io::Result<()> {
    let honest = Honest::default();
    let mut lines = Lines::new(input);
    let mut replies = Vec::with_capacity(64 << 10);
    loop {
        while let Some(line) = lines.next_buffered() {
            answer(line, &honest, &mut replies);
            if replies.len() > MAX_BATCH_BYTES {
                output.write_all(&replies)?;
                replies.clear();
            }
        }
        if !replies.is_empty() {
            match output.write_all(&replies).and_then(|()| output.flush()) {
                Ok(()) => replies.clear(),
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        match lines.fill() {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(LineError::Read(error)) => return Err(error),
            Err(LineError::TooLong) => {
                let text = format!("an incoming line has more than {MAX_LINE_BYTES} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
    }
}

fn answer(line: &[u8], honest: &Honest, replies: &mut Vec<u8>) {
    match scan(line) {
        Some(Envelope {
            id: Some(id),
            method: Some(b"\"tools/call\""),
        }) => {
            replies.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
            replies.extend_from_slice(id);
            replies.extend_from_slice(CALL_RESULT);
            replies.push(b'\n');
        }
        Some(Envelope {
            id: Some(_),
            method: Some(_),
        }) => {
            let reply = serde_json::from_slice::<Value>(line)
                .ok()
                .and_then(|it| honest.answer(&it));
            if let Some(reply) = reply {
                replies.extend_from_slice(reply.to_string().as_bytes());
                replies.push(b'\n');
            }
        }
        _ => {}
    }
}

/// The two members of a message that decide how it is answered, as they are written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) method: Option<&'a [u8]>,
}

/// Finds the members `id` and `method` of the outermost object, and stops as soon as both are
/// known; what comes behind them is not looked at. Nothing when the line is not an object.
pub(crate) fn scan(line: &[u8]) -> Option<Envelope<'_>> {
    let mut found = Envelope {
        id: None,
        method: None,
    };
    let mut rest = line.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        rest = rest.trim_ascii_start();
        if rest.starts_with(b"}") {
            return Some(found);
        }
        let (key, after_key) = take_string(rest)?;
        let value = after_key
            .trim_ascii_start()
            .strip_prefix(b":")?
            .trim_ascii_start();
        let (value, after_value) = take_value(value)?;
        match key {
            b"\"id\"" => found.id = Some(value),
            b"\"method\"" => found.method = Some(value),
            _ => {}
        }
        if found.id.is_some() && found.method.is_some() {
            return Some(found);
        }
        rest = after_value.trim_ascii_start();
        if let Some(next) = rest.strip_prefix(b",") {
            rest = next;
        } else if !rest.starts_with(b"}") {
            return None;
        }
    }
}

/// Splits off a string with its quotes.
fn take_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 1;
    let mut rest = text.strip_prefix(b"\"")?;
    loop {
        let at = memchr2(b'"', b'\\', rest)?;
        let is_end = rest.get(at) == Some(&b'"');
        let skipped = if is_end { at + 1 } else { at + 2 };
        length += skipped;
        rest = rest.get(skipped..)?;
        if is_end {
            return text.split_at_checked(length);
        }
    }
}

/// Splits off any value; brackets are counted, not recursed into.
fn take_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    match text.first()? {
        b'"' => take_string(text),
        b'{' | b'[' => take_nested(text),
        _ => {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            let length = text.iter().position(is_end).filter(|length| *length > 0)?;
            text.split_at_checked(length)
        }
    }
}

fn take_nested(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        match rest.first()? {
            b'"' => {
                rest = take_string(rest)?.1;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        rest = rest.get(1..)?;
        if depth == 0 {
            return text.split_at_checked(text.len() - rest.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::json;

    use super::*;

    fn replies_to(lines: &str) -> Vec<Value> {
        let mut output = Vec::new();
        serve_nothing(
            Box::new(Cursor::new(lines.as_bytes().to_vec())),
            &mut output,
        )
        .expect("served");
        output
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).expect("each reply is JSON"))
            .collect()
    }

    #[test]
    fn a_call_is_answered_under_its_id_wherever_the_id_stands() {
        let lines = concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            "\n",
            r#" { "params" : {"id":9,"a":["}\"{",{"method":"x"}]}, "method" : "tools/call" , "id" : "b\"c" } "#,
            "\n",
        );
        let ids: Vec<Value> = replies_to(lines)
            .iter()
            .map(|reply| reply["id"].clone())
            .collect();
        assert_eq!(ids, [json!(1), json!("b\"c")]);
    }

    #[test]
    fn the_other_requests_are_answered_honestly() {
        let lines = concat!(
            r#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            "\n",
            r#"{"method":"notifications/initialized"}"#,
            "\n",
            r#"{"id":2,"method":"tools/list"}"#,
            "\n",
            r#"{"id":3,"method":"ping"}"#,
            "\n",
        );
        let replies = replies_to(lines);
        assert_eq!(replies.len(), 3);
        assert_eq!(replies[0]["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(
            replies[1]["result"]["tools"][0]["inputSchema"]["properties"],
            json!({"text": {"type": "string"}})
        );
        assert_eq!(replies[2]["result"], json!({}));
    }

    #[test]
    fn what_is_not_a_request_gets_no_reply() {
        for line in [
            "",
            "{",
            "[1]",
            "nonsense",
            r#"{"id":1}"#,
            r#"{"id":1 "method":"x"}"#,
            r#"{"id":,"#,
        ] {
            assert_eq!(
                replies_to(&format!("{line}\n")),
                Vec::<Value>::new(),
                "{line}"
            );
        }
    }

    #[test]
    fn scanning_agrees_with_a_json_parser() {
        for text in [
            r#"{"a":{"b":[1,2,{"c":"]"}]},"id":-1.5e3,"method":"m"}"#,
            r#"{"method":"\\","id":null}"#,
            r#"{"id":[{}],"x":true,"method":{"y":"\"}"}}"#,
        ] {
            let envelope = scan(text.as_bytes()).expect("an object");
            let parsed: Value = serde_json::from_str(text).expect("valid");
            for (name, bytes) in [("id", envelope.id), ("method", envelope.method)] {
                let value: Value = serde_json::from_slice(bytes.expect("present")).expect("valid");
                assert_eq!(value, parsed[name], "{text}");
            }
        }
    }
}
