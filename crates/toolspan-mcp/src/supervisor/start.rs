//! One start of a server, step by step.

use std::sync::Arc;

use toolspan_core::services::Event;
use toolspan_core::toolbox::ToolBoxState;
use toolspan_core::{Error, ErrorKind, Outcome, Phase, Result};

use super::Supervisor;
use super::ear::Ear;
use super::steps::Steps;
use crate::connection::Connection;
use crate::error;
use crate::link::Setup;
use crate::transport::{Door, Pipe};
use crate::wire::initialize::ServerHello;

/// What a handshake is called in the steps of a start.
pub(super) const SHAKE_HANDS: &str = "shake hands (initialize)";

impl Supervisor {
    /// One whole start: the way to the server, then the handshake, within `timeouts.connect`.
    pub(super) async fn start(self: &Arc<Self>) -> Result<Arc<Connection>> {
        self.tell(Event::State(ToolBoxState::Connecting));
        let mut steps = Steps::default();
        let result = self
            .start_in_steps(&mut steps)
            .await
            .map_err(|error| self.placed(error));
        let steps = steps.done.into_iter().map(|step| self.placed_step(step));
        self.lock().steps = steps.collect();
        result
    }

    async fn start_in_steps(self: &Arc<Self>, steps: &mut Steps) -> Result<Arc<Connection>> {
        let what = format!("start {}", self.server.transport.describe());
        match self.server.transport.open() {
            Ok(Door::Remote(remote)) => self.start_remote(remote, steps).await,
            Ok(Door::Pipe(pipe)) => {
                let found = match &pipe.process {
                    Some(process) => format!("process {}", process.pid()),
                    None => "open".to_owned(),
                };
                let _ = steps.note(&what, Ok(found), String::clone);
                self.start_piped(pipe, steps).await
            }
            Err(error) => steps.note(&what, Err(error), |_: &Arc<Connection>| String::new()),
        }
    }

    async fn start_piped(
        self: &Arc<Self>,
        pipe: Pipe,
        steps: &mut Steps,
    ) -> Result<Arc<Connection>> {
        self.lock().processes.extend(pipe.process.clone());
        let connection = Arc::new(Connection::open(pipe, self.setup()));
        self.lock().opening = Some(Arc::clone(&connection));
        let limit = self.server.timeouts.connect;
        let hello = match tokio::time::timeout(limit, connection.shake_hands()).await {
            Ok(hello) => hello.map_err(refused_start),
            Err(_) => Err(self.silent(&connection)),
        };
        let hello = steps.note(SHAKE_HANDS, hello, greeting);
        if hello.is_err() {
            self.give_up(&connection);
        }
        hello.map(|_| connection)
    }

    /// What every connection of this server is opened with.
    pub(super) fn setup(self: &Arc<Self>) -> Setup {
        Setup {
            limits: self.server.limits.clone(),
            next_id: Arc::clone(&self.next_id),
            listener: Arc::new(Ear {
                supervisor: Arc::downgrade(self),
            }),
            credentials: self.server.credentials.clone(),
        }
    }

    /// Ends a connection whose start failed, and keeps what it left to say.
    pub(super) fn give_up(&self, connection: &Connection) {
        self.lock().last_words = self.words_of(connection);
        connection.begin_close(self.server.timeouts.close);
    }

    /// The error of a server that did not finish its handshake in time.
    fn silent(&self, connection: &Connection) -> Error {
        let stderr = connection
            .process()
            .map(|process| process.stderr_tail())
            .unwrap_or_default();
        self.too_slow("the server did not answer initialize")
            .with_hint("if it is still downloading, raise timeouts.connect")
            .with_stderr(stderr)
    }

    /// The error of a start that took longer than `timeouts.connect`.
    pub(super) fn too_slow(&self, what: &str) -> Error {
        let limit = self.server.timeouts.connect;
        error::timeout(Phase::Handshake, what, limit, "timeouts.connect")
    }
}

/// What came of a handshake, for people.
pub(super) fn greeting(hello: &ServerHello) -> String {
    let server = match hello.server.as_str() {
        "" => "without a name",
        server => server,
    };
    format!("protocol {}, server {server}", hello.version.as_str())
}

/// The error of a handshake: what ended the server then is a failed start, and nothing has run.
fn refused_start(error: Error) -> Error {
    let message = error.message().to_owned();
    match error.kind() {
        ErrorKind::Closed => of_handshake(error)
            .with_kind(ErrorKind::Startup)
            .with_message(match message.split_once(": ") {
                Some((what, how)) => format!("{what} before it was ready: {how}"),
                None => format!("{message} before it was ready"),
            })
            .with_hint("run the command by hand to see what it needs"),
        _ => of_handshake(error),
    }
}

/// An error as one of the handshake: nothing has run.
pub(super) fn of_handshake(error: Error) -> Error {
    let message = format!("the server refused the handshake: {}", error.message());
    let is_refusal = error.kind() == ErrorKind::RemoteError;
    let error = error
        .with_phase(Phase::Handshake)
        .with_outcome(Outcome::NotSent);
    if is_refusal {
        error.with_kind(ErrorKind::Connect).with_message(message)
    } else {
        error
    }
}
