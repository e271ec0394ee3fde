//! `demo`: everything real, nothing installed.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::json;

use crate::cli::Cli;

#[test]
fn the_demo_shows_tools_calls_and_errors() {
    let ran = Cli::bare().run(&["demo"]);
    // The clock differs from run to run.
    let is_clock = |line: &&str| line.trim_start().starts_with("20") && line.ends_with('Z');
    assert_eq!(ran.stdout.lines().filter(is_clock).count(), 1, "{ran}");
    let lines = ran.stdout.lines().filter(|line| !is_clock(line));
    let steady: Vec<&str> = lines.collect();
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert_snapshot!(steady.join("\n"));
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let readme = include_str!("../../../../README.md");
    let (_, excerpt) = readme.split_once("```text\n").unwrap();
    let (excerpt, _) = excerpt.split_once("```").unwrap();
    // How long a call took is no promise.
    let steady = |line: &str| match line.rsplit_once("  ") {
        Some((call, took)) if took.ends_with(" ms") => call.to_owned(),
        _ => line.to_owned(),
    };
    let output = Cli::bare().command(&["demo"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut printed = printed.lines().map(steady);
    for shown in excerpt
        .lines()
        .filter(|line| line.trim() != "…")
        .map(steady)
    {
        assert!(
            printed.any(|line| line == shown),
            "not in this order: {shown}"
        );
    }
}

#[test]
fn the_demo_takes_seconds_and_is_one_line_of_json() {
    let started = Instant::now();
    let ran = Cli::bare().run(&["demo", "--json"]);
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(
        (&ran.json()["tools"], &ran.json()["calls"]),
        (&json!(8), &json!(14))
    );
}

#[test]
fn the_demo_needs_no_environment() {
    let cli = Cli::bare();
    let output = cli
        .command(&["demo", "--json"])
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(cli.ran(output).code, Some(0));
}

#[test]
fn the_demo_server_ends_with_its_input() {
    let ran = Cli::bare().run(&["demo-server"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{ran}");
}
