//! Who looks at a call's deadline: a timer of the runtime, or the caller, who comes back by itself?
//!
//! A thread that waits for a call wakes up now and then in any case. When it says when it has to be
//! back, no timer is needed; setting one from outside the runtime's thread would wake that thread,
//! which costs more than the call itself.

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::time::Instant;

thread_local! {
    /// The caller that polls on this thread now, if it comes back by itself.
    static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
}

struct Caller {
    /// What it polls with. A future in between with a waker of its own polls its parts only when
    /// they are woken, so that those need a timer.
    waker: Waker,
    /// The earliest deadline that it was told of.
    back_by: Option<Instant>,
}

/// Polls once for a caller that polls again whenever it is woken, and by itself at the instant
/// given, if there is one: calls that are polled so set no timer for their deadlines.
pub fn poll_unaided<F: Future>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> (Poll<F::Output>, Option<Instant>) {
    let caller = Caller {
        waker: context.waker().clone(),
        back_by: None,
    };
    let before = Before(CALLER.replace(Some(caller)));
    let polled = future.poll(context);
    let back_by = CALLER.with_borrow(|caller| caller.as_ref().and_then(|caller| caller.back_by));
    drop(before);
    (polled, back_by)
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
    CALLER.with_borrow_mut(|caller| match caller {
        Some(caller) if caller.waker.will_wake(waker) => {
            let earliest = caller.back_by.map_or(deadline, |back| back.min(deadline));
            caller.back_by = Some(earliest);
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
        let (_, back_by) = poll_unaided(pin!(future), &mut Context::from_waker(&waker));
        back_by
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
