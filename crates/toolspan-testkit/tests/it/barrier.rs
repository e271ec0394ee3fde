//! Does a barrier hold a script exactly until it is released?

use std::time::Duration;

use serde_json::json;
use toolspan_testkit::{Barrier, Fault, wait_gone};

use crate::session::{LIMIT, Session};

fn held_reply(barrier: &Barrier) -> Fault {
    Fault::script([
        json!({"expect": "tools/call"}),
        barrier.hold_step(),
        json!({"send": {"id": "$id", "text": "$text"}}),
        json!("serve"),
    ])
}

#[test]
fn a_script_reaches_the_barrier_and_goes_on_when_released() {
    let barrier = Barrier::new();
    let mut session = Session::start(&held_reply(&barrier));
    session.call(1, "held");
    barrier.await_reached(LIMIT);
    barrier.release();
    assert_eq!(session.receive(), json!({"id": 1, "text": "held"}));
}

#[test]
fn a_release_may_come_before_the_hold() {
    let barrier = Barrier::new();
    barrier.release();
    let mut session = Session::start(&held_reply(&barrier));
    session.call(1, "free");
    assert_eq!(session.receive()["text"], "free");
    barrier.await_reached(LIMIT);
}

#[test]
fn two_barriers_order_the_work_of_two_servers() {
    let (first, second) = (Barrier::new(), Barrier::new());
    let mut slow = Session::start(&held_reply(&first));
    let mut quick = Session::start(&held_reply(&second));
    slow.call(1, "slow");
    quick.call(1, "quick");
    first.await_reached(LIMIT);
    second.release();
    assert_eq!(quick.receive()["text"], "quick");
    first.release();
    assert_eq!(slow.receive()["text"], "slow");
}

#[test]
fn a_dropped_barrier_holds_nobody() {
    let barrier = Barrier::new();
    let mut session = Session::start(&held_reply(&barrier));
    session.call(1, "freed");
    barrier.await_reached(LIMIT);
    drop(barrier);
    assert_eq!(session.receive()["text"], "freed");
    session.close_input();
    wait_gone(session.pid(), LIMIT);
}

#[test]
#[should_panic(expected = "not within 1ms: the script reached the barrier")]
fn a_barrier_nobody_reaches_is_a_failure() {
    Barrier::new().await_reached(Duration::from_millis(1));
}

#[tokio::test]
async fn a_task_can_wait_for_the_script() {
    let barrier = Barrier::new();
    let mut session = Session::start(&held_reply(&barrier));
    session.call(1, "held");
    barrier.reached(LIMIT).await;
    barrier.release();
    assert_eq!(session.receive()["text"], "held");
}
