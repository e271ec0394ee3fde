//! A faulty process under a census: what every fault test checks, whatever the fault.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{Error, Observation, Result, ToolBox};
use toolspan_io::process::Launch;
use toolspan_mcp::Transport;
use toolspan_testkit::{Census, Fault, History, Marker};

use super::invariants::{self, LATE};
use super::tools::Tools;

/// A toolbox over one faulty process. [`finish`](Self::finish) checks the five invariants.
pub(crate) struct Case {
    pub(crate) tools: Tools,
    pub(crate) history: History,
    before: Census,
}

impl Case {
    /// A server that is not started yet.
    pub(crate) async fn new(fault: Fault) -> Self {
        Self::within(fault, Limits::default(), Timeouts::default()).await
    }

    /// As [`new`](Self::new), with bounds.
    pub(crate) async fn within(fault: Fault, limits: Limits, timeouts: Timeouts) -> Self {
        warm_up().await;
        let marker = Marker::new();
        let before = Census::take().marked(&marker);
        Self {
            tools: Tools::new(stdio(&fault.marked(&marker)), limits, timeouts),
            history: History::new(),
            before,
        }
    }

    /// A server that is started and listed.
    pub(crate) async fn started(fault: Fault) -> Self {
        let case = Self::new(fault).await;
        case.tools
            .discover()
            .await
            .expect("the start is without fault");
        case
    }

    /// As [`started`](Self::started), with bounds.
    pub(crate) async fn started_within(fault: Fault, limits: Limits, timeouts: Timeouts) -> Self {
        let case = Self::within(fault, limits, timeouts).await;
        case.tools
            .discover()
            .await
            .expect("the start is without fault");
        case
    }

    /// Calls `echo` with a nonce, and records its end.
    pub(crate) async fn call(&self) -> Result<Observation> {
        self.call_with(CallOptions::default()).await
    }

    /// As [`call`](Self::call), with options. A call with a limit ends in time (I3).
    pub(crate) async fn call_with(&self, options: CallOptions) -> Result<Observation> {
        let call = self.history.invoke();
        let (limit, began) = (options.timeout, Instant::now());
        let result = self.tools.echo_with(&call.nonce(), options).await;
        let took = began.elapsed();
        assert!(
            limit.is_none_or(|limit| took < limit.saturating_add(LATE)),
            "a call of at most {limit:?} took {took:?}"
        );
        let outcome = result.as_ref().map(Observation::text);
        self.history.outcome(call, outcome);
        result
    }

    /// As [`call`](Self::call), with a time limit of the caller.
    pub(crate) async fn call_for(&self, limit: Duration) -> Result<Observation> {
        self.call_with(CallOptions::default().with_timeout(limit))
            .await
    }

    /// A call that must fail, and then one that must work (I5).
    pub(crate) async fn fails_then_works(&self) -> Error {
        let error = self.call().await.expect_err("the fault");
        self.call().await.expect("the next call works");
        error
    }

    /// Checks the invariants that hold after any fault, and closes.
    pub(crate) async fn finish(self) -> Arc<History> {
        invariants::hold(self.tools, &self.history, &self.before).await;
        Arc::new(self.history)
    }
}

/// How to start a faulty process.
pub(crate) fn stdio(fault: &Fault) -> Transport {
    let launch = Launch::new(fault.program())
        .with_args(fault.arguments())
        .with_env(fault.environment().iter().cloned());
    Transport::Stdio(Arc::new(launch))
}

/// Starts and ends a process, so that a census counts what stays for the life of the test process:
/// the thread that reaps, and its watchdog.
pub(crate) async fn warm_up() {
    let tools = Tools::new(
        stdio(&Fault::honest()),
        Limits::default(),
        Timeouts::default(),
    );
    tools.discover().await.expect("an honest server");
    tools.toolbox.close().await;
}
