//! What does a person see when a server does not come up, and can the next try work?

use std::time::{Duration, Instant};

use serde_json::json;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{Discovery, Error, ErrorKind, ToolBox};
use toolspan_io::process::Launch;
use toolspan_mcp::Transport;
use toolspan_testkit::{Census, Fault};

use crate::support::case::{Case, warm_up};
use crate::support::{Tools, told};

/// Tries to list the tools, and checks that nothing is left.
async fn refused(fault: Fault, timeouts: Timeouts) -> Error {
    let case = Case::within(fault, Limits::default(), timeouts).await;
    let error = failed(case.tools.discover().await);
    // I5: the next one fails at once, with the same cause, until the pause is over.
    let again = failed(case.tools.discover().await);
    assert_eq!(again.kind(), error.kind(), "{again:?}");
    case.finish().await;
    error
}

fn failed(result: toolspan_core::Result<Discovery>) -> Error {
    result.expect_err("no start")
}

// R01
#[tokio::test]
async fn a_command_that_cannot_be_run_is_named_at_once() {
    warm_up().await;
    let before = Census::take();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.into_os_string()
    };
    let programs = [
        "toolspan-no-such-command".into(),
        "/no/such/path".into(),
        folder.path().as_os_str().to_owned(),
        write("plain.txt", "#!/bin/sh\n", 0o644),
        write("script", "#!/no/such/interpreter\n", 0o755),
    ];
    let mut all = String::new();
    for program in programs {
        let launch = Launch::new(program).with_env([("PATH", "/usr/bin:/bin")]);
        let transport = Transport::Stdio(std::sync::Arc::new(launch));
        let tools = Tools::new(transport, Limits::default(), Timeouts::default());
        let began = Instant::now();
        let error = failed(tools.discover().await);
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
        assert_eq!(error.kind(), ErrorKind::Startup);
        all += &told(&error);
        all += "\n";
        tools.toolbox.close().await;
    }
    let folder = folder.path().to_str().unwrap();
    insta::assert_snapshot!(all.replace(folder, "FOLDER"));
    before.assert_nothing_left_async().await;
}

// R02
#[tokio::test]
async fn a_server_that_exits_at_start_says_how_and_why() {
    let silent = refused(Fault::named("exit_at_start"), Timeouts::default()).await;
    let with_words = refused(Fault::named("exit_with_stderr"), Timeouts::default()).await;
    let by_signal = Fault::script([json!({"kill_self": {"signal": "SEGV"}})]);
    let by_signal = refused(by_signal, Timeouts::default()).await;
    insta::assert_snapshot!(
        [silent, with_words, by_signal]
            .map(|error| told(&error))
            .join("\n")
    );
}

// R03
#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let mut timeouts = Timeouts::default();
    timeouts.connect = Duration::from_millis(300);
    let began = Instant::now();
    let silent = refused(Fault::named("never_answer_initialize"), timeouts.clone()).await;
    assert!(began.elapsed() >= timeouts.connect);
    let half = Fault::script([
        json!({"expect": "initialize"}),
        json!({"stderr": {"parts": [{"text": "still loading"}]}}),
        json!({"cut": {"message": {"jsonrpc": "2.0", "id": "$id", "result": {}}, "at": 20}}),
    ]);
    let half = refused(half, timeouts).await;
    insta::assert_snapshot!([silent, half].map(|error| told(&error)).join("\n"));
}

// R10
#[tokio::test]
async fn a_banner_before_the_first_message_is_skipped_and_kept_for_the_doctor() {
    let case = Case::started(Fault::named("banner_first")).await;
    case.call().await.unwrap();
    insta::assert_snapshot!(case.tools.notes().join("\n"));
    case.finish().await;
}

// R10
#[tokio::test]
async fn a_program_that_is_no_server_is_given_up_soon() {
    let lines = json!({"loop": {"times": 5_000, "steps": [{"send_raw": {"parts": [{"text": "starting up"}]}}]}});
    let many_lines = refused(Fault::script([lines]), Timeouts::default()).await;
    let long = json!({"send_raw": {"parts": [{"repeat": {"text": "x", "times": 2_000_000}}]}});
    let much_text = refused(Fault::script([long]), Timeouts::default()).await;
    insta::assert_snapshot!([many_lines, much_text].map(|error| told(&error)).join("\n"));
}

#[tokio::test]
async fn a_handshake_that_breaks_the_rules_is_refused_with_the_rule() {
    let unknown = refused(Fault::named("unknown_version"), Timeouts::default()).await;
    let mut all = vec![told(&unknown)];
    // J18
    let results = [
        json!({"protocolVersion": "", "capabilities": {}}),
        json!({"protocolVersion": 5, "capabilities": {}}),
        json!({"capabilities": {}}),
        json!({"protocolVersion": "2025-06-18", "capabilities": []}),
        json!([]),
    ];
    for result in results {
        let fault = Fault::script([
            json!({"expect": "initialize"}),
            json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": result}}),
            json!("serve"),
        ]);
        all.push(told(&refused(fault, Timeouts::default()).await));
    }
    let remote = Fault::script([
        json!({"expect": "initialize"}),
        json!({"send": {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32602, "message": "no"}}}),
        json!("serve"),
    ]);
    all.push(told(&refused(remote, Timeouts::default()).await));
    insta::assert_snapshot!(all.join("\n"));
}

#[tokio::test]
async fn the_oldest_revision_and_a_nameless_server_are_accepted() {
    let case = Case::started(Fault::named("old_version")).await;
    case.call().await.unwrap();
    case.finish().await;
    let nameless = Fault::script([
        json!({"expect": "initialize"}),
        json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {"protocolVersion": "2025-03-26"}}}),
        json!("serve"),
    ]);
    let case = Case::started(nameless).await;
    case.call().await.unwrap();
    let steps = case.tools.toolbox.diagnosis().steps;
    let told: Vec<_> = steps
        .iter()
        .map(|step| step.result.clone().unwrap())
        .collect();
    assert!(told[0].starts_with("process "), "{told:?}");
    assert_eq!(
        told[1..],
        ["protocol 2025-03-26, server without a name", "1 tool"]
    );
    case.finish().await;
}

// R16
#[tokio::test]
async fn a_flood_on_standard_error_never_blocks_the_server() {
    let case = Case::started(Fault::named("flood_stderr")).await;
    case.call().await.unwrap();
    case.call().await.unwrap();
    let kept = case.tools.toolbox.diagnosis().stderr.len();
    assert_eq!(kept, 64 << 10, "the newest bytes are kept");
    case.finish().await;
}
