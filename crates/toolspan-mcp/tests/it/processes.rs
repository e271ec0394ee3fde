//! Is nothing of a server left, however it and its host end?

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, ToolBox};
use toolspan_io::process::Launch;
use toolspan_mcp::Transport;
use toolspan_testkit::{
    Barrier, Census, Fault, Marker, kill, pid_alive, wait_until, wait_until_async,
};

use crate::support::Tools;
use crate::support::case::{Case, stdio, warm_up};

/// What a busy machine may add to a promise.
const SLACK: Duration = Duration::from_secs(5);

/// Closes, and gives how long that took; nothing is left at that instant (I4).
async fn close(case: Case) -> Duration {
    let pid = case.tools.toolbox.pid();
    let began = Instant::now();
    case.tools.toolbox.close().await;
    let took = began.elapsed();
    assert!(
        pid.is_none_or(|pid| !pid_alive(pid)),
        "gone when close returns"
    );
    case.finish().await;
    took
}

// R23
#[tokio::test]
async fn a_server_that_ignores_the_end_of_input_and_sigterm_is_gone_when_close_returns() {
    let case = Case::started(Fault::named("ignore_eof_and_term")).await;
    let took = close(case).await;
    assert!(
        took >= Duration::from_secs(4),
        "the polite steps were taken: {took:?}"
    );
    assert!(took < Duration::from_secs(5) + SLACK, "{took:?}");
}

// R23
#[tokio::test]
async fn a_short_close_limit_shortens_the_polite_steps() {
    let mut timeouts = Timeouts::default();
    timeouts.close = Duration::from_millis(500);
    let fault = Fault::named("ignore_eof_and_term");
    let case = Case::started_within(fault, Limits::default(), timeouts).await;
    let took = close(case).await;
    assert!(took < Duration::from_millis(750) + SLACK, "{took:?}");
}

// R23: so many that the kernel takes longer to end them than the whole close may take.
#[tokio::test]
async fn what_is_killed_at_the_limit_of_a_close_is_gone_when_it_returns() {
    warm_up().await;
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let fault = Fault::named("ignore_eof_and_term");
    let script = r#"for _ in $(seq 40); do setsid sleep 600 & done; exec "$0" "$@""#;
    let server = [fault.program().as_os_str()].into_iter();
    let server = server.chain(fault.arguments().iter().map(|argument| &**argument));
    let launch = Launch::new("/bin/sh")
        .with_args(["-c".as_ref(), script.as_ref()].into_iter().chain(server))
        .with_env([("PATH", "/usr/bin:/bin"), marker.variable()]);
    let mut timeouts = Timeouts::default();
    timeouts.close = Duration::ZERO;
    let transport = Transport::Stdio(Arc::new(launch));
    let tools = Tools::new(transport, Limits::default(), timeouts);
    tools.discover().await.unwrap();
    tools.toolbox.close().await;
    let left = before.leftover().processes;
    assert!(left.is_empty(), "{left:?}");
    before.assert_nothing_left_async().await;
}

// R23
#[tokio::test]
async fn twenty_servers_close_side_by_side() {
    let mut timeouts = Timeouts::default();
    timeouts.close = Duration::from_secs(2);
    let fault = || Fault::named("ignore_eof_and_term");
    let mut all = Vec::new();
    for _ in 0..20 {
        let tools = Tools::new(stdio(&fault()), Limits::default(), timeouts.clone());
        tools.discover().await.unwrap();
        all.push(tools);
    }
    let began = Instant::now();
    futures_util::future::join_all(all.iter().map(|tools| tools.toolbox.close())).await;
    assert!(
        began.elapsed() < timeouts.close + SLACK,
        "{:?}",
        began.elapsed()
    );
}

// R24
#[tokio::test]
async fn grandchildren_are_gone_when_close_returns() {
    for name in ["grandchild", "grandchild_double_fork"] {
        let case = Case::started(Fault::named(name)).await;
        case.call().await.unwrap();
        close(case).await;
    }
}

// R24: the direct child exited first; its grandchild keeps the pipes open.
#[tokio::test]
async fn a_grandchild_that_outlives_its_server_does_not_keep_the_connection() {
    let fault = Fault::script([
        json!({"spawn_grandchild": {"ignore_signals": ["TERM", "HUP"]}}),
        json!({"expect": "tools/call"}),
        json!({"exit": {"code": 7}}),
    ]);
    let case = Case::started(fault).await;
    let error = case.call().await.unwrap_err();
    assert_eq!(error.message(), "the server exited: exit status 7");
    close(case).await;
}

// The output never pauses, so the exit must be noticed beside it.
#[tokio::test]
async fn a_grandchild_that_floods_the_output_does_not_keep_a_dead_server_alive() {
    warm_up().await;
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let script = r#"yes '{"jsonrpc":"2.0","method":"x"}' & exit 9"#;
    let launch = Launch::new("/bin/sh")
        .with_args(["-c", script])
        .with_env([("PATH", "/usr/bin:/bin"), marker.variable()]);
    let tools = Tools::new(
        Transport::Stdio(Arc::new(launch)),
        Limits::default(),
        Timeouts::default(),
    );
    let began = Instant::now();
    let error = tools.discover().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Startup);
    assert_eq!(
        error.message(),
        "the server exited before it was ready: exit status 9"
    );
    assert!(began.elapsed() < SLACK, "{:?}", began.elapsed());
    tools.toolbox.close().await;
    drop(tools);
    before.assert_nothing_left_async().await;
}

// I4: close waits for the processes of failed starts, too.
#[tokio::test]
async fn a_server_whose_start_failed_is_gone_when_close_returns() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let fault = Fault::script([
        json!({"ignore_signals": ["TERM"]}),
        json!("ignore_eof"),
        json!({"append": {"file": pids, "text": "${pid}"}}),
        json!({"set": {"version": "2030-01-01"}}),
        json!("serve"),
    ]);
    let mut timeouts = Timeouts::default();
    timeouts.close = Duration::from_secs(1);
    let case = Case::within(fault, Limits::default(), timeouts).await;
    case.tools.discover().await.unwrap_err();
    let pid: u32 = std::fs::read_to_string(&pids)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(pid_alive(pid), "it ignores the polite steps");
    case.tools.toolbox.close().await;
    assert!(!pid_alive(pid), "gone when close returns");
    case.finish().await;
}

// R54, I4
#[tokio::test]
async fn a_server_that_is_closed_while_it_starts_is_gone_when_close_returns() {
    let barrier = Barrier::new();
    let fault = Fault::script([
        json!({"ignore_signals": ["TERM"]}),
        json!("ignore_eof"),
        json!({"expect": "initialize"}),
        barrier.hold_step(),
        json!("serve"),
    ]);
    let mut timeouts = Timeouts::default();
    timeouts.close = Duration::from_secs(1);
    let case = Case::within(fault, Limits::default(), timeouts).await;
    let close = async {
        barrier.reached(SLACK).await;
        case.tools.toolbox.close().await;
    };
    let (result, ()) = tokio::join!(case.tools.discover(), close);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Closed);
    case.finish().await;
}

// R26
#[tokio::test]
async fn a_hundred_dead_servers_leave_no_zombie() {
    warm_up().await;
    let before = Census::take();
    let tools: Vec<_> = (0..100)
        .map(|_| {
            let fault = Fault::named("exit_at_start");
            Tools::new(stdio(&fault), Limits::default(), Timeouts::default())
        })
        .collect();
    for tools in &tools {
        assert_eq!(
            tools.discover().await.unwrap_err().kind(),
            ErrorKind::Startup
        );
    }
    // Nobody closes or drops: they are reaped all the same.
    wait_until_async(SLACK, "no zombie is left", || {
        before.leftover().zombies.is_empty()
    })
    .await;
    drop(tools);
    before.assert_nothing_left_async().await;
}

// R27
#[tokio::test]
async fn a_server_sees_three_descriptors_and_no_more() {
    warm_up().await;
    let script = r#"for fd in /proc/self/fd/*; do echo "${fd##*/}" >&2; done; exit 3"#;
    let launch = Launch::new("/bin/sh").with_args(["-c", script]);
    let transport = Transport::Stdio(Arc::new(launch));
    let tools = Tools::new(transport, Limits::default(), Timeouts::default());
    let error = tools.discover().await.unwrap_err();
    // The shell itself reads the folder through one more.
    let seen: Vec<&str> = error.stderr().unwrap().split_whitespace().collect();
    assert_eq!(seen[..3], ["0", "1", "2"]);
    assert!(seen.len() <= 4, "{seen:?}");
    tools.toolbox.close().await;
}

// R68
#[test]
fn a_toolbox_dropped_on_a_plain_thread_hands_its_server_over() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(warm_up());
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let fault = Fault::named("grandchild").marked(&marker);
    let tools = Tools::new(stdio(&fault), Limits::default(), Timeouts::default());
    runtime.block_on(tools.discover()).unwrap();
    let began = Instant::now();
    std::thread::spawn(move || drop(tools))
        .join()
        .expect("no panic");
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "it waits for nothing"
    );
    before.assert_nothing_left();
}

// R68
#[test]
fn a_toolbox_that_outlives_its_runtime_is_dropped_without_one() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime();
    first.block_on(warm_up());
    drop(first);
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let second = runtime();
    let fault = Fault::honest().marked(&marker);
    let tools = Tools::new(stdio(&fault), Limits::default(), Timeouts::default());
    second.block_on(tools.discover()).unwrap();
    let pid = tools.toolbox.pid().unwrap();
    drop(second);
    // The next runtime starts the server anew.
    let third = runtime();
    assert_eq!(third.block_on(tools.echo("x")).unwrap(), "x");
    wait_until(SLACK, "the first server is ended", || !pid_alive(pid));
    drop(third);
    drop(tools);
    before.assert_nothing_left();
}

#[test]
fn a_toolbox_dropped_while_another_thread_calls_ends_that_call() {
    let runtime = Arc::new(
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap(),
    );
    runtime.block_on(warm_up());
    let marker = Marker::new();
    let barrier = Barrier::new();
    let before = Census::take().marked(&marker);
    let fault = Fault::script([
        json!({"expect": "tools/call"}),
        barrier.reached_step(),
        json!("serve"),
    ]);
    let tools = Tools::new(
        stdio(&fault.marked(&marker)),
        Limits::default(),
        Timeouts::default(),
    );
    runtime.block_on(tools.discover()).unwrap();
    let snapshot = tools.snapshot();
    let (limits, timeouts) = (tools.limits.clone(), tools.timeouts.clone());
    let caller = {
        let runtime = Arc::clone(&runtime);
        std::thread::spawn(move || {
            let tool = snapshot.resolve("echo").unwrap();
            let request = toolspan_core::CallRequest::new("echo", json!({"text": "x"}));
            let call = request.validate(tool, &limits).unwrap();
            let context = toolspan_core::Context::new(Default::default(), &timeouts);
            runtime.block_on(tool.executor.call(&call, &context))
        })
    };
    barrier.await_reached(SLACK);
    let began = Instant::now();
    drop(tools);
    let error = caller.join().expect("no panic").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(began.elapsed() < SLACK, "{:?}", began.elapsed());
    before.assert_nothing_left();
}

// R25
#[test]
fn a_server_that_ignores_everything_is_gone_soon_after_its_host_was_killed() {
    let test = std::env::current_exe().expect("the test knows its file");
    let target = test.ancestors().nth(2).expect("target/debug/deps/it");
    let fault = Fault::named("ignore_eof_and_term");
    #[expect(
        clippy::disallowed_methods,
        reason = "the host under test is no server"
    )]
    let mut host = std::process::Command::new(target.join("examples/keep_a_server"))
        .arg(fault.program())
        .args(fault.arguments())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the example is built");
    let mut line = String::new();
    let mut output = std::io::BufReader::new(host.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let pid: u32 = line.trim().parse().unwrap();
    assert!(pid_alive(pid));
    host.kill().unwrap();
    host.wait().unwrap();
    toolspan_testkit::wait_gone(pid, Duration::from_secs(3) + SLACK);
}

#[tokio::test]
async fn a_listing_right_after_a_kill_starts_the_server_again() {
    let case = Case::started(Fault::honest()).await;
    for _ in 0..5 {
        case.call().await.unwrap();
        let killed = case.tools.toolbox.pid().unwrap();
        kill(killed);
        let listed = case.tools.discover().await.unwrap();
        assert!(!listed.tools.is_empty());
        assert_ne!(case.tools.toolbox.pid().unwrap(), killed);
    }
    case.call().await.unwrap();
    case.finish().await;
}
