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
fn each_file_that_cannot_be_read_is_told_whole_and_is_exit_2() {
    let mut all = String::new();
    for (name, content) in [
        ("not UTF-8", &b"{\n  \"mcpServers\": {\"a\": \"\xff\"}}"[..]),
        ("a trailing comma", b"{\n  \"mcpServers\": {},\n}"),
        ("a key twice", b"{\"mcpServers\": {},\n \"mcpServers\": {}}"),
        ("a list", b"[]"),
    ] {
        let cli = Cli::bare();
        std::fs::write(cli.path("toolspan.json"), content).unwrap();
        all += &format!("# {name}\n{}\n", cli.run(&["tools"]));
    }
    let folder = Cli::bare();
    std::fs::create_dir(folder.path("toolspan.json")).unwrap();
    all += &format!("# a folder\n{}\n", folder.run(&["tools"]));
    let looped = Cli::bare();
    std::os::unix::fs::symlink("toolspan.json", looped.path("toolspan.json")).unwrap();
    all += &format!(
        "# a link to itself\n{}",
        looped.run(&["tools", "-c", "toolspan.json"])
    );
    assert_snapshot!(all);
}

#[test]
fn each_bad_entry_is_told_whole_and_the_other_server_works() {
    let mut all = String::new();
    for entry in [
        r#"{"command": "x", "transport": "carrier"}"#,
        "{}",
        r#"{"command": "x", "url": "https://example.com/mcp"}"#,
        r#"{"command": "/usr"}"#,
        r#"{"command": "npx -y a-server"}"#,
        r#"{"command": "x", "cwd": 5}"#,
        r#"{"comand": "x"}"#,
    ] {
        let cli = Cli::bare();
        let good = demo_server();
        cli.write(
            "toolspan.json",
            &format!("{{\"mcpServers\": {{\n  \"bad\": {entry},\n  \"good\": {good}\n}}}}"),
        );
        let works = cli.run(&["call", "good__echo", "text=works"]);
        assert_eq!(
            (works.code, &*works.stdout),
            (Some(0), "works\n"),
            "{works}"
        );
        all += &format!("# {entry}\n{}\n", cli.run(&["call", "bad__echo"]));
    }
    assert_snapshot!(all);
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

/// The bad entries of remote servers, as a user sees them.
#[test]
fn each_bad_entry_of_a_remote_server_is_told_whole() {
    let mut all = String::new();
    for entry in [
        r#"{"url": "https://me:hunter2-secret@example.com/mcp"}"#,
        r#"{"url": "example.com/mcp"}"#,
        r#"{"url": "ws://example.com/mcp"}"#,
        r#"{"url": "https://example.com/mcp", "transport": "ws2"}"#,
        r#"{"url": "https://example.com/mcp", "transport": "htpp"}"#,
        r#"{"url": "https://example.com/mcp", "command": "x"}"#,
        r#"{"url": "https://example.com/mcp", "auth": "oauth"}"#,
        r#"{"url": "https://example.com/mcp", "headers": {"Host": "evil.test"}}"#,
        r#"{"url": "https://example.com/mcp", "headers": {"X-Key": "hunter2-secret\nHost: evil"}}"#,
        r#"{"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${NOT_SET}"}}"#,
        r#"{"url": "https://example.com/mcp", "headers": {"Authorization": "${input:token}"}}"#,
        r#"{"url": "https://example.com/mcp", "tls": {"ca": "missing.pem"}}"#,
        r#"{"url": "http://example.com/mcp", "header": {"A": "b"}}"#,
    ] {
        let cli = Cli::bare();
        let good = demo_server();
        cli.write(
            "toolspan.json",
            &format!("{{\"mcpServers\": {{\n  \"bad\": {entry},\n  \"good\": {good}\n}}}}"),
        );
        let works = cli.run(&["call", "good__echo", "text=works"]);
        assert_eq!(
            (works.code, &*works.stdout),
            (Some(0), "works\n"),
            "{works}"
        );
        let checked = cli.run(&["config", "check"]);
        assert!(!checked.to_string().contains("hunter2"), "{checked}");
        all += &format!("# {entry}\n{checked}\n");
    }
    assert_snapshot!(all);
}

#[test]
fn what_is_worth_knowing_is_said_by_check_alone() {
    let mut demo = demo_server();
    demo["autoApprove"] = json!(["echo"]);
    let open = json!({"command": "npx", "args": ["-y", "some-server"], "disabled": true});
    let cli = Cli::with_servers(json!({"demo": demo, "open": open}));
    assert_snapshot!(cli.run(&["config", "check"]));
    assert_eq!(cli.run(&["call", "demo__echo", "text=hi"]).stderr, "");
    let report = cli.run(&["config", "check", "--json"]).json();
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(2));
}
