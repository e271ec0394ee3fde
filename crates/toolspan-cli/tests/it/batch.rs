//! `call --batch`: lines in, lines out, in order, with one host.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolspan_testkit::Fault;

use crate::cli::Cli;

#[test]
fn results_come_in_the_order_of_the_lines() {
    let cli = Cli::with_demo();
    cli.write(
        "calls.ndjson",
        "{\"tool\": \"demo__countdown\", \"args\": {\"from\": 1}}\n\n\
         {\"tool\": \"echo\", \"args\": {\"text\": \"second\"}}\n\
         {\"tool\": \"demo.add\", \"args\": {\"a\": 1, \"b\": 2}}",
    );
    let ran = cli.run(&["call", "--batch", "calls.ndjson"]);
    let texts: Vec<Value> = ran
        .json_lines()
        .iter()
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        texts,
        [json!("Lift-off!"), json!("second"), json!("{\"sum\":3.0}")]
    );
}

#[test]
fn a_bad_line_is_a_result_and_the_next_one_follows() {
    let input = "{\"tool\": \"demo__add\", \"args\": {\"a\": 1}}\nnonsense\n{\"tool\": \"nothing\"}\n\
                 {\"tool\": \"echo\", \"arguments\": {}}\n{\"tool\": \"fail\"}\n\
                 {\"tool\": \"echo\", \"args\": {\"text\": \"still here\"}}\n";
    let ran = Cli::with_demo().run_with_input(&["call", "--batch", "-"], input.as_bytes());
    assert_snapshot!(ran);
}

#[test]
fn the_exit_code_is_that_of_the_first_line_that_failed() {
    let input = "{\"tool\": \"echo\", \"args\": {\"text\": \"a\"}}\n{\"tool\": \"fail\"}\n\
                 {\"tool\": \"nothing\"}\n";
    let ran = Cli::with_demo().run_with_input(&["call", "--batch", "-"], input.as_bytes());
    assert_eq!((ran.code, ran.json_lines().len()), (Some(5), 3));
}

#[test]
fn the_server_lives_from_line_to_line() {
    // The second call is answered with the text of the first one: it is the same process.
    let cli = Cli::with_fault(&Fault::script([
        json!({"expect": {"method": "tools/call", "as": "first"}}),
        json!({"send": {"jsonrpc": "2.0", "id": "$first.id",
            "result": {"content": [{"type": "text", "text": "kept"}]}}}),
        json!({"expect": {"method": "tools/call", "as": "second"}}),
        json!({"send": {"jsonrpc": "2.0", "id": "$second.id",
            "result": {"content": [{"type": "text", "text": "$first.text"}]}}}),
        json!("serve"),
    ]));
    let input = "{\"tool\": \"echo\", \"args\": {\"text\": \"one\"}}\n\
                 {\"tool\": \"echo\", \"args\": {\"text\": \"two\"}}\n";
    let ran = cli.run_with_input(&["call", "--batch", "-"], input.as_bytes());
    let texts: Vec<Value> = ran
        .json_lines()
        .iter()
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(texts, [json!("kept"), json!("one")], "{ran}");
}

#[test]
fn a_line_that_is_too_long_is_refused_and_skipped() {
    let mut input = vec![b'x'; (16 << 20) + 1];
    input.extend_from_slice(b"\n{\"tool\": \"echo\", \"args\": {\"text\": \"next\"}}\n");
    let ran = Cli::with_demo().run_with_input(&["call", "--batch", "-"], &input);
    let lines = ran.json_lines();
    assert_eq!((ran.code, lines.len()), (Some(2), 2));
    assert_eq!(
        (&lines[0]["error"]["kind"], &lines[1]["text"]),
        (&json!("usage"), &json!("next"))
    );
}

#[test]
fn a_batch_takes_no_tool_besides() {
    assert_eq!(
        Cli::with_demo().run(&["call", "echo", "--batch", "-"]).code,
        Some(2)
    );
}

#[test]
fn a_missing_file_is_exit_2() {
    let ran = Cli::with_demo().run(&["call", "--batch", "missing", "--json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["kind"]),
        (Some(2), &json!("usage"))
    );
}
