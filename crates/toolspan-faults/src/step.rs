//! What can a script say? The closed list of steps, as they are written in JSON.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde_json::Value;

use crate::http_step::{Break, ExpectRequest, Respond, SetHttp, Sse};

/// One step of a script. A step without settings is a string (`"serve"`), any other an object with
/// one key (`{"exit": {"code": 3}}`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Waits for an incoming message with a given method and remembers it.
    Expect(Expect),
    /// Answers honestly until `tools/list` has been answered (and `initialize` was completed, if
    /// the client began with it).
    Handshake,
    /// Answers honestly until the end of input.
    Serve,
    /// Changes what the honest answers say.
    Set(Set),
    /// Writes one message: the JSON value with its placeholders filled in, and a newline.
    Send(Value),
    /// Writes bytes that need not be JSON.
    SendRaw(Raw),
    /// Writes one message in pieces, each flushed before the next.
    Split(Split),
    /// Writes only the first bytes of a message.
    Cut(Cut),
    /// Waits at a barrier until it is released.
    Hold(Hold),
    /// Tells whoever listens on a FIFO that the script has come this far.
    Reached(Fifo),
    /// Writes bytes to the standard error stream.
    Stderr(Raw),
    /// Starts a process that stays until it is killed, or as long as this one may still live.
    SpawnGrandchild(Grandchild),
    /// Makes the process immune to these signals.
    IgnoreSignals(Vec<Signal>),
    /// From here on the end of input, or a client that no longer reads, does not end the process.
    IgnoreEof,
    /// From here on nothing is read; after the last step the process stays until it is killed.
    StopReading,
    /// Closes the standard input stream.
    CloseStdin,
    /// Closes the standard output stream.
    CloseStdout,
    /// Plays steps several times.
    Loop(Loop),
    /// Plays steps only in the first process that gets here.
    Once(Once),
    /// Adds one line to a file.
    Append(Append),
    /// Ends the process with an exit code.
    Exit(Exit),
    /// Ends the process by a signal to itself.
    KillSelf(KillSelf),
    /// Answers the latest expected message honestly.
    Answer,
    /// HTTP: waits for a request, whether or not it carries a message.
    ExpectRequest(ExpectRequest),
    /// HTTP: answers the expected request with any status, headers and body.
    Respond(Respond),
    /// HTTP: answers the expected request with a stream of events.
    Sse(Sse),
    /// HTTP: begins the honest response to the expected request and breaks off.
    Break(Break),
    /// HTTP: writes bytes to the connection of the expected request, without a head or framing.
    RawHttp(Raw),
    /// HTTP: forgets all sessions and ends their streams, as a server that was started anew.
    ExpireSessions,
}

impl Step {
    /// Its name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Expect(_) => "expect",
            Self::Handshake => "handshake",
            Self::Serve => "serve",
            Self::Set(_) => "set",
            Self::Send(_) => "send",
            Self::SendRaw(_) => "send_raw",
            Self::Split(_) => "split",
            Self::Cut(_) => "cut",
            Self::Hold(_) => "hold",
            Self::Reached(_) => "reached",
            Self::Stderr(_) => "stderr",
            Self::SpawnGrandchild(_) => "spawn_grandchild",
            Self::IgnoreSignals(_) => "ignore_signals",
            Self::IgnoreEof => "ignore_eof",
            Self::StopReading => "stop_reading",
            Self::CloseStdin => "close_stdin",
            Self::CloseStdout => "close_stdout",
            Self::Loop(_) => "loop",
            Self::Once(_) => "once",
            Self::Append(_) => "append",
            Self::Exit(_) => "exit",
            Self::KillSelf(_) => "kill_self",
            Self::Answer => "answer",
            Self::ExpectRequest(_) => "expect_request",
            Self::Respond(_) => "respond",
            Self::Sse(_) => "sse",
            Self::Break(_) => "break",
            Self::RawHttp(_) => "raw_http",
            Self::ExpireSessions => "expire_sessions",
        }
    }

    /// Whether it reads, and so ends what is sent in answer to the message before it.
    pub(crate) fn reads(&self) -> bool {
        matches!(
            self,
            Self::Expect(_) | Self::ExpectRequest(_) | Self::Handshake | Self::Serve
        )
    }

    /// The steps inside it.
    pub(crate) fn inner(&self) -> &[Self] {
        match self {
            Self::Loop(inner) => &inner.steps,
            Self::Once(inner) => &inner.steps,
            _ => &[],
        }
    }
}

/// Settings of [`Step::Expect`]; a plain string is the method alone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expect {
    /// The method to wait for, for example `tools/call`.
    pub method: String,
    /// Which arrival to stop at; earlier ones are treated like any other message. Default 1.
    pub nth: u32,
    /// A second name for the message: `"first"` makes `$first.id` available.
    pub name: Option<String>,
    /// Whether other messages are answered honestly (default) or ignored.
    pub auto: bool,
}

/// Settings of [`Step::Set`]. What is left out stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Set {
    /// The `protocolVersion` answered to `initialize`, whatever was asked for.
    pub version: Option<String>,
    /// The tools listed; every listed tool answers like `echo`.
    pub tools: Option<Vec<Value>>,
    /// The capabilities declared. Default `{"tools": {"listChanged": true}}`.
    pub capabilities: Option<Value>,
    /// Whether `server/discover` is answered (the 2026-07-28 way) instead of refused.
    pub modern: Option<bool>,
    /// Adds the tool `held`: an honest call of it waits at this barrier before it is answered. Over
    /// HTTP others are answered meanwhile.
    pub held: Option<Hold>,
    /// What honest responses over HTTP look like.
    pub http: Option<SetHttp>,
}

/// Settings of [`Step::SendRaw`] and [`Step::Stderr`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Raw {
    /// The pieces, written one after the other without anything between them.
    pub parts: Vec<Part>,
    /// Whether a newline follows. Default true.
    #[serde(default = "yes")]
    pub newline: bool,
}

/// One piece of raw output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text in which `${name}` is replaced by the JSON of that placeholder.
    Text(String),
    /// Text in which `${name}` is replaced by the text of that placeholder, without quotes.
    Plain(String),
    /// Bytes in hexadecimal, two digits each.
    Hex(String),
    /// A text written many times; nothing is stored but the text.
    Repeat(Repeat),
    /// Bytes in hexadecimal written many times.
    RepeatHex(Repeat),
}

/// Settings of [`Part::Repeat`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Repeat {
    /// What is repeated, as text or as hexadecimal digits; placeholders are not filled in.
    pub text: String,
    /// How often. The whole may be at most 1 GiB.
    pub times: u64,
}

/// Settings of [`Step::Split`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Split {
    /// The message; its newline is part of the last piece.
    pub message: Value,
    /// The sizes of the pieces in bytes; the last one is used until the message is written.
    pub sizes: Vec<usize>,
}

/// Settings of [`Step::Cut`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cut {
    /// The message.
    pub message: Value,
    /// How many of its bytes are written; no newline follows unless the count includes it.
    pub at: usize,
}

/// Settings of [`Step::Hold`]: the step reads one byte from the FIFO, so each byte written to it
/// lets one hold pass, also when it was written before. When every writer there was has closed the
/// FIFO, all holds pass.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Hold {
    /// The FIFO to read from.
    pub fifo: PathBuf,
    /// A FIFO that gets one byte when the waiting starts, as by [`Step::Reached`]; the other one is
    /// open by then.
    pub reached: Option<PathBuf>,
}

/// Settings of [`Step::Reached`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Fifo {
    /// The FIFO that gets one byte; waits until somebody has it open for reading.
    pub fifo: PathBuf,
}

/// Settings of [`Step::SpawnGrandchild`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Grandchild {
    /// Whether it is detached by a second fork, so that its parent is already gone.
    pub double_fork: bool,
    /// Whether it leads a session (and process group) of its own.
    pub setsid: bool,
    /// Signals it is immune to.
    pub ignore_signals: Vec<Signal>,
    /// Whether it lets go of the three standard streams. By default it keeps them open.
    pub close_streams: bool,
    /// Where its process id is written in decimal; without it, to the standard error stream as
    /// `grandchild PID`. When the id can be read, everything above has been done.
    pub pid_file: Option<PathBuf>,
}

/// Settings of [`Step::Loop`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Loop {
    /// How often; without it until the input or output ends.
    pub times: Option<u64>,
    /// The steps; `$n` counts the rounds from 0.
    pub steps: Vec<Step>,
}

/// Settings of [`Step::Once`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Once {
    /// A file created by the first process that gets here; if it exists, the steps are left out.
    pub marker: PathBuf,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Settings of [`Step::Append`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Append {
    /// The file; it is created when missing.
    pub file: PathBuf,
    /// The line, with `${name}` filled in, for example `started as ${pid}`.
    pub text: String,
}

/// Settings of [`Step::Exit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Exit {
    /// The exit code.
    pub code: u8,
}

/// Settings of [`Step::KillSelf`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KillSelf {
    /// The signal.
    pub signal: Signal,
}

/// A signal by its short name, for example `"TERM"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of signal(7)")]
pub enum Signal {
    Abrt,
    Hup,
    Int,
    Kill,
    Pipe,
    Quit,
    Segv,
    Term,
    Usr1,
    Usr2,
}

fn yes() -> bool {
    true
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExpectVisitor)
    }
}

struct ExpectVisitor;

impl<'de> Visitor<'de> for ExpectVisitor {
    type Value = Expect;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a method, or an object with `method`, `nth`, `as` and `auto`")
    }

    fn visit_str<E: de::Error>(self, method: &str) -> Result<Expect, E> {
        Ok(Expect {
            method: method.to_owned(),
            nth: 1,
            name: None,
            auto: true,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Expect, A::Error> {
        let written = WrittenExpect::deserialize(MapAccessDeserializer::new(map))?;
        if written.nth == 0 {
            return Err(de::Error::custom("`nth` counts from 1"));
        }
        let WrittenExpect {
            method,
            nth,
            name,
            auto,
        } = written;
        Ok(Expect {
            method,
            nth,
            name,
            auto,
        })
    }
}

/// The long form of [`Expect`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExpect {
    method: String,
    #[serde(default = "one")]
    nth: u32,
    #[serde(rename = "as")]
    name: Option<String>,
    #[serde(default = "yes")]
    auto: bool,
}

fn one() -> u32 {
    1
}
