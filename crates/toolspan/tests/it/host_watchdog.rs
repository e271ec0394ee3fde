//! What does a host say when nothing would end its servers if it were killed?

use toolspan_io::process::{WatchdogState, watchdog_state};
use toolspan_testkit::{Fault, kill, wait_until_async};

use crate::support::{SOON, one};

#[tokio::test]
async fn a_missing_watchdog_is_in_the_diagnosis() {
    let host = one(Fault::honest()).connect().await.unwrap();
    assert!(host.diagnose("box").await.unwrap().notes.is_empty());
    let WatchdogState::Running { pid } = watchdog_state() else {
        panic!("a watchdog runs: {:?}", watchdog_state());
    };
    kill(pid);
    let is_missing = || watchdog_state() == WatchdogState::Missing;
    wait_until_async(SOON, "the watchdog is missed", is_missing).await;
    let notes = host.diagnose("box").await.unwrap().notes;
    assert!(notes[0].starts_with("no watchdog runs"), "{notes:?}");
    host.close().await;
}
