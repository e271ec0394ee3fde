//! What is known of how a remote server is reached: its protocol, its last fault, its warnings.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;
use toolspan_core::services::Event;
use toolspan_core::toolbox::{Step, ToolBoxState};
use toolspan_core::{Error, ErrorKind, Outcome};

use super::{Now, State, Supervisor};
use crate::connection::Connection;
use crate::transport::{RemoteKind, Transport};

/// What is known beside the connection.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// Whether HTTP with SSE is what worked last.
    speaks_sse: bool,
    /// Why the server could not be reached, until it is again.
    trouble: Option<Error>,
    /// When the server last answered.
    last_used: Option<Instant>,
    /// How many warnings of the HTTP client the host was told.
    warnings_told: usize,
}

impl Reach {
    pub(super) fn speaks_sse(&self) -> bool {
        self.speaks_sse
    }

    pub(super) fn note_sse(&mut self, works: bool) {
        self.speaks_sse = works;
    }

    /// The server was reached. Gives whether it could not be before.
    pub(super) fn found(&mut self) -> bool {
        self.last_used = Some(Instant::now());
        self.trouble.take().is_some()
    }

    /// The state of a toolbox whose connection is open.
    pub(super) fn state(&self) -> ToolBoxState {
        match &self.trouble {
            Some(error) => ToolBoxState::Degraded(error.clone()),
            None => ToolBoxState::Ready,
        }
    }
}

impl Supervisor {
    /// The server at a URL has answered: what was wrong before is over.
    pub(super) fn note_reached(&self, mut state: MutexGuard<'_, State>) {
        let is_remote = matches!(self.server.transport, Transport::Remote(_));
        let is_back = is_remote && state.reach.found();
        drop(state);
        if is_back {
            self.tell(Event::State(ToolBoxState::Ready));
        }
    }

    /// Takes note of an answer, whatever it says.
    pub(crate) fn note_answer(&self) {
        self.note_reached(self.lock());
    }

    /// Takes note of how a request over this connection ended, if not well.
    pub(crate) fn note_error(&self, connection: &Arc<Connection>, error: &Error) {
        match error.outcome() {
            Outcome::Answered => self.note_answer(),
            _ => self.note_failure(connection, error),
        }
    }

    /// Takes note of why a request over this connection failed. A server at a URL that is not reached
    /// leaves its connection open: the next request may reach it.
    fn note_failure(&self, connection: &Arc<Connection>, error: &Error) {
        let is_lost = matches!(error.kind(), ErrorKind::Connect | ErrorKind::Closed)
            && error.http_status().is_none();
        if !is_lost || !matches!(self.server.transport, Transport::Remote(_)) {
            return;
        }
        let mut state = self.lock();
        match &state.now {
            Now::Ready(ready) if Arc::ptr_eq(ready, connection) && ready.is_open() => {}
            _ => return,
        }
        let was_found = state.reach.trouble.replace(error.clone()).is_none();
        drop(state);
        if was_found {
            self.tell(Event::State(ToolBoxState::Degraded(error.clone())));
        }
    }

    /// Gives the runtime a turn for what the system has to say of idle connections to a URL. A server
    /// closes them when it likes; a request that was written to one would be lost, and whoever calls
    /// after long work of its own may have kept the runtime from hearing of it.
    pub(super) async fn hear_of_ends(&self) {
        for _ in 0..self.turns_to_hear() {
            tokio::task::yield_now().await;
        }
    }

    fn turns_to_hear(&self) -> usize {
        /// A connection that was used so lately is not idle.
        const LATELY: Duration = Duration::from_millis(1);
        let Transport::Remote(server) = &self.server.transport else {
            return 0;
        };
        let state = self.lock();
        let is_in_use = |used: Instant| used.elapsed() < LATELY;
        if state.reach.last_used.is_some_and(is_in_use) {
            return 0;
        }
        // One turn in which it is heard, and one for a stream's reader to hear of that.
        match server.kind() {
            RemoteKind::StreamableHttp => 1,
            RemoteKind::Auto if !state.reach.speaks_sse => 1,
            RemoteKind::Auto | RemoteKind::Sse => 2,
        }
    }

    /// What the HTTP client warns of, without secrets.
    pub(super) fn warnings(&self) -> Vec<String> {
        let Transport::Remote(server) = &self.server.transport else {
            return Vec::new();
        };
        let redacted = |text: &String| self.server.redactor.redact(text).into_owned();
        server.client().warnings().iter().map(redacted).collect()
    }

    /// Tells the host each warning once.
    pub(super) fn tell_warnings(&self) {
        let warnings = self.warnings();
        let told = std::mem::replace(&mut self.lock().reach.warnings_told, warnings.len());
        for text in warnings.into_iter().skip(told) {
            let level = "warning".to_owned();
            self.tell(Event::Log { level, text });
        }
    }

    /// What lies below the protocol, step by step.
    pub(crate) async fn probe(&self) -> Vec<Step> {
        let Transport::Remote(server) = &self.server.transport else {
            return Vec::new();
        };
        // Less than the host waits, so that the steps are told when it ends.
        let limit = self.server.timeouts.connect / 10 * 9;
        let steps = server.client().probe_within(server.url(), limit).await;
        let step = |step: toolspan_io::http::ProbeStep| {
            let error = |error| crate::posts::fault_of(&error, self.server.limits.message_bytes);
            let what = match step.what {
                "dns" => "look up the name (DNS)",
                "tcp" => "connect (TCP)",
                "tls" => "encrypt (TLS)",
                "proxy" => "go through a proxy",
                other => other,
            };
            Step::new(what, step.took, step.result.map_err(error))
        };
        let steps = steps.into_iter().map(step);
        steps.map(|step| self.placed_step(step)).collect()
    }

    /// What kind of toolbox it is, as far as that is known by now.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.server.transport {
            Transport::Remote(server)
                if server.kind() == RemoteKind::Auto && self.lock().reach.speaks_sse =>
            {
                "mcp/sse"
            }
            transport => transport.kind(),
        }
    }
}
