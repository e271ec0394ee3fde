//! How a synchronous caller waits for a future on its own thread.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use toolspan_core::{Error, ErrorKind, Phase, Result, execute};

use super::home::Home;

/// Longest time between two looks at the future: a deadline holds to this even when the runtime
/// that should wake the caller is stuck.
const SLICE: Duration = Duration::from_millis(50);

thread_local! {
    /// Whether this thread is inside [`block_on`]: a call from a callback may then wait, too.
    static WAITING: Cell<bool> = const { Cell::new(false) };
    /// Wakes this thread; made once for all its calls.
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Wakes a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future, which may use the runtime's timers and I/O.
///
/// # Errors
///
/// `usage` on a thread that runs tasks of a runtime: waiting there would stop them. `usage` in a
/// forked copy of the process: the runtime is not there, and the servers are the original's.
pub(super) fn block_on<F: Future>(home: &Home, future: F) -> Result<F::Output> {
    let runtime = home.handle()?;
    let nested = WAITING.get();
    if !nested && Handle::try_current().is_ok() {
        let message = "a blocking call was made on a thread that runs asynchronous tasks";
        return Err(
            Error::new(ErrorKind::Usage, Phase::Send, message).with_hint(
                "use the asynchronous Host there, or a thread of its own for blocking calls",
            ),
        );
    }
    let _inside = runtime.enter();
    let _mark = Mark::set(nested);
    let waker = WAKER.with(Waker::clone);
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        let (polled, back_by) = execute::poll_unaided(future.as_mut(), &mut context);
        if let Poll::Ready(output) = polled {
            return Ok(output);
        }
        let left = back_by.map(|back_by| back_by.saturating_duration_since(Instant::now()));
        thread::park_timeout(left.unwrap_or(SLICE).min(SLICE));
    }
}

/// Says that this thread waits; takes it back on drop, also when the future panics.
struct Mark {
    before: bool,
}

impl Mark {
    fn set(before: bool) -> Self {
        WAITING.set(true);
        Self { before }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        WAITING.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::home::home;

    #[test]
    fn a_forked_copy_is_told_so_and_waits_for_nothing() {
        let home = home().unwrap().left_behind();
        let error = block_on(&home, std::future::pending::<()>()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(
            error
                .message()
                .starts_with("this process was forked from 0")
        );
    }

    #[test]
    fn the_home_outlives_a_panic_in_a_task_and_in_a_future() {
        let home = home().unwrap();
        let spawned = async {
            let task = tokio::spawn(async { panic!("in a task") });
            task.await.unwrap_err().is_panic()
        };
        assert!(block_on(&home, spawned).unwrap());
        let polled = std::panic::catch_unwind(|| {
            let _ = block_on(&home, async { panic!("in a future") });
        });
        assert!(polled.is_err() && !WAITING.get());
        let lives = async { tokio::spawn(async { 7 }).await.unwrap() };
        assert_eq!(block_on(&home, lives).unwrap(), 7);
    }
}
