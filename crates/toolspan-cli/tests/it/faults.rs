//! What is said when a server misbehaves? The whole text a user sees.

use insta::assert_snapshot;
use serde_json::json;
use toolspan_testkit::Fault;

use crate::cli::Cli;

#[test]
fn a_server_that_exits_at_once_is_exit_3_with_its_last_words() {
    let cli = Cli::with_fault(&Fault::named("exit_with_stderr"));
    assert_snapshot!(cli.run(&["call", "bad__echo", "text=a"]));
    let error = cli.run(&["call", "bad__echo", "text=a", "--json"]).json()["error"].clone();
    assert_eq!(
        (&error["kind"], &error["outcome"]),
        (&json!("startup"), &json!("not_sent"))
    );
}

#[test]
fn a_program_that_is_not_there_is_exit_3() {
    let cli = Cli::with_servers(json!({"bad": {"command": "no-such-program-here"}}));
    assert_snapshot!(cli.run(&["call", "bad__echo"]));
}

#[test]
fn a_server_that_never_answers_meets_its_connect_limit() {
    let mut entry = Fault::named("never_answer_initialize").config_entry();
    entry["timeouts"] = json!({"connect": 0.5});
    let cli = Cli::with_servers(json!({"bad": entry}));
    assert_snapshot!(cli.run(&["call", "bad__echo", "text=a"]));
}

#[test]
fn where_the_timeout_of_the_command_line_was_the_limit_it_is_what_to_raise() {
    let hanging = Fault::named("never_answer_initialize");
    let longer = json!("--timeout was the limit: give a longer one");
    let cli = Cli::with_fault(&hanging);
    let with = |arguments: &[&str]| cli.run(&[arguments, &["--timeout", "0.5"]].concat());
    let call = with(&["call", "bad__echo", "text=a", "--json"]);
    assert_eq!(call.json()["error"]["hint"], longer, "{call}");
    let doctor = with(&["doctor", "--json"]);
    assert_eq!(doctor.json()["error"]["hint"], longer, "{doctor}");
    let tools = with(&["tools"]).stderr;
    assert!(tools.contains("hint: --timeout was"), "{tools}");
    cli.write("calls.jsonl", "{\"tool\": \"bad__echo\"}\n");
    let batch = with(&["call", "--batch", "calls.jsonl"]);
    assert_eq!(batch.json_lines()[0]["error"]["hint"], longer, "{batch}");

    let server = hanging.clone().over_http();
    let cli = Cli::with_servers(json!({"bad": server.config_entry()}));
    let doctor = cli.run(&["doctor", "--timeout", "0.5"]).stdout;
    assert!(doctor.contains("next   --timeout was"), "{doctor}");

    // A shorter limit of the config stays what to raise.
    let mut entry = hanging.config_entry();
    entry["timeouts"] = json!({"connect": 0.2});
    let cli = Cli::with_servers(json!({"bad": entry}));
    let doctor = cli.run(&["doctor", "--timeout", "5"]).stdout;
    assert!(doctor.contains("raise timeouts.connect"), "{doctor}");
}

#[test]
fn a_server_that_dies_during_a_call_leaves_the_outcome_open() {
    let cli = Cli::with_fault(&Fault::script([
        json!({"expect": "tools/call"}),
        json!({"stderr": {"parts": [{"text": "cannot write to the disk: no space left\n"}]}}),
        json!({"exit": {"code": 9}}),
    ]));
    assert_snapshot!(cli.run(&["call", "bad__echo", "text=a"]));
}

#[test]
fn each_spoiled_answer_is_told_whole_with_its_exit_code() {
    let mut all = String::new();
    for name in [
        "deep_200",
        "deep_100000",
        "reply_20mb",
        "reply_64mb",
        "invalid_utf8",
        "both_result_and_error",
        "half_line_then_exit",
        "half_line_then_hang",
        "wrong_id",
        "duplicate_reply",
        "close_stdout_on_call",
    ] {
        let cli = Cli::with_fault(&Fault::named(name));
        // Where no answer comes, the time is up soon; elsewhere a busy machine may take its time.
        let limit = if matches!(name, "half_line_then_hang" | "wrong_id") {
            "3"
        } else {
            "60"
        };
        let ran = cli.run(&["call", "bad__echo", "text=a", "--timeout", limit]);
        all += &format!("# {name}\n{ran}\n");
    }
    assert_snapshot!(all);
}

#[test]
fn a_server_that_does_not_read_ten_megabytes_meets_the_timeout() {
    let cli = Cli::with_fault(&Fault::named("never_reads"));
    let arguments = json!({"text": "x".repeat(10 << 20)}).to_string();
    cli.write("arguments.json", &arguments);
    let call = [
        "call",
        "bad__echo",
        "--args",
        "@arguments.json",
        "--timeout",
        "3",
    ];
    assert_snapshot!(cli.run(&call));
}

#[test]
fn a_healthy_server_is_not_touched_by_the_faults_of_others() {
    let faults = [
        "exit_with_stderr",
        "never_answer_initialize",
        "unknown_version",
        "never_answer_call",
    ];
    let faults = faults.map(|name| (name, Fault::named(name)));
    let healthy = [("healthy", Fault::honest())];
    let cli = Cli::with_faults(faults.into_iter().chain(healthy));
    assert_snapshot!(cli.run(&["tools", "--timeout", "1"]));
    assert_eq!(cli.run(&["call", "healthy__echo", "text=a"]).stdout, "a\n");
}

#[test]
fn a_reply_that_cannot_be_read_fails_its_own_call() {
    let cli = Cli::with_fault(&Fault::named("invalid_json_with_id"));
    assert_snapshot!(cli.run(&["call", "bad__echo", "text=a"]));
}

#[test]
fn noise_on_stdout_does_not_disturb_a_call() {
    let cli = Cli::with_fault(&Fault::named("noise_between"));
    assert_eq!(cli.run(&["call", "bad__echo", "text=a"]).stdout, "a\n");
}

#[test]
fn what_a_server_logs_is_said_when_it_is_asked_for() {
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "info", "data": "almost \u{1b}[31mthere"}});
    let cli = Cli::with_fault(&Fault::script([
        json!({"expect": "tools/call"}),
        json!({"send": log}),
        json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {"content": []}}}),
        json!("serve"),
    ]));
    assert_eq!(cli.run(&["call", "bad__echo", "text=a"]).stderr, "");
    assert_eq!(
        cli.run(&["call", "bad__echo", "text=a", "-v"]).stderr,
        "bad: info: almost there\n"
    );
}
