//! How does one thread wait for the events of all children?

use std::io::{PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::census;
use super::charge::{Charge, TURN_SIZE};
use super::door::{self, State};
use super::own_child::OwnChild;
use super::watchdog::Running;
use crate::process::exit_status::ExitStatus;
use crate::process::handle::Shared;
use crate::process::system::block_signals;

/// How often exits are looked for where the system cannot announce them (no pidfd).
const EXIT_POLL: Duration = Duration::from_millis(20);

/// Time for a watchdog that is no longer needed to exit before it is killed.
const WATCHDOG_GRACE: Duration = Duration::from_millis(500);

/// Looks after children until none is left.
pub(super) fn run(wake: PipeReader) {
    block_signals();
    let mut reaper = Reaper {
        wake,
        charges: Vec::new(),
        departing: Vec::new(),
        finished: Vec::new(),
        buffer: vec![0; TURN_SIZE].into_boxed_slice(),
    };
    while reaper.take_in() {
        reaper.announce();
        reaper.turn();
        // The last ones are announced when this thread has cleaned up after itself.
        if reaper.has_work() {
            reaper.announce();
        }
        if reaper.finished.is_empty() {
            reaper.wait();
        }
    }
    let finished = std::mem::take(&mut reaper.finished);
    drop(reaper);
    for shared in finished {
        shared.ended.set(());
    }
}

struct Reaper {
    wake: PipeReader,
    /// As many as there are children alive or not let go of.
    charges: Vec<Charge>,
    /// Watchdogs told to exit; mostly none, seldom more than one.
    departing: Vec<Departing>,
    /// Children whose end is complete and not yet announced.
    finished: Vec<Arc<Shared>>,
    buffer: Box<[u8]>,
}

/// A watchdog told to exit, and the children whose end is complete when it is gone.
struct Departing {
    watchdog: Arc<OwnChild>,
    kill_at: Option<Instant>,
    waiting: Vec<Arc<Shared>>,
}

/// What an event is about; the number is a position in its list.
#[derive(Clone, Copy)]
enum Source {
    Wake,
    Exit(usize),
    Stderr(usize),
    Straggler,
    Watchdog,
    WatchdogPipe,
    Departing,
}

impl Reaper {
    /// Takes in new children. False when there is nothing left to do: the thread ends.
    fn take_in(&mut self) -> bool {
        let mut state = door::lock();
        self.charges
            .extend(state.adopted.drain(..).map(Charge::new));
        self.retire_watchdog(&mut state);
        let idle = !self.has_work() && state.reserved == 0;
        if idle {
            state.thread_ends();
        }
        !idle
    }

    /// Takes all steps that are due, once.
    fn turn(&mut self) {
        let now = Instant::now();
        for charge in &mut self.charges {
            charge.advance(now);
        }
        self.look_for_stragglers(now);
        self.let_go();
        for departing in &mut self.departing {
            if departing.kill_at.is_some_and(|at| at <= now) {
                departing.watchdog.kill();
                departing.kill_at = None;
            }
        }
    }

    /// One pass over the machine's processes for all children that need it.
    fn look_for_stragglers(&mut self, now: Instant) {
        let (due, marks): (Vec<usize>, Vec<_>) = self
            .charges
            .iter()
            .enumerate()
            .filter_map(|(position, charge)| Some((position, charge.scan_due(now)?)))
            .unzip();
        if due.is_empty() {
            return;
        }
        for (position, found) in due.into_iter().zip(census::find(&marks)) {
            if let Some(charge) = self.charges.get_mut(position) {
                charge.found(found, now);
            }
        }
    }

    /// Lets go of children that have ended, and of the watchdog with the last of them.
    fn let_go(&mut self) {
        let before = self.finished.len();
        for mut charge in self.charges.extract_if(.., |charge| charge.is_ended()) {
            charge.let_go(&mut self.buffer);
            self.finished.push(charge.shared);
        }
        if self.finished.len() > before {
            let mut state = door::lock();
            for shared in self.finished.iter().skip(before) {
                state.watchdog.remove(shared.cookie);
            }
            self.retire_watchdog(&mut state);
        }
    }

    /// Tells the watchdog to exit if no child is left; the end of the last ones is complete when it
    /// is gone.
    fn retire_watchdog(&mut self, state: &mut State) {
        if !self.charges.is_empty() || !state.adopted.is_empty() || state.reserved > 0 {
            return;
        }
        if let Some(watchdog) = state.watchdog.retire() {
            let kill_at = Some(Instant::now() + WATCHDOG_GRACE);
            let waiting = std::mem::take(&mut self.finished);
            self.departing.push(Departing {
                watchdog,
                kill_at,
                waiting,
            });
        }
    }

    fn has_work(&self) -> bool {
        !self.charges.is_empty() || !self.departing.is_empty()
    }

    fn announce(&mut self) {
        for shared in self.finished.drain(..) {
            shared.ended.set(());
        }
    }

    /// Waits for the next event or deadline and handles what has happened.
    fn wait(&mut self) {
        let watchdog = door::lock().watchdog.running();
        let timeout = self.timeout(watchdog.as_ref());
        let ready = self.ready(watchdog.as_ref(), timeout);
        for source in &ready {
            match *source {
                Source::Wake => self.drain_wake(),
                Source::Stderr(position) => {
                    if let Some(charge) = self.charges.get_mut(position) {
                        charge.read_stderr(&mut self.buffer);
                    }
                }
                Source::Exit(position) => self.collect(position),
                Source::Watchdog => door::lock().watchdog.collect(),
                Source::WatchdogPipe => door::lock().watchdog.flush(),
                Source::Departing => {}
                // The next turn looks again.
                Source::Straggler => {}
            }
        }
        self.collect_unannounced();
        self.collect_departed();
    }

    fn drain_wake(&mut self) {
        // What does not fit into one read wakes once more.
        let _ = self.wake.read(&mut self.buffer);
    }

    fn collect(&mut self, position: usize) {
        let Some(charge) = self.charges.get_mut(position) else {
            return;
        };
        if charge.collect(&mut self.buffer) {
            // From now on the group's id may come to mean another: the cookie must do.
            door::lock().watchdog.set_group(charge.shared.cookie, None);
        }
    }

    fn collect_unannounced(&mut self) {
        for position in 0..self.charges.len() {
            let leader = self
                .charges
                .get(position)
                .and_then(|charge| charge.leader.as_ref());
            if leader.is_some_and(|leader| leader.exit_event().is_none()) {
                self.collect(position);
            }
        }
    }

    fn collect_departed(&mut self) {
        let gone = |departing: &mut Departing| departing.watchdog.collect().is_some();
        for departed in self.departing.extract_if(.., gone) {
            self.finished.extend(departed.waiting);
        }
    }

    /// How long to wait at most; `None` is until an event.
    fn timeout(&self, watchdog: Option<&Running>) -> Option<Duration> {
        let now = Instant::now();
        let deadlines = self.charges.iter().filter_map(Charge::next_deadline);
        let kills = self
            .departing
            .iter()
            .filter_map(|departing| departing.kill_at);
        let next = deadlines.chain(kills).min();
        let until_next = next.map(|at| at.saturating_duration_since(now));
        let leaders = self
            .charges
            .iter()
            .filter_map(|charge| charge.leader.as_ref());
        let watchdogs = self.departing.iter().map(|departing| &*departing.watchdog);
        let unannounced = leaders
            .chain(watchdogs)
            .chain(watchdog.map(|running| &*running.child))
            .any(|child| child.exit_event().is_none());
        until_next
            .into_iter()
            .chain(unannounced.then_some(EXIT_POLL))
            .min()
    }

    /// Which sources have something, in the order they are to be handled.
    fn ready(&self, watchdog: Option<&Running>, timeout: Option<Duration>) -> Vec<Source> {
        let sources = self.sources(watchdog);
        let mut asked: Vec<PollFd<'_>> = sources
            .iter()
            .map(|(source, descriptor)| {
                let out = matches!(source, Source::WatchdogPipe);
                let flags = if out { PollFlags::OUT } else { PollFlags::IN };
                PollFd::from_borrowed_fd(*descriptor, flags)
            })
            .collect();
        // Rounded up, so that what is due has come when poll returns.
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        // An error (EINTR, or no memory) is a turn without events.
        if poll(&mut asked, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        sources
            .iter()
            .zip(&asked)
            .filter(|(_, answer)| !answer.revents().is_empty())
            .map(|((source, _), _)| *source)
            .collect()
    }

    fn sources<'a>(&'a self, watchdog: Option<&'a Running>) -> Vec<(Source, BorrowedFd<'a>)> {
        let mut sources = vec![(Source::Wake, self.wake.as_fd())];
        for (position, charge) in self.charges.iter().enumerate() {
            let exit = charge.leader.as_ref().and_then(OwnChild::exit_event);
            let stderr = charge.stderr.as_ref().map(AsFd::as_fd);
            sources.extend(stderr.map(|descriptor| (Source::Stderr(position), descriptor)));
            sources.extend(exit.map(|descriptor| (Source::Exit(position), descriptor)));
            let living = charge
                .stragglers
                .iter()
                .filter(|straggler| !straggler.is_gone());
            sources.extend(
                living.filter_map(|straggler| Some((Source::Straggler, straggler.exit_event()?))),
            );
        }
        if let Some(running) = watchdog {
            sources.extend(
                running
                    .child
                    .exit_event()
                    .map(|event| (Source::Watchdog, event)),
            );
            let pipe = running.has_unsent.then(|| running.pipe.as_fd());
            sources.extend(pipe.map(|descriptor| (Source::WatchdogPipe, descriptor)));
        }
        let departing = self
            .departing
            .iter()
            .filter_map(|departing| departing.watchdog.exit_event());
        sources.extend(departing.map(|descriptor| (Source::Departing, descriptor)));
        sources
    }
}

impl Drop for Reaper {
    /// After a fault in this thread nobody must wait for ever: what it looked after is killed and
    /// reported as ended. The next spawn starts another thread.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let waiting = self
            .departing
            .drain(..)
            .flat_map(|departing| departing.waiting);
        let mut abandoned: Vec<Arc<Shared>> = waiting.chain(self.finished.drain(..)).collect();
        for charge in self.charges.drain(..) {
            if let Some(leader) = &charge.leader {
                leader.signal_group(Signal::KILL);
            }
            abandoned.push(charge.shared);
        }
        let mut state = door::lock();
        for shared in abandoned {
            state.watchdog.remove(shared.cookie);
            shared.exited.set(ExitStatus::UNKNOWN);
            shared.ended.set(());
        }
        state.thread_ends();
    }
}
