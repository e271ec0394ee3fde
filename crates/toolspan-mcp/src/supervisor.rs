//! Starts a server when it is needed, starts it again when it died, and ends it for good.
//!
//! ```text
//! idle -> starting -> ready -> (its end) -> idle
//!            |
//!            v
//!         failed -> (next need, after a pause) -> starting            any -> closed
//! ```
//!
//! One start is shared by all who wait for it, and runs on even when they go away.

mod ear;
mod ladder;
mod reach;
mod start;
mod steps;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use toolspan_core::services::Event;
use toolspan_core::toolbox::{Diagnosis, Step, ToolBoxState};
use toolspan_core::{Error, ErrorKind, Outcome, Phase, Result};
use toolspan_io::backoff::Backoff;
use toolspan_io::process::{Process, WatchdogState, watchdog_state};

use self::reach::Reach;
use crate::connection::Connection;
use crate::error;
use crate::toolbox::McpServer;

/// What is said of a server whose host has no watchdog.
const NO_WATCHDOG: &str = "no watchdog runs (is there a /bin/sh?): if this program is killed, a server \
     that ignores the end of its input stays";

/// How long the end of what was killed at the limit of a close is waited for. Shorter than what a host
/// waits beyond `timeouts.close`, and long: only a process that is stuck in the kernel takes longer.
const KILLED_END: Duration = Duration::from_millis(400);

/// A start that may still run: `None` until it ends.
type Start = watch::Receiver<Option<Result<Arc<Connection>>>>;

/// An open connection.
pub(crate) struct Ready {
    pub(crate) connection: Arc<Connection>,
    /// Whether nobody had to wait for a start: its server may have died since, unnoticed.
    pub(crate) was_there: bool,
}

impl Ready {
    /// Whether to ask once more, of a new server: what failed was asked of one that had died before.
    /// One that was started for it would only die again.
    pub(crate) fn was_dead(&self) -> bool {
        self.was_there && !self.connection.is_open()
    }
}

/// The one owner of a server's connections.
pub(crate) struct Supervisor {
    pub(crate) server: McpServer,
    /// The next request's id, over all connections.
    next_id: Arc<AtomicU64>,
    /// Held for looking and changing only, never while waiting.
    state: Mutex<State>,
    /// Whether the host was told of a change and has not listed the tools since.
    change_told: AtomicBool,
}

struct State {
    now: Now,
    /// The connection of a start under way, so that an end does not have to wait for its task.
    opening: Option<Arc<Connection>>,
    /// The task that starts the server, while there is one.
    starts: JoinSet<()>,
    /// Processes that may not be gone yet, also those of failed starts: closing waits for them. The
    /// pauses between starts keep it small.
    processes: Vec<Process>,
    backoff: Backoff,
    /// Ends since the last call that went well.
    ends_in_a_row: u32,
    restarts: u32,
    steps: Vec<Step>,
    /// What the last connection left to say, once it is gone.
    last_words: Diagnosis,
    /// What is known of how a remote server is reached.
    reach: Reach,
}

enum Now {
    Idle,
    Starting(Start),
    Ready(Arc<Connection>),
    /// The error, and when a next start may be tried.
    Failed(Error, Instant),
    Closed,
}

impl Supervisor {
    pub(crate) fn new(server: McpServer) -> Arc<Self> {
        let state = State {
            now: Now::Idle,
            opening: None,
            starts: JoinSet::new(),
            processes: Vec::new(),
            backoff: Backoff::new(),
            ends_in_a_row: 0,
            restarts: 0,
            steps: Vec::new(),
            last_words: Diagnosis::default(),
            reach: Reach::default(),
        };
        Arc::new(Self {
            server,
            next_id: Arc::new(AtomicU64::new(1)),
            state: Mutex::new(state),
            change_told: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// An open connection, after starting the server if need be.
    ///
    /// # Errors
    ///
    /// Why the server could not be started; `closed` after the end; `usage` outside a runtime.
    pub(crate) async fn ready(self: &Arc<Self>) -> Result<Ready> {
        self.hear_of_ends().await;
        let mut start = match self.look()? {
            Found::Connection(connection) => {
                return Ok(Ready {
                    connection,
                    was_there: true,
                });
            }
            Found::Start(start) => start,
        };
        let ended = start.wait_for(Option::is_some).await;
        let connection = match ended.as_deref() {
            Ok(Some(result)) => result.clone()?,
            _ => return Err(self.lost_start()),
        };
        Ok(Ready {
            connection,
            was_there: false,
        })
    }

    /// The error of a start whose task is gone: it was ended with the toolbox, with the runtime it
    /// ran on, or by a panic in what the host does.
    fn lost_start(&self) -> Error {
        if matches!(self.lock().now, Now::Closed) {
            return self.closed_error();
        }
        let message = "the start was cut short: the runtime it ran on was shut down";
        self.placed(Error::new(ErrorKind::Startup, Phase::Connect, message))
            .with_hint("call again: that starts the server anew")
    }

    /// The connection that is open, or the start that is under way, begun here if there is none.
    fn look(self: &Arc<Self>) -> Result<Found> {
        let mut state = self.lock();
        match &state.now {
            Now::Ready(connection) if connection.is_open() => {
                return Ok(Found::Connection(Arc::clone(connection)));
            }
            // A start whose task is gone comes to no end: a new one takes its place.
            Now::Starting(start) if start.has_changed().is_ok() => {
                return Ok(Found::Start(start.clone()));
            }
            Now::Failed(error, until) if Instant::now() < *until => return Err(error.clone()),
            Now::Closed => return Err(self.closed_error()),
            Now::Ready(_) | Now::Starting(_) | Now::Idle | Now::Failed(..) => {}
        }
        if tokio::runtime::Handle::try_current().is_err() {
            let message = "a server can only be started within a tokio runtime";
            return Err(Error::new(ErrorKind::Usage, Phase::Connect, message)
                .with_hint("use the blocking host outside a runtime"));
        }
        let pause = state.pause();
        let (sender, start) = watch::channel(None);
        let was = std::mem::replace(&mut state.now, Now::Starting(start.clone()));
        // What has ended is taken out, so that neither grows.
        while state.starts.try_join_next().is_some() {}
        state
            .processes
            .retain(|process| !process.wait_ended_blocking(Duration::ZERO));
        let supervisor = Arc::downgrade(self);
        state.starts.spawn(async move {
            // A timer of no time lasts up to a millisecond.
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            let Some(strong) = supervisor.upgrade() else {
                return;
            };
            let result = strong.start().await;
            strong.settle(&result);
            sender.send_replace(Some(result));
        });
        drop(state);
        // The last connection's end wakes its callers: not under the lock.
        drop(was);
        Ok(Found::Start(start))
    }

    /// Takes over what a start came to, unless the toolbox was closed meanwhile.
    fn settle(&self, result: &Result<Arc<Connection>>) {
        let mut state = self.lock();
        state.opening = None;
        if matches!(state.now, Now::Closed) {
            if let Ok(connection) = result {
                connection.begin_close(self.server.timeouts.close);
            }
            return;
        }
        let toolbox_state = match result {
            Ok(connection) => {
                state.reach.found();
                state.now = Now::Ready(Arc::clone(connection));
                ToolBoxState::Ready
            }
            Err(error) => {
                let until = Instant::now() + state.backoff.next_delay();
                state.now = Now::Failed(error.clone(), until);
                ToolBoxState::Failed(error.clone())
            }
        };
        drop(state);
        self.tell(Event::State(toolbox_state));
        self.tell_warnings();
    }

    fn tell(&self, event: Event) {
        self.server.services.event(&self.server.key, event);
    }

    /// A call went well: the next end is the first one again.
    pub(crate) fn note_success(&self) {
        let mut state = self.lock();
        state.ends_in_a_row = 0;
        state.backoff.reset();
        self.note_reached(state);
    }

    /// Says that the tools were listed, so that the next change is told again.
    pub(crate) fn note_listed(&self) {
        self.change_told.store(false, Ordering::Release);
    }

    /// Adds a step to those of the last start.
    pub(crate) fn note_step(&self, step: Step) {
        /// A start has four steps; further listings replace nothing and are not kept.
        const MOST: usize = 8;
        let step = self.placed_step(step);
        let mut state = self.lock();
        if state.steps.len() < MOST {
            state.steps.push(step);
        }
    }

    /// An error with this toolbox's name and without its secrets.
    pub(crate) fn placed(&self, error: Error) -> Error {
        error
            .in_toolbox(&self.server.key)
            .redacted(&self.server.redactor)
    }

    /// A step with a placed error, and without secrets.
    fn placed_step(&self, mut step: Step) -> Step {
        let redactor = &self.server.redactor;
        step.what = redactor.redact(&step.what).into_owned();
        step.result = match step.result {
            Ok(said) => Ok(redactor.redact(&said).into_owned()),
            Err(error) => Err(self.placed(error)),
        };
        step
    }

    fn closed_error(&self) -> Error {
        let error = error::closed("the toolbox was closed").with_outcome(Outcome::NotSent);
        self.placed(error.with_phase(Phase::Connect))
    }

    /// How the toolbox is. Never waits.
    pub(crate) fn toolbox_state(&self) -> ToolBoxState {
        let state = self.lock();
        match &state.now {
            Now::Idle | Now::Starting(_) => ToolBoxState::Connecting,
            Now::Ready(connection) if connection.is_open() => state.reach.state(),
            Now::Ready(connection) => ToolBoxState::Degraded(
                self.placed(connection.cause().unwrap_or_else(|| self.closed_error())),
            ),
            Now::Failed(error, _) => ToolBoxState::Failed(error.clone()),
            Now::Closed => ToolBoxState::Closed,
        }
    }

    /// The process of the server, while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.open_connection()?
            .process()
            .map(toolspan_io::process::Process::pid)
    }

    /// How many requests wait for the server.
    pub(crate) fn waiting(&self) -> usize {
        self.open_connection()
            .map_or(0, |connection| connection.waiting())
    }

    /// The connection that calls can be made over now, where there is one. Starts nothing.
    pub(crate) fn open_connection(&self) -> Option<Arc<Connection>> {
        match &self.lock().now {
            Now::Ready(connection) if connection.is_open() => Some(Arc::clone(connection)),
            _ => None,
        }
    }

    /// What a person needs to find a fault. Never waits.
    pub(crate) fn diagnosis(&self) -> Diagnosis {
        let state = self.lock();
        let mut diagnosis = match &state.now {
            Now::Ready(connection) => self.words_of(connection),
            _ => state.last_words.clone(),
        };
        diagnosis.steps = state.steps.clone();
        if state.restarts > 0 {
            diagnosis
                .notes
                .push(format!("restarted {} times", state.restarts));
        }
        drop(state);
        diagnosis.notes.extend(self.warnings());
        diagnosis
    }

    fn words_of(&self, connection: &Connection) -> Diagnosis {
        let mut diagnosis = Diagnosis::default();
        let redacted = |note: String| self.server.redactor.redact(&note).into_owned();
        diagnosis.notes = connection.notes().into_iter().map(redacted).collect();
        if let Some(process) = connection.process() {
            if watchdog_state() == WatchdogState::Missing {
                diagnosis.notes.push(NO_WATCHDOG.to_owned());
            }
            let stderr = process.stderr_tail();
            diagnosis.stderr = self.server.redactor.redact(&stderr).into_owned();
        }
        diagnosis
    }

    /// Starts to end the server for good and returns at once; whoever waits for it is told.
    pub(crate) fn begin_close(&self) -> Closing {
        let limit = self.server.timeouts.close;
        let mut state = self.lock();
        if let Now::Ready(connection) = &state.now {
            state.last_words = self.words_of(connection);
        }
        let connection = match std::mem::replace(&mut state.now, Now::Closed) {
            Now::Ready(connection) => Some(connection),
            _ => state.opening.take(),
        };
        let mut starts = std::mem::take(&mut state.starts);
        let processes = std::mem::take(&mut state.processes);
        drop(state);
        starts.abort_all();
        if let Some(connection) = &connection {
            connection.begin_close(limit);
        }
        Closing {
            connection,
            starts,
            processes,
            limit,
        }
    }

    /// Ends the server for good, within `timeouts.close` and, where it must be killed at that limit,
    /// [`KILLED_END`].
    pub(crate) async fn close(&self) {
        self.begin_close().wait().await;
    }
}

/// What is left to wait for after [`Supervisor::begin_close`].
pub(crate) struct Closing {
    connection: Option<Arc<Connection>>,
    starts: JoinSet<()>,
    processes: Vec<Process>,
    limit: Duration,
}

impl Closing {
    /// Waits until nothing of the server is left; kills what is left after the limit, and waits for
    /// the end of that, too.
    async fn wait(mut self) {
        let gone = async {
            self.starts.shutdown().await;
            if let Some(connection) = &self.connection {
                connection.close(self.limit).await;
            }
            all_ended(&self.processes).await;
        };
        if tokio::time::timeout(self.limit, gone).await.is_err() {
            self.processes.iter().for_each(Process::kill_now);
            let _ = tokio::time::timeout(KILLED_END, all_ended(&self.processes)).await;
        }
    }
}

/// Waits until all of them are gone, with what they started.
async fn all_ended(processes: &[Process]) {
    for process in processes {
        process.ended().await;
    }
}

enum Found {
    Connection(Arc<Connection>),
    Start(Start),
}

impl State {
    /// How long to wait before the next start. The first restart comes at once; a server that dies
    /// again and again without one good call is given more and more time.
    fn pause(&mut self) -> Duration {
        if !matches!(self.now, Now::Ready(_)) {
            return Duration::ZERO;
        }
        self.restarts = self.restarts.saturating_add(1);
        self.ends_in_a_row = self.ends_in_a_row.saturating_add(1);
        if self.ends_in_a_row > 1 {
            self.backoff.next_delay()
        } else {
            Duration::ZERO
        }
    }
}
