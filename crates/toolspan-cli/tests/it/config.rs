//! `config`, and what a bad config does to other commands.

use insta::assert_snapshot;
use serde_json::json;

use crate::cli::{Cli, demo_server};

fn with_a_bad_entry() -> Cli {
    let cli = Cli::bare();
    let good = demo_server();
    cli.write(
        "toolspan.json",
        &format!(
            "{{\n  // comments are fine\n  \"mcpServers\": {{\n    \"demo\": {good},\n    \
             \"bad\": {{\"command\": \"x\", \"args\": [\"${{NOT_SET}}\"], \"coment\": 1}}\n  }}\n}}"
        ),
    );
    cli
}

#[test]
fn a_good_config_is_ok() {
    assert_snapshot!(Cli::with_demo().run(&["config", "check"]));
}

#[test]
fn check_is_exit_2_on_any_problem() {
    let cli = with_a_bad_entry();
    assert_snapshot!(cli.run(&["config", "check"]));
    let ran = cli.run(&["config", "check", "--json"]);
    let report = ran.json();
    assert_eq!(
        (ran.code, &report["error"]["kind"]),
        (Some(2), &json!("config"))
    );
    assert_eq!(report["problems"][0]["line"], json!(5));
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_bad_entry_disables_its_own_toolbox_alone() {
    assert_snapshot!(with_a_bad_entry().run(&["call", "echo", "text=works"]));
}

#[test]
fn a_file_that_is_no_config_is_exit_2_with_its_place() {
    let cli = Cli::bare();
    cli.write("toolspan.json", "{\n  \"mcpServers\": {,}\n}");
    assert_snapshot!(cli.run(&["tools"]));
    assert_eq!(
        cli.run(&["tools", "--json"]).json()["error"]["kind"],
        "config"
    );
}

#[test]
fn a_missing_file_is_exit_2() {
    assert_snapshot!(Cli::bare().run(&["tools", "-c", "missing.json"]));
}

#[test]
fn show_hides_secrets() {
    let mut demo = demo_server();
    demo["env"] = json!({"API_TOKEN": "hunter2-hunter2"});
    let ran = Cli::with_servers(json!({"demo": demo})).run(&["config", "show", "--json"]);
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains("hunter2"), "{ran}");
    assert_eq!(ran.json()["mcpServers"]["demo"]["command"], "[TOOLSPAN]");
}

#[test]
fn schema_is_a_json_schema() {
    let ran = Cli::bare().run(&["config", "schema", "--json"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.json()["properties"]["mcpServers"].is_object(), "{ran}");
}

#[test]
fn a_server_of_the_command_line_never_replaces_one_of_the_config() {
    let cli = Cli::with_servers(json!({"toolspan-faults": demo_server()}));
    let line = crate::cli::server_line("honest");
    assert_snapshot!(cli.run(&["tools", "-c", "toolspan.json", "--server", &line]));
}
