//! The start of a server at a URL: which protocol does it speak, and does it answer?
//!
//! Where the config does not say it, streamable HTTP is tried, and HTTP with SSE where the server
//! refuses that in the way of one that does not know it (MCP 2025-11-25, "Backwards Compatibility").
//! What worked is remembered, and tried anew when it stops working.

use std::sync::Arc;

use tokio::time::{Instant, timeout};
use toolspan_core::{Error, ErrorKind, Phase, Result};

use super::Supervisor;
use super::start::{SHAKE_HANDS, greeting, of_handshake};
use super::steps::Steps;
use crate::connection::Connection;
use crate::posts::{Remote, headers};
use crate::transport::{RemoteKind, RemoteServer};

impl Supervisor {
    /// The whole start, within `timeouts.connect`.
    pub(super) async fn start_remote(
        self: &Arc<Self>,
        server: &RemoteServer,
        steps: &mut Steps,
    ) -> Result<Arc<Connection>> {
        headers::check(server.headers())?;
        let limit = self.server.timeouts.connect;
        let result = match timeout(limit, self.climb(server, steps)).await {
            Ok(result) => result,
            Err(_) => {
                let error = self.too_slow("the server did not finish its handshake");
                steps.note(SHAKE_HANDS, Err(error), |_: &Arc<Connection>| String::new())
            }
        };
        let opening = self.lock().opening.clone();
        if let (Err(_), Some(connection)) = (&result, opening) {
            self.give_up(&connection);
        }
        result
    }

    async fn climb(
        self: &Arc<Self>,
        server: &RemoteServer,
        steps: &mut Steps,
    ) -> Result<Arc<Connection>> {
        match server.kind() {
            RemoteKind::StreamableHttp => self.start_streamable(server, steps, false).await.result,
            RemoteKind::Sse => self.start_sse(server, steps).await,
            RemoteKind::Auto => self.find_kind(server, steps).await,
        }
    }

    async fn find_kind(
        self: &Arc<Self>,
        server: &RemoteServer,
        steps: &mut Steps,
    ) -> Result<Arc<Connection>> {
        if self.lock().reach.speaks_sse() {
            match self.start_sse(server, steps).await {
                Err(error) if error.http_status().is_some() => {
                    self.lock().reach.note_sse(false);
                }
                result => return result,
            }
        }
        let tried = self.start_streamable(server, steps, true).await;
        let refusal = match tried.result {
            Err(error) if tried.is_unknown => error,
            result => return result,
        };
        match self.start_sse(server, steps).await {
            Ok(connection) => {
                self.lock().reach.note_sse(true);
                Ok(connection)
            }
            Err(error) => Err(neither(refusal, &error)),
        }
    }

    /// A start over streamable HTTP. `is_one_of_two`: a refusal is no failure yet.
    async fn start_streamable(
        self: &Arc<Self>,
        server: &RemoteServer,
        steps: &mut Steps,
        is_one_of_two: bool,
    ) -> Tried {
        let connection = Connection::over_http(&self.remote(server), self.setup());
        let connection = self.opening(connection);
        let hello = connection.shake_hands().await.map_err(refused);
        let met = connection.met();
        let is_unknown = matches!(&met, Some(met) if matches!(met.status, 400 | 404 | 405));
        let reach = format!("reach {} (POST)", self.server.transport.describe());
        let said = match (&hello, met) {
            (Err(error), None) => {
                steps.add(&reach, Err(error.clone()), Instant::now());
                None
            }
            (hello, met) => {
                if let Some(met) = met {
                    steps.add(&reach, Ok(met.words), met.at);
                }
                Some(match hello {
                    Err(error) if is_one_of_two && is_unknown => {
                        Ok(format!("refused ({error}); HTTP with SSE is tried"))
                    }
                    Err(error) => Err(error.clone()),
                    Ok(hello) if connection.has_session() => {
                        Ok(format!("{}, with a session", greeting(hello)))
                    }
                    Ok(hello) => Ok(format!("{}, without a session", greeting(hello))),
                })
            }
        };
        if let Some(said) = said {
            steps.add(SHAKE_HANDS, said, Instant::now());
        }
        Tried {
            result: hello.map(|_| connection),
            is_unknown,
        }
    }

    /// A start over HTTP with SSE.
    async fn start_sse(
        self: &Arc<Self>,
        server: &RemoteServer,
        steps: &mut Steps,
    ) -> Result<Arc<Connection>> {
        let opened = Connection::over_sse(&self.remote(server), self.setup()).await;
        let what = format!(
            "open the stream of {} (GET)",
            self.server.transport.describe()
        );
        let connection = steps.note(&what, opened.map_err(refused), |connection| {
            connection
                .endpoint()
                .map_or_else(String::new, |endpoint| format!("messages go to {endpoint}"))
        })?;
        let connection = self.opening(connection);
        let hello = connection.shake_hands().await.map_err(refused);
        steps.note(SHAKE_HANDS, hello, greeting)?;
        Ok(connection)
    }

    fn remote<'a>(&self, server: &'a RemoteServer) -> Remote<'a> {
        Remote {
            server,
            redactor: self.server.redactor.clone(),
            connect: self.server.timeouts.connect,
        }
    }

    /// Keeps a connection where an end of the toolbox finds it.
    fn opening(&self, connection: Connection) -> Arc<Connection> {
        let connection = Arc::new(connection);
        let before = self.lock().opening.replace(Arc::clone(&connection));
        // One that was refused: it ends with its last owner, which is not under the lock.
        drop(before);
        connection
    }
}

/// What came of a start over streamable HTTP.
struct Tried {
    result: Result<Arc<Connection>>,
    /// Whether `initialize` was refused as by a server that speaks HTTP with SSE alone.
    is_unknown: bool,
}

/// The error of a handshake over HTTP: nothing has run, and what was cut was no connection yet.
fn refused(error: Error) -> Error {
    let phase = error.phase();
    let is_closed = error.kind() == ErrorKind::Closed;
    let error = of_handshake(error);
    match (phase, is_closed) {
        (Phase::Connect, _) => error.with_phase(Phase::Connect),
        (_, true) => error.with_kind(ErrorKind::Connect),
        _ => error,
    }
}

/// The error of a server that speaks neither of the two.
fn neither(refusal: Error, of_sse: &Error) -> Error {
    let message = format!(
        "{}; HTTP with SSE was tried, too: {}",
        refusal.message(),
        of_sse.message()
    );
    let error = refusal.with_message(message);
    match of_sse.hint() {
        // The stream was there: what is wrong with it helps more than what refused the first try.
        Some(hint) if of_sse.http_status().is_none() => error.with_hint(hint),
        _ => error,
    }
}
