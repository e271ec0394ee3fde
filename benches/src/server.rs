//! Which server is called, and with what?
//!
//! The server is this program itself in the guise of `toolspan-faults --null-server`, so that it is
//! always there, of the same age and built with the same profile.

use std::path::PathBuf;
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
