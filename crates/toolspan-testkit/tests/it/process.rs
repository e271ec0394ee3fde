//! Is the process table read rightly, and is the end of a process noticed?

use std::fs;
use std::time::Duration;

use serde_json::json;
use toolspan_testkit::{
    Fault, Marker, Process, children_of, descendants_of, group_members, kill, marked_processes,
    pid_alive, session_members, wait_gone, wait_until,
};

use crate::session::{LIMIT, Session};

/// The server's session, started with a grandchild; and the grandchild's process id.
fn with_grandchild(settings: serde_json::Value, marker: &Marker) -> (Session, u32) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut settings = settings;
    settings["pid_file"] = json!(file);
    let steps = [
        json!({"spawn_grandchild": settings}),
        json!({"send": "ready"}),
        json!("serve"),
    ];
    let mut session = Session::start(&Fault::script(steps).lifetime(60).marked(marker));
    assert_eq!(session.receive(), "ready");
    let pid = fs::read_to_string(file).unwrap().parse().unwrap();
    (session, pid)
}

fn pids(processes: &[Process]) -> Vec<u32> {
    processes.iter().map(|process| process.pid).collect()
}

#[test]
fn a_process_is_found_by_parent_group_and_ancestor() {
    let (session, grandchild) = with_grandchild(json!({}), &Marker::new());
    let own = std::process::id();
    let read = Process::read(session.pid()).unwrap();
    assert_eq!((read.parent, read.is_zombie()), (own, false));
    assert_eq!(read.name, "toolspan-faults");
    assert!(pids(&children_of(own)).contains(&session.pid()));
    assert_eq!(pids(&children_of(session.pid())), [grandchild]);
    let descendants = pids(&descendants_of(own));
    assert!(descendants.contains(&session.pid()) && descendants.contains(&grandchild));
    let group = pids(&group_members(read.group));
    assert!(group.contains(&session.pid()) && group.contains(&grandchild));
    kill(grandchild);
    wait_gone(grandchild, LIMIT);
}

#[test]
fn a_detached_process_is_found_by_its_marker_and_session() {
    let marker = Marker::new();
    let detached = json!({"double_fork": true, "setsid": true});
    let (session, grandchild) = with_grandchild(detached, &marker);
    assert!(!pids(&descendants_of(session.pid())).contains(&grandchild));
    let mut expected = vec![session.pid(), grandchild];
    expected.sort_unstable();
    let mut marked = pids(&marked_processes(&marker.assignment()));
    marked.sort_unstable();
    assert_eq!(marked, expected);
    assert_eq!(pids(&session_members(grandchild)), [grandchild]);
    assert!(marked_processes(&Marker::new().assignment()).is_empty());
    kill(grandchild);
    wait_gone(grandchild, LIMIT);
}

#[test]
fn a_zombie_is_gone_but_still_in_the_table() {
    let mut session = Session::start(&Fault::named("exit_at_start"));
    let pid = session.pid();
    wait_gone(pid, LIMIT);
    wait_until(LIMIT, "it shows as a zombie", || {
        Process::read(pid).unwrap().is_zombie()
    });
    assert!(!pid_alive(pid));
    session.child.wait().unwrap();
    assert_eq!(Process::read(pid), None);
    assert!(!pid_alive(pid));
    wait_gone(pid, LIMIT);
}

#[test]
fn a_process_that_stays_fails_the_wait() {
    let session = Session::start(&Fault::honest());
    let pid = session.pid();
    let waited = std::panic::catch_unwind(|| wait_gone(pid, Duration::from_millis(5)));
    let message = *waited.expect_err("it stays").downcast::<String>().unwrap();
    assert_eq!(message, format!("not within 5ms: process {pid} is gone"));
    assert!(pid_alive(pid));
}
