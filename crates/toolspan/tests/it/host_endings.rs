//! Is nothing left, however a host comes to its end?

use std::time::{Duration, Instant};

use serde_json::json;
use toolspan::{ErrorKind, Host, blocking};
use toolspan_testkit::{Census, Fault, Marker, marked_processes};

use crate::support::{config, one};

#[tokio::test]
async fn a_close_ends_stubborn_servers_and_their_descendants() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let servers = [
        "ignore_eof_and_term",
        "grandchild",
        "grandchild_double_fork",
        "never_answer_call",
    ];
    let faults = servers.map(|name| (name, Fault::named(name).marked(&marker), json!({})));
    let host = Host::builder()
        .config_value(config(faults))
        .connect()
        .await
        .unwrap();
    let began = Instant::now();
    host.close().await;
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
    before.assert_nothing_left_async().await;
}

#[tokio::test]
async fn a_dropped_host_ends_its_servers_by_itself() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let host = one(Fault::named("grandchild_double_fork").marked(&marker))
        .connect()
        .await
        .unwrap();
    let snapshot = host.snapshot();
    drop(host);
    before.assert_nothing_left_async().await;
    assert_eq!(
        snapshot.tools().len(),
        1,
        "a snapshot outlives its host and keeps no server"
    );
}

#[tokio::test]
async fn a_host_dropped_while_its_servers_start_leaves_nothing() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let host = one(Fault::named("never_answer_initialize").marked(&marker))
        .start()
        .unwrap();
    let starting = tokio::time::timeout(Duration::from_millis(200), host.settled()).await;
    assert!(starting.is_err());
    drop(host);
    before.assert_nothing_left_async().await;
}

#[test]
fn a_host_dropped_on_a_plain_thread_after_its_runtime_leaves_nothing() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    // What the first runtime of a process opens for signals stays open.
    drop(runtime());
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let runtime = runtime();
    let host = runtime
        .block_on(one(Fault::honest().marked(&marker)).connect())
        .unwrap();
    drop(runtime);
    drop(host);
    before.assert_nothing_left();
}

#[test]
fn a_panic_that_unwinds_past_a_host_leaves_nothing() {
    let marker = Marker::new();
    // A server that ends neither by itself nor by SIGTERM, with a descendant that left its session.
    let ignored = json!(["TERM", "INT", "HUP"]);
    let fault = Fault::script([
        json!({"ignore_signals": ignored}),
        json!("ignore_eof"),
        json!({"spawn_grandchild": {"double_fork": true, "setsid": true, "ignore_signals": ignored}}),
        json!("serve"),
    ])
    .marked(&marker);
    // The first blocking host starts the thread that all share; it stays.
    drop(blocking::Host::start_builder(Host::builder()).unwrap());
    let before = Census::take().marked(&marker);
    let mark = marker.assignment();
    let panicked = std::thread::spawn(move || {
        let host = blocking::Host::connect_builder(one(fault)).unwrap();
        host.call("box__echo", json!({"text": "x"})).unwrap();
        panic!(
            "on purpose, with {} processes",
            marked_processes(&mark).len()
        );
    })
    .join();
    let reason = panicked.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(*reason, "on purpose, with 2 processes");
    before.assert_nothing_left();
}

#[test]
fn a_blocking_host_closes_when_dropped_and_waits_for_it() {
    drop(blocking::Host::start_builder(Host::builder()).unwrap());
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let host = blocking::Host::connect_builder(one(Fault::honest().marked(&marker))).unwrap();
    drop(host);
    assert!(
        before.leftover().processes.is_empty(),
        "the drop waited for the end"
    );
    before.assert_nothing_left();
}

#[tokio::test]
async fn a_close_during_a_call_ends_the_call() {
    let host = one(Fault::named("never_answer_call"))
        .connect()
        .await
        .unwrap();
    let closing = host.clone();
    let (ended, ()) =
        tokio::join!(biased; host.call("box__echo", json!({"text": "x"})), closing.close());
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Closed);
}
