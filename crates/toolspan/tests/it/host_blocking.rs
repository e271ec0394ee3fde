//! Does the blocking host serve synchronous callers, and refuse where it would do harm?

use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolspan::services::{Event, Services};
use toolspan::{CallOptions, ErrorKind, blocking};
use toolspan_testkit::Fault;

use crate::support::{SOON, one, shown};

fn host(fault: Fault) -> Arc<blocking::Host> {
    Arc::new(blocking::Host::connect_builder(one(fault)).unwrap())
}

#[test]
fn threads_call_at_the_same_time_and_share_one_server() {
    let host = host(Fault::honest());
    let calls: Vec<_> = (0..16)
        .map(|number| {
            let host = Arc::clone(&host);
            std::thread::spawn(move || {
                for _ in 0..50 {
                    let seen = host
                        .call("box__echo", json!({"text": number.to_string()}))
                        .unwrap();
                    assert_eq!(seen.text(), number.to_string());
                }
            })
        })
        .collect();
    for call in calls {
        call.join().unwrap();
    }
    assert_eq!(
        toolspan_testkit::children_of(std::process::id()).len(),
        2,
        "a server and the watchdog"
    );
}

#[test]
fn a_call_on_a_runtimes_thread_is_refused_with_a_hint() {
    let host = host(Fault::honest());
    for runtime in [
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap(),
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap(),
    ] {
        let calling = Arc::clone(&host);
        let error =
            runtime.block_on(async move { calling.call("box__echo", json!({"text": "x"})) });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        insta::assert_snapshot!("a_call_on_a_runtimes_thread", shown(&error));
    }
    assert!(
        host.call("box__echo", json!({"text": "x"})).is_ok(),
        "the host is unhurt"
    );
}

#[test]
fn a_call_from_a_progress_callback_runs() {
    let host = host(Fault::named("progress_then_reply"));
    let other = Arc::new(blocking::Host::connect_builder(one(Fault::honest())).unwrap());
    let nested = Arc::new(Mutex::new(Vec::new()));
    let (seen, inner) = (Arc::clone(&nested), Arc::clone(&other));
    let options = CallOptions::default().with_progress(move |_| {
        let answer = inner.call("box__echo", json!({"text": "inside"})).unwrap();
        seen.lock().unwrap().push(answer.text());
    });
    host.call_with("box__echo", json!({"text": "x"}), options)
        .unwrap();
    let nested = nested.lock().unwrap();
    assert!(!nested.is_empty() && nested.iter().all(|text| text == "inside"));
}

/// Blocks the thread that it is told on, which is the home of all blocking hosts.
struct Blocker {
    entered: Mutex<mpsc::Sender<()>>,
    release: Mutex<mpsc::Receiver<()>>,
}

impl Services for Blocker {
    fn event(&self, _: &str, event: Event) {
        if matches!(event, Event::Log { .. }) {
            self.entered.lock().unwrap().send(()).unwrap();
            let _ = self.release.lock().unwrap().recv_timeout(SOON);
        }
    }
}

#[test]
fn a_deadline_holds_even_when_the_runtime_is_stuck() {
    let (entered, is_stuck) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let services = Arc::new(Blocker {
        entered: Mutex::new(entered),
        release: Mutex::new(released),
    });
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
                     "params": {"level": "info", "data": "stop here"}});
    let fault = Fault::script([
        json!("handshake"),
        json!({"expect": "tools/call"}),
        json!({"send": log}),
    ]);
    let builder = one(fault).services(services);
    let host = blocking::Host::connect_builder(builder).unwrap();
    let options = CallOptions::default().with_timeout(Duration::from_millis(500));
    let began = Instant::now();
    let error = host
        .call_with("box__echo", json!({"text": "x"}), options)
        .unwrap_err();
    let took = began.elapsed();
    is_stuck.recv_timeout(SOON).unwrap();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(took < Duration::from_millis(750), "{took:?}");
    release.send(()).unwrap();
}

#[test]
fn a_model_call_and_the_status_work_without_a_runtime() {
    let host = host(Fault::honest());
    let call = json!({"function": {"name": "echo", "arguments": "{\"text\":\"x\"}"}});
    assert_eq!(host.run(&call).unwrap().text(), "x");
    assert_eq!(host.status()[0].state.as_str(), "ready");
    assert_eq!(host.snapshot().tools().len(), 1);
    assert_eq!(format!("{host:?}"), "Host { toolboxes: [\"box\"], .. }");
    host.close().unwrap();
    assert_eq!(
        host.call("echo", json!({"text": "x"})).unwrap_err().kind(),
        ErrorKind::Closed
    );
}

/// Calls that go well before the one that does not: after a few of them the caller fetches its
/// answers itself.
const BEFORE: u32 = 60;

/// A host whose server misbehaves after [`BEFORE`] calls, which were made.
fn led(fault: &str) -> Arc<blocking::Host> {
    let host = host(Fault::named(fault).on_call(BEFORE + 1));
    for number in 0..BEFORE {
        let text = number.to_string();
        let seen = host.call("box__echo", json!({"text": text})).unwrap();
        assert_eq!(seen.text(), text);
    }
    host
}

#[test]
fn what_goes_wrong_in_a_run_of_calls_is_told_as_in_the_first() {
    for (fault, kind) in [
        ("exit_on_call", ErrorKind::Closed),
        ("kill_self_on_call", ErrorKind::Closed),
        ("close_stdout_on_call", ErrorKind::Closed),
        ("half_line_then_exit", ErrorKind::Closed),
        ("invalid_json_with_id", ErrorKind::Protocol),
        ("endless_line", ErrorKind::ResponseTooLarge),
    ] {
        let first = host(Fault::named(fault));
        let first = first.call("box__echo", json!({"text": "x"})).unwrap_err();
        let host = led(fault);
        let error = host.call("box__echo", json!({"text": "x"})).unwrap_err();
        assert_eq!(error.kind(), kind, "{fault}: {error}");
        assert_eq!(first.kind(), kind, "{fault}: {first}");
        assert_eq!(error.outcome(), first.outcome(), "{fault}");
        // The next call is answered, by a new server or the same.
        if fault != "endless_line" {
            let seen = host.call("box__echo", json!({"text": "again"})).unwrap();
            assert_eq!(seen.text(), "again", "{fault}");
        }
    }
}

#[test]
fn a_cancel_from_another_thread_ends_a_call_in_a_run() {
    let host = led("never_answer_call");
    let cancel = CancellationToken::new();
    let cancelling = cancel.clone();
    let options = CallOptions::default().with_cancel(cancel);
    let began = Instant::now();
    let calling = std::thread::spawn(move || {
        let ended = host.call_with("box__echo", json!({"text": "x"}), options);
        ended.unwrap_err().kind()
    });
    cancelling.cancel();
    assert_eq!(calling.join().unwrap(), ErrorKind::Cancelled);
    assert!(began.elapsed() < SOON);
}

/// Calls the host again where it hears of something, on the thread that turns the runtime.
#[derive(Default)]
struct Nested {
    host: OnceLock<Weak<blocking::Host>>,
    ends: Mutex<Vec<ErrorKind>>,
}

impl Services for Nested {
    fn event(&self, _: &str, event: Event) {
        if let (Event::Log { .. }, Some(host)) = (event, self.host.get().and_then(Weak::upgrade)) {
            let ended = host.call("box__echo", json!({"text": "nested"}));
            self.ends.lock().unwrap().push(ended.unwrap_err().kind());
        }
    }
}

#[test]
fn a_listener_may_not_wait_whichever_thread_turns_the_runtime() {
    let services = Arc::new(Nested::default());
    let heard: Arc<dyn Services> = Arc::<Nested>::clone(&services);
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
                     "params": {"level": "info", "data": "hello"}});
    let reply = json!({"jsonrpc": "2.0", "id": "$id",
                       "result": {"content": [{"type": "text", "text": "x"}]}});
    let fault = Fault::script([
        json!("handshake"),
        json!({"loop": {"times": BEFORE, "steps": [
            {"expect": "tools/call"}, {"send": log}, {"send": reply}]}}),
    ]);
    let host = blocking::Host::connect_builder(one(fault).services(heard)).unwrap();
    let host = Arc::new(host);
    services.host.set(Arc::downgrade(&host)).unwrap();
    for _ in 0..BEFORE {
        let seen = host.call("box__echo", json!({"text": "x"})).unwrap();
        assert_eq!(seen.text(), "x");
    }
    let ends = services.ends.lock().unwrap();
    assert_eq!(*ends, vec![ErrorKind::Usage; BEFORE as usize]);
}
