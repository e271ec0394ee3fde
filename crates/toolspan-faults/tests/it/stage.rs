//! How does a test play a script over streams in memory?

use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolspan_faults::{Ended, PlayError, Player, Script, Streams};

/// Everything a client says in an ordinary session, one message a line: a probe of the newest
/// revision, a handshake, a list and two calls.
pub(crate) fn session() -> String {
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}),
        call(4, "first"),
        call(5, "second"),
    ];
    messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect()
}

/// A call of `echo` with a progress token.
pub(crate) fn call(id: u32, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "echo", "arguments": {"text": text}, "_meta": {"progressToken": format!("t{id}")}}})
}

/// Keeps what is written, each write by itself, and breaks like a pipe at its limit.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    writes: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Counted by the clone that writes.
    written: usize,
    limit: Option<usize>,
}

impl Kept {
    pub(crate) fn breaking_after(bytes: usize) -> Self {
        Self {
            limit: Some(bytes),
            ..Self::default()
        }
    }

    pub(crate) fn writes(&self) -> Vec<Vec<u8>> {
        self.writes.lock().unwrap().clone()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.writes().concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).expect("the output is text")
    }

    /// The lines as JSON.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).expect("each line is JSON");
        self.text().lines().map(parse).collect()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.limit.is_some_and(|limit| self.written >= limit) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.written += bytes.len();
        self.writes.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What came of a play.
pub(crate) struct Played {
    pub(crate) end: Result<Ended, PlayError>,
    pub(crate) output: Kept,
    pub(crate) errors: Kept,
}

impl Played {
    /// The messages of a play that came to the end of its input.
    pub(crate) fn messages(&self) -> Vec<Value> {
        assert!(matches!(self.end, Ok(Ended::Streams)), "{:?}", self.end);
        self.output.messages()
    }
}

pub(crate) fn play(steps: &Value, input: &str) -> Played {
    play_script(&script(steps), input, Kept::default())
}

pub(crate) fn script(steps: &Value) -> Script {
    Script::from_array(&steps.to_string()).expect("the script is valid")
}

pub(crate) fn play_script(script: &Script, input: &str, output: Kept) -> Played {
    play_reader(
        script,
        Box::new(Cursor::new(input.as_bytes().to_vec())),
        output,
    )
}

pub(crate) fn play_reader(script: &Script, input: Box<dyn Read>, output: Kept) -> Played {
    let errors = Kept::default();
    let streams = Streams {
        input,
        output: Box::new(output.clone()),
        errors: Box::new(errors.clone()),
    };
    Played {
        end: Player::new(streams).play(script),
        output,
        errors,
    }
}
