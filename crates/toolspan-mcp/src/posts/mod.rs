//! A way on which every message to the server is an HTTP request of its own.
//!
//! Two protocols go this way. Over *streamable HTTP* (MCP 2025-03-26 to 2025-11-25, "Transports") the
//! reply to a request is the response to its POST, one JSON document or a stream of events; a GET
//! stream brings what no request asked for. Over *HTTP with SSE* (MCP 2024-11-05) one GET stream
//! brings everything, and the response to a POST says no more than that it was taken.
//!
//! - [`exchange`] sends one request and sees to it that its call ends; [`reply`] reads the answer,
//!   [`events`] what comes as events, [`refusal`] what a status other than 200 means.
//! - [`session`] knows the session, and renews it once for all who found it gone.
//! - [`listening`] is the GET stream of streamable HTTP, [`legacy`] the one of HTTP with SSE.
//! - [`sideways`] sends what nobody waits for: notices, answers to the server, the good-bye.
//! - [`excerpt`] is what is shown of a body, [`page`] what a page for people says; [`veil`] keeps
//!   secrets out of that.
//!
//! Every task belongs to the [`Posts`] and runs on the runtime that opened it, whoever calls.

mod events;
mod excerpt;
mod exchange;
mod fault;
pub(crate) mod headers;
pub(crate) mod legacy;
mod listening;
mod notes;
mod page;
mod refusal;
mod reply;
mod session;
mod sideways;
mod veil;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use http::HeaderMap;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use toolspan_core::guard::Redactor;
use toolspan_core::{Error, Result};
use toolspan_io::http::{HttpClient, UrlSource};
use url::Url;

pub(crate) use self::exchange::Post;
pub(crate) use self::fault::of as fault_of;
pub(crate) use self::notes::Met;
use self::notes::Notes;
use self::session::Session;
use crate::core::receive::{Event, Receiver, Replies};
use crate::error;
use crate::link::Link;
use crate::transport::remote::RemoteServer;

/// Answers to requests of the server that may be under way at once.
const MOST_ANSWERS: usize = 8;
/// Notices that may be under way at once.
const MOST_NOTICES: usize = 64;
/// Streams that may be read to their end after their reply at once; further ones are dropped.
const MOST_LINGERING: usize = 16;

/// What a way of posts is opened with, beside what every connection needs.
pub(crate) struct Remote<'a> {
    pub(crate) server: &'a RemoteServer,
    /// Frees what is shown of a response of secrets, before it is cut to its first bytes.
    pub(crate) redactor: Redactor,
    /// How long a new session may take: `timeouts.connect`.
    pub(crate) connect: Duration,
}

/// Which of the two protocols is spoken, and where messages are posted to.
#[derive(Clone, Debug)]
pub(crate) enum Style {
    /// To the URL of the config; the response is the reply.
    Streamable,
    /// To the URL that the server named; the reply comes on the one stream.
    Legacy(Url),
}

/// The way to a server that is reached over HTTP.
pub(crate) struct Posts {
    client: HttpClient,
    url: Url,
    source: UrlSource,
    style: Style,
    /// The headers of every POST before there is a session.
    base: HeaderMap,
    redactor: Redactor,
    connect: Duration,
    link: Link,
    session: Session,
    notes: Notes,
    /// The runtime that the way was opened on.
    home: Handle,
    /// Everything that runs for this way. Held to add and to take out only. Tasks hold the way, so
    /// that it is their owner, the connection, who must end them.
    tasks: Mutex<JoinSet<()>>,
    /// Notices on their way, such as that a call is given up. The end lets them arrive first.
    telling: Mutex<JoinSet<()>>,
    /// Set with the end: nothing is begun any more.
    is_closed: AtomicBool,
    /// Answers to requests of the server that are under way.
    answers: Arc<Semaphore>,
    /// Notices that are under way.
    notices: Arc<Semaphore>,
    /// Streams that are read to their end after their reply.
    lingering: Semaphore,
}

impl Posts {
    /// The way to a server, on which nothing was sent yet. Must be called within a runtime.
    pub(crate) fn new(remote: &Remote<'_>, style: Style, link: Link) -> Arc<Self> {
        let (url, source) = match &style {
            Style::Streamable => (remote.server.url().clone(), UrlSource::Written),
            Style::Legacy(endpoint) => (endpoint.clone(), UrlSource::Derived),
        };
        let base = headers::base(remote.server.headers());
        Arc::new(Self {
            client: remote.server.client().clone(),
            url,
            source,
            style,
            session: Session::new(base.clone()),
            base,
            redactor: remote.redactor.clone(),
            connect: remote.connect,
            link,
            notes: Notes::default(),
            home: Handle::current(),
            tasks: Mutex::default(),
            telling: Mutex::default(),
            is_closed: AtomicBool::new(false),
            answers: Arc::new(Semaphore::new(MOST_ANSWERS)),
            notices: Arc::new(Semaphore::new(MOST_NOTICES)),
            lingering: Semaphore::new(MOST_LINGERING),
        })
    }

    /// Runs a task that ends with the way. After the end it is dropped at once.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Option<AbortHandle> {
        self.spawn_in(&self.tasks, task)
    }

    fn spawn_in(
        &self,
        tasks: &Mutex<JoinSet<()>>,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<AbortHandle> {
        let mut tasks = lock(tasks);
        if self.is_closed.load(Ordering::Acquire) {
            return None;
        }
        // What has ended is taken out, so that the set does not grow.
        while tasks.try_join_next().is_some() {}
        Some(tasks.spawn_on(task, &self.home))
    }

    /// Starts the task whose end is the end of the way: when the runtime goes, no call waits for it.
    pub(crate) fn keep(self: &Arc<Self>) {
        let kept = Kept(Arc::clone(self));
        self.spawn(async move {
            std::future::pending::<()>().await;
            drop(kept);
        });
    }

    /// What is left of the way is ended, at once, but for notices; the good-bye is another step.
    pub(crate) fn begin_close(&self) {
        // Held together, so that nothing is begun in between.
        let (mut tasks, _telling) = (lock(&self.tasks), lock(&self.telling));
        self.is_closed.store(true, Ordering::Release);
        tasks.abort_all();
    }

    /// The tasks, once they are to end: whoever closes waits for them.
    pub(crate) fn take_tasks(&self) -> JoinSet<()> {
        std::mem::take(&mut *lock(&self.tasks))
    }

    /// Waits until the notices that are on their way have been taken, for `limit` at most; those that
    /// have not are given up.
    pub(crate) async fn let_notices_arrive(&self, limit: Duration) {
        let mut telling = std::mem::take(&mut *lock(&self.telling));
        let arrived = async { while telling.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(limit, arrived).await;
    }

    /// Gives up the notices that are on their way.
    pub(crate) fn drop_notices(&self) {
        lock(&self.telling).abort_all();
    }

    /// How the server answered `initialize`.
    pub(crate) fn met(&self) -> Option<Met> {
        self.notes.met()
    }

    /// What a person may want to know of this way, one fact a line.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lines()
    }

    /// Where messages are posted to, for people; only where the server named it.
    pub(crate) fn endpoint(&self) -> Option<String> {
        match &self.style {
            Style::Streamable => None,
            Style::Legacy(endpoint) => Some(crate::transport::remote::shown(endpoint)),
        }
    }

    /// Whether the server gave the session a name.
    pub(crate) fn has_session(&self) -> bool {
        self.session.live().has_id()
    }

    fn receiver(&self, replies: Replies) -> Receiver {
        self.link.receiver().with_replies(replies)
    }

    /// Does what a message asks for.
    ///
    /// # Errors
    ///
    /// Why the stream that it came on cannot be used further.
    fn handle(self: &Arc<Self>, event: Event, post: Option<&Post>) -> Result<(), Unfit> {
        match event {
            Event::Nothing => {}
            Event::Answer(answer) => self.answer(answer.into_bytes()),
            Event::ToolsChanged => self.link.listener.tools_changed(),
            Event::Log(level, text) => {
                let text = self.veil(post).over(&text);
                self.link.listener.log(level, text);
            }
            Event::Several(events) => {
                for event in events {
                    self.handle(event, post)?;
                }
            }
            Event::Fatal(error) => return Err(Unfit::Server(error)),
            Event::Unusable(reason) => return Err(Unfit::Message(reason)),
        }
        Ok(())
    }
}

/// Why what came on a stream ends it.
#[derive(Debug)]
enum Unfit {
    /// A message is no answer to the call: why, in plain words.
    Message(String),
    /// A message is larger than `limits.message_bytes`.
    TooLarge,
    /// The server does not keep to the protocol.
    Server(Error),
}

fn lock(tasks: &Mutex<JoinSet<()>>) -> MutexGuard<'_, JoinSet<()>> {
    tasks
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Ends the waiting calls when the runtime of the way is gone.
struct Kept(Arc<Posts>);

impl Drop for Kept {
    fn drop(&mut self) {
        let cause = "the connection is no longer served: its runtime was shut down";
        self.0.link.pending.close(error::closed(cause));
    }
}
