//! How does time pass in a test whose clock is paused? It jumps, once every task waits.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Lets this much virtual time pass. The clock must be paused: no test waits for real.
pub(crate) async fn pass(duration: Duration) {
    pass_until(Instant::now() + duration).await;
}

/// Lets virtual time pass up to an instant.
pub(crate) async fn pass_until(instant: Instant) {
    let nothing = std::future::pending::<()>();
    assert!(timeout_at(instant, nothing).await.is_err());
}
