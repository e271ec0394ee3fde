//! Is standard error always drained, and is its end there when the process is gone?

use std::time::{Duration, Instant};

use tokio::time::timeout;
use toolspan_io::process::{Child, EndPolicy, ExitStatus, spawn};

use crate::operating_system::{Output, PATIENCE, script, start};

#[tokio::test]
async fn the_exit_code_and_the_last_words_are_there_at_once() {
    let child = start("echo 'cannot read config' >&2; exit 3");
    let status = timeout(PATIENCE, child.process.exited())
        .await
        .expect("it exits");
    assert_eq!(status, ExitStatus::exited(3));
    assert_eq!(child.process.stderr_tail(), "cannot read config\n");
    assert_eq!(child.process.exit_status(), Some(status));
}

// R02
#[tokio::test]
async fn the_exit_is_known_within_100_ms_to_every_waiter() {
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        fastest = fastest.min(time_from_word_to_exit().await);
    }
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}

/// Tells a server to kill itself and says after how long two waiters knew.
async fn time_from_word_to_exit() -> Duration {
    let Child {
        stdin,
        stdout,
        process,
        ..
    } = start("echo ready; read line; kill -9 $$");
    assert_eq!(Output::new(stdout).line().await.as_deref(), Some("ready"));
    let waiters = [process.exited(), process.exited()];
    let started = Instant::now();
    stdin.try_write(b"go\n").expect("the pipe has room");
    for waiter in waiters {
        assert_eq!(
            timeout(PATIENCE, waiter).await.expect("it exits"),
            ExitStatus::signalled(9)
        );
    }
    started.elapsed()
}

// R16
#[tokio::test]
async fn a_flood_of_two_megabytes_without_a_newline_never_blocks_the_child() {
    let flood = "head -c 2000000 /dev/zero | tr '\\0' x >&2; printf end >&2; echo done; read line";
    let child = spawn(&script(flood).with_stderr_bytes(1000)).expect("it starts");
    let mut output = Output::new(child.stdout);
    assert_eq!(output.line().await.as_deref(), Some("done"));
    drop(child.stdin);
    timeout(PATIENCE, child.process.exited())
        .await
        .expect("it exits");
    let tail = child.process.stderr_tail();
    assert_eq!(tail.len(), 1000);
    assert!(tail.ends_with("xxxend"));
    assert_eq!(child.process.stderr_dropped(), 2_000_003 - 1000);
}

#[tokio::test]
async fn one_flooder_does_not_delay_another_childs_exit() {
    let flooder = start("exec cat /dev/zero >&2");
    let started = Instant::now();
    for _ in 0..10 {
        let child = start("exit 4");
        timeout(PATIENCE, child.process.exited())
            .await
            .expect("it exits");
    }
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    flooder.process.kill_now();
    timeout(PATIENCE, flooder.process.ended())
        .await
        .expect("it ends");
}

#[tokio::test]
async fn a_grandchild_that_holds_standard_error_delays_neither_exit_nor_end() {
    let child = start("sleep 1000 & exit 5");
    let status = timeout(PATIENCE, child.process.exited())
        .await
        .expect("it exits");
    assert_eq!(status, ExitStatus::exited(5));
    let started = Instant::now();
    child.process.begin_end(EndPolicy::default());
    timeout(PATIENCE, child.process.ended())
        .await
        .expect("it ends");
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
}
