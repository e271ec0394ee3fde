//! The engine alone, without schema, gate or deadline: what the benchmarks hold against a bare pipe.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde_json::Map;
use serde_json::value::RawValue;
use toolspan_core::guard::{Redactor, Timeouts};
use toolspan_core::{Error, Result};

use crate::connection::Connection;
use crate::dialect::Call;
use crate::link::{Listener, Setup};
use crate::posts::Remote;
use crate::transport::{Door, RemoteKind, Transport};

/// An open connection after its handshake.
pub struct Engine(Connection);

struct Deaf;

impl Listener for Deaf {
    fn tools_changed(&self) {}
    fn log(&self, _level: String, _text: String) {}
    fn ended(&self, _cause: &Error) {}
}

impl Engine {
    /// Starts a server and shakes hands.
    ///
    /// # Errors
    ///
    /// As a start of a toolbox.
    pub async fn start(transport: &Transport) -> Result<Self> {
        let setup = Setup {
            limits: toolspan_core::guard::Limits::default(),
            next_id: Arc::new(AtomicU64::new(1)),
            listener: Arc::new(Deaf),
            credentials: toolspan_core::guard::Redactor::default(),
        };
        let connection = match transport.open()? {
            Door::Pipe(pipe) => Connection::open(pipe, setup),
            Door::Remote(server) => {
                let remote = Remote {
                    server,
                    redactor: Redactor::default(),
                    connect: Timeouts::default().connect,
                };
                match server.kind() {
                    RemoteKind::Sse => Connection::over_sse(&remote, setup).await?,
                    _ => Connection::over_http(&remote, setup),
                }
            }
        };
        connection.shake_hands().await?;
        Ok(Self(connection))
    }

    /// One call with arguments as JSON text; the result untouched.
    ///
    /// # Errors
    ///
    /// As a call of a toolbox's tool.
    pub async fn call(&self, name: &str, arguments: &str) -> Result<Box<RawValue>> {
        let meta = Map::new();
        self.0
            .call(
                &Call {
                    name,
                    arguments,
                    meta: &meta,
                },
                None,
            )
            .await
    }
}
