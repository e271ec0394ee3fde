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
//! [`FAULTS`] are scripts ready to use. [`Player`] plays a script over any streams; [`run`] does so
//! over those of the process, as the program `toolspan-faults` does. [`serve_nothing`] is the
//! opposite of a fault: an honest server that costs as little as possible, for benchmarks.

mod catalogue;
#[expect(
    clippy::disallowed_methods,
    reason = "a server answers on its standard output"
)]
mod command;
mod error;
mod honest;
mod lines;
mod null_server;
mod placeholder;
mod player;
mod script;
mod step;
#[expect(
    clippy::disallowed_methods,
    reason = "it takes the standard streams of the process"
)]
mod system;

pub use catalogue::{FAULTS, Fault};
pub use command::{Command, CommandError, Performance, perform, run};
pub use error::{PlayError, PlayFailure, ScriptError};
pub use lines::MAX_LINE_BYTES;
pub use null_server::serve_nothing;
pub use player::{Ended, Player, Streams};
pub use script::{MAX_RAW_BYTES, Script};
pub use step::{
    Append, Cut, Exit, Expect, Fifo, Grandchild, Hold, KillSelf, Loop, Once, Part, Raw, Repeat,
    Set, Signal, Split, Step,
};
