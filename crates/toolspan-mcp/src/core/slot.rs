//! One waiting call: it ends exactly once, whoever comes first.
//!
//! A slot is open until a reply, the death of the connection or its own caller ends it; the others
//! then find it ended. Progress is a cell that keeps the latest report only.

#[cfg(toolspan_loom)]
use loom::sync::{Mutex, MutexGuard, atomic::AtomicU8};
use std::sync::atomic::Ordering;
#[cfg(not(toolspan_loom))]
use std::sync::{Mutex, MutexGuard, atomic::AtomicU8};
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
    /// How far the call's frame has come: one of [`WAITS`], [`BEGUN`] and [`WITHDRAWN`].
    ///
    /// On a pipe it is only ever set, under the lock of the outbox; who must know it for certain asks
    /// under that lock. A request of its own has no such lock: what begins it and what takes it back
    /// both compare and set, so that one of them wins.
    sent: AtomicU8,
}

/// Not one byte of the frame was written.
const WAITS: u8 = 0;
/// A byte of the frame was written, or may be.
const BEGUN: u8 = 1;
/// The frame was taken back: no byte of it will be written.
const WITHDRAWN: u8 = 2;

#[derive(Debug)]
struct State<P, R> {
    end: End<R>,
    progress: Option<P>,
    waker: Option<Waker>,
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
        };
        Self {
            state: Mutex::new(state),
            sent: AtomicU8::new(WAITS),
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
        self.sent.store(BEGUN, Ordering::Release);
    }

    /// Whether a byte of the call's frame was written.
    pub(crate) fn has_begun(&self) -> bool {
        self.sent.load(Ordering::Acquire) == BEGUN
    }

    /// Asks whether the first byte may be written now, and says so if it may. Gives false when the
    /// frame was taken back.
    pub(crate) fn begin(&self) -> bool {
        self.replace(WAITS, BEGUN) != WITHDRAWN
    }

    /// Takes the frame back. Gives false when a byte of it was written before.
    pub(crate) fn withdraw(&self) -> bool {
        self.replace(WAITS, WITHDRAWN) != BEGUN
    }

    /// Says that what was sent was refused unread, so that the call is where it was before.
    pub(crate) fn unsend(&self) {
        self.replace(BEGUN, WAITS);
    }

    /// Goes from one state to another if it is in the first; gives the state it was in.
    fn replace(&self, from: u8, to: u8) -> u8 {
        self.sent
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .unwrap_or_else(|was| was)
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
    fn a_frame_is_begun_or_taken_back_whoever_comes_first() {
        let (begun, withdrawn) = (Slot::<u8, u8>::new(), Slot::<u8, u8>::new());
        assert!(begun.begin() && begun.begin() && !begun.withdraw() && begun.has_begun());
        assert!(withdrawn.withdraw() && !withdrawn.begin() && !withdrawn.has_begun());
        begun.unsend();
        assert!(!begun.has_begun() && begun.withdraw() && !begun.begin());
        withdrawn.unsend();
        assert!(!withdrawn.begin(), "what was taken back stays so");
    }

    #[test]
    fn an_abandoned_call_takes_no_reply() {
        let slot = Slot::<u8, u8>::new();
        assert!(slot.abandon());
        assert!(!slot.abandon());
        assert!(!slot.complete(1));
    }
}

/// Every order of events, found by loom. `cargo xtask test` plays them (its step `models`).
#[cfg(all(test, toolspan_loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    type TestSlot = Slot<u8, u8>;

    fn poll(slot: &TestSlot) -> Poll<Arrival<u8, u8>> {
        slot.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// What may happen to a call from outside.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Event {
        Reply,
        Close,
        /// The caller goes away: cancelled, or its time is over.
        Abandon,
        Progress,
    }

    /// How far the call has come when the events begin.
    #[derive(Clone, Copy, Debug)]
    enum Before {
        Queued,
        Begun,
        Waiting,
        Replied,
        Over,
    }

    const EVENTS: [Event; 4] = [Event::Reply, Event::Close, Event::Abandon, Event::Progress];
    const STATES: [Before; 5] = [
        Before::Queued,
        Before::Begun,
        Before::Waiting,
        Before::Replied,
        Before::Over,
    ];

    fn slot_in(before: Before) -> TestSlot {
        let slot = TestSlot::new();
        match before {
            Before::Queued => {}
            Before::Begun => slot.mark_begun(),
            Before::Waiting => assert!(poll(&slot).is_pending()),
            Before::Replied => assert!(slot.complete(9)),
            Before::Over => assert!(slot.abandon()),
        }
        slot
    }

    /// Whether the event was the end of the call.
    fn happen(slot: &TestSlot, event: Event) -> bool {
        match event {
            Event::Reply => slot.complete(1),
            Event::Close => slot.complete(2),
            Event::Abandon => slot.abandon(),
            Event::Progress => {
                slot.report(5);
                false
            }
        }
    }

    /// Everything that the caller could still be given.
    fn left(slot: &TestSlot) -> Vec<Arrival<u8, u8>> {
        let mut left = Vec::new();
        while let Poll::Ready(arrival) = poll(slot) {
            left.push(arrival);
        }
        left
    }

    // R50, R51
    #[test]
    fn in_every_state_two_events_at_once_end_the_call_exactly_once() {
        for before in STATES {
            for first in EVENTS {
                for second in EVENTS {
                    loom::model(move || {
                        let slot = Arc::new(slot_in(before));
                        let other = Arc::clone(&slot);
                        let other = thread::spawn(move || happen(&other, second));
                        let ends = usize::from(happen(&slot, first));
                        let ends = ends + usize::from(other.join().unwrap());
                        let has_ended = matches!(before, Before::Replied | Before::Over);
                        let can_end = first != Event::Progress || second != Event::Progress;
                        assert_eq!(ends, usize::from(!has_ended && can_end));
                        let left = left(&slot);
                        let replies = left.iter().filter(|one| matches!(one, Arrival::Reply(_)));
                        assert!(replies.count() <= 1);
                        let is_gone = matches!(before, Before::Over)
                            || first == Event::Abandon
                            || second == Event::Abandon;
                        assert!(
                            !is_gone || !left.iter().any(|one| matches!(one, Arrival::Reply(_)))
                        );
                    });
                }
            }
        }
    }

    #[test]
    fn a_reply_a_close_and_a_cancel_have_one_winner() {
        loom::model(|| {
            let slot = Arc::new(TestSlot::new());
            let (reader, closer) = (Arc::clone(&slot), Arc::clone(&slot));
            let reader = thread::spawn(move || reader.complete(1));
            let closer = thread::spawn(move || closer.complete(2));
            let cancelled = slot.abandon();
            let ends = [cancelled, reader.join().unwrap(), closer.join().unwrap()];
            assert_eq!(ends.iter().filter(|won| **won).count(), 1);
            assert!(left(&slot).is_empty());
        });
    }

    #[test]
    fn a_frame_that_is_taken_back_is_never_begun() {
        loom::model(|| {
            let slot = Arc::new(TestSlot::new());
            let sender = Arc::clone(&slot);
            let sender = thread::spawn(move || sender.begin());
            let withdrawn = slot.withdraw();
            assert_ne!(withdrawn, sender.join().unwrap());
            assert_ne!(withdrawn, slot.has_begun());
        });
    }

    #[test]
    fn a_reply_is_never_missed_by_a_caller_that_starts_to_wait() {
        loom::model(|| {
            let slot = Arc::new(TestSlot::new());
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

    /// The protocol of `pending.rs`: a table of one place, guarded by one lock, that may be closed.
    #[test]
    fn a_call_that_enters_while_the_table_closes_is_refused_or_told() {
        loom::model(|| {
            let table = Arc::new(Mutex::new((None::<Arc<TestSlot>>, false)));
            let told = Arc::new(AtomicUsize::new(0));
            let (closing, counted) = (Arc::clone(&table), Arc::clone(&told));
            let closer = thread::spawn(move || {
                closing.lock().unwrap().1 = true;
                let open = closing.lock().unwrap().0.take();
                if open.is_some_and(|slot| slot.complete(2)) {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            });
            let slot = Arc::new(TestSlot::new());
            let entered = {
                let mut table = table.lock().unwrap();
                let is_open = !table.1;
                if is_open {
                    table.0 = Some(Arc::clone(&slot));
                }
                is_open
            };
            closer.join().unwrap();
            assert_eq!(told.load(Ordering::SeqCst), usize::from(entered));
            assert_eq!(poll(&slot).is_ready(), entered);
        });
    }
}
