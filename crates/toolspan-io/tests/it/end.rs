//! Is everything gone when a process was asked to end, however it behaves?

use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::time::timeout;
use toolspan_io::process::{
    Child, ChildStdin, EndPolicy, ExitStatus, Process, WatchdogState, watchdog_state,
};

use crate::operating_system::{Output, PATIENCE, holds_by, is_alive, is_gone_by, pid, start};

/// Ignores the end of its input and SIGTERM.
const STUBBORN: &str = "trap '' TERM; while :; do sleep 1000; done";

/// Leaves one grandchild in the group and one that left it, says their ids, and goes on as told.
const FAMILY: &str = "sleep 1000 >/dev/null 2>&1 & echo $!
(setsid sleep 1001 </dev/null >/dev/null 2>&1 & echo $!)
";

fn short() -> EndPolicy {
    EndPolicy::default()
        .with_eof_grace(Duration::from_millis(100))
        .with_term_grace(Duration::from_millis(200))
}

/// Ends a child the polite way and says how long that took.
async fn end(child: Child, policy: EndPolicy) -> Duration {
    drop((child.stdin, child.stdout));
    end_process(&child.process, policy).await
}

async fn end_process(process: &Process, policy: EndPolicy) -> Duration {
    let started = Instant::now();
    process.begin_end(policy);
    timeout(PATIENCE, process.ended()).await.expect("it ends");
    started.elapsed()
}

#[tokio::test]
async fn a_polite_server_ends_with_its_input() {
    let child = start("exec cat");
    let process = child.process.clone();
    let took = end(child, EndPolicy::default()).await;
    assert_eq!(process.exit_status(), Some(ExitStatus::exited(0)));
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_input_is_terminated() {
    let child = start("exec sleep 1000");
    let process = child.process.clone();
    end(child, short()).await;
    assert_eq!(process.exit_status(), Some(ExitStatus::signalled(15)));
}

// R23
#[tokio::test]
async fn a_server_that_ignores_everything_is_killed_within_5_s() {
    let child = start(STUBBORN);
    let process = child.process.clone();
    let took = end(child, EndPolicy::default()).await;
    assert_eq!(process.exit_status(), Some(ExitStatus::signalled(9)));
    assert!(
        took > Duration::from_secs(4) && took < Duration::from_secs(5),
        "{took:?}"
    );
}

// R23
#[tokio::test]
async fn twenty_stubborn_servers_end_in_parallel_within_6_s() {
    let children: Vec<Child> = (0..20).map(|_| start(STUBBORN)).collect();
    let pids: Vec<u32> = children.iter().map(|child| child.process.pid()).collect();
    let started = Instant::now();
    let processes: Vec<_> = children
        .into_iter()
        .map(|child| {
            drop((child.stdin, child.stdout));
            child.process.begin_end(EndPolicy::default());
            child.process
        })
        .collect();
    for process in processes {
        timeout(PATIENCE, process.ended()).await.expect("it ends");
    }
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
    assert!(pids.into_iter().all(|number| !is_alive(pid(number))));
}

#[tokio::test]
async fn two_hundred_servers_run_and_end_at_once_and_the_watchdog_goes_with_the_last() {
    let children: Vec<Child> = (0..200).map(|_| start("exec cat")).collect();
    let WatchdogState::Running { pid: watchdog } = watchdog_state() else {
        unreachable!("a watchdog runs");
    };
    let mut processes = Vec::new();
    for child in children {
        let Child {
            stdin,
            stdout,
            process,
            ..
        } = child;
        stdin.try_write(b"hello\n").expect("the pipe has room");
        assert_eq!(Output::new(stdout).line().await.as_deref(), Some("hello"));
        process.begin_end(EndPolicy::default());
        processes.push(process);
    }
    for process in &processes {
        timeout(PATIENCE, process.ended()).await.expect("it ends");
        assert!(!is_alive(pid(process.pid())));
    }
    assert!(!is_alive(pid(watchdog)));
}

#[tokio::test]
async fn kill_now_needs_no_grace() {
    let child = start(STUBBORN);
    let started = Instant::now();
    child.process.begin_end(EndPolicy::default());
    child.process.kill_now();
    timeout(PATIENCE, child.process.ended())
        .await
        .expect("it ends");
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
}

// R24
#[tokio::test]
async fn grandchildren_in_the_group_and_out_of_it_end_with_the_server() {
    let family = Family::start(&format!("{FAMILY} exec cat")).await;
    assert!(family.pids.iter().all(|pid| is_alive(*pid)));
    family.end_and_check().await;
}

#[tokio::test]
async fn grandchildren_end_when_the_server_had_to_be_killed() {
    let stubborn = "trap '' TERM; while :; do sleep 1000; done";
    Family::start(&format!("{FAMILY} {stubborn}"))
        .await
        .end_and_check()
        .await;
}

// R24
#[tokio::test]
async fn grandchildren_live_on_after_the_server_exited_until_the_end_is_asked_for() {
    let family = Family::start(FAMILY).await;
    timeout(PATIENCE, family.process.exited())
        .await
        .expect("it exits");
    assert!(family.pids.iter().all(|pid| is_alive(*pid)));
    family.end_and_check().await;
}

#[tokio::test]
async fn a_grandchild_in_the_group_without_the_cookie_ends_after_the_server_exited() {
    let family = Family::start("env -i sleep 1000 >/dev/null 2>&1 & echo $!").await;
    timeout(PATIENCE, family.process.exited())
        .await
        .expect("it exits");
    family.end_and_check().await;
}

#[tokio::test]
async fn a_grandchild_that_left_the_group_and_ignores_sigterm_is_killed() {
    let stubborn = "(trap '' TERM; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!)";
    Family::start(stubborn).await.end_and_check().await;
}

/// A server and the grandchildren whose ids it said.
struct Family {
    process: Process,
    stdin: ChildStdin,
    pids: Vec<Pid>,
}

impl Family {
    /// Starts a script that says its grandchildren's ids, a line each, and then either goes on
    /// without a word or exits.
    async fn start(text: &str) -> Self {
        let Child {
            stdin,
            stdout,
            process,
            ..
        } = start(text);
        let mut output = Output::new(stdout);
        let mut pids = vec![output.pid().await];
        if text.contains(FAMILY) {
            pids.push(output.pid().await);
        }
        Self {
            process,
            stdin,
            pids,
        }
    }

    async fn end_and_check(self) {
        drop(self.stdin);
        let took = end_process(&self.process, short()).await;
        assert!(took < Duration::from_secs(2), "{took:?}");
        let left: Vec<&Pid> = self.pids.iter().filter(|pid| is_alive(**pid)).collect();
        assert!(left.is_empty(), "{left:?} are left");
    }
}

#[test]
fn dropping_a_child_without_any_runtime_ends_it_and_returns_at_once() {
    let child = start("exec sleep 1000");
    let number = pid(child.process.pid());
    let started = Instant::now();
    drop(child);
    assert!(
        started.elapsed() < Duration::from_millis(100),
        "{:?}",
        started.elapsed()
    );
    assert!(is_gone_by(number, started + Duration::from_secs(5)));
}

#[test]
fn a_thread_can_wait_for_the_end() {
    let child = start("exec cat");
    drop((child.stdin, child.stdout));
    assert!(!child.process.wait_ended_blocking(Duration::from_millis(1)));
    child.process.begin_end(EndPolicy::default());
    assert!(child.process.wait_ended_blocking(PATIENCE));
    assert!(child.process.wait_ended_blocking(Duration::ZERO));
}

#[tokio::test]
async fn a_killed_watchdog_is_replaced_at_the_next_spawn() {
    let first = start("exec cat");
    let WatchdogState::Running { pid: watchdog } = watchdog_state() else {
        panic!("a watchdog runs: {:?}", watchdog_state());
    };
    rustix::process::kill_process(pid(watchdog), rustix::process::Signal::KILL).expect("a kill");
    let noticed = || watchdog_state() != WatchdogState::Running { pid: watchdog };
    assert!(holds_by(Instant::now() + PATIENCE, noticed));
    let second = start("exec cat");
    assert!(matches!(watchdog_state(), WatchdogState::Running { pid } if pid != watchdog));
    end(first, short()).await;
    end(second, short()).await;
}
