//! A faulty server over HTTP under a census: what every fault test checks, whatever the fault.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{Error, Observation, Result, ToolBox};
use toolspan_io::http::{HttpClient, HttpSettings};
use toolspan_mcp::Transport;
use toolspan_mcp::transport::{RemoteKind, RemoteServer};
use toolspan_testkit::{Census, Fault, History, RunningFault, wait_until_async};
use url::Url;

use crate::support::invariants::{self, LATE};
use crate::support::told;
use crate::support::tools::Tools;

/// How soon an end must come that needs no waiting; the machine may be busy.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// How the two calls of a story are made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Story {
    limit: Option<Duration>,
}

impl Story {
    /// Each with a limit of the caller.
    pub(crate) fn within(limit: Duration) -> Self {
        Self { limit: Some(limit) }
    }
}

/// A toolbox over one faulty server. [`finish`](Self::finish) checks the five invariants.
pub(crate) struct Case {
    server: RunningFault,
    pub(crate) tools: Tools,
    history: History,
    before: Census,
}

impl Case {
    /// A server to which nothing was sent yet.
    pub(crate) async fn new(server: RunningFault) -> Self {
        let kind = match server.url().ends_with("/sse") {
            true => RemoteKind::Sse,
            false => RemoteKind::StreamableHttp,
        };
        Self::of_kind(server, kind).await
    }

    /// As [`new`](Self::new), with what the config says of the protocol.
    pub(crate) async fn of_kind(server: RunningFault, kind: RemoteKind) -> Self {
        Self::within(server, kind, (Limits::default(), Timeouts::default())).await
    }

    /// As [`of_kind`](Self::of_kind), with bounds.
    pub(crate) async fn within(
        server: RunningFault,
        kind: RemoteKind,
        (limits, timeouts): (Limits, Timeouts),
    ) -> Self {
        warm_up().await;
        let before = Census::take();
        Self {
            tools: Tools::new(transport(&server, kind), limits, timeouts),
            server,
            history: History::new(),
            before,
        }
    }

    /// A server that is listed.
    pub(crate) async fn started(server: RunningFault) -> Self {
        let case = Self::new(server).await;
        let discovered = case.tools.discover().await;
        discovered.unwrap_or_else(|error| panic!("the start is without fault: {error:?}"));
        case
    }

    /// Lists the tools, which must fail soon, or as soon as the limit for it says.
    pub(crate) async fn start(&self) -> String {
        let began = Instant::now();
        let ended = match self.tools.discover().await {
            Ok(discovery) => format!("started, {} tools\n", discovery.tools.len()),
            Err(error) => told_with_status(&error),
        };
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        ended
    }

    /// Lists the tools and calls one.
    pub(crate) async fn call_of_started(&self) -> Result<Observation> {
        self.tools.discover().await?;
        self.call().await
    }

    /// Calls `echo` with a nonce, and records its end.
    pub(crate) async fn call(&self) -> Result<Observation> {
        self.call_with(CallOptions::default()).await
    }

    /// As [`call`](Self::call), with a time limit of the caller, in which it ends (I3).
    pub(crate) async fn call_for(&self, limit: Duration) -> Result<Observation> {
        self.call_with(CallOptions::default().with_timeout(limit))
            .await
    }

    async fn call_with(&self, options: CallOptions) -> Result<Observation> {
        let call = self.history.invoke();
        let limit = options.timeout.unwrap_or(SOON);
        let began = Instant::now();
        let result = self.tools.echo_with(&call.nonce(), options).await;
        let took = began.elapsed();
        assert!(took < limit + LATE, "a call took {took:?}");
        self.history
            .outcome(call, result.as_ref().map(Observation::text));
        result
    }

    /// A call, told whole.
    pub(crate) async fn one_call(&self) -> String {
        end_of(self.call().await)
    }

    /// A call, told whole, and what became of the next one (I5).
    pub(crate) async fn story(&self, story: Story) -> String {
        let options = || match story.limit {
            Some(limit) => CallOptions::default().with_timeout(limit),
            None => CallOptions::default(),
        };
        let mut told = end_of(self.call_with(options()).await);
        match self.call_with(options()).await {
            Ok(_) => told.push_str("next: it works\n"),
            Err(error) => {
                let message = shown(error.message());
                writeln!(told, "next: {}, {message}", error.kind()).unwrap();
            }
        }
        told
    }

    /// Waits for a server that ends by itself, and reaps it: it is a child of the test.
    pub(crate) async fn server_ends(&mut self) {
        let server = &mut self.server;
        wait_until_async(SOON, "the server ends", || !server.is_running()).await;
    }

    /// Checks the invariants that hold after any fault, and closes.
    pub(crate) async fn finish(self) -> RunningFault {
        invariants::hold(self.tools, &self.history, &self.before).await;
        self.server
    }
}

/// How to reach a faulty server.
fn transport(server: &RunningFault, kind: RemoteKind) -> Transport {
    let url = Url::parse(server.url()).unwrap();
    let client = HttpClient::new(HttpSettings::new(url.clone())).unwrap();
    Transport::Remote(Arc::new(RemoteServer::new(url, client).with_kind(kind)))
}

/// Calls an honest server and ends it, so that a census counts what stays for the life of the test
/// process.
async fn warm_up() {
    let server = Fault::honest().over_http();
    let transport = transport(&server, RemoteKind::StreamableHttp);
    let tools = Tools::new(transport, Limits::default(), Timeouts::default());
    tools.discover().await.expect("an honest server");
    tools.toolbox.close().await;
}

fn end_of(result: Result<Observation>) -> String {
    match result {
        Ok(observation) if observation.is_error => "a tool's own error\n".to_owned(),
        Ok(_) => "it works\n".to_owned(),
        Err(error) => told_with_status(&error),
    }
}

/// An error whole, with what only HTTP adds.
fn told_with_status(error: &Error) -> String {
    let mut text = told(error);
    if let Some(status) = error.http_status() {
        writeln!(text, "status: {status}").unwrap();
    }
    if let Some(wait) = error.retry_after() {
        writeln!(text, "retry after: {wait:?}").unwrap();
    }
    shown(&text)
}

/// A text without what differs from run to run: ports.
pub(crate) fn shown(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        let rest = part.trim_start_matches(|it: char| it.is_ascii_digit());
        format!("{shown}127.0.0.1:PORT{rest}")
    })
}
