//! What a call's caller does itself while it waits, on a thread of its own.
//!
//! A thread that waits for a call wakes up now and then in any case. When it says when it has to be
//! back, no timer is needed; setting one from outside the runtime's thread would wake that thread,
//! which costs more than the call itself. When it knows where the answer will come from, it may
//! fetch it there, which saves one more switch of threads.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::time::Instant;

thread_local! {
    /// The caller that polls on this thread now, if it comes back by itself.
    static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
}

/// Where answers come from, for a caller that waits for one and has a thread for that.
pub trait Source: Send + Sync {
    /// Waits until something comes or it is interrupted, and deals with a bounded amount of what
    /// came: wakes the calls that it answers, and tells whoever else is to be told. Returns also,
    /// at once, when the runtime has to do something first.
    fn fetch(&self);

    /// Ends the fetch that goes on, else the next one. From any thread, without waiting.
    fn interrupt(&self);
}

struct Caller {
    /// What it polls with. A future in between with a waker of its own polls its parts only when
    /// they are woken, so that those need a timer.
    waker: Waker,
    /// The earliest deadline that it was told of.
    back_by: Option<Instant>,
    /// The latest source that it was told of.
    source: Option<Arc<dyn Source>>,
}

/// What came of one poll.
pub struct Polled<T> {
    /// What the future gave.
    pub output: Poll<T>,
    /// When it is to be polled again by itself, if it is pending.
    pub back_by: Option<Instant>,
    /// Where what it waits for comes from, if it said so. It may wait for other things, too.
    pub source: Option<Arc<dyn Source>>,
}

/// Polls once for a caller that polls again whenever it is woken, and by itself at the instant
/// given, if there is one: calls that are polled so set no timer for their deadlines.
pub fn poll_unaided<F: Future>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Polled<F::Output> {
    let caller = Caller {
        waker: context.waker().clone(),
        back_by: None,
        source: None,
    };
    let before = Before(CALLER.replace(Some(caller)));
    let output = future.poll(context);
    let told = |caller: &mut Caller| (caller.back_by, caller.source.take());
    let told = CALLER.with_borrow_mut(|caller| caller.as_mut().map(told));
    drop(before);
    let (back_by, source) = told.unwrap_or_default();
    Polled {
        output,
        back_by,
        source,
    }
}

/// The caller outside of this one, put back on drop, also when the future panics.
struct Before(Option<Caller>);

impl Drop for Before {
    fn drop(&mut self) {
        CALLER.replace(self.0.take());
    }
}

/// Tells the caller of a deadline. Gives false when it does not come back by itself.
pub(super) fn comes_back(waker: &Waker, deadline: Instant) -> bool {
    tell(waker, |caller| {
        let earliest = caller.back_by.map_or(deadline, |back| back.min(deadline));
        caller.back_by = Some(earliest);
    })
}

/// Tells the caller that polls now where what it waits for comes from, if it may fetch it there.
pub fn comes_from(waker: &Waker, source: impl FnOnce() -> Arc<dyn Source>) {
    tell(waker, |caller| caller.source = Some(source()));
}

/// Tells the caller something, if there is one and it polls with this waker.
fn tell(waker: &Waker, what: impl FnOnce(&mut Caller)) -> bool {
    CALLER.with_borrow_mut(|caller| match caller {
        Some(caller) if caller.waker.will_wake(waker) => {
            what(caller);
            true
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::time::Duration;

    struct Own;

    impl std::task::Wake for Own {
        fn wake(self: Arc<Self>) {}
    }

    fn poll(future: impl Future<Output = ()>) -> Option<Instant> {
        let waker = Waker::from(Arc::new(Own));
        poll_unaided(pin!(future), &mut Context::from_waker(&waker)).back_by
    }

    struct Nowhere;

    impl Source for Nowhere {
        fn fetch(&self) {}
        fn interrupt(&self) {}
    }

    #[test]
    fn a_source_is_told_of_in_the_poll_that_waits_for_it_and_by_the_callers_own_waker_alone() {
        let waker = Waker::from(Arc::new(Own));
        let (told, untold): (Arc<dyn Source>, _) = (Arc::new(Nowhere), Arc::new(Nowhere));
        let mut polls = 0;
        let mut future = pin!(std::future::poll_fn(|task| {
            polls += 1;
            if polls == 1 {
                comes_from(task.waker(), || Arc::clone(&told));
            }
            let untold = Arc::clone(&untold);
            comes_from(Waker::noop(), || untold);
            Poll::<()>::Pending
        }));
        let mut poll = || poll_unaided(future.as_mut(), &mut Context::from_waker(&waker)).source;
        assert!(poll().is_some_and(|source| Arc::ptr_eq(&source, &told)));
        assert!(poll().is_none());
        comes_from(&waker, || unreachable!("nobody polls"));
    }

    #[test]
    fn the_earliest_deadline_is_told_and_a_waker_of_its_own_needs_a_timer() {
        let now = Instant::now();
        let (soon, late) = (now + Duration::from_secs(1), now + Duration::from_secs(2));
        let told = poll(std::future::poll_fn(|task| {
            assert!(comes_back(task.waker(), late) && comes_back(task.waker(), soon));
            assert!(comes_back(task.waker(), late));
            assert!(!comes_back(Waker::noop(), now));
            // A call within a call, as from a progress sink.
            let inner = poll(std::future::poll_fn(|task| {
                assert!(comes_back(task.waker(), late));
                Poll::Pending
            }));
            assert_eq!(inner, Some(late));
            Poll::Pending
        }));
        assert_eq!(told, Some(soon));
        assert!(!comes_back(Waker::noop(), now));
    }

    #[test]
    fn a_panic_leaves_no_caller_behind() {
        let panicked = std::panic::catch_unwind(|| {
            poll(std::future::poll_fn(|_| panic!("on purpose")));
        });
        assert!(panicked.is_err());
        assert!(CALLER.with_borrow(Option::is_none));
    }
}
