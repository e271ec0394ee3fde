//! How does any number of waiters, on any executor or none, learn of one event?

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A value that is set once and can be waited for by futures and by threads.
#[derive(Debug)]
pub(super) struct Latch<T> {
    /// Held for a few instructions only, never while waking.
    state: Mutex<State<T>>,
    set: Condvar,
}

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    next_waiter: u64,
    /// One for each pending [`Waiting`] future.
    waiters: Vec<(u64, Waker)>,
}

impl<T: Copy> Latch<T> {
    pub(super) fn new() -> Self {
        let state = State {
            value: None,
            next_waiter: 0,
            waiters: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            set: Condvar::new(),
        }
    }

    /// Sets the value and wakes everyone; later calls change nothing.
    pub(super) fn set(&self, value: T) {
        let waiters = {
            let mut state = self.lock();
            state.value.get_or_insert(value);
            std::mem::take(&mut state.waiters)
        };
        self.set.notify_all();
        for (_, waker) in waiters {
            waker.wake();
        }
    }

    pub(super) fn get(&self) -> Option<T> {
        self.lock().value
    }

    /// Waits for the value on this thread, at most `timeout`.
    pub(super) fn wait_timeout(&self, timeout: Duration) -> Option<T> {
        let state = self.lock();
        let (state, _) = self
            .set
            .wait_timeout_while(state, timeout, |state| state.value.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        state.value
    }

    /// A future of the value. Dropping it leaves no trace.
    pub(super) fn wait(self: Arc<Self>) -> Waiting<T> {
        Waiting {
            latch: self,
            waiter: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Waiting<T: Copy> {
    latch: Arc<Latch<T>>,
    waiter: Option<u64>,
}

impl<T: Copy> Future for Waiting<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let latch = Arc::clone(&self.latch);
        let mut state = latch.lock();
        if let Some(value) = state.value {
            return Poll::Ready(value);
        }
        let known = self
            .waiter
            .and_then(|id| state.waiters.iter_mut().find(|(other, _)| *other == id));
        if let Some((_, waker)) = known {
            waker.clone_from(context.waker());
        } else {
            let id = state.next_waiter;
            state.next_waiter += 1;
            state.waiters.push((id, context.waker().clone()));
            self.waiter = Some(id);
        }
        Poll::Pending
    }
}

impl<T: Copy> Drop for Waiting<T> {
    fn drop(&mut self) {
        if let Some(id) = self.waiter {
            self.latch.lock().waiters.retain(|(other, _)| *other != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn every_future_is_woken_once_and_gets_the_first_value() {
        let latch = Arc::new(Latch::new());
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let mut futures: Vec<_> = (0..3)
            .map(|_| Box::pin(Arc::clone(&latch).wait()))
            .collect();
        for future in &mut futures {
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert!(future.as_mut().poll(&mut context).is_pending());
        }
        futures.pop();
        latch.set(1);
        latch.set(2);
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        for future in &mut futures {
            assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(1));
        }
        assert_eq!(latch.get(), Some(1));
    }

    #[test]
    fn a_thread_waits_until_the_value_is_set_or_the_time_is_over() {
        let latch = Arc::new(Latch::new());
        assert_eq!(latch.wait_timeout(Duration::from_millis(1)), None);
        let setter = Arc::clone(&latch);
        let thread = std::thread::spawn(move || setter.set(5));
        assert_eq!(latch.wait_timeout(Duration::from_secs(10)), Some(5));
        thread.join().expect("the thread only sets the latch");
    }
}
