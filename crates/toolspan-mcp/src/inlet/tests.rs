//! Does a caller that fetches its answer by itself lose nothing, and leave the rest to the task?
//!
//! The servers say what they are told to: `cat`. The runtime stands still but in [`Case::turn`], so
//! that what is read by then was fetched.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use toolspan_core::ErrorKind;
use toolspan_core::guard::{Limits, Redactor};
use toolspan_io::process::Launch;

use super::*;
use crate::connection::Connection;
use crate::core::pending::{CallSlot, Reply};
use crate::core::slot::Arrival;
use crate::link::{Listener, Setup};
use crate::transport::{Door, Transport};

const PATIENCE: Duration = Duration::from_secs(20);

/// Keeps what it hears; panics when it is told "panic".
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn tools_changed(&self) {
        self.0.lock().unwrap().push("tools changed".to_owned());
    }

    fn log(&self, _level: String, text: String) {
        assert_ne!(text, "panic");
        self.0.lock().unwrap().push(text);
    }

    fn ended(&self, cause: &Error) {
        self.0.lock().unwrap().push(format!("ended: {cause}"));
    }
}

/// A connection to a server whose runtime turns only when it is told to.
struct Case {
    connection: Connection,
    heard: Arc<Heard>,
    runtime: Runtime,
}

impl Case {
    fn start() -> Self {
        Self::with("/bin/cat", &[])
    }

    fn with(program: &str, arguments: &[&str]) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let inside = runtime.enter();
        let heard = Arc::new(Heard::default());
        let listener: Arc<dyn Listener> = Arc::<Heard>::clone(&heard);
        let mut limits = Limits::default();
        limits.message_bytes = 50_000;
        let setup = Setup {
            limits,
            next_id: Arc::new(AtomicU64::new(10)),
            listener,
            credentials: Redactor::default(),
        };
        let launch = Launch::new(program).with_args(arguments.iter().copied());
        let transport = Transport::Stdio(Arc::new(launch));
        let Ok(Door::Pipe(pipe)) = transport.open() else {
            unreachable!("a pipe");
        };
        let connection = Connection::open(pipe, setup);
        drop(inside);
        let case = Self {
            connection,
            heard,
            runtime,
        };
        // The tasks begin, and wait.
        case.runtime.block_on(tokio::task::yield_now());
        case
    }

    fn pipe(&self) -> &Piped {
        self.connection.pipe().unwrap()
    }

    /// Begins a request that was sent already.
    fn expects(&self, id: u64) -> Arc<CallSlot> {
        self.connection.pending().insert(id).unwrap().0
    }

    /// Has the server say something, and fetches it as a caller on a thread of its own does.
    fn says(&self, text: &str) {
        self.pipe().outbox.notify(text.as_bytes().to_vec());
        self.fetch();
    }

    fn fetch(&self) {
        let _inside = self.runtime.enter();
        self.pipe().fetch();
    }

    /// Turns the runtime until a request has its reply.
    fn turn(&self, slot: &CallSlot) -> Reply {
        let reply = std::future::poll_fn(|task| slot.poll(task));
        match self
            .runtime
            .block_on(async { timeout(PATIENCE, reply).await })
        {
            Ok(Arrival::Reply(reply)) => reply,
            other => unreachable!("{other:?}"),
        }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.0.lock().unwrap().clone()
    }
}

fn reply(id: u64) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"of\":{id}}}}}\n")
}

fn log(text: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"data\":\"{text}\"}}}}\n"
    )
}

/// What a request was given by now.
fn given(slot: &CallSlot) -> Option<Reply> {
    match slot.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Arrival::Reply(reply)) => Some(reply),
        _ => None,
    }
}

fn given_text(slot: &CallSlot) -> Option<String> {
    given(slot).map(|reply| reply.unwrap().get().to_owned())
}

#[test]
fn a_line_that_comes_in_parts_is_put_together_whoever_reads_them() {
    let case = Case::start();
    let (first, second) = (self::reply(1), self::reply(2));
    let (head, tail) = first.split_at(20);
    let slots = [case.expects(1), case.expects(2)];
    case.says(head);
    assert_eq!(given(&slots[0]).map(|reply| reply.is_ok()), None);
    case.says(tail);
    assert_eq!(given_text(&slots[0]).as_deref(), Some("{\"of\":1}"));
    let (head, tail) = second.split_at(20);
    case.says(head);
    case.pipe().outbox.notify(tail.as_bytes().to_vec());
    assert_eq!(case.turn(&slots[1]).unwrap().get(), "{\"of\":2}");
}

#[test]
fn one_fetch_deals_with_all_that_one_read_brings() {
    let case = Case::start();
    let slots = [case.expects(1), case.expects(2)];
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n";
    let changed = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";
    let second = self::reply(2);
    case.says(&[&second, &log("hello"), ping, changed, &self::reply(1)].concat());
    assert_eq!(given_text(&slots[0]).as_deref(), Some("{\"of\":1}"));
    assert_eq!(given_text(&slots[1]).as_deref(), Some("{\"of\":2}"));
    assert_eq!(case.heard(), ["hello", "tools changed"]);
    // The answer to the ping comes back, as one to a request that was never made.
    case.fetch();
    let unknown = &case.connection.counters().unknown_ids;
    assert_eq!(unknown.load(Ordering::Relaxed), 1);
}

#[test]
fn a_fetch_in_vain_can_be_interrupted() {
    let case = Case::start();
    let slot = case.expects(1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| case.fetch());
        case.pipe().interrupt();
        waiting.join().unwrap();
    });
    assert!(given(&slot).is_none());
    case.says(&self::reply(1));
    assert!(given(&slot).is_some());
}

#[test]
fn the_end_of_the_output_is_left_to_the_task() {
    let case = Case::start();
    let slot = case.expects(1);
    case.says(self::reply(1).trim_end());
    case.pipe().outbox.close();
    for _ in 0..3 {
        case.fetch();
        assert!(given(&slot).is_none());
    }
    assert_eq!(
        case.turn(&slot).unwrap().get(),
        "{\"of\":1}",
        "the last line"
    );
    case.fetch();
}

#[test]
fn the_death_of_the_server_ends_what_waits_with_its_status() {
    let case = Case::start();
    let slot = case.expects(1);
    case.connection.process().unwrap().kill_now();
    case.fetch();
    assert!(given(&slot).is_none());
    let error = case.turn(&slot).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("signal"), "{error}");
}

#[test]
fn a_fault_that_a_caller_comes_upon_ends_the_connection_in_the_next_turn() {
    let case = Case::start();
    let slot = case.expects(1);
    // More replies to calls that were never made than a server may give.
    case.says(&self::reply(99).repeat(101));
    // Nothing more is read, not even what comes behind.
    case.says(&self::reply(1));
    assert!(given(&slot).is_none());
    assert_eq!(case.turn(&slot).unwrap_err().kind(), ErrorKind::Protocol);
    assert_eq!(case.heard().len(), 1, "it is told of the end");
    case.fetch();
}

#[test]
fn a_line_that_is_too_long_fails_its_call_alone() {
    let case = Case::start();
    let slots = [case.expects(1), case.expects(2)];
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}\n",
        "x".repeat(60_000)
    );
    case.says(&long);
    while given(&slots[1]).is_none() {
        case.says(&self::reply(2));
    }
    let error = given(&slots[0]).unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
}

#[test]
fn what_could_not_be_written_yet_is_not_waited_for() {
    let case = Case::with("/bin/sleep", &["1000"]);
    let frame = format!("{{\"x\":\"{}\"}}\n", "x".repeat(2 << 20));
    case.pipe().outbox.notify(frame.into_bytes());
    assert!(!case.pipe().outbox.is_idle());
    case.fetch();
}

#[test]
fn on_another_runtime_nothing_is_read() {
    let case = Case::start();
    let slot = case.expects(1);
    case.pipe().outbox.notify(self::reply(1).into_bytes());
    // Outside of any.
    case.pipe().fetch();
    let other = Builder::new_current_thread().build().unwrap();
    let inside = other.enter();
    case.pipe().fetch();
    assert!(given(&slot).is_none());
    drop(inside);
    assert!(case.turn(&slot).is_ok());
}

#[test]
fn a_listener_that_panics_ends_the_connection_and_not_the_caller() {
    let case = Case::start();
    let slot = case.expects(1);
    case.says(&log("panic"));
    let error = case.turn(&slot).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.message().contains("panicked"), "{error}");
}

#[test]
fn a_caller_and_the_task_take_turns_over_thousands_of_lines_and_lose_none() {
    let case = Case::start();
    for id in 0..3_000 {
        let slot = case.expects(id % 10);
        let result: Box<RawValue> = match id % 3 {
            0 => {
                case.pipe().outbox.notify(self::reply(id % 10).into_bytes());
                case.turn(&slot).unwrap()
            }
            _ => {
                case.says(&self::reply(id % 10));
                given(&slot).unwrap().unwrap()
            }
        };
        assert_eq!(result.get(), format!("{{\"of\":{}}}", id % 10));
    }
}
