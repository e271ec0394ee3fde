//! What does a client do when a server misbehaves? A server that plays scripts, to find out.
//!
//! A [`Script`] is a list of [`Step`]s: wait for a message, answer it, break the answer, flood,
//! hang, die. Between the steps the server answers honestly, so a script says only what is wrong:
//!
//! ```text
//! # Answers the second call with half a line, then dies
//! {"expect": {"method": "tools/call", "nth": 2}}
//! {"cut": {"message": {"jsonrpc": "2.0", "id": "$id", "result": {}}, "at": 20}}
//! {"kill_self": {"signal": "KILL"}}
//! ```
//!
//! The same script plays over standard streams, over streamable HTTP (where the reply of a call is the
//! response to its POST: a JSON body, or a stream when the script sends more than one message) and
//! over the older HTTP+SSE. Some steps exist over HTTP only: wrong statuses, lengths that lie,
//! connections that are reset, streams that are cut:
//!
//! ```text
//! # Has lost its sessions when the first call comes
//! {"expect": "tools/call"}
//! "expire_sessions"
//! {"respond": {"status": 404, "message": {"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}}}}
//! "serve"
//! ```
//!
//! [`FAULTS`] are scripts ready to use. [`Player`] plays a script over any streams; [`run`] does so
//! over those of the process, as the program `toolspan-faults` does. [`serve_nothing`] and
//! [`serve_nothing_over_http`] are the opposite of a fault: honest servers that cost as little as
//! possible, for benchmarks.

mod catalogue;
#[expect(
    clippy::disallowed_methods,
    reason = "a server answers on its standard output"
)]
mod command;
mod error;
mod honest;
mod http;
mod http_step;
mod lines;
mod null_server;
mod parts;
mod pipe;
mod placeholder;
mod player;
mod script;
mod step;
#[expect(
    clippy::disallowed_methods,
    reason = "it takes the standard streams of the process"
)]
mod system;
mod transport;
mod wire;

pub use catalogue::{FAULTS, Fault};
pub use command::{Command, CommandError, Performance, perform, run};
pub use error::{PlayError, PlayFailure, ScriptError};
pub use http::serve_nothing_over_http;
pub use http_step::{
    Breach, Break, Event, ExpectRequest, Framing, Headers, LineEnd, Place, ReplyStyle, Respond,
    SessionId, SetHttp, Sse, StreamEnd, Then,
};
pub use lines::MAX_LINE_BYTES;
pub use null_server::serve_nothing;
pub use player::{Ended, Player, Streams};
pub use script::{MAX_RAW_BYTES, Script};
pub use step::{
    Append, Cut, Exit, Expect, Fifo, Grandchild, Hold, KillSelf, Loop, Once, Part, Raw, Repeat,
    Set, Signal, Split, Step,
};
pub use transport::Transport;
