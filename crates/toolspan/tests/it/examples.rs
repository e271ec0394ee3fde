//! Do the examples at the root do what they show?

use std::path::PathBuf;

use serde_json::Value;
use toolspan_testkit::{Fault, bin};

/// An example that cargo built beside this test.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(name);
    assert!(
        path.is_file(),
        "{} is missing: cargo builds examples unless it is told to build single targets",
        path.display()
    );
    path
}

/// What an example prints.
#[expect(
    clippy::disallowed_methods,
    reason = "a test starts the program that it looks at"
)]
fn printed(name: &str, arguments: &[PathBuf]) -> String {
    let mut command = std::process::Command::new(example(name));
    let output = command.args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    assert_eq!(error, "");
    String::from_utf8(output.stdout).unwrap()
}

/// What an example prints when it is given the program with the demo's server.
fn printed_with_demo(name: &str) -> String {
    printed(name, &[bin("toolspan")])
}

#[test]
fn call_a_tool_lists_calls_and_shows_a_mistake() {
    insta::assert_snapshot!(printed_with_demo("call_a_tool"));
}

#[test]
fn own_tool_runs_a_struct_and_a_closure() {
    insta::assert_snapshot!(printed("own_tool", &[]));
}

#[test]
fn blocking_calls_from_several_threads() {
    let printed = printed_with_demo("blocking");
    // The threads end in any order.
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn model_loop_lets_a_model_correct_itself() {
    insta::assert_snapshot!(printed_with_demo("model_loop"));
}

#[test]
fn progress_and_cancel_ends_the_call_and_not_the_server() {
    let printed = printed_with_demo("progress_and_cancel");
    // A busy machine may show a later report than the first.
    let (progress, rest) = printed.split_once('\n').unwrap();
    assert!(progress.ends_with(" to go"), "{printed}");
    assert_eq!(rest, "cancelled, outcome unknown\necho: still here\n");
}

#[test]
fn remote_finds_the_transport_and_tells_what_a_refusal_says() {
    let refusing = Fault::named("status_429_retry_99999").over_http();
    let servers = [
        Fault::honest().over_http(),
        Fault::honest().over_sse(),
        refusing,
    ];
    let printed = servers.each_ref().map(|server| {
        let arguments = [server.url(), "echo", r#"{"text": "hi"}"#];
        printed("remote", &arguments.map(PathBuf::from))
    });
    insta::assert_snapshot!(printed.join("---\n"));
    for server in servers {
        let requests = server.requests();
        let count = |name: &str| {
            let has = |request: &&Value| request["headers"][name].is_string();
            requests.iter().filter(has).count()
        };
        assert_eq!((count("x-team"), count("x-user")), (requests.len(), 1));
    }
}
