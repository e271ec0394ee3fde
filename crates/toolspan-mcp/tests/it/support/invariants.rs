//! What must hold after any fault, whatever the server and the way to it?

use std::time::{Duration, Instant};

use toolspan_core::ToolBox;
use toolspan_testkit::{Census, History};

use super::tools::{KEY, Tools};

/// How much later than its limit a call or a close may end: the 250 ms that are promised (I3), and
/// what a busy machine adds.
pub(crate) const LATE: Duration = Duration::from_secs(5);

/// How long the last call of a case may take: no fault lets it wait longer.
const LAST_CALL: Duration = Duration::from_millis(250);

/// How long a close may take: the default of `timeouts.close`.
const CLOSE: Duration = Duration::from_secs(5);

/// How much memory a case may keep: one message of the largest size, and 16 MiB (I3).
const MOST_MEMORY: u64 = (16 << 20) + (16 << 20);

/// Checks the invariants that hold after any fault, and closes: every call had one end (I1), of its
/// own (I2); no call took longer than its limit, and memory is bounded (I3); nothing is left (I4); and
/// before all that, one more call works or says why not (I5).
pub(crate) async fn hold(tools: Tools, history: &History, before: &Census) {
    next_call_ends(&tools).await;
    let began = Instant::now();
    tools.toolbox.close().await;
    assert!(began.elapsed() < CLOSE + LATE, "{:?}", began.elapsed());
    history.assert_sound();
    assert_eq!(tools.toolbox.waiting(), 0);
    // The events that the tests keep are no memory of the client.
    let heard: usize = tools.heard.logged().iter().map(String::len).sum();
    before.assert_memory_grew_at_most(MOST_MEMORY + 4 * heard as u64);
    drop(tools);
    before.assert_nothing_left_async().await;
}

/// One more call, unless there was never a list to call from: it works, or fails in its time with a
/// reason that names its toolbox.
async fn next_call_ends(tools: &Tools) {
    if tools.snapshot().resolve("echo").is_err() {
        return;
    }
    let began = Instant::now();
    let last = tools.echo_within("one more", LAST_CALL).await;
    assert!(began.elapsed() < LAST_CALL + LATE, "{:?}", began.elapsed());
    if let Err(error) = last {
        assert_eq!(error.toolbox(), Some(KEY), "{error:?}");
        assert!(!error.message().is_empty(), "{error:?}");
    }
}
