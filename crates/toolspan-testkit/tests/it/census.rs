//! Does the census find each kind of thing that can be left, and forgive what has ended?

use std::fs::{self, File};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use toolspan_testkit::{Census, Fault, Marker, kill, wait_gone, wait_until};

use crate::session::{LIMIT, Session};

/// A marked server that stays until it is killed.
fn stubborn(marker: &Marker) -> Fault {
    Fault::script([
        json!("ignore_eof"),
        json!({"send": "ready"}),
        json!("serve"),
    ])
    .lifetime(60)
    .marked(marker)
}

#[test]
fn what_ended_is_not_left() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let mut session = Session::start(&Fault::honest().marked(&marker));
    session.call(1, "x");
    session.receive();
    session.close_input();
    session.child.wait().unwrap();
    drop(session);
    thread::spawn(|| {}).join().unwrap();
    before.assert_nothing_left();
}

#[test]
fn a_process_is_left_with_its_pipes_and_named() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let mut session = Session::start(&stubborn(&marker));
    assert_eq!(session.receive(), "ready");
    let left = before.leftover();
    assert_eq!(left.processes.len(), 1);
    assert!(left.processes[0].starts_with(&format!("{} toolspan-faults", session.pid())));
    assert_eq!(left.descriptors.len(), 2, "both pipes: {left}");
    assert!(left.descriptors[0].starts_with("pipe:"), "{left}");
    assert_eq!(before.processes().count() + before.zombies().count(), 0);
}

#[test]
fn a_zombie_is_left_until_it_is_reaped() {
    let before = Census::take();
    let mut session = Session::start(&Fault::named("exit_at_start"));
    wait_gone(session.pid(), LIMIT);
    wait_until(LIMIT, "it shows as a zombie", || {
        before.leftover().zombies.len() == 1
    });
    assert_eq!(before.leftover().processes, Vec::<String>::new());
    session.child.wait().unwrap();
    drop(session);
    before.assert_nothing_left();
}

#[test]
fn a_detached_grandchild_is_left_by_its_marker() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let detached = json!({"double_fork": true, "setsid": true, "pid_file": file});
    let steps = [
        json!({"spawn_grandchild": detached}),
        json!({"exit": {"code": 0}}),
    ];
    let mut session = Session::start(&Fault::script(steps).lifetime(60).marked(&marker));
    session.child.wait().unwrap();
    drop(session);
    let pid: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
    let left = before.leftover();
    assert_eq!(left.processes.len(), 1, "{left}");
    assert!(left.processes[0].starts_with(&pid.to_string()), "{left}");
    kill(pid);
    before.assert_nothing_left();
}

#[test]
fn a_thread_is_left_unless_it_is_allowed() {
    let before = Census::take();
    let allowing = before.clone().allowing_threads(1);
    let (release, held) = mpsc::channel::<()>();
    let left_behind = thread::Builder::new()
        .name("left-behind".to_owned())
        .spawn(move || held.recv().unwrap_err())
        .unwrap();
    // The thread names itself, after it began.
    wait_until(LIMIT, "the thread has its name", || {
        before
            .leftover()
            .threads
            .first()
            .is_some_and(|name| name.ends_with(" left-behind"))
    });
    allowing.assert_nothing_left();
    drop(release);
    left_behind.join().unwrap();
    before.assert_nothing_left();
}

#[test]
fn a_descriptor_is_left_unless_it_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("open");
    let before = Census::take();
    let file = File::create(&path).unwrap();
    let again = file.try_clone().unwrap();
    let left = before.leftover();
    assert_eq!(left.descriptors, vec![path.display().to_string(); 2]);
    before.clone().allowing_descriptors(2).assert_nothing_left();
    drop(again);
    assert_eq!(before.leftover().descriptors.len(), 1);
    drop(file);
    before.assert_nothing_left();
}

#[test]
fn a_file_is_left_in_a_watched_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), "").unwrap();
    let before = Census::take().watching(folder.path());
    let path = folder.path().join("new");
    fs::write(&path, "").unwrap();
    assert_eq!(before.leftover().files, [path.display().to_string()]);
    fs::remove_file(path).unwrap();
    before.assert_nothing_left();
}

#[test]
fn the_failure_lists_what_is_left() {
    let before = Census::take();
    let file = File::open("/dev/zero").unwrap();
    let checked = std::panic::catch_unwind(|| {
        before.assert_nothing_left_within(Duration::from_millis(5));
    });
    drop(file);
    let message = *checked
        .expect_err("a descriptor is left")
        .downcast::<String>()
        .unwrap();
    assert_eq!(message, "left after 5ms:\n  descriptor /dev/zero");
}

#[test]
fn memory_that_grew_is_noticed() {
    let before = Census::take();
    before.assert_memory_grew_at_most(16 << 20);
    let block = vec![1_u8; 64 << 20];
    let checked = std::panic::catch_unwind(|| before.assert_memory_grew_at_most(16 << 20));
    assert!(checked.is_err(), "{} bytes went unnoticed", block.len());
    assert!(before.resident_bytes() > 0);
}

#[tokio::test]
async fn a_task_that_ends_is_waited_for() {
    let before = Census::take();
    let file = File::open("/dev/zero").unwrap();
    tokio::spawn(async move { drop(file) });
    before.assert_nothing_left_async().await;
    assert!(before.threads() >= 1 && before.descriptors() >= 3);
}
