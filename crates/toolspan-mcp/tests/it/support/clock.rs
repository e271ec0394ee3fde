//! How does time pass in a test whose clock is paused? It jumps, once every task waits; or it stands
//! still until the test moves it.

use std::time::Duration;

use tokio::task::JoinHandle;
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

/// A clock that stands still beside real sockets, of whose bytes a paused clock knows nothing: it
/// would jump while they are on their way. While this lives the runtime always has something to do.
pub(crate) struct StillClock(JoinHandle<()>);

impl StillClock {
    /// Stops the clock of the runtime, which must have one thread.
    pub(crate) fn new() -> Self {
        tokio::time::pause();
        Self(tokio::spawn(async {
            loop {
                tokio::task::yield_now().await;
            }
        }))
    }

    /// Moves the clock on, in small steps, until the future is ready; gives how far it was moved.
    pub(crate) async fn pass_until<T>(&self, future: impl Future<Output = T>) -> (T, Duration) {
        /// Far below every limit that is tested.
        const STEP: Duration = Duration::from_millis(10);
        let began = Instant::now();
        let mut future = std::pin::pin!(future);
        loop {
            if let std::task::Poll::Ready(output) = futures_util::poll!(future.as_mut()) {
                return (output, began.elapsed());
            }
            tokio::time::advance(STEP).await;
        }
    }
}

impl Drop for StillClock {
    fn drop(&mut self) {
        self.0.abort();
        tokio::time::resume();
    }
}
