//! The session with a server over HTTP: its name, and its renewal, once for all who found it gone.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

use http::{HeaderMap, HeaderValue};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolspan_core::{Error, ErrorKind, Outcome, Phase, Result};

use super::{Post, Posts, Style, headers};
use crate::core::slot::Arrival;
use crate::dialect::handshake;
use crate::error;
use crate::wire::initialize::ServerHello;
use crate::wire::version::Version;

/// A renewal that may still run: `None` until it ends.
type Renewal = watch::Receiver<Option<Result<()>>>;

/// What is known of the session now.
pub(super) struct Session {
    /// Held for looking and changing only.
    state: Mutex<State>,
}

struct State {
    live: Arc<Live>,
    /// The name that came with the answer to `initialize`, until the session begins.
    offered: Option<HeaderValue>,
    renewing: Option<Renewal>,
    /// The stream of what the server sends unasked, in this session.
    listening: Option<AbortHandle>,
}

/// A session that requests can be sent in.
pub(super) struct Live {
    /// Counts the sessions of a connection, from 1; 0 before the first one.
    number: u64,
    /// The headers of its POSTs.
    pub(super) headers: HeaderMap,
    /// Its name, where the server gave one.
    id: Option<HeaderValue>,
}

impl Live {
    /// Its name, which is a secret.
    pub(super) fn name(&self) -> Option<&HeaderValue> {
        self.id.as_ref()
    }

    /// Whether the server gave it a name.
    pub(super) fn has_id(&self) -> bool {
        self.id.is_some()
    }
}

impl Session {
    /// No session yet: what is sent carries the base headers alone.
    pub(super) fn new(base: HeaderMap) -> Self {
        let live = Live {
            number: 0,
            headers: base,
            id: None,
        };
        let state = State {
            live: Arc::new(live),
            offered: None,
            renewing: None,
            listening: None,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The session that is sent in now.
    pub(super) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.lock().live)
    }

    /// Keeps the name that came with the answer to `initialize`.
    pub(super) fn offer(&self, id: Option<HeaderValue>) {
        self.lock().offered = id;
    }
}

impl Posts {
    /// Begins the session that the answer to `initialize` offered: tells the server, and waits until
    /// it has taken that, since a request that overtakes it would be refused by many a server.
    ///
    /// # Errors
    ///
    /// When the server does not take `notifications/initialized`.
    pub(crate) async fn begin_session(self: &Arc<Self>, version: Version) -> Result<()> {
        let id = self.session.lock().offered.take();
        let mut of_session = self.base.clone();
        headers::add_session(&mut of_session, version, id.as_ref());
        let told = self
            .tell(handshake::initialized(), of_session.clone())
            .await;
        told.map_err(|error| {
            let message = format!(
                "the server did not take the end of the handshake: {}",
                error.message()
            );
            error.with_message(message)
        })?;
        let listening = match self.style {
            Style::Streamable => self.spawn(Arc::clone(self).listen(of_session.clone())),
            Style::Legacy(_) => None,
        };
        let mut state = self.session.lock();
        let live = Live {
            number: state.live.number + 1,
            headers: of_session,
            id,
        };
        state.live = Arc::new(live);
        if let Some(before) = std::mem::replace(&mut state.listening, listening) {
            before.abort();
        }
        Ok(())
    }

    /// Begins a session in place of one that the server no longer knows; waits for it if somebody
    /// has begun one already, and does nothing if there is one.
    ///
    /// # Errors
    ///
    /// Why there is none: the same error for all who waited.
    pub(super) async fn renew(self: &Arc<Self>, gone: &Live) -> Result<()> {
        let Some(mut renewal) = self.renewal(gone) else {
            return Ok(());
        };
        match renewal.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(result)) => result.clone(),
            _ => Err(error::closed("the connection was closed").with_outcome(Outcome::NotSent)),
        }
    }

    /// The renewal that is under way, begun here if there is none.
    fn renewal(self: &Arc<Self>, gone: &Live) -> Option<Renewal> {
        let mut state = self.session.lock();
        if state.live.number != gone.number {
            return None;
        }
        // A renewal whose task is gone comes to no end: a new one takes its place.
        if let Some(renewal) = &state.renewing
            && renewal.has_changed().is_ok()
        {
            return Some(renewal.clone());
        }
        let (sender, renewal) = watch::channel(None);
        state.renewing = Some(renewal.clone());
        drop(state);
        let posts = Arc::clone(self);
        self.spawn(async move {
            let result = posts.open_session().await;
            if result.is_ok() {
                posts.notes.renewals.fetch_add(1, Ordering::Relaxed);
            }
            posts.session.lock().renewing = None;
            sender.send_replace(Some(result));
        });
        Some(renewal)
    }

    /// The whole handshake, within `timeouts.connect`.
    async fn open_session(self: &Arc<Self>) -> Result<()> {
        let limit = self.connect;
        match tokio::time::timeout(limit, self.shake_hands()).await {
            Ok(result) => result,
            Err(_) => Err(error::timeout(
                Phase::Handshake,
                "the server did not begin a new session",
                limit,
                "timeouts.connect",
            )),
        }
        .map_err(no_session)
    }

    async fn shake_hands(self: &Arc<Self>) -> Result<()> {
        let id = self.link.next_id.fetch_add(1, Ordering::AcqRel);
        let (slot, _) = self.link.pending.insert(id)?;
        let post = Post::opening(id, handshake::initialize(id), Arc::clone(&slot));
        Arc::clone(self).exchange(post).await;
        let reply = loop {
            // It has ended: this never waits.
            if let Arrival::Reply(reply) = std::future::poll_fn(|task| slot.poll(task)).await {
                break reply?;
            }
        };
        let hello = ServerHello::parse(&reply).map_err(error::protocol)?;
        self.begin_session(hello.version).await
    }
}

/// The error of a handshake that was to replace a lost session. What was called has not run.
fn no_session(error: Error) -> Error {
    let message = format!(
        "the server no longer knows the session, and a new one was not begun: {}",
        error.message()
    );
    let error = match error.kind() {
        ErrorKind::RemoteError | ErrorKind::Closed => error.with_kind(ErrorKind::Connect),
        _ => error,
    };
    error
        .with_message(message)
        .with_phase(Phase::Handshake)
        .with_outcome(Outcome::NotSent)
}
