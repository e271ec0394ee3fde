//! Is there always somebody who turns the runtime, and is it the caller in a run of short waits?

use std::sync::mpsc::{self, Receiver, Sender};
use std::task::Wake;
use std::time::Instant;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
const KEEPER: &str = "toolspan-home";

/// A caller's thread that waits at its drive.
struct Caller {
    drive: Arc<Drive>,
    thread: Arc<WaitingThread>,
}

/// What a source does in a fetch.
type Fetching = dyn Fn(&Waker) + Send + Sync;

/// A source that does what it is told to; `waker` wakes the caller.
struct Scripted {
    waker: Waker,
    fetched: AtomicU64,
    fetching: Box<Fetching>,
    interrupted: Mutex<Sender<()>>,
}

impl Source for Scripted {
    fn fetch(&self) {
        self.fetched.fetch_add(1, SeqCst);
        (self.fetching)(&self.waker);
    }

    fn interrupt(&self) {
        // Who does not listen is not waiting.
        let _ = self.interrupted.lock().unwrap().send(());
    }
}

impl Caller {
    fn new(drive: &Arc<Drive>) -> Self {
        Self {
            drive: Arc::clone(drive),
            thread: Arc::new(WaitingThread::current()),
        }
    }

    fn source(&self, fetching: impl Fn(&Waker) + Send + Sync + 'static) -> Arc<Scripted> {
        self.interruptible(mpsc::channel().0, fetching)
    }

    fn interruptible(
        &self,
        interrupted: Sender<()>,
        fetching: impl Fn(&Waker) + Send + Sync + 'static,
    ) -> Arc<Scripted> {
        Arc::new(Scripted {
            waker: Waker::from(Arc::clone(&self.thread)),
            fetched: AtomicU64::new(0),
            fetching: Box::new(fetching),
            interrupted: Mutex::new(interrupted),
        })
    }

    /// A source from which nothing comes: a fetch says that it is under way, and waits until it is
    /// interrupted.
    fn silent(&self, is_inside: Sender<()>) -> Arc<Scripted> {
        let (interrupted, interrupt) = mpsc::channel();
        let (interrupt, is_inside) = (Mutex::new(interrupt), Mutex::new(is_inside));
        self.interruptible(interrupted, move |_| {
            // Who does not listen any more has seen enough.
            let _ = is_inside.lock().unwrap().send(());
            interrupt.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        })
    }

    /// One wait from begin to end. One that is not this thread's turn ends at once.
    fn wait(&self, source: &Arc<Scripted>) {
        let presence = self.drive.wait();
        self.thread.begin();
        let source: Arc<dyn Source> = Arc::<Scripted>::clone(source);
        presence.wait_for(&self.thread, Some(source), || Duration::ZERO);
    }

    /// Waits again and again, until so many more were fetches.
    fn run(&self, source: &Arc<Scripted>, fetches: u64) {
        let until = source.fetched.load(SeqCst) + fetches;
        self.run_until(source, || source.fetched.load(SeqCst) >= until);
    }

    fn run_until(&self, source: &Arc<Scripted>, is_over: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_over() {
            assert!(began.elapsed() < PATIENCE, "it never came");
            self.wait(source);
        }
    }
}

/// Answers at once, as a fast server does.
fn at_once(waker: &Waker) {
    waker.wake_by_ref();
}

/// Begins a task without telling anybody; gives the name of the thread that runs it.
fn begin(drive: &Drive) -> Receiver<Option<String>> {
    let (sender, receiver) = mpsc::channel();
    drive.handle().spawn(async move {
        let _ = sender.send(thread::current().name().map(str::to_owned));
    });
    receiver
}

fn runs_on(task: &Receiver<Option<String>>) -> Option<String> {
    task.recv_timeout(PATIENCE).unwrap()
}

/// A thread that leads and whose fetch is under way, in vain.
fn stuck(drive: &Arc<Drive>) -> thread::JoinHandle<()> {
    let (inside, is_inside) = mpsc::channel();
    let drive = Arc::clone(drive);
    let leading = thread::spawn(move || {
        let caller = Caller::new(&drive);
        caller.run(&caller.silent(inside), 1);
    });
    is_inside.recv_timeout(PATIENCE).unwrap();
    leading
}

#[test]
fn the_keeper_turns_the_runtime_before_any_wait_and_after_a_few() {
    let drive = Drive::start().unwrap();
    assert_eq!(runs_on(&begin(&drive)).as_deref(), Some(KEEPER));
    let caller = Caller::new(&drive);
    let source = caller.source(at_once);
    for _ in 1..ALONE {
        caller.wait(&source);
    }
    assert_eq!(source.fetched.load(SeqCst), 0);
    assert_eq!(runs_on(&begin(&drive)).as_deref(), Some(KEEPER));
}

#[test]
fn in_a_run_of_waits_the_caller_fetches_by_itself_and_turns_the_runtime_now_and_then() {
    let drive = Drive::start().unwrap();
    let caller = Caller::new(&drive);
    let source = caller.source(at_once);
    caller.run(&source, 100);
    let here = thread::current().name().map(str::to_owned);
    let mut task = begin(&drive);
    let began = Instant::now();
    loop {
        match task.try_recv() {
            Ok(name) if name == here => break,
            // A busy machine may bring the keeper back in between.
            Ok(_) => task = begin(&drive),
            Err(_) => assert!(began.elapsed() < PATIENCE, "the caller never turns it"),
        }
        if drive.is_due.load(SeqCst) {
            let waker = source.waker.clone();
            drive.handle().spawn(async move { waker.wake() });
        }
        caller.wait(&source);
    }
}

#[test]
fn the_keeper_comes_back_when_no_wait_comes_and_steps_aside_again() {
    let drive = Drive::start().unwrap();
    let caller = Caller::new(&drive);
    let source = caller.source(at_once);
    for _ in 0..3 {
        caller.run(&source, 5);
        assert_eq!(runs_on(&begin(&drive)).as_deref(), Some(KEEPER));
    }
}

#[test]
fn the_keeper_comes_back_when_a_fetch_takes_longer() {
    let drive = Drive::start().unwrap();
    let leading = stuck(&drive);
    assert_eq!(runs_on(&begin(&drive)).as_deref(), Some(KEEPER));
    leading.join().unwrap();
}

#[test]
fn a_second_caller_brings_the_keeper_back() {
    let drive = Drive::start().unwrap();
    let leading = stuck(&drive);
    let second = drive.wait();
    assert!(drive.is_called.load(SeqCst) || !drive.is_away.load(SeqCst));
    assert_eq!(runs_on(&begin(&drive)).as_deref(), Some(KEEPER));
    drop(second);
    leading.join().unwrap();
}

#[test]
fn a_task_that_is_attended_to_brings_the_keeper_back() {
    let drive = Drive::start().unwrap();
    let leading = stuck(&drive);
    let task = begin(&drive);
    drive.attend();
    assert!(drive.is_called.load(SeqCst) || !drive.is_away.load(SeqCst));
    assert_eq!(runs_on(&task).as_deref(), Some(KEEPER));
    leading.join().unwrap();
}

#[test]
fn who_turns_the_runtime_is_woken_by_its_tasks_and_by_other_threads() {
    let drive = Drive::start().unwrap();
    let caller = Caller::new(&drive);
    let handle = drive.handle().clone();
    let by_task = caller.source(move |waker| {
        let waker = waker.clone();
        handle.spawn(async move { waker.wake() });
    });
    let by_thread = caller.source(|waker| {
        let waker = waker.clone();
        thread::spawn(move || waker.wake());
    });
    for source in [by_task, by_thread] {
        // Led means that it turned the runtime and came back.
        let led = drive.led.load(SeqCst);
        caller.run_until(&source, || drive.led.load(SeqCst) >= led + 10);
    }
}

#[test]
fn a_wake_before_the_wait_is_seen() {
    let drive = Drive::start().unwrap();
    let caller = Caller::new(&drive);
    let source = caller.source(|_| unreachable!("it was woken before"));
    let began = Instant::now();
    while drive.led.load(SeqCst) < 10 {
        assert!(began.elapsed() < PATIENCE);
        let presence = drive.wait();
        caller.thread.begin();
        Arc::clone(&caller.thread).wake();
        let source: Arc<dyn Source> = Arc::<Scripted>::clone(&source);
        presence.wait_for(&caller.thread, Some(source), || Duration::ZERO);
    }
}

#[test]
fn callers_on_many_threads_are_all_woken_whoever_turns_the_runtime() {
    let drive = Drive::start().unwrap();
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let drive = Arc::clone(&drive);
            thread::spawn(move || {
                let caller = Caller::new(&drive);
                for _ in 0..500 {
                    let presence = drive.wait();
                    caller.thread.begin();
                    let waker = Waker::from(Arc::clone(&caller.thread));
                    drive.handle().spawn(async move { waker.wake() });
                    while !caller.thread.is_woken() {
                        presence.wait_for(&caller.thread, None, || PATIENCE);
                    }
                }
            })
        })
        .collect();
    let began = Instant::now();
    for caller in callers {
        caller.join().unwrap();
    }
    // Nobody slept out its wait.
    assert!(began.elapsed() < PATIENCE);
}
