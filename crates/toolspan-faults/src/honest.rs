//! How does a well-behaved MCP server answer?

use serde_json::{Value, json};

use crate::step::{Hold, Set};

/// The handshake revisions an honest server knows; asked for another, it offers the newest.
const KNOWN_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The newest revision that begins with `initialize`.
const NEWEST_WITH_HANDSHAKE: &str = "2025-11-25";

/// The revision without a handshake, answered when [`Set::modern`] is on.
const STATELESS: &str = "2026-07-28";

/// JSON-RPC 2.0, section 5.1: the method does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// JSON-RPC 2.0, section 5.1: invalid parameters; also for an unknown tool (MCP, tools).
const INVALID_PARAMS: i64 = -32602;

/// The tool whose calls wait at the barrier of [`Set::held`].
const HELD: &str = "held";

/// A server with the tool `echo`, or with the tools it is given; it keeps no state between messages.
#[derive(Debug)]
pub(crate) struct Honest {
    version: Option<String>,
    tools: Vec<Value>,
    capabilities: Value,
    modern: bool,
    held: Option<Hold>,
}

impl Default for Honest {
    fn default() -> Self {
        Self {
            version: None,
            tools: vec![echo_tool()],
            capabilities: json!({"tools": {"listChanged": true}}),
            modern: false,
            held: None,
        }
    }
}

impl Honest {
    /// Takes over what the step names and keeps the rest.
    pub(crate) fn set(&mut self, set: &Set) {
        if let Some(version) = &set.version {
            self.version = Some(version.clone());
        }
        if let Some(tools) = &set.tools {
            self.tools.clone_from(tools);
        }
        if let Some(capabilities) = &set.capabilities {
            self.capabilities = capabilities.clone();
        }
        if let Some(modern) = set.modern {
            self.modern = modern;
        }
        if let Some(held) = &set.held {
            self.held = Some(held.clone());
        }
    }

    /// Where the answer to this message has to wait.
    pub(crate) fn holds(&self, message: &Value) -> Option<&Hold> {
        let name = message.pointer("/params/name").and_then(Value::as_str);
        let method = message.get("method").and_then(Value::as_str);
        let is_held = method == Some("tools/call") && name == Some(HELD);
        self.held.as_ref().filter(|_| is_held)
    }

    /// The tools it lists.
    fn tools(&self) -> Vec<Value> {
        let held = self
            .held
            .as_ref()
            .map(|_| text_tool(HELD, "Waits, then returns its text"));
        self.tools.iter().cloned().chain(held).collect()
    }

    /// Answers a request; anything else (notification, reply, batch, nonsense) gets no answer.
    pub(crate) fn answer(&self, message: &Value) -> Option<Value> {
        let id = message
            .get("id")
            .filter(|id| id.is_string() || id.is_number())?;
        let method = message.get("method")?.as_str()?;
        let params = message.get("params").unwrap_or(&Value::Null);
        Some(match self.result(method, params) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, text)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
            }
        })
    }

    fn result(&self, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        match method {
            "initialize" => Ok(json!({
                "protocolVersion": self.version_for(params),
                "capabilities": self.capabilities,
                "serverInfo": server_info(),
            })),
            "server/discover" if self.modern => Ok(json!({
                "resultType": "complete",
                "supportedVersions": [STATELESS],
                "capabilities": self.capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
            })),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(self.complete(json!({"tools": self.tools()}))),
            "tools/call" => self.call(params),
            _ => Err((METHOD_NOT_FOUND, format!("no method {method}"))),
        }
    }

    fn version_for<'a>(&'a self, params: &'a Value) -> &'a str {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        match (&self.version, asked) {
            (Some(version), _) => version,
            (None, Some(asked)) if KNOWN_VERSIONS.contains(&asked) => asked,
            _ => NEWEST_WITH_HANDSHAKE,
        }
    }

    fn call(&self, params: &Value) -> Result<Value, (i64, String)> {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_tool = |tool: &Value| tool.get("name").and_then(Value::as_str) == Some(name);
        if !self.tools().iter().any(is_tool) {
            return Err((INVALID_PARAMS, format!("no tool {name}")));
        }
        let text = match params.get("arguments") {
            None => String::new(),
            Some(arguments) => match arguments.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => arguments.to_string(),
            },
        };
        Ok(self.complete(json!({"content": [{"type": "text", "text": text}], "isError": false})))
    }

    /// Adds what the 2026-07-28 revision requires of every result.
    fn complete(&self, mut result: Value) -> Value {
        if self.modern
            && let Some(fields) = result.as_object_mut()
        {
            fields.insert("resultType".to_owned(), "complete".into());
        }
        result
    }
}

fn server_info() -> Value {
    json!({"name": "toolspan-faults", "version": env!("CARGO_PKG_VERSION")})
}

/// The one tool of a server that was not told otherwise.
pub(crate) fn echo_tool() -> Value {
    text_tool("echo", "Returns its text")
}

fn text_tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(honest: &Honest, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        honest.answer(&request).expect("a request is answered")
    }

    #[test]
    fn a_known_version_is_echoed_and_an_unknown_one_is_negotiated_down() {
        let honest = Honest::default();
        for (asked, given) in [("2024-11-05", "2024-11-05"), ("2030-01-01", "2025-11-25")] {
            let reply = result(&honest, "initialize", json!({"protocolVersion": asked}));
            assert_eq!(reply["result"]["protocolVersion"], given);
        }
    }

    #[test]
    fn echo_returns_its_text_or_its_arguments() {
        let honest = Honest::default();
        let cases = [
            (json!({"text": "hi"}), "hi"),
            (json!({"a": 1}), "{\"a\":1}"),
        ];
        for (arguments, expected) in cases {
            let reply = result(
                &honest,
                "tools/call",
                json!({"name": "echo", "arguments": arguments}),
            );
            assert_eq!(reply["result"]["content"][0]["text"], expected);
        }
    }

    #[test]
    fn unknown_tools_and_methods_are_refused() {
        let honest = Honest::default();
        let call = result(&honest, "tools/call", json!({"name": "nope"}));
        assert_eq!(call["error"]["code"], INVALID_PARAMS);
        let method = result(&honest, "server/discover", json!({}));
        assert_eq!(method["error"]["code"], METHOD_NOT_FOUND);
    }

    #[test]
    fn a_modern_server_is_discovered_and_marks_its_results_complete() {
        let mut honest = Honest::default();
        honest.set(&Set {
            modern: Some(true),
            ..Set::default()
        });
        let discover = result(&honest, "server/discover", json!({}));
        assert_eq!(discover["result"]["supportedVersions"], json!([STATELESS]));
        let list = result(&honest, "tools/list", json!({}));
        assert_eq!(list["result"]["resultType"], "complete");
    }

    #[test]
    fn only_requests_are_answered() {
        let honest = Honest::default();
        for message in [
            json!({"method": "notifications/initialized"}),
            json!({"id": null, "method": "ping"}),
            json!({"id": 3, "result": {}}),
            json!([{"id": 3, "method": "ping"}]),
            json!("ping"),
        ] {
            assert_eq!(honest.answer(&message), None, "{message}");
        }
    }
}
