//! Servers that are named by their address on the command line.

use insta::assert_snapshot;
use toolspan_testkit::Fault;

use crate::cli::{Cli, server_line};

#[test]
fn a_server_of_the_command_line_is_reached_over_http() {
    let server = Fault::honest().over_http();
    let cli = Cli::bare();
    let header = [
        "--header",
        "X-Team: blue",
        "--header",
        "Authorization: Bearer a-long-secret",
    ];
    let url = ["call", "echo", "text=hi", "--url", server.url()];
    let ran = cli.run(&[&url[..], &header].concat());
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(0), "hi\n", ""),
        "{ran}"
    );
    for request in server.requests() {
        assert_eq!(request["headers"]["x-team"], "blue");
        assert_eq!(request["headers"]["authorization"], "Bearer a-long-secret");
    }
}

#[test]
fn servers_by_address_and_by_command_stand_side_by_side() {
    let older = Fault::honest().over_sse();
    let newer = Fault::honest().over_http();
    let line = server_line("honest");
    let names = [
        "tools",
        "--json",
        "--url",
        older.url(),
        "--server",
        &line,
        "--url",
        newer.url(),
    ];
    let tools = Cli::bare().run(&names).json();
    let tools = tools.as_array().expect("a list");
    let mut boxes: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["toolbox"].as_str())
        .collect();
    boxes.dedup();
    assert_eq!(boxes, ["toolspan-faults", "127-0-0-1", "127-0-0-1-2"]);
}

#[test]
fn an_address_or_a_header_that_makes_no_sense_is_exit_2() {
    let mut all = String::new();
    for arguments in [
        &["--url", "example.com/mcp"][..],
        &["--url", "ws://example.com"],
        &["--url", "https://me:hunter2-secret@example.com/mcp"],
        &[
            "--url",
            "https://a.test",
            "--url",
            "https://b.test",
            "--header",
            "A: hunter2-secret",
        ],
        &["--url", "https://a.test", "--header", "hunter2-secret"],
        &[
            "--url",
            "https://a.test",
            "--header",
            "Host: hunter2-secret",
        ],
        &["--server", "x", "--header", "A: hunter2-secret"],
    ] {
        let ran = Cli::bare().run(&[arguments, &["tools"]].concat());
        assert!(!ran.to_string().contains("hunter2"), "{ran}");
        all += &format!("# {}\n{ran}\n", arguments.join(" "));
    }
    assert_snapshot!(all);
}
