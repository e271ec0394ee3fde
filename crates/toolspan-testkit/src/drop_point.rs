//! What happens when a future is dropped at one of its await points? (R52)

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// What became of a future that was polled at most so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a future is ready or it is not")]
pub enum Polled<T> {
    /// It was ready at this poll, counted from 1.
    Ready {
        /// What it returned.
        value: T,
        /// Which poll it was.
        polls: usize,
    },
    /// It was dropped right after the last allowed poll.
    Dropped,
}

impl<T> Polled<T> {
    /// Whether the future came to its end.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready { .. })
    }
}

/// Polls a future at most `n` times, each time when it asks for it, and drops it right after a
/// last poll that was not its end. With 0 it is dropped without being polled.
///
/// A test drops a future at every await point by counting up until it is ready:
///
/// ```
/// # async fn call() {}
/// # async fn check() {
/// use toolspan_testkit::poll_n_then_drop;
///
/// for n in 0..1000 {
///     if poll_n_then_drop(n, call()).await.is_ready() {
///         return; // every earlier point was tried
///     }
///     // check here that nothing is left and the next call works
/// }
/// panic!("the call needs more than 1,000 polls");
/// # }
/// ```
pub async fn poll_n_then_drop<T>(n: usize, future: impl Future<Output = T>) -> Polled<T> {
    if n == 0 {
        return Polled::Dropped;
    }
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(|context| {
        polls += 1;
        match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Polled::Ready { value, polls }),
            Poll::Pending if polls == n => Poll::Ready(Polled::Dropped),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// As [`poll_n_then_drop`], on this thread and without a runtime: between two polls the thread
/// parks until it is woken. Panics when no wake comes within the time.
#[track_caller]
pub fn poll_n_then_drop_blocking<T>(
    n: usize,
    within: Duration,
    future: impl Future<Output = T>,
) -> Polled<T> {
    let signal = Arc::new(Unpark {
        thread: thread::current(),
        woken: false.into(),
    });
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(poll_n_then_drop(n, future));
    let deadline = Instant::now() + within;
    loop {
        if let Poll::Ready(polled) = future.as_mut().poll(&mut context) {
            return polled;
        }
        while !signal
            .woken
            .swap(false, std::sync::atomic::Ordering::AcqRel)
        {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "not within {within:?}: the future woke its task"
            );
            thread::park_timeout(left);
        }
    }
}

/// Wakes a parked thread; the flag keeps a wake that came while it was polling.
struct Unpark {
    thread: Thread,
    woken: std::sync::atomic::AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, std::sync::atomic::Ordering::Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    /// Counts how often it is dropped.
    struct Guard<'a>(&'a AtomicUsize);

    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn yield_now() {
        let mut yielded = false;
        poll_fn(|context| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    async fn two_yields(drops: &AtomicUsize) -> u8 {
        let _guard = Guard(drops);
        yield_now().await;
        yield_now().await;
        7
    }

    #[test]
    fn a_future_is_dropped_at_each_await_point_until_it_is_ready() {
        let drops = AtomicUsize::new(0);
        let outcomes: Vec<_> = (0..5)
            .map(|n| poll_n_then_drop_blocking(n, LIMIT, two_yields(&drops)))
            .collect();
        let ready = Polled::Ready { value: 7, polls: 3 };
        let dropped = Polled::Dropped;
        assert_eq!(outcomes, [dropped, dropped, dropped, ready, ready]);
        assert_eq!(
            drops.into_inner(),
            4,
            "the future never polled has no guard yet"
        );
    }

    #[test]
    fn a_wake_from_another_thread_is_not_lost() {
        let mut started = false;
        let future = poll_fn(move |context: &mut Context<'_>| {
            if std::mem::replace(&mut started, true) {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        });
        assert!(poll_n_then_drop_blocking(2, LIMIT, future).is_ready());
    }

    #[test]
    #[should_panic(expected = "the future woke its task")]
    fn a_future_that_never_wakes_is_a_failure() {
        let _ =
            poll_n_then_drop_blocking(2, Duration::from_millis(3), std::future::pending::<()>());
    }

    #[tokio::test]
    async fn it_works_on_a_runtime_too() {
        let drops = AtomicUsize::new(0);
        assert_eq!(
            poll_n_then_drop(1, two_yields(&drops)).await,
            Polled::Dropped
        );
        assert!(poll_n_then_drop(3, two_yields(&drops)).await.is_ready());
    }
}
