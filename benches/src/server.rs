//! Which server is called, and with what?
//!
//! The server is this program itself in the guise of `toolspan-faults --null-server`, so that it is
//! always there, of the same age and built with the same profile.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use toolspan_faults::Command;
use toolspan_io::process::Launch;

use crate::failure::Failure;

/// The tool that is called, as the server names it.
pub(crate) const TOOL: &str = "echo";
/// The arguments of each call, as JSON text.
pub(crate) const ARGUMENTS: &str = r#"{"text":"hello"}"#;
/// What each call is answered with.
pub(crate) const ANSWER: &str = "ok";
/// The argument that makes this program the server.
pub(crate) const SERVE: &str = "--serve";

/// The arguments of each call, parsed once.
pub(crate) static ARGUMENTS_VALUE: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut arguments = Map::new();
    arguments.insert("text".to_owned(), json!("hello"));
    arguments
});

/// Serves until the end of standard input, in a session of its own.
///
/// Our engine gives every server one; rmcp and a bare pipe do not. Linux schedules sessions against
/// one another (`sched_autogroup`), which costs each call up to 2 microseconds on a busy machine:
/// with a session for all, the rows compare clients and nothing else.
pub(crate) fn serve() -> Result<(), Failure> {
    // Refused where the server leads a session already.
    let _ = rustix::process::setsid();
    let command = Command::parse(["--null-server".into()])?;
    toolspan_faults::run(command)?;
    Ok(())
}

/// The argument that makes this program the server over HTTP.
pub(crate) const SERVE_HTTP: &str = "--serve-http";

/// Serves over HTTP until the end of standard input, in a session of its own as the other.
pub(crate) fn serve_http() -> Result<(), Failure> {
    let _ = rustix::process::setsid();
    let command = Command::parse(["--null-http-server".into()])?;
    toolspan_faults::run(command)?;
    Ok(())
}

/// A running server over HTTP; dropping it ends it.
pub(crate) struct HttpServer {
    child: Child,
    /// Held open: its end would end the server.
    _input: Option<ChildStdin>,
    url: String,
}

impl HttpServer {
    /// Starts it and waits until it listens: then it writes one line, `{"url": text}`.
    #[expect(
        clippy::disallowed_methods,
        reason = "no client of MCP starts a server that it reaches over HTTP"
    )]
    pub(crate) fn start() -> Result<Self, Failure> {
        let mut command = std::process::Command::new(program()?);
        command.arg(SERVE_HTTP).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let told: Value = serde_json::from_str(&line).unwrap_or_default();
        let url = told.get("url").and_then(Value::as_str).unwrap_or_default();
        Ok(Self {
            _input: child.stdin.take(),
            url: url.to_owned(),
            child,
        })
    }

    /// Where it serves.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where this program is.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    Ok(std::env::current_exe()?)
}

/// The server for our own engine.
pub(crate) fn launch() -> Result<Arc<Launch>, Failure> {
    Ok(Arc::new(Launch::new(program()?).with_args([SERVE])))
}

/// The call as our engine sends it, with an id that never changes.
pub(crate) fn frame() -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1000,\"method\":\"tools/call\",\"params\":{{\"name\":\"{TOOL}\",\
         \"arguments\":{ARGUMENTS},\"_meta\":{{\"progressToken\":1000}}}}}}\n"
    )
    .into_bytes()
}

/// The server's reply to [`frame`].
pub(crate) fn reply() -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1000,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{ANSWER}\"}}],\
         \"isError\":false}}}}\n"
    )
    .into_bytes()
}
