//! `call`: arguments in, the answer out, and the exit codes of both.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolspan_testkit::Fault;

use crate::cli::{Cli, server_line};

#[test]
fn the_text_of_an_answer_is_stdout_and_nothing_else_is_said() {
    assert_snapshot!(Cli::with_demo().run(&["call", "demo__echo", "text=hello there"]));
}

#[test]
fn texts_become_what_the_schema_asks_for() {
    let ran = Cli::with_demo().run(&["call", "add", "a=19.5", "b:=22.5", "--json"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.json()["structured"], json!({"sum": 42.0}));
}

#[test]
fn json_has_the_members_of_the_contract() {
    let line = Cli::with_demo()
        .run(&["call", "echo", "text=hi", "--json"])
        .json();
    assert_eq!(
        line,
        json!({
            "tool": "demo__echo",
            "toolbox": "demo",
            "is_error": false,
            "text": "hi",
            "content": [{"type": "text", "text": "hi"}],
            "structured": null,
            "duration_ms": 0,
            "truncated": false,
        })
    );
}

#[test]
fn what_was_repaired_is_in_the_line_and_said_on_request() {
    let cli = Cli::with_demo();
    let odd = ["call", "add", "--args", "{\"a\": \"19.5\", \"b\": 22.5}"];
    let line = cli.run(&[&odd[..], &["--json"]].concat()).json();
    assert_eq!(line["structured"], json!({"sum": 42.0}));
    assert_eq!(line["repairs"][0]["pointer"], "/a", "{line}");
    let told = cli.run(&[&odd[..], &["-v"]].concat());
    assert!(
        told.stderr.contains("repaired at \"/a\""),
        "{}",
        told.stderr
    );
    assert_eq!(cli.run(&odd).stderr, "");
}

#[test]
fn arguments_come_from_text_from_a_file_or_from_standard_input() {
    let cli = Cli::with_demo();
    cli.write("arguments.json", "{\"text\": \"from a file\"}");
    let file = cli.run(&["call", "echo", "--args", "@arguments.json"]);
    assert_eq!(file.stdout, "from a file\n");
    let typed = cli.run(&["call", "echo", "--args", "{\"text\": \"typed\"}"]);
    assert_eq!(typed.stdout, "typed\n");
    let piped = cli.run_with_input(&["call", "echo", "--args", "-"], b"{\"text\": \"piped\"}");
    assert_eq!(piped.stdout, "piped\n");
}

#[test]
fn pairs_replace_members_of_the_whole() {
    let ran = Cli::with_demo().run(&["call", "echo", "--args", "{\"text\": \"a\"}", "text=b"]);
    assert_eq!(ran.stdout, "b\n");
}

#[test]
fn arguments_that_make_no_sense_are_exit_2() {
    let cli = Cli::with_demo();
    for arguments in [
        &["text"][..],
        &["text=a", "text=b"],
        &["text:={"],
        &["--args", "{"],
        &["--args", "@missing.json"],
        &["--args", "[1]", "text=a"],
    ] {
        let ran = cli.run(&[&["call", "echo", "--json"], arguments].concat());
        assert_eq!(
            (ran.code, &ran.json()["error"]["kind"]),
            (Some(2), &json!("usage")),
            "{ran}"
        );
    }
    assert_snapshot!(cli.run(&["call", "echo", "text=a", "text=b"]));
}

#[test]
fn every_violation_is_listed_with_its_place() {
    assert_snapshot!(Cli::with_demo().run(&["call", "add", "a=nineteen", "c:=1"]));
}

#[test]
fn a_violation_deep_inside_names_its_pointer() {
    let cli = Cli::with_tools(&json!([{"name": "paint", "inputSchema": {
        "type": "object",
        "properties": {"style": {"type": "object", "properties": {
            "colour": {"enum": ["red", "green"]}}}},
    }}]));
    assert_snapshot!(cli.run(&["call", "paint", "style:={\"colour\": \"blue\"}"]));
}

#[test]
fn arguments_that_are_no_object_are_exit_6() {
    assert_snapshot!(Cli::with_demo().run(&["call", "echo", "--args", "[1]"]));
}

#[test]
fn a_tools_own_error_is_data_and_exit_5() {
    let cli = Cli::with_demo();
    assert_snapshot!(cli.run(&["call", "fail"]));
    let ran = cli.run(&["call", "fail", "--json"]);
    assert_eq!((ran.code, &ran.json()["is_error"]), (Some(5), &json!(true)));
}

#[test]
fn an_error_of_the_protocol_is_exit_5_and_looks_like_one() {
    let cli = Cli::with_fault(&Fault::named("remote_error"));
    assert_snapshot!(cli.run(&["call", "bad__echo", "text=a"]));
    let ran = cli.run(&["call", "bad__echo", "text=a", "--json"]);
    let line = ran.json();
    assert_eq!((ran.code, &line["is_error"]), (Some(5), &json!(true)));
    assert_eq!(line["error"]["kind"], "remote_error");
}

#[test]
fn an_image_is_one_line() {
    assert_snapshot!(Cli::with_demo().run(&["call", "picture"]));
}

#[test]
fn an_image_is_saved_to_a_new_file_each_time() {
    let cli = Cli::with_demo();
    let arguments = ["call", "picture", "--save", "deep/er"];
    assert_snapshot!(cli.run(&arguments));
    let again = cli.run(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(again["saved"], json!(["deep/er/demo__picture-2.png"]));
    let picture = std::fs::read(cli.path("deep/er/demo__picture-1.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn a_folder_that_cannot_be_made_is_known_before_the_call() {
    let cli = Cli::with_demo();
    cli.write("file", "");
    let ran = cli.run(&["call", "picture", "--save", "file/folder", "--json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["kind"]),
        (Some(2), &json!("usage"))
    );
}

#[test]
fn content_of_an_unknown_kind_is_named() {
    let cli = Cli::with_fault(&Fault::named("unknown_content_block"));
    assert_snapshot!(cli.run(&["call", "echo", "text=a"]));
}

#[test]
fn a_limit_cuts_the_text_and_says_so() {
    let cli = Cli::with_demo();
    assert_snapshot!(cli.run(&["call", "echo", "text=äöüß", "--limit", "2"]));
    let line = cli
        .run(&["call", "echo", "text=äöüß", "--limit", "2", "--json"])
        .json();
    assert_eq!(
        (&line["text"], &line["truncated"]),
        (&json!("äö"), &json!(true))
    );
    let line = cli
        .run(&["call", "echo", "text=äöüß", "--limit", "4", "--json"])
        .json();
    assert_eq!(line["truncated"], json!(false));
}

#[test]
fn piped_text_is_what_the_tool_wrote_byte_for_byte() {
    let text = "a\u{1b}[31mred\u{1b}[0m\u{202e}b";
    let ran = Cli::with_demo().run(&["call", "echo", &format!("text={text}")]);
    assert_eq!(ran.stdout, format!("{text}\n"));
}

#[test]
fn a_slow_tool_meets_the_timeout_of_the_command_line() {
    let cli = Cli::with_fault(&Fault::named("never_answer_call"));
    let ran = cli.run(&["call", "bad__echo", "text=a", "--timeout", "2"]);
    assert_snapshot!(ran);
}

#[test]
fn quiet_leaves_only_results_and_errors() {
    let ran = Cli::with_demo().run(&["call", "echo", "text=abc", "--limit", "1", "-q"]);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("a\n", ""));
}

#[test]
fn a_bare_name_works_with_a_server_of_the_command_line() {
    let ran = Cli::bare().run(&["--server", &server_line("honest"), "call", "echo", "text=x"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "x\n"), "{ran}");
}

#[test]
fn a_result_without_content_prints_nothing() {
    let cli = Cli::with_fault(&Fault::script([
        json!({"expect": "tools/call"}),
        json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {"content": []}}}),
        json!("serve"),
    ]));
    let ran = cli.run(&["call", "echo", "text=x"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""), "{ran}");
    assert_eq!(
        cli.run(&["call", "echo", "text=x", "--json"]).json()["text"],
        Value::from("")
    );
}

#[test]
fn a_structured_result_without_text_is_printed_as_json() {
    let cli = Cli::with_fault(&Fault::script([
        json!({"expect": "tools/call"}),
        json!({"send": {"jsonrpc": "2.0", "id": "$id",
            "result": {"content": [], "structuredContent": {"n": 1}}}}),
        json!("serve"),
    ]));
    assert_eq!(
        cli.run(&["call", "echo", "text=x"]).stdout,
        "{\n  \"n\": 1\n}\n"
    );
}

#[test]
fn an_image_that_cannot_be_saved_does_not_lose_the_answer() {
    let cli = Cli::with_fault(&Fault::script([
        json!({"expect": "tools/call"}),
        json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {"content": [
            {"type": "text", "text": "seen"},
            {"type": "image", "data": "%%", "mimeType": "image/png"}]}}}),
        json!("serve"),
    ]));
    let arguments = ["call", "bad__echo", "text=x", "--save", "."];
    assert_snapshot!(cli.run(&arguments));
    let ran = cli.run(&[&arguments[..], &["--json"]].concat());
    let line = ran.json();
    assert_eq!((ran.code, &line["text"]), (Some(3), &json!("seen")));
    assert_eq!(line["error"]["outcome"], "answered");
}

#[test]
fn pairs_that_make_no_sense_start_nothing() {
    let marker = toolspan_testkit::Marker::new();
    let cli = Cli::with_fault(&Fault::named("never_answer_initialize").marked(&marker));
    for pairs in [&["a"][..], &["a:=foo"], &["a=1", "a=2"]] {
        let ran = cli.run(&[&["call", "bad__echo"], pairs].concat());
        assert_eq!(ran.code, Some(2), "{ran}");
    }
}
