//! How do requests of HTTP reach a script, and how does what it sends find its response?

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;

use serde_json::Value;

use crate::error::PlayFailure;
use crate::http::exchange::{Exchange, Gone};
use crate::http::response::Head;
use crate::http::serve::Site;
use crate::http::sessions::Sessions;
use crate::http_step::{ExpectRequest, ReplyStyle, SetHttp};
use crate::parts::collect;
use crate::placeholder::Placeholders;
use crate::player::Ended;
use crate::step::{Hold, Set, Step};
use crate::system;
use crate::wire::{Flow, Held, Incoming, Outlook, Stop, Wire, system_failure};

/// How many ids of requests are remembered, so that no reply to one of them goes astray.
const MAX_ASKED: usize = 256;

/// The two ways in which MCP travels over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Streamable HTTP: a message is a POST, its reply the response (MCP 2025-03-26 and later).
    Streamable,
    /// HTTP+SSE: a stream that names its endpoint carries all replies (MCP 2024-11-05).
    Legacy,
}

/// What happens to the stage.
pub(crate) enum Event {
    /// A request came.
    Request(Box<Exchange>),
    /// A connection ended.
    Gone(u64),
    /// The barrier of a `hold` is open, or cannot be waited at.
    Released(io::Result<()>),
    /// A held call may be answered, or its barrier cannot be waited at.
    Answer(Box<Exchange>, Option<Value>, io::Result<()>),
    /// The program ends.
    End,
}

/// The wire over HTTP. It alone writes, in the thread that plays.
pub(crate) struct Stage {
    pub(super) dialect: Dialect,
    pub(super) site: Site,
    pub(super) settings: SetHttp,
    pub(super) is_modern: bool,
    pub(super) sessions: Sessions,
    /// What the script may still answer, and streams; at most one for each connection.
    pub(super) open: Vec<Exchange>,
    /// The request that the script acts on, by its connection, and whether there ever was one.
    pub(super) bound: Option<u64>,
    /// The session of that request.
    pub(super) bound_session: Option<String>,
    /// The ids of the requests that the script has expected, the last ones.
    asked: VecDeque<Value>,
    events: Receiver<Event>,
    /// For the threads that wait at barriers.
    sender: SyncSender<Event>,
    /// What was received last, until it is answered, ignored or bound.
    received: Option<Exchange>,
    /// Where the message being written goes.
    target: Option<u64>,
    errors: io::Stderr,
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl Stage {
    #[expect(
        clippy::disallowed_methods,
        reason = "a server tells its errors on the error stream"
    )]
    pub(crate) fn new(
        dialect: Dialect,
        site: Site,
        (sender, events): (SyncSender<Event>, Receiver<Event>),
    ) -> Self {
        Self {
            dialect,
            site,
            settings: SetHttp::default(),
            is_modern: false,
            sessions: Sessions::default(),
            open: Vec::new(),
            bound: None,
            bound_session: None,
            asked: VecDeque::new(),
            events,
            sender,
            received: None,
            target: None,
            errors: io::stderr(),
        }
    }

    /// The open exchange of a connection.
    pub(super) fn exchange(&mut self, number: u64) -> Option<&mut Exchange> {
        let mut open = self.open.iter_mut();
        open.find(|exchange| exchange.number() == number)
    }

    /// The exchange that a step acts on.
    pub(super) fn bound(&mut self, step: &'static str) -> Result<&mut Exchange, Stop> {
        let number = self
            .bound
            .ok_or(Stop::Failure(PlayFailure::NoRequest { step }))?;
        self.exchange(number).ok_or(Stop::Gone)
    }

    /// The id of a session, or its text in a query.
    pub(super) fn session_of(&self, exchange: &Exchange) -> Option<String> {
        let id = match self.dialect {
            Dialect::Streamable => exchange.request.header("mcp-session-id"),
            Dialect::Legacy => exchange.request.query("session"),
        };
        id.map(str::to_owned)
    }

    /// Whether a message comes in: it belongs to a session, or begins one.
    pub(super) fn admits(&self, exchange: &Exchange) -> bool {
        if exchange.request.method != "POST" || exchange.message.is_none() {
            return false;
        }
        match self.session_of(exchange) {
            Some(id) if self.has_sessions() => self.sessions.knows(&id),
            None if self.has_sessions() && self.dialect == Dialect::Streamable => matches!(
                exchange.rpc_method(),
                Some("initialize" | "server/discover")
            ),
            None => self.dialect == Dialect::Streamable,
            Some(_) => true,
        }
    }

    pub(super) fn has_sessions(&self) -> bool {
        let streamable = self.settings.sessions.unwrap_or(true) && !self.is_modern;
        streamable || self.dialect == Dialect::Legacy
    }

    /// Begins a session.
    pub(super) fn begin_session(&mut self) -> String {
        let facts = self.facts();
        let id = self.settings.session_id.as_ref().map(|id| {
            let bytes = collect(&id.0, &facts);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        self.sessions.begin(id)
    }

    /// Placeholders that know nothing but the site.
    pub(super) fn facts(&self) -> Placeholders {
        let mut placeholders = Placeholders::default();
        self.site.tell(&mut placeholders);
        placeholders
    }

    /// Ends streams.
    pub(super) fn end_streams(&mut self, numbers: &[u64]) {
        for number in numbers {
            if let Some(stream) = self.exchange(*number) {
                // It is gone already.
                let _ = stream.finish();
            }
        }
    }

    /// Ends what the script has begun and not kept open, and drops what is over.
    fn settle(&mut self) {
        for exchange in &mut self.open {
            if exchange.is_stream() && !exchange.is_kept {
                // Its client is gone.
                let _ = exchange.finish();
            }
            let _ = exchange.flush();
        }
        self.open.retain(|exchange| !exchange.is_over());
    }

    fn forget(&mut self, number: u64) {
        self.open.retain(|exchange| exchange.number() != number);
        if self.dialect == Dialect::Legacy {
            self.sessions.end_with_stream(number);
        }
    }

    /// Where a message goes: a reply to the request it answers, anything else to the latest one.
    fn target_of(&mut self, message: Option<&Value>) -> Result<u64, Stop> {
        let step = "send";
        let bound = self
            .bound
            .ok_or(Stop::Failure(PlayFailure::NoRequest { step }))?;
        if self.dialect == Dialect::Legacy {
            return Ok(self.bound_stream().unwrap_or(bound));
        }
        let id = message
            .filter(|message| message.get("method").is_none())
            .and_then(|message| message.get("id"));
        let Some(id) = id else {
            return Ok(bound);
        };
        let mut open = self.open.iter();
        match open.find(|it| it.is_rpc_request() && it.field("id") == Some(id)) {
            Some(exchange) => Ok(exchange.number()),
            // Its response is over or its client is gone: nobody else gets it.
            None if self.asked.contains(id) => Err(Stop::Gone),
            None => Ok(bound),
        }
    }

    /// The stream on which the bound message of HTTP+SSE is answered.
    pub(super) fn bound_stream(&self) -> Option<u64> {
        let session = self.bound_session.as_ref()?;
        self.sessions.stream(session)
    }

    fn received(&mut self) -> Result<Exchange, Stop> {
        let step = "answer";
        let received = self.received.take();
        received.ok_or(Stop::Failure(PlayFailure::NoRequest { step }))
    }
}

impl Wire for Stage {
    fn receive(&mut self) -> Result<Incoming, Stop> {
        self.settle();
        loop {
            match self.events.recv() {
                Err(_) | Ok(Event::End) => return Err(Stop::End(Ended::Streams)),
                Ok(Event::Gone(number)) => self.forget(number),
                Ok(Event::Released(Ok(()))) => return Ok(Incoming::Released),
                Ok(Event::Answer(exchange, reply, Ok(()))) => {
                    // Its client may be gone.
                    let _ = self.deliver(*exchange, reply);
                }
                Ok(Event::Released(Err(error)) | Event::Answer(_, _, Err(error))) => {
                    return Err(system_failure("wait at a barrier", error));
                }
                Ok(Event::Request(exchange)) => {
                    let is_message = self.admits(&exchange);
                    let message = exchange.message.clone().filter(|_| is_message);
                    self.received = Some(*exchange);
                    return Ok(message.map_or(Incoming::Request, Incoming::Message));
                }
            }
        }
    }

    fn answer(&mut self, reply: Option<Value>) -> Flow {
        let exchange = self.received()?;
        // A client that is gone is no reason to stop serving the others.
        let _ = self.serve_honestly(exchange, reply);
        Ok(())
    }

    fn answer_when_released(&mut self, reply: Option<Value>, hold: &Hold) -> Flow {
        let mut exchange = self.received()?;
        if self.dialect == Dialect::Legacy {
            let _ = accept(&mut exchange);
        }
        let (hold, sender) = (hold.clone(), self.sender.clone());
        thread::spawn(move || {
            let outcome = system::hold(&hold);
            // Nobody listens when the program ends.
            let _ = sender.send(Event::Answer(Box::new(exchange), reply, outcome));
        });
        Ok(())
    }

    /// A call hangs; what is no message, or wants no reply, is answered as ever.
    fn ignore(&mut self) -> Flow {
        let Some(mut exchange) = self.received.take() else {
            return Ok(());
        };
        if self.admits(&exchange) && exchange.is_rpc_request() {
            if self.dialect == Dialect::Legacy {
                let _ = accept(&mut exchange);
            }
            self.open.push(exchange);
        } else {
            let _ = self.serve_honestly(exchange, None);
        }
        Ok(())
    }

    fn bind(&mut self, outlook: Outlook, placeholders: &mut Placeholders) -> Flow {
        let mut exchange = self.received()?;
        exchange.outlook = outlook;
        self.bound = Some(exchange.number());
        self.bound_session = self.session_of(&exchange);
        if let Some(id) = exchange.field("id").filter(|_| exchange.is_rpc_request()) {
            self.asked.truncate(MAX_ASKED - 1);
            self.asked.push_front(id.clone());
        }
        let is_stream = exchange.request.method == "GET";
        if self.dialect == Dialect::Legacy && is_stream {
            self.bound_session = Some(self.begin_session());
        }
        if let Some(id) = self.bound_session.as_deref().filter(|_| is_stream) {
            self.sessions.attach(id, exchange.number());
        }
        let is_silent = exchange.message.is_some()
            && (self.dialect == Dialect::Legacy || !exchange.is_rpc_request());
        self.site.tell(placeholders);
        let session = self.bound_session.clone().unwrap_or_default();
        placeholders.tell("endpoint", self.site.endpoint(&session).into());
        placeholders.tell("session", session.into());
        if is_silent && !outlook.answers_http {
            accept(&mut exchange)?;
        }
        self.open.push(exchange);
        Ok(())
    }

    fn is_expected(&self, expected: &ExpectRequest) -> Result<bool, Stop> {
        let Some(exchange) = &self.received else {
            return Ok(false);
        };
        let request = &exchange.request;
        let facts = self.facts();
        let has = |name: &str, value: &[u8]| {
            let found = request.header(&name.to_ascii_lowercase());
            found.is_some_and(|it| value == b"*" || it.as_bytes() == value)
        };
        Ok(["*", &request.method].contains(&expected.method.as_str())
            && request.path().starts_with(&expected.path)
            && expected
                .headers
                .0
                .iter()
                .all(|(name, value)| has(name, &collect(value, &facts))))
    }

    fn begin(&mut self, message: Option<&Value>, length: u64) -> Flow {
        let number = self.target_of(message)?;
        self.target = Some(number);
        let as_stream = self.settings.replies == Some(ReplyStyle::Sse);
        let head = self.reply_head(number);
        let exchange = self.exchange(number).ok_or(Stop::Gone)?;
        if exchange.is_fresh() && (as_stream || exchange.outlook.sends_several) {
            let events = Head::events(200);
            exchange.begin_chunks(events.and(&head))?;
        } else if exchange.is_fresh() {
            exchange.begin_length(Head::json(200).and(&head), length)?;
        } else if exchange.is_over() {
            return Err(Stop::Gone);
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Flow {
        let target = self.target.and_then(|number| self.exchange(number));
        let exchange = target.ok_or(Stop::Gone)?;
        if exchange.is_stream() {
            exchange.write_lines(bytes)?;
        } else {
            exchange.write(bytes)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Flow {
        if let Some(exchange) = self.target.and_then(|number| self.exchange(number))
            && exchange.is_complete()
        {
            exchange.finish()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Flow {
        if let Some(exchange) = self.target.and_then(|number| self.exchange(number)) {
            exchange.flush()?;
        }
        Ok(())
    }

    fn errors(&mut self) -> &mut dyn Write {
        &mut self.errors
    }

    fn wait_at(&mut self, barrier: File) -> Result<Held, Stop> {
        let sender = self.sender.clone();
        thread::spawn(move || {
            let outcome = system::wait_at(barrier);
            // Nobody listens when the program ends.
            let _ = sender.send(Event::Released(outcome));
        });
        Ok(Held::Waiting)
    }

    fn set(&mut self, set: &Set) {
        self.is_modern = set.modern.unwrap_or(self.is_modern);
        let Some(http) = &set.http else { return };
        let settings = &mut self.settings;
        settings.replies = http.replies.or(settings.replies);
        settings.sessions = http.sessions.or(settings.sessions);
        settings.close_after_reply = http.close_after_reply.or(settings.close_after_reply);
        if http.session_id.is_some() {
            settings.session_id.clone_from(&http.session_id);
        }
        if http.headers.is_some() {
            settings.headers.clone_from(&http.headers);
        }
    }

    fn play_http(&mut self, step: &Step, placeholders: &Placeholders) -> Flow {
        self.play_step(step, placeholders)
    }

    fn change_streams(&mut self, step: &Step) -> Flow {
        let step = step.name();
        Err(Stop::Failure(PlayFailure::StreamsOnly { step }))
    }

    fn linger(&mut self) -> Flow {
        Ok(())
    }
}

/// Says that a message was taken, and that its reply, if it wants one, comes another way.
pub(super) fn accept(exchange: &mut Exchange) -> Result<(), Gone> {
    exchange.respond(Head::new(202), b"")
}
