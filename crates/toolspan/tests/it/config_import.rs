//! What becomes of the servers that other programs have in their configs?

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use toolspan::config::import::{App, Import};
use toolspan::config::{Environment, Resolved};

/// The user's folder and current directory in these tests; nothing is read from it.
const HOME: &str = "/home/me";

pub(crate) fn environment() -> Environment {
    let variables = [
        ("HOME", HOME),
        ("TOOLS", "/opt/tools"),
        ("GITHUB_TOKEN", "ghp_of-the-environment"),
        ("API_KEY", "of-the-environment"),
        ("TENANT", "t"),
        ("REGION", "r"),
    ];
    Environment::from_pairs(variables).with_current_dir("/now")
}

/// A text of each program that has everything its documentation names.
pub(crate) fn sample(app: App) -> &'static str {
    match app {
        App::ClaudeDesktop => {
            r#"{"globalShortcut": "", "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "server-filesystem", "/home/me", "${A}"]},
                "remote": {"command": "npx", "args": ["mcp-remote", "https://example.com/mcp",
                    "--header", "Authorization:${AUTH_HEADER}"],
                    "env": {"AUTH_HEADER": "Bearer planted-secret-1"}},
                "off": {"command": "uvx", "args": ["x"], "disabled": true, "timeout": 45000}}}"#
        }
        App::ClaudeCode => {
            r#"{"numStartups": 4, "mcpServers": {
                "github": {"type": "http", "url": "https://example.com/mcp",
                    "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}, "timeout": 120000,
                    "headersHelper": "/opt/headers.sh", "oauth": {"clientId": "me", "callbackPort": 8080}},
                "files": {"type": "stdio", "command": "npx", "args": ["server", "${TENANT:-none}"], "env": {}}},
              "projects": {
                "/projects/one": {"allowedTools": [], "mcpServers": {
                    "db": {"command": "uvx", "args": ["db"], "env": {"DB_PASSWORD": "planted-secret-2"}},
                    "files": {"command": "npx", "args": ["other"]}}},
                "/projects/two": {"mcpServers": {
                    "old": {"type": "sse", "url": "https://example.com/sse", "timeout": 500}}},
                "/projects/none": {}}}"#
        }
        App::Cursor => {
            r#"{"mcpServers": {
                "a": {"command": "${env:TOOLS}/bin/a", "args": ["${workspaceFolder}", "--key=${env:API_KEY}"],
                      "envFile": "${userHome}/.env"},
                "b": {"url": "https://example.com/mcp?api_key=planted-secret-3",
                      "headers": {"X-API-Key": "${env:API_KEY}"}}}}"#
        }
        App::VsCode => {
            r#"{
                // from the documentation
                "inputs": [{"type": "promptString", "id": "token", "description": "The token",
                            "password": true}],
                "servers": {
                  "api": {"type": "http", "url": "https://example.com/mcp",
                          "headers": {"Authorization": "Bearer ${input:token}"},
                          "oauth": {"clientId": "me"}},
                  "local": {"type": "stdio", "command": "node", "args": ["server.js", "${command:pick}"],
                            "env": {"PORT": 3000, "DEBUG": true, "UNSET": null}, "cwd": "sub",
                            "envFile": "${workspaceFolder}/.env", "dev": {"watch": "*.js"},
                            "timeout": 1500, },
                },
              }"#
        }
        App::Gemini => {
            r#"{"theme": "x", "mcp": {"excluded": ["sse"]}, "mcpServers": {
                "py": {"command": "python", "args": ["-m", "s", "$TENANT", "${OWN}"], "cwd": "./py",
                       "env": {"API_KEY": "$API_KEY", "OWN": "5", "X_TOKEN": "planted-secret-4"},
                       "timeout": 30000, "trust": true, "includeTools": ["a", "b*"],
                       "excludeTools": ["c"]},
                "web": {"httpUrl": "https://example.com/${TENANT}/mcp", "url": "https://old.example.com",
                        "headers": {"Authorization": "Bearer $GITHUB_TOKEN"}, "timeout": 5500},
                "sse": {"url": "https://example.com/sse"}}}"#
        }
        App::Codex => {
            r#"
                model = "x"
                [mcp_servers.zeta]
                command = "npx"
                args = ["-y", "zeta", "${LITERAL}"]
                env = { A = "$B", ZETA_KEY = "planted-secret-5" }
                env_vars = ["TENANT", { name = "REGION", source = "local" }, { name = "X", source = "remote" }]
                startup_timeout_ms = 20500
                tool_timeout_sec = 90
                enabled_tools = ["one", "two"]
                disabled_tools = ["two"]
                cwd = "/srv"
                supports_parallel_tool_calls = true
                [mcp_servers.zeta.tools.one]
                approval_mode = "approve"
                [mcp_servers.alpha]
                url = "https://example.com/mcp"
                bearer_token_env_var = "GITHUB_TOKEN"
                http_headers = { X-Static = "$1", X-Secret = "planted-secret-6" }
                env_http_headers = { X-Region = "REGION" }
                startup_timeout_sec = 3.5
                enabled = false
                required = true
                scopes = ["read"]
                oauth = { client_id = "me" }
                oauth_resource = "https://example.com"
            "#
        }
        _ => {
            r#"{"mcpServers": {
                "a": {"serverUrl": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:API_KEY}"},
                      "disabledTools": ["drop_table"], "alwaysAllow": ["x"]},
                "b": {"command": "npx", "args": ["b"], "disabled": true}}}"#
        }
    }
}

pub(crate) fn imported(app: App) -> Import {
    let files = app.files(toolspan::config::import::Platform::HERE, &environment());
    Import::from_text(app, sample(app), &files[0], &environment()).unwrap()
}

/// An import for people: what it adds, secrets hidden, and its notes.
fn shown(import: &Import) -> String {
    let mut text = format!("{:#}\n", import.shown());
    for note in &import.notes {
        writeln!(text, "note: {note}").unwrap();
    }
    text
}

#[test]
fn each_program_keeps_what_its_servers_mean() {
    let mut all = String::new();
    for app in App::ALL {
        writeln!(all, "# {app}\n{}", shown(&imported(app))).unwrap();
    }
    assert!(!all.contains("planted-secret"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn our_own_reader_takes_the_servers_of_each_program_without_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env"), "A=b").unwrap();
    let home = folder.path().to_str().unwrap();
    let mut variables = environment().variables().as_ref().clone();
    variables
        .extend([("HOME", home), ("TOOLSPAN_INPUT_TOKEN", "t")].map(|(k, v)| (k.into(), v.into())));
    let environment = Environment::from_pairs(variables).with_current_dir(home);
    for app in App::ALL {
        let import = imported(app);
        let config = json!({"inputs": import.inputs, "mcpServers": import.servers});
        let resolved = Resolved::from_value(&config, &environment).unwrap();
        let problems: Vec<String> = resolved.problems().map(ToString::to_string).collect();
        assert_eq!(problems, [""; 0], "{app}");
        assert_eq!(resolved.toolboxes.len(), import.servers.len(), "{app}");
    }
}

#[test]
fn a_debug_form_has_no_secret() {
    for app in App::ALL {
        let text = format!("{:?}", imported(app));
        assert!(!text.contains("planted-secret"), "{text}");
    }
}

#[test]
fn servers_of_a_project_start_in_its_folder_and_find_their_files_there() {
    let of = |app: App, file: &str, text: &str| {
        Import::from_text(app, text, Path::new(file), &environment()).unwrap()
    };
    let mut all = shown(&of(App::VsCode, "/p/.vscode/mcp.json", sample(App::VsCode)));
    let text = r#"{"mcpServers": {"a": {"command": "a", "args": ["${workspaceFolderBasename}"]}}}"#;
    all += &shown(&of(App::Cursor, "/p/$q/.cursor/mcp.json", text));
    all += &shown(&of(App::ClaudeCode, "/p/.mcp.json", text));
    insta::assert_snapshot!(all);
}

#[test]
fn a_program_that_is_a_relative_path_is_still_found_or_remarked() {
    let text = r#"{"mcpServers": {"a": {"command": "./bin/server"}, "b": {"command": "server"}}}"#;
    let of =
        |file: &str| Import::from_text(App::Cursor, text, Path::new(file), &environment()).unwrap();
    let project = of("/p/.cursor/mcp.json");
    assert_eq!(project.servers["a"]["command"], "/p/bin/server");
    assert_eq!(project.servers["b"]["command"], "server");
    let elsewhere = of("/x/mcp.json");
    assert_eq!(elsewhere.servers["a"]["command"], "./bin/server");
    let notes: Vec<String> = elsewhere.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes
            .concat()
            .contains("\"command\" starts from the config's folder"),
        "{notes:?}"
    );
}

#[test]
fn an_old_settings_file_of_vscode_has_its_servers_under_mcp() {
    let text =
        r#"{"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "a"}}, "inputs": []}}"#;
    let file = Path::new("settings.json");
    let import = Import::from_text(App::VsCode, text, file, &environment()).unwrap();
    assert_eq!(import.servers["a"], json!({"command": "a"}));
}

#[test]
fn a_program_with_two_files_gives_the_servers_of_both_and_the_first_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let user = folder.path().join("Code/User");
    std::fs::create_dir_all(&user).unwrap();
    let home = folder.path().to_str().unwrap();
    let environment = Environment::from_pairs([("HOME", home), ("XDG_CONFIG_HOME", home)]);
    std::fs::write(
        user.join("mcp.json"),
        r#"{"servers": {"a": {"command": "new"}, "same": {"command": "s"}}}"#,
    )
    .unwrap();
    std::fs::write(
        user.join("settings.json"),
        r#"{"mcp": {"servers": {"a": {"command": "old"}, "same": {"command": "s"}, "b": {"command": "b"}}}}"#,
    )
    .unwrap();
    let import = Import::read(App::VsCode, None, &environment).unwrap();
    assert_eq!(import.files.len(), 2);
    assert_eq!(
        Value::Object(import.servers),
        json!({"a": {"command": "new"}, "same": {"command": "s"}, "b": {"command": "b"}})
    );
    let notes: Vec<String> = import.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["a: another one with this key, of a later file, is left out"]
    );
}

#[test]
fn a_timeout_that_means_nothing_is_left_out_with_a_note() {
    let mut all = String::new();
    for (app, timeout) in [
        (App::Gemini, "0"),
        (App::Gemini, "-5"),
        (App::Gemini, "\"2500\""),
        (App::Gemini, "3600000"),
        (App::Gemini, "7200000"),
        (App::Gemini, "1e300"),
        (App::ClaudeCode, "999"),
        (App::ClaudeCode, "1000"),
        (App::Cursor, "60"),
        (App::Cursor, "60000"),
    ] {
        let text =
            format!(r#"{{"mcpServers": {{"a": {{"command": "a", "timeout": {timeout}}}}}}}"#);
        let import = Import::from_text(app, &text, Path::new("x"), &environment()).unwrap();
        let entry = &import.servers["a"];
        let notes: Vec<&str> = import.notes.iter().map(|note| &*note.message).collect();
        writeln!(all, "{app} {timeout}: {entry} {}", notes.join("; ")).unwrap();
        let config = json!({"mcpServers": import.servers});
        let resolved = Resolved::from_value(&config, &environment()).unwrap();
        assert_eq!(resolved.problems().count(), 0, "{app} {timeout}");
        assert_eq!(resolved.warnings, [], "{app} {timeout}");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_cannot_be_taken_over_is_an_error_with_its_place() {
    let mut all = String::new();
    let mut add = |app: App, text: &str| {
        let error = Import::from_text(app, text, Path::new("theirs"), &environment());
        let error = error.expect_err(text);
        let hint = error.hint().map(|hint| format!("\n  hint: {hint}"));
        assert!(!error.to_string().contains("planted"), "{error}");
        let start: String = text.chars().take(60).collect();
        writeln!(
            all,
            "{app} {start:?}\n  {} {error}{}",
            error.kind(),
            hint.unwrap_or_default()
        )
        .unwrap();
    };
    for text in [
        "",
        "// nothing",
        "null",
        "[]",
        "{}",
        "{\"mcpServers\": {}}",
        "{\"mcpServers\": []}",
        "{\n  \"mcpServers\": {\"a\": {\"command\": \"planted-secret\" \"b\"}}\n}",
        "{\"mcpServers\": {\"a\": {}, \"a\": {}}}",
    ] {
        add(App::Cursor, text);
    }
    add(App::Cursor, &format!("{{\"a\": {}", "[".repeat(100)));
    add(
        App::ClaudeCode,
        r#"{"projects": {"/p": {"mcpServers": 5}}}"#,
    );
    add(App::VsCode, r#"{"mcp": {"servers": 5}}"#);
    add(App::VsCode, "{\"editor.tabSize\": 2}");
    add(App::Codex, "model = \"x\"");
    add(
        App::Codex,
        "[mcp_servers.a]\ncommand = \"planted-secret\nargs = []",
    );
    add(
        App::Codex,
        "[mcp_servers.a]\nurl = 'x'\nurl = 'planted-secret'",
    );
    add(App::Codex, "mcp_servers = 5");
    add(App::Codex, &format!("a = {}", "[".repeat(1_000)));
    add(App::Codex, &" ".repeat((32 << 20) + 1));
    add(App::Gemini, &" ".repeat((32 << 20) + 1));
    insta::assert_snapshot!(all);
}

#[test]
fn a_program_that_is_not_there_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap();
    let mut all = String::new();
    for app in App::ALL {
        for environment in [
            Environment::from_pairs([("HOME", home)]),
            Environment::default(),
        ] {
            let error = Import::read(app, None, &environment).unwrap_err();
            let text = error.to_string().replace(home, "[HOME]");
            writeln!(all, "{text}; {}", error.hint().unwrap_or_default()).unwrap();
        }
    }
    let missing = Path::new("no/such.json");
    let error = Import::read(App::Cursor, Some(missing), &Environment::default()).unwrap_err();
    writeln!(all, "{error}").unwrap();
    insta::assert_snapshot!(all);
}

#[test]
fn an_entry_that_is_no_object_is_left_out_alone() {
    let text = r#"{"mcpServers": {"a": "npx a", "b": {"command": "b"}}}"#;
    let import = Import::from_text(App::Cursor, text, Path::new("x"), &environment()).unwrap();
    let keys: Vec<&String> = import.servers.keys().collect();
    assert_eq!(keys, ["b"]);
    assert_eq!(
        import.notes[0].to_string(),
        "a: left out: its entry is no object"
    );
}
