//! How does a test wait for a fact of the operating system that no event announces?
//!
//! There is no event for "no such process in `/proc`" or "that descriptor is closed". This file is
//! the only one that looks again and again; everything else waits for an event.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The first pause between two looks; each is twice as long as the one before.
const FIRST_SLICE: Duration = Duration::from_micros(200);

/// The longest pause between two looks.
const LONGEST_SLICE: Duration = Duration::from_millis(10);

/// Looks until the condition holds. Panics with `what` when it does not hold within the time.
///
/// Blocks the thread: in an async test use [`wait_until_async`]. The condition is looked at once
/// more after the time is over, so a slow machine cannot fail a condition that holds.
#[track_caller]
pub fn wait_until(within: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut slice = FIRST_SLICE;
    loop {
        let over = start.elapsed() >= within;
        if condition() {
            return;
        }
        assert!(!over, "not within {within:?}: {what}");
        thread::park_timeout(slice);
        slice = (slice * 2).min(LONGEST_SLICE);
    }
}

/// As [`wait_until`], but other tasks of the runtime go on between two looks. Uses real time, also
/// under a paused tokio clock, and needs no runtime at all.
///
/// Between two looks a thread of its own keeps the time; none of them is alive during a look, so
/// that the threads may be counted.
pub async fn wait_until_async(within: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut slice = FIRST_SLICE;
    loop {
        let over = start.elapsed() >= within;
        if condition() {
            return;
        }
        assert!(!over, "not within {within:?}: {what}");
        pause(slice).await;
        slice = (slice * 2).min(LONGEST_SLICE);
    }
}

/// Parks a thread of its own for a while, and returns when that thread is gone.
async fn pause(slice: Duration) {
    let mut clock: Option<(JoinHandle<()>, Arc<Bell>)> = None;
    poll_fn(|context| match clock.take() {
        None => {
            let waker = Mutex::new(context.waker().clone());
            let bell = Arc::new(Bell {
                has_rung: AtomicBool::new(false),
                waker,
            });
            let rung_by_thread = Arc::clone(&bell);
            let thread = thread::spawn(move || {
                thread::park_timeout(slice);
                rung_by_thread.ring();
            });
            clock = Some((thread, bell));
            Poll::Pending
        }
        Some((thread, bell)) => {
            bell.waker
                .lock()
                .expect("a waker does not panic")
                .clone_from(context.waker());
            if bell.has_rung.load(Ordering::Acquire) {
                thread.join().expect("the clock only parks and rings");
                return Poll::Ready(());
            }
            clock = Some((thread, bell));
            Poll::Pending
        }
    })
    .await;
}

/// Wakes the task that polled last.
struct Bell {
    /// Set before the waker is used, so a poll either sees it or leaves the right waker.
    has_rung: AtomicBool,
    /// Held only for a clone.
    waker: Mutex<Waker>,
}

impl Bell {
    fn ring(&self) {
        self.has_rung.store(true, Ordering::Release);
        let waker = self.waker.lock().expect("a waker does not panic").clone();
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_comes_true_ends_the_wait() {
        let mut looks = 0;
        wait_until(Duration::from_secs(10), "third look", || {
            looks += 1;
            looks == 3
        });
        assert_eq!(looks, 3);
    }

    #[test]
    #[should_panic(expected = "not within 3ms: never")]
    fn a_condition_that_stays_false_panics_with_its_name() {
        wait_until(Duration::from_millis(3), "never", || false);
    }

    #[tokio::test]
    async fn other_tasks_go_on_while_a_task_waits() {
        let (sender, receiver) = std::sync::mpsc::channel();
        tokio::spawn(async move { sender.send(()).expect("the test listens") });
        wait_until_async(Duration::from_secs(10), "the other task", || {
            receiver.try_recv().is_ok()
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_does_not_end_the_wait_early() {
        let mut looks = 0;
        wait_until_async(Duration::from_secs(10), "third look", || {
            looks += 1;
            looks == 3
        })
        .await;
    }
}
