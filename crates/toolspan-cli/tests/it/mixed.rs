//! Two real servers, a program that does not exist and one that hangs: what does each command say?

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolspan_testkit::Fault;
use toolspan_testkit::real::real_server;

use crate::cli::Cli;

/// The connect limit of the server that hangs, in seconds.
const LIMIT: f64 = 5.0;

/// The config with those four.
fn mixed(missing_is_required: bool, limit: f64) -> Cli {
    let real = |name| {
        let server = real_server(name);
        json!({"command": server.command, "args": server.args})
    };
    let hanging = Fault::named("never_answer_initialize");
    Cli::with_servers(json!({
        "hanging": {
            "command": hanging.program(),
            "args": hanging.text_arguments(),
            "timeouts": {"connect": limit},
        },
        "time": real("time"),
        "missing": {"command": "no-such-program-here", "required": missing_is_required},
        "thinking": real("sequential-thinking"),
    }))
}

#[test]
fn a_call_of_a_healthy_server_does_not_wait_for_the_others() {
    // Had it waited for the one that hangs, the test would be ended first.
    let cli = mixed(false, 3_600.0);
    let ran = cli.run(&["call", "time__get_current_time", "timezone=UTC"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran}");
    assert!(ran.stdout.contains("\"timezone\": \"UTC\""), "{ran}");
}

#[test]
fn the_healthy_are_listed_at_the_connect_limit_and_the_others_named() {
    let began = Instant::now();
    let ran = mixed(false, LIMIT).run(&["tools", "--json"]);
    // The limit, and what two real servers take to start on a busy machine.
    assert!(began.elapsed() < Duration::from_secs_f64(LIMIT + 40.0));
    let names: Vec<Value> = ran
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    let expected = [
        "time__get_current_time",
        "time__convert_time",
        "thinking__sequentialthinking",
    ];
    assert_eq!(
        (ran.code, names),
        (Some(0), expected.map(Value::from).to_vec())
    );
    assert_snapshot!(ran.stderr);
}

#[test]
fn the_status_tells_the_reasons_and_is_exit_0() {
    let ran = mixed(false, LIMIT).run(&["status", "--json"]);
    let status = ran.json();
    let told: Vec<Value> = status
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            json!([
                it["toolbox"],
                it["state"],
                it["tools"],
                it["error"]["kind"],
                it["error"]["message"]
            ])
        })
        .collect();
    assert_eq!(ran.code, Some(0));
    insta::assert_json_snapshot!(told);
}

#[test]
fn with_a_required_one_missing_both_are_exit_3() {
    let cli = mixed(true, 1.0);
    for command in ["tools", "status"] {
        let ran = cli.run(&[command]);
        assert_eq!(ran.code, Some(3), "{ran}");
        assert!(ran.stdout.contains("time"), "the healthy are shown: {ran}");
    }
}
