//! How a synchronous caller waits for a future on its own thread.

use std::cell::Cell;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{EnterGuard, Handle};
use tokio::time::Instant;
use toolspan_core::{Error, ErrorKind, Phase, Result, execute};

use super::drive::Presence;
use super::home::Here;
use super::waiting_thread::WaitingThread;

/// Longest time between two looks at the future: a deadline holds to this even when the runtime
/// that should wake the caller is stuck.
const SLICE: Duration = Duration::from_millis(50);

thread_local! {
    /// Whether this thread is inside a wait: a call from a callback may then wait, too.
    static WAITING: Cell<bool> = const { Cell::new(false) };
    /// How many waits this thread has begun. One within another takes the wake-ups of both.
    static BEGUN: Cell<u64> = const { Cell::new(0) };
    /// This thread and what wakes it; made once for all its calls.
    static THREAD: (Arc<WaitingThread>, Waker) = {
        let thread = Arc::new(WaitingThread::current());
        let waker = Waker::from(Arc::clone(&thread));
        (thread, waker)
    };
}

/// As [`Home::block_on`](super::Home::block_on).
pub(super) fn block_on<F: Future>(here: Here<'_>, future: F) -> Result<F::Output> {
    let waiting = Waiting::begin(here)?;
    let never = || ControlFlow::<Infallible>::Continue(());
    let ControlFlow::Continue(output) = turns(&waiting, pin!(future), never);
    Ok(output)
}

/// As [`Here::block_on_looking`].
pub(super) fn block_on_looking<F: Future, B>(
    here: Here<'_>,
    mut future: Pin<Box<F>>,
    look: impl FnMut() -> ControlFlow<B>,
) -> Result<ControlFlow<B, F::Output>> {
    let waiting = Waiting::begin(here)?;
    let ended = turns(&waiting, future.as_mut(), look);
    if ended.is_break() && !here.home().is_here() {
        // What it holds is the original's, and nothing of it is to be told or ended.
        std::mem::forget(future);
    }
    Ok(ended)
}

/// Polls the future and looks up from it, in turn, until one of them ends the wait.
fn turns<F: Future, B>(
    waiting: &Waiting<'_>,
    mut future: Pin<&mut F>,
    mut look: impl FnMut() -> ControlFlow<B>,
) -> ControlFlow<B, F::Output> {
    let (thread, waker) = THREAD.with(Clone::clone);
    let mut context = Context::from_waker(&waker);
    loop {
        let begun = BEGUN.get();
        thread.begin();
        let polled = execute::poll_unaided(future.as_mut(), &mut context);
        if let Poll::Ready(output) = polled.output {
            return ControlFlow::Continue(output);
        }
        look()?;
        // After a wait within, a wake-up meant for this future may be gone.
        if BEGUN.get() != begun {
            continue;
        }
        // What this thread turns meanwhile is the runtime's, which nothing may block.
        WAITING.set(false);
        waiting.presence.wait_for(&thread, polled.source, || {
            let back_by = polled.back_by;
            let left = back_by.map(|back_by| back_by.saturating_duration_since(Instant::now()));
            left.unwrap_or(SLICE).min(SLICE)
        });
        WAITING.set(true);
    }
}

/// A thread that waits, within the runtime. Taken back on drop, also when the future panics.
struct Waiting<'home> {
    before: bool,
    presence: Presence<'home>,
    _inside: EnterGuard<'home>,
}

impl<'home> Waiting<'home> {
    fn begin(here: Here<'home>) -> Result<Self> {
        let drive = here.drive();
        let before = WAITING.get();
        if !before && Handle::try_current().is_ok() {
            return Err(misused());
        }
        WAITING.set(true);
        BEGUN.set(BEGUN.get().wrapping_add(1));
        Ok(Self {
            before,
            presence: drive.wait(),
            _inside: drive.handle().enter(),
        })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        WAITING.set(self.before);
    }
}

fn misused() -> Error {
    let message = "a blocking call was made on a thread that runs asynchronous tasks";
    Error::new(ErrorKind::Usage, Phase::Send, message)
        .with_hint("use the asynchronous Host there, or a thread of its own for blocking calls")
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::super::home::Home;
    use super::*;

    #[test]
    fn a_forked_copy_is_told_so_and_waits_for_nothing() {
        let home = Home::get().unwrap().left_behind();
        let error = home.block_on(pending::<()>()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(
            error
                .message()
                .starts_with("this process was forked from 0")
        );
    }

    #[test]
    fn the_home_outlives_a_panic_in_a_task_and_in_a_future() {
        let home = Home::get().unwrap();
        let spawned = async {
            let task = tokio::spawn(async { panic!("in a task") });
            task.await.unwrap_err().is_panic()
        };
        assert!(home.block_on(spawned).unwrap());
        let polled = std::panic::catch_unwind(|| {
            let _ = home.block_on(async { panic!("in a future") });
        });
        assert!(polled.is_err() && !WAITING.get());
        let lives = async { tokio::spawn(async { 7 }).await.unwrap() };
        assert_eq!(home.block_on(lives).unwrap(), 7);
    }

    #[test]
    fn a_look_that_breaks_ends_the_wait_and_drops_the_future() {
        let home = Home::get().unwrap();
        let held = Arc::new(());
        let kept = Arc::clone(&held);
        let future = async move {
            let _kept = kept;
            pending::<()>().await;
        };
        let mut looks = 0;
        let ended = home.block_on_looking(Box::pin(future), || {
            looks += 1;
            match looks {
                3 => ControlFlow::Break("seen"),
                _ => ControlFlow::Continue(()),
            }
        });
        assert_eq!(ended.unwrap(), ControlFlow::Break("seen"));
        assert_eq!(Arc::strong_count(&held), 1);
    }

    #[test]
    fn a_look_comes_at_least_every_slice() {
        let home = Home::get().unwrap();
        let (mut last, mut longest, mut looks) = (std::time::Instant::now(), Duration::ZERO, 0);
        let ended = home.block_on_looking(Box::pin(pending::<()>()), || {
            longest = longest.max(last.elapsed());
            last = std::time::Instant::now();
            looks += 1;
            match looks {
                5 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        assert_eq!(ended.unwrap(), ControlFlow::Break(()));
        // A busy machine takes its time, too.
        assert!(longest < SLICE * 10, "{longest:?}");
    }

    #[test]
    fn a_look_may_wait_and_the_wait_around_it_goes_on_at_once() {
        let home = Home::get().unwrap();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut sender = Some(sender);
        let ended = home.block_on_looking(Box::pin(receiver), || {
            if let Some(sender) = sender.take() {
                // The wake-up of the outer wait comes now, and the inner one takes it.
                sender.send(7).unwrap();
                std::thread::park();
                assert_eq!(home.block_on(ready(1)).unwrap(), 1);
                return ControlFlow::Continue(());
            }
            ControlFlow::Break("the wake-up was lost")
        });
        assert_eq!(ended.unwrap(), ControlFlow::Continue(Ok(7)));
    }

    #[test]
    fn a_future_that_is_ready_is_not_looked_up_from() {
        let home = Home::get().unwrap();
        let ended = home.block_on_looking(Box::pin(ready(7)), || ControlFlow::Break(()));
        assert_eq!(ended.unwrap(), ControlFlow::Continue(7));
    }
}
