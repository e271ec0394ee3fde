//! How do the calls of one answer of a model run together?

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::panics;
use crate::guard::outcome::Phase;
use crate::observation::Observation;
use crate::{Error, ErrorKind, Result};

/// The tool that ends a conversation. What a model asks for after it in the same answer is not run.
pub const FINISH: &str = "finish";

/// The rules by which the calls of a batch run. A batch within a call of another one has its own, so
/// that they never wait for each other's places.
#[derive(Clone, Debug)]
pub struct Batch {
    concurrency: usize,
    cancel: Option<CancellationToken>,
}

impl Batch {
    /// At most so many calls at the same time.
    ///
    /// # Errors
    ///
    /// `usage` for none.
    pub fn new(concurrency: usize) -> Result<Self> {
        if concurrency == 0 {
            let message = "a batch must be allowed to run one call at a time at least";
            return Err(Error::new(ErrorKind::Usage, Phase::Validate, message)
                .with_hint("1 runs one call after the other"));
        }
        Ok(Self {
            concurrency,
            cancel: None,
        })
    }

    /// Sets what keeps calls from being begun. A call that runs is ended by the token of its own
    /// options, which may be the same one.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Runs the calls, each by `run`, and gives a result for each in their own order. What comes after
    /// the first call of which `ends` is true is dropped before anything is asked or run, and its
    /// results say so. An error or a panic of one call is the result of that call.
    ///
    /// Calls run in the caller's task, as many at the same time as are allowed; the next one begins as
    /// soon as any ends.
    pub async fn run<C, W>(
        &self,
        calls: Vec<C>,
        ends: impl Fn(&C) -> bool,
        run: impl Fn(C) -> W,
    ) -> Vec<Result<Observation>>
    where
        W: Future<Output = Result<Observation>>,
    {
        let count = calls.len();
        let kept = calls.iter().position(ends).map_or(count, |last| last + 1);
        let run = &run;
        let work = calls.into_iter().take(kept).enumerate();
        let work = work.map(|(at, call)| async move { (at, self.one(call, run).await) });
        let ended = stream::iter(work).buffer_unordered(self.concurrency);
        let mut results: Vec<(usize, Result<Observation>)> = ended.collect().await;
        results.sort_unstable_by_key(|(at, _)| *at);
        let dropped = (kept..count).map(|_| Err(dropped()));
        let results = results.into_iter().map(|(_, result)| result);
        results.chain(dropped).collect()
    }

    async fn one<C, W>(&self, call: C, run: impl Fn(C) -> W) -> Result<Observation>
    where
        W: Future<Output = Result<Observation>>,
    {
        let cancel = self.cancel.as_ref();
        if cancel.is_some_and(CancellationToken::is_cancelled) {
            return Err(cancelled());
        }
        let work = AssertUnwindSafe(async { run(call).await });
        let ended = work.catch_unwind().await;
        ended.unwrap_or_else(|panic| Err(panics::of("the call", &*panic)))
    }
}

fn cancelled() -> Error {
    let message = "the call was cancelled before it began";
    Error::new(ErrorKind::Cancelled, Phase::Send, message)
}

fn dropped() -> Error {
    let message = "the call was not run: it came after a call that ends the work";
    Error::new(ErrorKind::Cancelled, Phase::Send, message)
        .with_hint("make every other call before the one that ends the work")
}
