//! One waiting call: it ends exactly once, whoever comes first.
//!
//! A slot is open until a reply, the death of the connection or its own caller ends it; the others
//! then find it ended. Progress is a cell that keeps the latest report only.

#[cfg(toolspan_loom)]
use loom::sync::{Mutex, MutexGuard};
#[cfg(not(toolspan_loom))]
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// What a waiting caller is given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival<P, R> {
    /// The latest progress; more may come.
    Progress(P),
    /// The end.
    Reply(R),
}

/// The meeting point of one caller and the reader. Short critical sections only; the lock is never
/// held while a waker runs or is dropped: the last waker of a task drops the task.
#[derive(Debug)]
pub(crate) struct Slot<P, R> {
    state: Mutex<State<P, R>>,
}

#[derive(Debug)]
struct State<P, R> {
    end: End<R>,
    progress: Option<P>,
    waker: Option<Waker>,
    /// Whether a byte of the call's frame was written.
    begun: bool,
}

#[derive(Debug)]
enum End<R> {
    Open,
    Replied(R),
    /// The caller took the reply or went away.
    Over,
}

impl<P, R> Slot<P, R> {
    pub(crate) fn new() -> Self {
        let state = State {
            end: End::Open,
            progress: None,
            waker: None,
            begun: false,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<P, R>> {
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Ends the call. Gives false, and drops the reply, when it has ended before.
    pub(crate) fn complete(&self, reply: R) -> bool {
        let mut state = self.lock();
        if !matches!(state.end, End::Open) {
            return false;
        }
        state.end = End::Replied(reply);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Leaves a progress report, in place of one not yet taken.
    pub(crate) fn report(&self, progress: P) {
        let mut state = self.lock();
        if !matches!(state.end, End::Open) {
            return;
        }
        state.progress = Some(progress);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What has arrived. Progress comes before the end; after the end, pending for ever.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Arrival<P, R>> {
        let mut state = self.lock();
        if let Some(progress) = state.progress.take() {
            return Poll::Ready(Arrival::Progress(progress));
        }
        match std::mem::replace(&mut state.end, End::Over) {
            End::Replied(reply) => return Poll::Ready(Arrival::Reply(reply)),
            End::Open => state.end = End::Open,
            End::Over => {}
        }
        let is_known = state
            .waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(context.waker()));
        if !is_known {
            let old = state.waker.replace(context.waker().clone());
            drop(state);
            drop(old);
        }
        Poll::Pending
    }

    /// The caller goes away. Gives true when the call was still open, so that the server must be
    /// told.
    pub(crate) fn abandon(&self) -> bool {
        let mut state = self.lock();
        let end = std::mem::replace(&mut state.end, End::Over);
        let waker = state.waker.take();
        drop(state);
        drop(waker);
        matches!(end, End::Open)
    }

    /// Says that a byte of the call's frame was written.
    pub(crate) fn mark_begun(&self) {
        self.lock().begun = true;
    }

    /// Whether a byte of the call's frame was written.
    pub(crate) fn has_begun(&self) -> bool {
        self.lock().begun
    }
}

#[cfg(all(test, not(toolspan_loom)))]
mod tests {
    use super::*;

    fn poll(slot: &Slot<u8, u8>) -> Poll<Arrival<u8, u8>> {
        slot.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_first_reply_wins_and_is_taken_once() {
        let slot = Slot::new();
        assert!(poll(&slot).is_pending());
        assert!(slot.complete(1));
        assert!(!slot.complete(2));
        assert_eq!(poll(&slot), Poll::Ready(Arrival::Reply(1)));
        assert!(poll(&slot).is_pending());
        assert!(!slot.abandon());
    }

    #[test]
    fn only_the_latest_progress_is_kept_and_it_comes_before_the_end() {
        let slot = Slot::new();
        slot.report(1);
        slot.report(2);
        slot.complete(9);
        slot.report(3);
        assert_eq!(poll(&slot), Poll::Ready(Arrival::Progress(2)));
        assert_eq!(poll(&slot), Poll::Ready(Arrival::Reply(9)));
    }

    #[test]
    fn an_abandoned_call_takes_no_reply() {
        let slot = Slot::<u8, u8>::new();
        assert!(slot.abandon());
        assert!(!slot.abandon());
        assert!(!slot.complete(1));
    }
}

#[cfg(all(test, toolspan_loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    fn poll(slot: &Slot<u8, u8>) -> Poll<Arrival<u8, u8>> {
        slot.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_reply_and_a_cancel_have_one_winner() {
        loom::model(|| {
            let slot = Arc::new(Slot::<u8, u8>::new());
            let reader = Arc::clone(&slot);
            let reader = thread::spawn(move || reader.complete(1));
            let cancelled = slot.abandon();
            let replied = reader.join().unwrap();
            assert_ne!(cancelled, replied);
            assert!(poll(&slot).is_pending());
        });
    }

    #[test]
    fn a_reply_and_the_death_of_the_connection_have_one_winner() {
        loom::model(|| {
            let slot = Arc::new(Slot::<u8, u8>::new());
            let (reader, closer) = (Arc::clone(&slot), Arc::clone(&slot));
            let reader = thread::spawn(move || reader.complete(1));
            let closer = thread::spawn(move || closer.complete(2));
            let (replied, closed) = (reader.join().unwrap(), closer.join().unwrap());
            assert_ne!(replied, closed);
            let winner = if replied { 1 } else { 2 };
            assert_eq!(poll(&slot), Poll::Ready(Arrival::Reply(winner)));
        });
    }

    #[test]
    fn a_reply_is_never_missed_by_a_caller_that_starts_to_wait() {
        loom::model(|| {
            let slot = Arc::new(Slot::<u8, u8>::new());
            let reader = Arc::clone(&slot);
            let reader = thread::spawn(move || {
                reader.report(5);
                reader.complete(1);
            });
            let reply = loom::future::block_on(async {
                loop {
                    if let Arrival::Reply(reply) = std::future::poll_fn(|cx| slot.poll(cx)).await {
                        return reply;
                    }
                }
            });
            assert_eq!(reply, 1);
            reader.join().unwrap();
        });
    }
}
