//! One open connection: a cheap handle for callers, and the owner of its tasks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::task::{AbortHandle, JoinSet};
use toolspan_core::guard::Redactor;
use toolspan_core::{Context, Error, Outcome, Progress, Result};
use toolspan_io::process::{EndPolicy, Process};

use crate::core::counters::Counters;
use crate::core::pending::{CallSlot, Pending, Reply};
use crate::core::slot::Arrival;
use crate::dialect::handshake;
use crate::dialect::{Call, Dialect};
use crate::driver;
use crate::error;
use crate::inlet::Inlet;
use crate::link::{Link, Setup};
use crate::outbox::{Outbox, Withdrawn};
use crate::posts::{Met, Post, Posts, Remote, Style, headers, legacy};
use crate::transport::Pipe;
use crate::way::{Broken, Piped, Way};
use crate::wire::initialize::ServerHello;

/// A connection's parts that its tasks, its callers and its owner share.
pub(crate) struct Shared {
    pub(crate) pending: Arc<Pending>,
    pub(crate) way: Way,
    pub(crate) counters: Arc<Counters>,
    /// The next request's id. Shared by all connections of a server: ids never come twice.
    next_id: Arc<AtomicU64>,
    dialect: OnceLock<Dialect>,
    /// Set once the owner asked for the end, so that the end is not called a fault.
    pub(crate) closing: AtomicBool,
    /// What must not appear in reports of progress.
    credentials: Redactor,
}

impl Shared {
    fn mask(&self, progress: &mut Progress) {
        if let Some(message) = &mut progress.message {
            *message = self.credentials.redact(message).into_owned();
        }
    }

    fn new(link: &Link, way: Way) -> Arc<Self> {
        Arc::new(Self {
            pending: Arc::clone(&link.pending),
            credentials: link.credentials.clone(),
            way,
            counters: Arc::clone(&link.counters),
            next_id: Arc::clone(&link.next_id),
            dialect: OnceLock::new(),
            closing: AtomicBool::new(false),
        })
    }
}

/// An open connection. Dropping it ends its tasks, the server's input and, through the reaper, its
/// process.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    /// The reading and the writing task of a pipe; a way over HTTP has its own.
    tasks: Mutex<JoinSet<()>>,
}

impl Connection {
    /// Starts to read and write. Must run within a tokio runtime.
    pub(crate) fn open(pipe: Pipe, setup: Setup) -> Self {
        let link = Link::new(setup);
        let (outbox, inlet) = (
            Outbox::new(pipe.sink),
            Inlet::new(pipe.stream, link.clone()),
        );
        let piped = Arc::new(Piped::new(outbox, inlet, pipe.process));
        let shared = Shared::new(&link, Way::Piped(Arc::clone(&piped)));
        let reading = driver::Reading {
            shared: Arc::clone(&shared),
            pipe: Arc::clone(&piped),
            listener: link.listener,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(reading.run());
        tasks.spawn(driver::write(piped));
        Self {
            shared,
            tasks: Mutex::new(tasks),
        }
    }

    /// The way to a server over streamable HTTP, on which nothing was sent yet. Must run within a
    /// tokio runtime.
    pub(crate) fn over_http(remote: &Remote<'_>, setup: Setup) -> Self {
        let link = Link::new(setup);
        let posts = Posts::new(remote, Style::Streamable, link.clone());
        posts.keep();
        Self::over(posts, &link)
    }

    /// Opens the stream of HTTP with SSE and reads it. Must run within a tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`legacy::open`].
    pub(crate) async fn over_sse(remote: &Remote<'_>, setup: Setup) -> Result<Self> {
        let link = Link::new(setup);
        let (endpoint, stream) = legacy::open(remote, link.limits.message_bytes).await?;
        let posts = Posts::new(remote, Style::Legacy(endpoint), link.clone());
        posts.read_all(stream);
        Ok(Self::over(posts, &link))
    }

    fn over(posts: Arc<Posts>, link: &Link) -> Self {
        Self {
            shared: Shared::new(link, Way::Posted(posts)),
            tasks: Mutex::default(),
        }
    }

    /// Opens the protocol with `initialize` and settles on a revision.
    ///
    /// # Errors
    ///
    /// `protocol` when the answer breaks the rules or names an unknown revision; what a request
    /// may give.
    pub(crate) async fn shake_hands(&self) -> Result<ServerHello> {
        let id = self.next_id();
        let result = self
            .request(Request {
                id,
                frame: handshake::initialize(id),
                cancel: Cancel::Silently,
                context: None,
            })
            .await?;
        let hello = ServerHello::parse(&result).map_err(error::protocol)?;
        match &self.shared.way {
            Way::Piped(_) => self.shared.way.notify(handshake::initialized()),
            Way::Posted(posts) => posts.begin_session(hello.version).await?,
        }
        let _ = self.shared.dialect.set(Dialect::Handshake(hello.version));
        Ok(hello)
    }

    /// Asks for a page of the tool list.
    ///
    /// # Errors
    ///
    /// What a request may give.
    pub(crate) async fn list_tools(&self, cursor: Option<&str>) -> Result<Box<RawValue>> {
        let (id, dialect) = (self.next_id(), self.dialect()?);
        self.request(Request {
            id,
            frame: dialect.list_tools(id, cursor),
            cancel: Cancel::Telling,
            context: None,
        })
        .await
    }

    /// Calls a tool. Dropping the future takes the call back or tells the server.
    ///
    /// # Errors
    ///
    /// `remote_error`, `protocol`, `response_too_large` for this call's own answer; `closed` when
    /// the connection ends.
    pub(crate) async fn call(
        &self,
        call: &Call<'_>,
        context: Option<&Context>,
    ) -> Result<Box<RawValue>> {
        let (id, dialect) = (self.next_id(), self.dialect()?);
        self.request(Request {
            id,
            frame: dialect.call(id, call),
            cancel: Cancel::Telling,
            context,
        })
        .await
    }

    /// Sends a request and waits for its one end.
    async fn request(&self, request: Request<'_>) -> Reply {
        let inserted = self.shared.pending.insert(request.id);
        let (slot, under_way) = inserted.map_err(not_sent)?;
        let Request {
            id,
            frame,
            cancel,
            context,
        } = request;
        let mut waiting = Waiting {
            shared: &self.shared,
            id,
            slot,
            cancel,
            context,
            post: None,
            is_replied: false,
        };
        waiting.send(frame, under_way).await?;
        waiting.reply().await
    }

    fn next_id(&self) -> u64 {
        self.shared.next_id.fetch_add(1, Ordering::AcqRel)
    }

    fn dialect(&self) -> Result<Dialect> {
        self.shared
            .dialect
            .get()
            .copied()
            .ok_or_else(|| not_sent(error::closed("not connected")))
    }

    /// Whether calls can still be made.
    pub(crate) fn is_open(&self) -> bool {
        self.shared.pending.is_open()
    }

    /// Why the connection ended, once it has.
    pub(crate) fn cause(&self) -> Option<Error> {
        self.shared.pending.closed()
    }

    /// The process behind the connection, where there is one.
    pub(crate) fn process(&self) -> Option<&Process> {
        self.shared.way.process()
    }

    /// What a person may want to know of the connection, one fact a line.
    pub(crate) fn notes(&self) -> Vec<String> {
        let noise = match &self.shared.way {
            Way::Piped(_) => "lines on standard output",
            Way::Posted(_) => "events",
        };
        let mut notes = self.shared.counters.notes(noise);
        notes.extend(self.shared.way.notes());
        notes
    }

    /// How a server that is reached over HTTP answered `initialize`.
    pub(crate) fn met(&self) -> Option<Met> {
        match &self.shared.way {
            Way::Piped(_) => None,
            Way::Posted(posts) => posts.met(),
        }
    }

    /// Where messages are posted to, for people; only where the server named it.
    pub(crate) fn endpoint(&self) -> Option<String> {
        match &self.shared.way {
            Way::Piped(_) => None,
            Way::Posted(posts) => posts.endpoint(),
        }
    }

    /// Whether the server gave the session a name.
    pub(crate) fn has_session(&self) -> bool {
        match &self.shared.way {
            Way::Piped(_) => false,
            Way::Posted(posts) => posts.has_session(),
        }
    }

    /// How many requests wait for their reply.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.pending.len()
    }

    /// Starts the end and returns at once: no further calls, end of input, then the signals.
    pub(crate) fn begin_close(&self, limit: Duration) {
        self.shared.closing.store(true, Ordering::Release);
        self.shared
            .pending
            .close(error::closed("the toolbox was closed"));
        self.shared.way.begin_close(end_policy(limit));
    }

    /// Ends the connection and waits until nothing of the server is left. The caller bounds it.
    pub(crate) async fn close(&self, limit: Duration) {
        /// How long the tasks are waited for: the runtime that they run on may stand still.
        const TASKS_END: Duration = Duration::from_millis(250);
        self.begin_close(limit);
        if let Some(process) = self.process() {
            process.ended().await;
        }
        let mut tasks = std::mem::take(
            &mut *self
                .tasks
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        );
        if let Way::Posted(posts) = &self.shared.way {
            tasks = posts.take_tasks();
            // First of all that calls are given up: the good-bye ends what they belong to.
            posts.let_notices_arrive(limit / 4).await;
        }
        // A quarter of it is left for the rest of the end.
        let _ = tokio::time::timeout(limit / 2, self.shared.way.say_good_bye()).await;
        let _ = tokio::time::timeout(TASKS_END, tasks.shutdown()).await;
    }
}

impl Drop for Connection {
    /// Hands the process over to the reaper; waits for nothing.
    fn drop(&mut self) {
        self.begin_close(EndPolicy::default().eof_grace * 5 / 2);
        if let Way::Posted(posts) = &self.shared.way {
            posts.drop_notices();
        }
    }
}

/// The steps of an end that fit into `limit`: two fifths for the end of input, two for SIGTERM.
fn end_policy(limit: Duration) -> EndPolicy {
    let longest = EndPolicy::default();
    EndPolicy::default()
        .with_eof_grace(longest.eof_grace.min(limit / 5 * 2))
        .with_term_grace(longest.term_grace.min(limit / 5 * 2))
}

/// For the tests of what a connection is made of.
#[cfg(test)]
#[cfg(unix)]
impl Connection {
    pub(crate) fn pipe(&self) -> Option<&Piped> {
        match &self.shared.way {
            Way::Piped(pipe) => Some(pipe),
            Way::Posted(_) => None,
        }
    }

    pub(crate) fn pending(&self) -> &Pending {
        &self.shared.pending
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}

fn not_sent(error: Error) -> Error {
    error.with_outcome(Outcome::NotSent)
}

/// A request that is ready to be sent.
struct Request<'a> {
    id: u64,
    frame: Vec<u8>,
    cancel: Cancel,
    /// The call that it is for, which hears of progress and of how far it has come.
    context: Option<&'a Context>,
}

/// Whether the server is told that a request is no longer waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cancel {
    Telling,
    /// `initialize` must not be cancelled (MCP 2025-11-25, "Cancellation").
    Silently,
}

/// A request that waits. Dropping it before its end takes it back or tells the server.
struct Waiting<'a> {
    shared: &'a Shared,
    id: u64,
    slot: Arc<CallSlot>,
    cancel: Cancel,
    context: Option<&'a Context>,
    /// The task that posts it, on a way of posts.
    post: Option<AbortHandle>,
    /// Whether the reply was taken: there is nothing left in the slot to give up.
    is_replied: bool,
}

impl Waiting<'_> {
    /// Gives the frame to the way, waiting for room if need be.
    async fn send(&mut self, frame: Vec<u8>, under_way: usize) -> Result<()> {
        match &self.shared.way {
            Way::Piped(pipe) => {
                let sent = pipe.send(frame, &self.slot, under_way).await;
                sent.map_err(|Broken| self.refused())?;
                self.note_begun();
            }
            Way::Posted(posts) => self.post = posts.send(self.as_post(frame)?),
        }
        Ok(())
    }

    /// The error of a frame that the pipe takes no more.
    fn refused(&self) -> Error {
        let cause = self.shared.pending.closed();
        not_sent(cause.unwrap_or_else(|| error::closed("the server takes no more input")))
    }

    /// The frame as a request of its own.
    fn as_post(&self, frame: Vec<u8>) -> Result<Post> {
        let slot = Arc::clone(&self.slot);
        let post = match self.cancel {
            Cancel::Telling => Post::new(self.id, frame, slot),
            Cancel::Silently => Post::opening(self.id, frame, slot),
        };
        Ok(match self.context {
            None => post,
            Some(context) => {
                post.for_call(headers::of_call(context.headers())?, context.time_left())
            }
        })
    }

    /// Tells the call, once a byte of it has left, that it may run from now on.
    fn note_begun(&self) {
        if let Some(context) = self.context
            && self.slot.has_begun()
        {
            context.note_outcome(Outcome::Unknown);
        }
    }

    async fn reply(&mut self) -> Reply {
        loop {
            match std::future::poll_fn(|task| self.poll(task)).await {
                Arrival::Progress(mut progress) => {
                    if let Some(context) = self.context {
                        self.shared.mask(&mut progress);
                        context.report(progress);
                    }
                }
                Arrival::Reply(reply) => {
                    self.is_replied = true;
                    return reply.map_err(|error| self.placed(error));
                }
            }
        }
    }

    fn poll(&self, task: &mut std::task::Context<'_>) -> std::task::Poll<Arrival<Progress, Reply>> {
        let arrival = self.slot.poll(task);
        if arrival.is_pending() {
            self.shared.way.offer(task.waker());
        }
        arrival
    }

    /// The error without secrets of the way, and with what the way knows of the call.
    ///
    /// An end that leaves open whether the call ran means `not_sent` for a frame that was never
    /// begun. It is taken back for that: the way knows for certain, and will not send it.
    fn placed(&self, error: Error) -> Error {
        let error = self.shared.way.hide(error);
        let unsent = error.outcome() == Outcome::Unknown
            && self.shared.way.withdraw(&self.slot) == Withdrawn::Whole;
        if unsent { not_sent(error) } else { error }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let was_open = !self.is_replied && self.slot.abandon();
        // Whoever ended it has taken it out of the table.
        if was_open {
            self.shared.pending.remove(self.id);
        }
        if !was_open && self.slot.has_begun() {
            // It may end as cancelled although its reply is here.
            self.note_begun();
            return;
        }
        // Also when a reply came before the frame had left: nobody waits for what it would do.
        let withdrawn = self.shared.way.withdraw(&self.slot);
        if !was_open {
            return;
        }
        if let Some(post) = &self.post {
            post.abort();
        }
        if let Some(context) = self.context {
            match withdrawn {
                Withdrawn::Whole => {}
                Withdrawn::Begun => context.note_outcome(Outcome::Unknown),
                Withdrawn::Written => context.note_sent(),
            }
        }
        if withdrawn != Withdrawn::Whole
            && self.cancel == Cancel::Telling
            && let Some(dialect) = self.shared.dialect.get()
        {
            self.shared
                .way
                .notify(dialect.cancelled(self.id, "the caller no longer waits"));
        }
    }
}
