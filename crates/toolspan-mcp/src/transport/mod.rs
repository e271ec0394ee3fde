//! How bytes get to a server and back.
//!
//! `stdio` starts a process, [`memory`] joins two tasks of one process. Both end as a `Pipe`:
//! lines out, lines in, and the process behind them where there is one. `remote` is a server at a
//! URL, to which every message is a request of its own.

pub mod memory;
pub(crate) mod remote;
mod stdio;

pub use remote::{RemoteKind, RemoteServer, is_reserved_header};

use std::sync::Arc;

use toolspan_core::Result;
use toolspan_io::process::{Launch, Process};

use crate::inlet::Stream;
use crate::outbox::Sink;

/// Where a server is.
#[derive(Clone)]
#[non_exhaustive]
pub enum Transport {
    /// A process whose standard input and output carry the messages.
    Stdio(Arc<Launch>),
    /// A server in this process: each start makes a new pair of streams and is given one end.
    Memory(memory::Connector),
    /// A server at a URL.
    Remote(Arc<RemoteServer>),
}

/// What there is to be opened.
pub(crate) enum Door<'a> {
    /// The way is open.
    Pipe(Pipe),
    /// The way is to be found by asking.
    Remote(&'a RemoteServer),
}

impl Transport {
    /// What kind of toolbox this makes.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "mcp/stdio",
            Self::Memory(_) => "mcp/memory",
            Self::Remote(server) => match server.kind() {
                RemoteKind::Auto | RemoteKind::StreamableHttp => "mcp/http",
                RemoteKind::Sse => "mcp/sse",
            },
        }
    }

    /// What is started, in one line for people; no secrets.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Stdio(launch) => stdio::describe(launch),
            Self::Memory(_) => "a server in this process".to_owned(),
            Self::Remote(server) => remote::shown(server.url()),
        }
    }

    /// Opens the way to the server. Must run within a tokio runtime.
    ///
    /// # Errors
    ///
    /// `startup` when the process cannot be started.
    pub(crate) fn open(&self) -> Result<Door<'_>> {
        match self {
            Self::Stdio(launch) => stdio::open(launch).map(Door::Pipe),
            Self::Memory(connector) => Ok(Door::Pipe(memory::open(connector))),
            Self::Remote(server) => Ok(Door::Remote(server)),
        }
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Transport")
            .field(&self.describe())
            .finish()
    }
}

/// An open way to a server.
pub(crate) struct Pipe {
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) stream: Stream,
    pub(crate) process: Option<Process>,
}
