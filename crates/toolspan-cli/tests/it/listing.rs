//! `tools` and `describe`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolspan_testkit::Fault;

use crate::cli::{Cli, demo_server};

#[test]
fn tools_are_listed_in_a_table() {
    assert_snapshot!(Cli::with_demo().run(&["tools"]));
}

#[test]
fn a_pattern_picks_by_part_or_by_glob() {
    let cli = Cli::with_demo();
    let names = |pattern: &str| -> Vec<Value> {
        let listed = cli.run(&["tools", pattern, "--json"]).json();
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].clone())
            .collect()
    };
    assert_eq!(names("O__AD"), [json!("demo__add")]);
    assert_eq!(names("*__f*"), [json!("demo__fail")]);
    assert!(names("nothing").is_empty());
}

#[test]
fn a_pattern_without_a_match_is_said_and_is_no_failure() {
    assert_snapshot!(Cli::with_demo().run(&["tools", "nothing"]));
}

#[test]
fn json_has_the_members_of_the_contract() {
    let listed = Cli::with_demo().run(&["tools", "--json"]).json();
    let add = &listed[1];
    let keys: Vec<&String> = add.as_object().unwrap().keys().collect();
    let expected = [
        "name",
        "toolbox",
        "original_name",
        "description",
        "input_schema",
        "output_schema",
        "annotations",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        (&add["name"], &add["original_name"]),
        (&json!("demo__add"), &json!("add"))
    );
    assert_eq!(add["output_schema"]["required"], json!(["sum"]));
    assert_eq!(add["annotations"]["readOnlyHint"], json!(true));
    assert_eq!(listed[0]["output_schema"], Value::Null);
}

#[test]
fn formats_are_the_tools_field_of_their_api() {
    let cli = Cli::with_demo();
    let openai = cli.run(&["tools", "add", "--format", "openai"]).json();
    assert_eq!(openai[0]["type"], "function");
    assert_eq!(openai[0]["function"]["name"], "demo__add");
    assert_eq!(
        openai[0]["function"]["parameters"]["required"],
        json!(["a", "b"])
    );
    let mcp = cli.run(&["tools", "add", "--format", "mcp"]).json();
    assert_eq!(
        (&mcp[0]["name"], mcp.as_array().unwrap().len()),
        (&json!("demo__add"), 1)
    );
    assert_eq!(mcp[0]["inputSchema"]["required"], json!(["a", "b"]));
}

#[test]
fn healthy_tools_are_listed_when_another_server_fails() {
    let cli = Cli::with_servers(json!({
        "gone": Fault::named("exit_with_stderr").config_entry(),
        "demo": demo_server(),
    }));
    assert_snapshot!(cli.run(&["tools"]));
    assert_eq!(
        cli.run(&["tools", "--json"])
            .json()
            .as_array()
            .map(Vec::len),
        Some(6)
    );
}

#[test]
fn a_required_server_that_fails_is_exit_3_and_the_rest_is_listed() {
    let mut gone = Fault::named("exit_with_stderr").config_entry();
    gone["required"] = json!(true);
    let cli = Cli::with_servers(json!({"gone": gone, "demo": demo_server()}));
    assert_snapshot!(cli.run(&["tools"]));
    let ran = cli.run(&["tools", "--json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["toolbox"]),
        (Some(3), &json!("gone"))
    );
}

#[test]
fn no_server_that_works_is_a_failure() {
    assert_snapshot!(Cli::with_fault(&Fault::named("exit_with_stderr")).run(&["tools"]));
}

#[test]
fn a_config_with_nothing_switched_on_is_exit_2() {
    let mut demo = demo_server();
    demo["disabled"] = json!(true);
    let ran = Cli::with_servers(json!({"demo": demo})).run(&["tools", "--json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["kind"]),
        (Some(2), &json!("config"))
    );
}

#[test]
fn describe_shows_arguments_result_effects_and_origin() {
    assert_snapshot!(Cli::with_demo().run(&["describe", "add"]));
}

#[test]
fn describe_shows_defaults_enums_and_references() {
    let cli = Cli::with_tools(&json!([{
        "name": "search",
        "description": "Searches.\n\nIn everything, \u{1b}[31mred\u{1b}[0m too.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for"},
                "order": {"enum": ["new", "best"], "default": "best"},
                "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
                "limit": {"type": ["integer", "null"], "default": 10},
            },
            "required": ["query"],
            "$defs": {"tag": {"type": "string"}},
        },
    }]));
    assert_snapshot!(cli.run(&["describe", "box.search"]));
}

#[test]
fn describe_as_json_is_the_element_of_the_list_with_what_counts_and_the_level() {
    let cli = Cli::with_demo();
    let listed = cli.run(&["tools", "add", "--json"]).json();
    let mut described = cli.run(&["describe", "add", "--json"]).json();
    let members = described.as_object_mut().expect("an object");
    let counted = members
        .remove("effective_annotations")
        .expect("what counts");
    assert_eq!(
        counted["readOnlyHint"], false,
        "the demo's server is not trusted"
    );
    assert_eq!(members.remove("level"), Some(json!(3)));
    let rule = members.remove("level_rule").expect("the rule");
    assert!(
        rule.as_str().is_some_and(|rule| rule.contains("believed")),
        "{rule}"
    );
    assert_eq!(described, listed[0]);
}

#[test]
fn describe_of_an_unknown_tool_is_exit_4_with_the_nearest_names() {
    assert_snapshot!(Cli::with_demo().run(&["describe", "demo__ad"]));
}

#[test]
fn a_search_ranks_the_tools_that_fit_and_says_when_there_are_none() {
    let tools = json!([
        {"name": "sendMail", "description": "Sends a letter", "inputSchema": {"type": "object"}},
        {"name": "clock", "description": "Tells the time in a zone", "inputSchema": {"type": "object"}},
        {"name": "list_time_zones", "description": "Lists them", "inputSchema": {"type": "object"}},
    ]);
    let cli = Cli::with_tools(&tools);
    let found = cli.run(&["search", "time", "zone", "--json"]).json();
    let names: Vec<&str> = found
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["original_name"].as_str())
        .collect();
    assert_eq!(names, ["list_time_zones", "clock"], "{found}");
    assert!(
        found[0]["score"].as_f64() > found[1]["score"].as_f64(),
        "{found}"
    );
    let table = cli.run(&["search", "mail", "--limit", "1"]);
    assert_eq!(table.code, Some(0));
    assert!(
        table.stdout.contains("sendMail") && table.stdout.lines().count() == 2,
        "{}",
        table.stdout
    );
    let none = cli.run(&["search", "database"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert!(
        none.stderr.contains("no tool fits \"database\""),
        "{}",
        none.stderr
    );
}
