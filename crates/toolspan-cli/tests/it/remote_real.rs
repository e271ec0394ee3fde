//! Real servers that are named by their address: what do the commands say of them?

use serde_json::{Value, json};
use toolspan_testkit::real::{RunningServer, remote_server};

use crate::cli::Cli;

/// The answer to `echo` of the reference server, as text and as JSON, and its tools.
fn answers(server: &RunningServer, kind: &str) {
    let cli = Cli::bare();
    let url = server.url();
    let run = |arguments: &[&str]| cli.run(&[&["--url", &*url], arguments].concat());

    let tools = run(&["tools", "--json"]);
    let listed = tools.json();
    let has = |name: &str| {
        let mut tools = listed.as_array().into_iter().flatten();
        tools.any(|tool| tool.get("original_name") == Some(&json!(name)))
    };
    let count = listed.as_array().map(Vec::len);
    assert_eq!((tools.code, count), (Some(0), Some(13)), "{tools}");
    assert!(has("echo") && has("get-tiny-image"), "{tools}");

    let called = run(&["call", "echo", "message=hi"]);
    assert_eq!(
        (called.code, &*called.stdout, &*called.stderr),
        (Some(0), "Echo: hi\n", ""),
        "{called}"
    );
    let called = run(&[
        "call",
        "get-structured-content",
        "location=Chicago",
        "--json",
    ]);
    let result = called.json();
    let at = |pointer| result.pointer(pointer);
    assert_eq!(at("/is_error"), Some(&json!(false)), "{called}");
    assert_eq!(at("/content/0/type"), Some(&json!("text")), "{called}");
    assert!(
        at("/structured/temperature").is_some_and(Value::is_number),
        "{called}"
    );

    let status = run(&["status", "--json"]).json();
    let at = |pointer| status.pointer(pointer);
    assert_eq!(at("/0/kind"), Some(&json!(kind)), "{status}");
    assert_eq!(at("/0/state"), Some(&json!("ready")), "{status}");
    assert_eq!(at("/0/tools"), Some(&json!(13)), "{status}");
}

#[test]
fn a_url_is_all_that_a_server_over_streamable_http_needs() {
    answers(&remote_server("everything-http"), "mcp/http");
}

#[test]
fn a_url_is_all_that_a_server_over_the_older_transport_needs() {
    answers(&remote_server("everything-sse"), "mcp/sse");
}

#[test]
fn a_server_that_is_down_is_told_and_the_others_are_listed() {
    let (up, mut down) = (
        remote_server("everything-http"),
        remote_server("everything-sse"),
    );
    down.kill();
    let cli = Cli::with_servers(json!({
        "down": {"url": down.url()},
        "up": {"url": up.url()},
    }));
    let status = cli.run(&["status", "--json"]);
    let told = status.json();
    assert_eq!(status.code, Some(0), "{status}");
    assert_eq!(
        (&told[0]["state"], &told[0]["error"]["kind"]),
        (&json!("failed"), &json!("connect"))
    );
    assert_eq!(
        (&told[1]["state"], &told[1]["tools"]),
        (&json!("ready"), &json!(13))
    );
    let called = cli.run(&["call", "up__echo", "message=hi"]);
    assert_eq!(
        (called.code, &*called.stdout),
        (Some(0), "Echo: hi\n"),
        "{called}"
    );
    let called = cli.run(&["call", "down__echo", "message=hi"]);
    assert_eq!(called.code, Some(3), "{called}");
}

#[test]
fn a_credential_that_a_server_says_back_is_masked_and_other_headers_are_not() {
    let server = remote_server("fastmcp-http");
    let cli = Cli::with_servers(json!({
        "echo": {
            "url": server.url(),
            "headers": {"X-Api-Key": "sEcr3tZx9Qp7Lm4", "X-Team": "tools-and-toys"},
        },
    }));
    let called = |header: &str| {
        let name = format!("name={header}");
        cli.run(&["call", "echo__header", &name, "--json"])
    };
    let key = called("X-Api-Key");
    assert_eq!(key.code, Some(0), "{key}");
    let shown = format!("{}{}", key.stdout, key.stderr);
    assert!(!shown.contains("sEcr3t"), "{key}");
    assert_eq!(key.json().pointer("/text"), Some(&json!("[redacted]")));
    let team = called("X-Team");
    assert_eq!(team.json().pointer("/text"), Some(&json!("tools-and-toys")));
}
