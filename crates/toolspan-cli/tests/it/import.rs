//! `config import`: what a person sees of it, and what is in the file afterwards.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::{Cli, Ran, demo_server};

/// The user's config, from the folder that is the home in these tests.
const USER: &str = ".config/toolspan/toolspan.json";

/// A home folder in which Cursor has these servers.
fn with_cursor(servers: &Value) -> Cli {
    let cli = Cli::bare();
    std::fs::create_dir(cli.path(".cursor")).expect("a new folder");
    let config = json!({"mcpServers": servers});
    cli.write(".cursor/mcp.json", &format!("{config:#}"));
    cli
}

fn read(cli: &Cli, name: &str) -> Value {
    let text = std::fs::read_to_string(cli.path(name)).expect("it was written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn servers_of_another_program_work_once_they_are_imported() {
    let cli = with_cursor(&json!({"demo": demo_server()}));
    assert_snapshot!(cli.run(&["config", "import", "cursor"]));
    let works = cli.run(&["call", "demo__echo", "text=works"]);
    assert_eq!(
        (works.code, &*works.stdout),
        (Some(0), "works\n"),
        "{works}"
    );
    assert_snapshot!(
        "a_second_import_adds_nothing",
        cli.run(&["config", "import", "cursor"])
    );
}

#[test]
fn a_new_config_and_its_folder_are_for_the_user_alone() {
    let cli = with_cursor(&json!({"a": {"command": "a"}}));
    cli.run(&["config", "import", "cursor"]);
    let mode = |name| cli.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(USER), mode(".config/toolspan")), (0o600, 0o700));
}

#[test]
fn a_dry_run_prints_what_would_be_added_and_writes_nothing() {
    let cli = with_cursor(&json!({
        "files": {"command": "npx", "args": ["files"], "env": {"API_TOKEN": "planted-secret-1"}},
        "docs": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer planted-secret-2"}},
    }));
    let ran = cli.run(&["config", "import", "cursor", "--dry-run"]);
    assert!(!cli.path(".config").exists());
    let fragment: Value = serde_json::from_str(&ran.stdout).expect("stdout is data");
    assert!(fragment["mcpServers"]["docs"].is_object());
    assert_snapshot!(ran);
}

#[test]
fn a_config_keeps_its_own_server_and_its_comments() {
    let cli = with_cursor(&json!({
        "mine": {"command": "theirs"}, "same": {"command": "s"}, "new": {"command": "n"},
    }));
    let config = "{\n  // mine\n  \"mcpServers\": {\n    \"mine\": {\"command\": \"m\"}, // keep\n    \
                  \"same\": {\"command\": \"s\"}\n  }\n}\n";
    cli.write("toolspan.json", config);
    let ran = cli.run(&["config", "import", "cursor"]);
    let text = std::fs::read_to_string(cli.path("toolspan.json")).unwrap();
    assert_snapshot!(format!("{ran}\n--- toolspan.json\n{text}"));
}

#[test]
fn the_config_to_write_can_be_named_by_to_and_by_config() {
    let cli = with_cursor(&json!({"a": {"command": "a"}}));
    for (arguments, file) in [
        (&["--to", "to.json", "-c", "other.json"][..], "to.json"),
        (&["-c", "config.json"], "config.json"),
    ] {
        let ran = cli.run(&[&["config", "import", "cursor"][..], arguments].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_eq!(
            read(&cli, file),
            json!({"mcpServers": {"a": {"command": "a"}}})
        );
    }
    assert!(!cli.path("other.json").exists());
}

#[test]
fn a_file_of_a_project_is_imported_when_it_is_named() {
    let cli = Cli::bare();
    std::fs::create_dir_all(cli.path("project/.vscode")).unwrap();
    let servers =
        r#"{"servers": {"a": {"command": "a", "args": ["${workspaceFolder}"], "cwd": "b"}}}"#;
    cli.write("project/.vscode/mcp.json", servers);
    let named = [
        "config",
        "import",
        "vscode",
        "--from",
        "project/.vscode/mcp.json",
    ];
    assert_eq!(cli.run(&named).code, Some(0));
    let project = cli.path("project");
    let project = project.to_string_lossy();
    let entry = json!({"command": "a", "args": [project], "cwd": format!("{project}/b")});
    assert_eq!(read(&cli, USER)["mcpServers"]["a"], entry);
}

#[test]
fn as_json_there_is_one_object_with_everything() {
    let cli = with_cursor(&json!({
        "a": {"command": "a", "env": {"X_KEY": "planted-secret"}}, "b": {"command": "b"},
    }));
    cli.write(
        "toolspan.json",
        r#"{"mcpServers": {"b": {"command": "c"}}}"#,
    );
    let ran = cli.run(&["config", "import", "cursor", "--json"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert_snapshot!(format!("{:#}", ran.json()));
}

#[test]
fn what_cannot_be_imported_is_exit_2_with_its_whole_text() {
    let mut all = String::new();
    let mut add = |what: &str, ran: Ran| {
        assert_eq!(ran.code, Some(2), "{ran}");
        all += &format!("# {what}\n{ran}\n");
    };
    add(
        "not installed",
        Cli::bare().run(&["config", "import", "claude-code"]),
    );
    add(
        "two places",
        Cli::bare().run(&["config", "import", "vscode"]),
    );
    let missing = ["config", "import", "cursor", "--from", "missing.json"];
    add("a missing file", Cli::bare().run(&missing));
    for (what, text) in [
        ("broken JSON", "{\n  \"mcpServers\": {\"a\": }\n}"),
        ("a list", "[]"),
        ("no servers", "{\"theme\": \"dark\"}"),
    ] {
        let cli = with_cursor(&json!({}));
        cli.write(".cursor/mcp.json", text);
        add(what, cli.run(&["config", "import", "cursor"]));
    }
    let codex = Cli::bare();
    codex.write(
        "config.toml",
        "model = \"x\"\n[mcp_servers.a]\ncommand = uvx\n",
    );
    add(
        "broken TOML",
        codex.run(&["config", "import", "codex", "--from", "config.toml"]),
    );
    let target = with_cursor(&json!({"a": {"command": "a"}}));
    target.write("toolspan.json", "{\n  \"mcpServers\": [\n}");
    add(
        "a broken config",
        target.run(&["config", "import", "cursor"]),
    );
    add(
        "an unknown program",
        Cli::bare().run(&["config", "import", "emacs"]),
    );
    assert_snapshot!(all);
}

#[test]
fn no_secret_of_another_program_is_ever_printed() {
    let secret = |number: u32| format!("planted-secret-{number}");
    let servers = json!({
        "a": {"command": "npx", "args": ["--token", secret(1), format!("--api-key={}", secret(2)),
              "--header", format!("Authorization: Bearer {}", secret(3)),
              format!("postgres://me:{}@host/db", secret(4)), "-e", format!("MY_TOKEN={}", secret(5))],
              "env": {"A_TOKEN": secret(6), "PASSWORD": secret(7), "AUTH": format!("Bearer {}", secret(8)),
                      "DB": format!("mysql://u:{}@h", secret(9)), "X_SECRET": format!("${{NO:-{}}}", secret(10))}},
        "b": {"url": format!("https://me:{}@example.com/mcp?api_key={}&sig={}", secret(11), secret(12), secret(13)),
              "headers": {"Authorization": format!("Bearer {}", secret(14)), "Cookie": secret(15),
                          "X-Plain": secret(16)},
              "auth": {"CLIENT_ID": secret(17), "CLIENT_SECRET": secret(18)},
              "unknown": {"password": secret(19), "list": [{"api_key": secret(20)}]}},
    });
    let cli = with_cursor(&servers);
    for arguments in [
        &["--dry-run"][..],
        &["--dry-run", "--json"],
        &["--dry-run", "-vv", "--color", "always"],
        &["-vv", "--json"],
        &[],
    ] {
        let ran = cli.run(&[&["config", "import", "cursor"][..], arguments].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(!format!("{ran}").contains("planted"), "{arguments:?} {ran}");
    }
    cli.write("toolspan.json", "{\"mcpServers\": {,}}");
    let broken = cli.run(&["config", "import", "cursor", "--json"]);
    assert!(!format!("{broken}").contains("planted"), "{broken}");
    let written = read(&cli, USER).to_string();
    assert!(
        (1..=20).all(|number| written.contains(&secret(number))),
        "they are copied"
    );
}
