//! One JSON-RPC message of a server, taken apart as far as routing needs and no further.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Deepest nesting that is taken apart here; the caller's limit may be lower.
const DEEPEST: usize = 128;

/// A message that keeps the rules of JSON-RPC 2.0.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    /// The answer to a request of ours.
    Reply {
        /// The id as it came, in JSON.
        id: &'a str,
        /// The result, untouched, or the error object.
        result: Result<&'a RawValue, RemoteError>,
    },
    /// A request of the server.
    Request {
        /// The id as it came, to be sent back.
        id: &'a RawValue,
        /// The method's name.
        method: Cow<'a, str>,
    },
    /// A notification.
    Notification {
        /// The method's name.
        method: Cow<'a, str>,
        /// The parameters, untouched.
        params: Option<&'a RawValue>,
    },
}

/// An error object (JSON-RPC 2.0, section 5.1).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RemoteError {
    pub(crate) code: i64,
    pub(crate) message: String,
}

/// The members of a message. The derived reader refuses a member that comes twice.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Message<'a> {
    /// Takes a line apart.
    ///
    /// # Errors
    ///
    /// What breaks the rules, in plain words.
    pub(crate) fn parse(line: &'a [u8], json_depth: usize) -> Result<Self, String> {
        if is_too_deep(line, json_depth.min(DEEPEST)) {
            return Err(format!(
                "it nests deeper than limits.json_depth ({json_depth})"
            ));
        }
        let text = std::str::from_utf8(line)
            .map_err(|error| format!("it is not UTF-8 (byte {})", error.valid_up_to()))?;
        if let Some(reply) = plain_reply(text) {
            return Ok(reply);
        }
        let members: Members<'a> = serde_json::from_str(text)
            .map_err(|error| format!("it is no JSON-RPC message: {error}"))?;
        members.classify()
    }
}

/// A reply in one of the two forms in which servers write almost every one: the order of JSON-RPC's
/// own examples, or the result first. What is around the result is compared, so that the result
/// alone is left to be read. Nothing for any other line, and nothing for a wrong one.
fn plain_reply(text: &str) -> Option<Message<'_>> {
    const NAMED: &str = "{\"jsonrpc\":\"2.0\",\"id\":";
    const THEN_RESULT: &str = ",\"result\":";
    const RESULT: &str = "{\"result\":";
    const THEN_NAMED: &str = ",\"jsonrpc\":\"2.0\",\"id\":";
    let members = text.strip_suffix('}')?;
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let (id, result) = if let Some(rest) = members.strip_prefix(NAMED) {
        let digits = rest.bytes().take_while(is_digit).count();
        let (id, rest) = rest.split_at_checked(digits)?;
        (id, rest.strip_prefix(THEN_RESULT)?)
    } else {
        let rest = members.strip_prefix(RESULT)?;
        let digits = rest.bytes().rev().take_while(is_digit).count();
        let (rest, id) = rest.split_at_checked(rest.len() - digits)?;
        (id, rest.strip_suffix(THEN_NAMED)?)
    };
    // What is no id of ours may be no JSON either, such as no digit at all.
    super::id::ours(id)?;
    let result = serde_json::from_str(result).ok()?;
    Some(Message::Reply {
        id,
        result: Ok(result),
    })
}

impl<'a> Members<'a> {
    fn classify(self) -> Result<Message<'a>, String> {
        match self.jsonrpc.as_deref() {
            Some("2.0") => {}
            Some(_) => return Err("its \"jsonrpc\" is not \"2.0\"".to_owned()),
            None => return Err("it has no \"jsonrpc\": \"2.0\"".to_owned()),
        }
        match (self.method, self.id, self.result, self.error) {
            (Some(method), Some(id), None, None) => Ok(Message::Request { id, method }),
            (Some(method), None, None, None) => Ok(Message::Notification {
                method,
                params: self.params,
            }),
            (Some(_), _, _, _) => Err("it is a request and a reply at once".to_owned()),
            (None, None, _, _) => Err("it has neither a method nor an id".to_owned()),
            (None, Some(id), Some(result), None) => Ok(Message::Reply {
                id: id.get(),
                result: Ok(result),
            }),
            (None, Some(id), None, Some(error)) => Ok(Message::Reply {
                id: id.get(),
                result: Err(RemoteError::parse(error)?),
            }),
            (None, Some(_), Some(_), Some(_)) => {
                Err("it has both a result and an error".to_owned())
            }
            (None, Some(_), None, None) => Err("it has neither a result nor an error".to_owned()),
        }
    }
}

impl RemoteError {
    /// The error in the body of an HTTP response, whatever its id: a server that refuses a request
    /// may not have read it (MCP 2025-11-25, "Sending Messages to the Server").
    pub(crate) fn of_refusal(body: &[u8], json_depth: usize) -> Option<Self> {
        if is_too_deep(body, json_depth.min(DEEPEST)) {
            return None;
        }
        let members: Members<'_> = serde_json::from_slice(body).ok()?;
        match members.result {
            None => Self::parse(members.error?).ok(),
            Some(_) => None,
        }
    }

    fn parse(error: &RawValue) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object with a code")]
        struct Object {
            code: i64,
            #[serde(default)]
            message: Option<String>,
        }
        let object: Object = serde_json::from_str(error.get())
            .map_err(|error| format!("its error object breaks JSON-RPC: {error}"))?;
        Ok(Self {
            code: object.code,
            message: object.message.unwrap_or_default(),
        })
    }
}

/// Whether the line nests deeper than `limit`.
///
/// Almost no message has that many brackets at all, and counting them takes no branches: in pieces
/// whose count fits into a byte, so that many bytes are compared at once.
fn is_too_deep(line: &[u8], limit: usize) -> bool {
    let is_opening = |byte: &u8| u8::from(matches!(byte, b'[' | b'{'));
    let pieces = line.chunks(usize::from(u8::MAX));
    let brackets: usize = pieces
        .map(|piece| usize::from(piece.iter().map(is_opening).sum::<u8>()))
        .sum();
    brackets > limit && toolspan_core::guard::depth::of_text(line, limit).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        match Message::parse(line.as_bytes(), 64) {
            Err(reason) => reason,
            Ok(message) => format!("taken as {message:?}"),
        }
    }

    #[test]
    fn a_null_result_is_a_result() {
        let line = br#"{"jsonrpc":"2.0","id":1,"result":null}"#;
        let Ok(Message::Reply {
            result: Ok(result), ..
        }) = Message::parse(line, 64)
        else {
            panic!("a reply")
        };
        assert_eq!(result.get(), "null");
    }

    #[test]
    fn keys_are_exact_and_unknown_ones_are_ignored() {
        let line = br#"{"jsonrpc":"2.0","id":1,"Result":{},"RESULT":1,"result":{"a":1},"x":[]}"#;
        assert!(matches!(
            Message::parse(line, 64),
            Ok(Message::Reply { result: Ok(_), .. })
        ));
    }

    #[test]
    fn each_broken_rule_is_named() {
        let reasons = [
            r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
        ]
        .map(refusal)
        .join("\n");
        insta::assert_snapshot!(reasons);
    }

    #[test]
    fn the_plain_forms_of_a_reply_are_read_as_all_others_are() {
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":[1]}}"#,
            r#"{"result":{"a":[1]},"jsonrpc":"2.0","id":7}"#,
        ] {
            let Some(Message::Reply { id, result }) = plain_reply(line) else {
                panic!("plain: {line}")
            };
            assert_eq!((id, result.unwrap().get()), ("7", r#"{"a":[1]}"#));
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":1},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":1},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}}"#,
            r#"{"jsonrpc":"2.0","id":,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":07,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
            r#"{"result":{},"id":8,"jsonrpc":"2.0","id":7}"#,
            r#"{"result":{},"jsonrpc":"2.0","id":}"#,
            r#"{"result":"\",\"jsonrpc\":\"2.0\",\"id\":7}"#,
            r#"{"result":1"#,
            "}",
        ] {
            assert!(plain_reply(line).is_none(), "{line}");
        }
    }

    #[test]
    fn the_error_of_a_refusal_is_read_with_any_id_and_without_one() {
        for (body, message) in [
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"a"},"id":null}"#,
                Some("a"),
            ),
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"b"}}"#,
                Some("b"),
            ),
            (
                r#"{"error":{"code":1,"message":"c"},"id":"server-error"}"#,
                Some("c"),
            ),
            (r#"{"error":"invalid_token"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
            ("<html>", None),
            ("", None),
        ] {
            let remote = RemoteError::of_refusal(body.as_bytes(), 64);
            assert_eq!(
                remote.as_ref().map(|remote| remote.message.as_str()),
                message
            );
        }
    }

    #[test]
    fn depth_is_checked_before_anything_recursive_runs() {
        for depth in [65, 129, 100_000, 1_000_000] {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{nested}}}"#);
            assert!(refusal(&line).contains("limits.json_depth (64)"));
        }
        let flat = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":[{}1]}}"#,
            "[],".repeat(1_000)
        );
        assert!(Message::parse(flat.as_bytes(), 64).is_ok());
    }
}
