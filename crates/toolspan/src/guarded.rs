//! How is a toolbox asked for something so that it can neither hang nor bring down its host?
//!
//! A toolbox may be anybody's code: what it is asked has a limit, and a panic in it is its own
//! failure.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::time::Instant;
use toolspan_core::toolbox::Step;
use toolspan_core::{Discovery, Error, ErrorKind, Phase, Result, ToolBox};

use crate::member::Member;

/// What a toolbox is given beyond `timeouts.close`, so that one that keeps to its limit is never cut
/// short at its last step, the end by force.
pub(crate) const CLOSE_GRACE: Duration = Duration::from_millis(500);

/// One listing of a member's toolbox, within `timeouts.connect` and `timeouts.list` together.
///
/// # Errors
///
/// The toolbox's own; `timeout`; `internal` when it panics.
pub(crate) async fn discover(member: &Member, toolbox: &dyn ToolBox) -> Result<Discovery> {
    let limit = member.listing_limit();
    // It may panic before it gives its future, too.
    let listing = AssertUnwindSafe(async { toolbox.discover().await }).catch_unwind();
    let discovered = match tokio::time::timeout(limit, listing).await {
        Ok(Ok(discovered)) => discovered,
        Ok(Err(panic)) => {
            let error = panicked(&*panic, "listed its tools", Phase::Discover);
            Err(error)
        }
        Err(_) => Err(unlisted(limit)),
    };
    discovered.map_err(|error| error.in_toolbox(&member.key))
}

/// What lies below the protocol of a member's toolbox, within `timeouts.connect`. A toolbox that
/// panics or is not done by then has a failed step that says so.
pub(crate) async fn probe(member: &Member, toolbox: &dyn ToolBox) -> Vec<Step> {
    /// What the steps do together.
    const WHAT: &str = "reach the server";
    if Handle::try_current().is_err() {
        return Vec::new();
    }
    let limit = member.timeouts.connect;
    let began = Instant::now();
    let probing = AssertUnwindSafe(async { toolbox.probe().await }).catch_unwind();
    let error = match tokio::time::timeout(limit, probing).await {
        Ok(Ok(steps)) => return steps,
        Ok(Err(panic)) => panicked(&*panic, "was probed", Phase::Connect),
        Err(_) => {
            let message = format!("not reached within {limit:?} (timeouts.connect)");
            Error::new(ErrorKind::Timeout, Phase::Connect, message)
                .with_hint("raise timeouts.connect")
        }
    };
    let error = error.in_toolbox(&member.key);
    vec![Step::new(WHAT, began.elapsed(), Err(error))]
}

/// Ends a member's toolbox; waits for it at most `timeouts.close` and [`CLOSE_GRACE`].
pub(crate) async fn close(member: &Member) {
    let Some(toolbox) = member.toolbox() else {
        return;
    };
    let closing = AssertUnwindSafe(async { toolbox.close().await }).catch_unwind();
    // How it went is in its state; there is nobody left to tell of a panic.
    let _ = match Handle::try_current() {
        Ok(_) => {
            let limit = member.timeouts.close.saturating_add(CLOSE_GRACE);
            tokio::time::timeout(limit, closing).await.is_ok()
        }
        // Without a runtime there are no timers to hold it to a limit.
        Err(_) => closing.await.is_ok(),
    };
}

/// `during` says what it was asked for: "listed its tools".
fn panicked(panic: &(dyn Any + Send), during: &str, phase: Phase) -> Error {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message");
    let message = format!("the toolbox panicked while it {during}: {words}");
    Error::new(ErrorKind::Internal, phase, message)
        .with_hint("this is a fault in the toolbox's code; other toolboxes are not affected")
}

fn unlisted(limit: Duration) -> Error {
    let message = format!(
        "the toolbox did not list its tools within {limit:?} (timeouts.connect and timeouts.list)"
    );
    Error::new(ErrorKind::Timeout, Phase::Discover, message)
        .with_hint("raise timeouts.connect or timeouts.list")
}
