//! Which tool does a name mean? Wrong, ambiguous and strange names.

use insta::assert_snapshot;
use serde_json::json;
use toolspan_testkit::Fault;

use crate::cli::{Cli, demo_server};

#[test]
fn an_unknown_name_is_exit_4_with_the_three_nearest() {
    let cli = Cli::with_demo();
    assert_snapshot!(cli.run(&["call", "demo__ech"]));
    let error = cli.run(&["call", "demo__ech", "--json"]).json()["error"].clone();
    assert_eq!(
        (&error["kind"], &error["outcome"]),
        (&json!("tool_not_found"), &json!("not_sent"))
    );
}

#[test]
fn a_name_that_several_tools_have_is_exit_4_with_the_full_names() {
    let cli = Cli::with_servers(json!({
        "demo": demo_server(),
        "other": Fault::honest().config_entry(),
    }));
    assert_snapshot!(cli.run(&["call", "echo", "text=a"]));
    assert_eq!(cli.run(&["call", "other.echo", "text=a"]).stdout, "a\n");
}

#[test]
fn an_unknown_name_tells_of_toolboxes_that_failed() {
    let cli = Cli::with_servers(json!({
        "demo": demo_server(),
        "gone": Fault::named("exit_at_start").config_entry(),
    }));
    assert_snapshot!(cli.run(&["call", "missing"]));
}

#[test]
fn strange_names_that_no_tool_has_are_told_whole_and_harmlessly() {
    let cli = Cli::with_demo();
    let long = "l".repeat(200);
    let names = ["demo.nothing", "de/mo", "🦀", "demo__\u{1b}[31mecho", &long];
    let all = names.map(|name| cli.run(&["call", name]).to_string());
    assert_snapshot!(all.join("\n"));
}

#[test]
fn a_full_name_starts_its_own_toolbox_alone() {
    let cli = Cli::with_servers(json!({
        "demo": demo_server(),
        "silent": Fault::named("never_answer_initialize").config_entry(),
    }));
    let ran = cli.run(&["call", "demo__echo", "text=at once"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "at once\n"), "{ran}");
}

#[test]
fn strange_names_have_plain_ones_and_work_by_both() {
    let long = "l".repeat(200);
    let tools: Vec<_> = ["a.b", "a/b", "🦀", "with space", &long]
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    let cli = Cli::with_tools(&json!(tools));
    assert_snapshot!("strange_names_in_a_list", cli.run(&["tools"]));
    let listed = cli.run(&["tools", "--json"]).json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 5);
    for tool in listed {
        let (name, original) = (
            tool["name"].as_str().unwrap(),
            tool["original_name"].as_str().unwrap(),
        );
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
        assert!(name.len() <= 64 && name.chars().all(is_plain), "{name}");
        for typed in [name, original, &format!("box.{original}")] {
            let ran = cli.run(&["call", typed, "--json"]);
            assert_eq!(
                (ran.code, &ran.json()["tool"]),
                (Some(0), &json!(name)),
                "{ran}"
            );
        }
    }
}
