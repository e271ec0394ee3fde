//! Ends a piece of work at its deadline, or when its caller cancels it.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::context::{Context, Limit};
use super::unaided;
use crate::guard::outcome::Outcome;
use crate::{Error, ErrorKind, Result};

/// How a piece of work ended.
enum End<T> {
    Done(T),
    Cancelled,
    TimedOut(Limit),
}

/// The work's own result, or `timeout` or `cancelled` when that comes first.
///
/// When the work is ready at the same instant as its deadline, the work wins: a result that is
/// here is never thrown away. Work whose deadline passed before it began is not begun. Work that is
/// cut short is dropped before the error is made, so that the error knows whether the call could
/// still be taken back.
///
/// # Errors
///
/// What the work gives; `timeout`; `cancelled`; `usage` outside a tokio runtime, which the timers
/// need.
pub async fn within<T>(work: impl Future<Output = Result<T>>, context: &Context) -> Result<T> {
    if Handle::try_current().is_err() {
        return Err(outside_runtime(context));
    }
    let (deadline, limit) = context.deadline();
    if Instant::now() >= deadline {
        return Err(timeout_error(context, limit));
    }
    match end_of(work, context).await {
        End::Done(result) => result,
        End::Cancelled => Err(cancelled_error(context)),
        End::TimedOut(limit) => Err(timeout_error(context, limit)),
    }
}

/// Polls the work until one of the ends; drops it before it returns.
///
/// The clock is read at every poll, so that a caller that comes back by itself needs no timer.
async fn end_of<F: Future>(work: F, context: &Context) -> End<F::Output> {
    let mut work = pin!(work);
    let mut cancelled = pin!(context.cancel().map(|token| token.cancelled()));
    let mut timer = pin!(None::<Sleep>);
    poll_fn(|task| {
        // What was cancelled while it waited for a place is not sent any more.
        let is_cancelled = context
            .cancel()
            .is_some_and(CancellationToken::is_cancelled);
        if is_cancelled && context.outcome() == Outcome::NotSent {
            return Poll::Ready(End::Cancelled);
        }
        if let Poll::Ready(result) = work.as_mut().poll(task) {
            return Poll::Ready(End::Done(result));
        }
        if let Some(cancelled) = cancelled.as_mut().as_pin_mut()
            && cancelled.poll(task).is_ready()
        {
            return Poll::Ready(End::Cancelled);
        }
        loop {
            let (deadline, limit) = context.deadline();
            if Instant::now() >= deadline {
                return Poll::Ready(End::TimedOut(limit));
            }
            if unaided::comes_back(task.waker(), deadline) {
                return Poll::Pending;
            }
            let set = timer.as_ref().as_pin_ref().map(|timer| timer.deadline());
            if set != Some(deadline) {
                timer.set(Some(sleep_until(deadline)));
            }
            // A timer that fired early (its deadline moved) goes round once more.
            if let Some(timer) = timer.as_mut().as_pin_mut()
                && timer.poll(task).is_pending()
            {
                return Poll::Pending;
            }
        }
    })
    .await
}

fn outside_runtime(context: &Context) -> Error {
    let message = "a call was made outside a tokio runtime";
    Error::new(ErrorKind::Usage, context.phase(), message)
        .with_hint("await it in a tokio runtime, or use the blocking host")
}

fn cancelled_error(context: &Context) -> Error {
    let outcome = context.outcome();
    Error::new(
        ErrorKind::Cancelled,
        context.phase(),
        "the call was cancelled",
    )
    .with_outcome(outcome)
}

fn timeout_error(context: &Context, limit: Limit) -> Error {
    let outcome = context.outcome();
    if let Some(key) = context.waited_for() {
        let after = match limit {
            Limit::Caller(after) | Limit::Total(after) | Limit::Idle(after) => after,
        };
        let message = format!("no turn at {key} within {after:?}: other calls use it");
        return Error::new(ErrorKind::Timeout, context.phase(), message)
            .with_outcome(outcome)
            .with_hint("make fewer such calls at once, or give a longer timeout");
    }
    let (message, hint) = match limit {
        Limit::Caller(after) => (
            format!("no answer within {after:?}, the caller's timeout"),
            "give a longer timeout",
        ),
        Limit::Total(after) => (
            format!("no answer within {after:?} (timeouts.total)"),
            "raise timeouts.total",
        ),
        Limit::Idle(after) => (
            format!("no sign of life for {after:?} (timeouts.idle)"),
            "raise timeouts.idle, or use a tool that reports progress",
        ),
    };
    Error::new(ErrorKind::Timeout, context.phase(), message)
        .with_outcome(outcome)
        .with_hint(hint)
}
