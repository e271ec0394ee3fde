//! What is left when the host is killed, or when it has started and ended many servers?

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::operating_system::{is_alive, is_gone_by, pid};

/// The example program `host`, which is built with the tests.
fn host(arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let test = std::env::current_exe().expect("the test knows its file");
    let target = test
        .ancestors()
        .nth(2)
        .map(PathBuf::from)
        .expect("target/debug/deps/it");
    #[expect(
        clippy::disallowed_methods,
        reason = "the host under test is no server"
    )]
    let mut child = Command::new(target.join("examples/host"))
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example is built");
    let stdout = child.stdout.take().expect("it was asked for");
    (child, BufReader::new(stdout))
}

/// The next line, without its first word if that is `label`.
fn line(output: &mut BufReader<ChildStdout>, label: &str) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    line.trim().trim_start_matches(label).trim().to_owned()
}

fn kill_and_check(script: &str, spoken: usize) {
    let (mut host, mut output) = host(&["serve", script]);
    let mut pids: Vec<Pid> = Vec::new();
    for _ in 0..=spoken {
        pids.push(pid(line(&mut output, "watchdog")
            .parse()
            .expect("a process id")));
    }
    assert!(pids.iter().all(|pid| is_alive(*pid)), "all run before");
    let killed = Instant::now();
    host.kill().expect("SIGKILL is sent");
    host.wait().expect("it is collected");
    for pid in pids {
        assert!(
            is_gone_by(pid, killed + Duration::from_secs(3)),
            "{pid:?} is left"
        );
    }
}

#[test]
fn a_killed_host_leaves_no_server_that_ignores_the_end_of_input() {
    kill_and_check("echo $$; exec sleep 1000", 1);
}

// R25
#[test]
fn a_killed_host_leaves_no_server_that_ignores_everything() {
    kill_and_check(
        "trap '' TERM HUP INT; echo $$; while :; do sleep 1000; done",
        1,
    );
}

// R25
#[test]
fn a_killed_host_leaves_no_grandchild_in_the_group_or_out_of_it() {
    let family = "echo $$
        sleep 1000 & echo $!
        (setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!)
        (trap '' TERM; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!)
        exec sleep 1000";
    kill_and_check(family, 4);
}

#[test]
fn a_killed_host_leaves_no_grandchild_of_a_server_that_has_exited() {
    let family = "(setsid sleep 1000 </dev/null 2>&1 & echo $!)
        sleep 1000 & echo $!";
    kill_and_check(family, 2);
}

#[test]
fn a_host_that_just_exits_leaves_nothing() {
    let (mut host, mut output) = host(&["serve", "echo $$; exec sleep 1000 >/dev/null"]);
    let pids: Vec<Pid> = (0..2)
        .map(|_| pid(line(&mut output, "watchdog").parse().expect("a process id")))
        .collect();
    assert!(host.wait().expect("it exits").success());
    let exited = Instant::now();
    for pid in pids {
        assert!(
            is_gone_by(pid, exited + Duration::from_secs(3)),
            "{pid:?} is left"
        );
    }
}

// R26
#[test]
fn a_thousand_servers_leave_no_zombie_and_no_descriptor() {
    let (mut host, mut output) = host(&["cycle", "1000"]);
    assert_eq!(line(&mut output, "zombies"), "0");
    let descriptors = line(&mut output, "descriptors");
    let (before, after) = descriptors.split_once(' ').expect("two numbers");
    assert_eq!(before, after);
    assert!(host.wait().expect("it exits").success());
}
