//! Does a bad entry disable its own toolbox alone, and say where and why?

use std::fmt::Write as _;

use crate::config_case::{Case, resolved, server};

/// What is said about one server, given as the text of its entry.
fn said(entry: &str) -> String {
    let content = format!("{{\"mcpServers\": {{\n  \"x\": {entry}\n}}}}");
    Case::new(content, &[("SET", "value"), ("PATH", "/nowhere")]).report()
}

fn all_said(entries: &[&str]) -> String {
    let mut all = String::new();
    for entry in entries {
        writeln!(all, "# {entry}\n{}", said(entry)).expect("a string");
    }
    all
}

/// C2.
#[test]
fn command_with_url_and_neither_of_them_name_both_key_paths() {
    let all = all_said(&[
        r#"{"command": "a", "url": "https://example.com/mcp"}"#,
        "{}",
        r#"{"comand": "a"}"#,
        r#"{"command": null}"#,
        r#"{"url": "https://example.com/mcp"}"#,
        r#"{"url": "https://example.com/mcp", "type": "http", "headers": {"a": "b"}}"#,
        r#"{"transport": "stdio"}"#,
    ]);
    insta::assert_snapshot!(all);
}

/// C3.
#[test]
fn unknown_keys_and_transports_are_named_with_the_nearest_known() {
    let all = all_said(&[
        r#"{"command": "a", "agrs": []}"#,
        r#"{"command": "a", "nonsense": {"b": 1}}"#,
        r#"{"command": "a", "inheritEnv": "all", "\u001b[2J\u202e": 1, "": 1}"#,
        r#"{"command": "a", "autoApprove": ["b"], "alwaysAllow": [], "description": "c", "icon": 1}"#,
        r#"{"command": "a", "timeoutMs": 5, "excludeTools": ["b"], "workingDirectory": "/"}"#,
        r#"{"command": "a", "trust": "annotations", "headers": {}}"#,
        r#"{"command": "a", "transport": "ws2"}"#,
        r#"{"command": "a", "transport": "carrier pigeon"}"#,
        r#"{"command": "a", "transport": "STDIO"}"#,
        r#"{"command": "a", "transport": "streamable-http"}"#,
        r#"{"command": "a", "transport": "shttp"}"#,
        r#"{"command": "a", "transport": "sse"}"#,
        r#"{"command": "a", "transport": 1}"#,
        r#"{"command": "a", "transport": "stdio", "type": "sse"}"#,
        r#"{"command": "a", "transport": "stdio", "type": "stdio"}"#,
        r#"{"command": "a", "type": null}"#,
    ]);
    insta::assert_snapshot!(all);
}

/// C7 and the other slips with `command`. The text of the command is not repeated.
#[test]
fn a_command_that_is_no_program_is_refused_with_a_hint() {
    let all = all_said(&[
        r#"{"command": "npx -y pkg; rm -rf ~"}"#,
        r#"{"command": "/bin/echo hello"}"#,
        r#"{"command": ["npx", "-y", "pkg"]}"#,
        r#"{"command": ""}"#,
        r#"{"command": " \t"}"#,
        r#"{"command": 5}"#,
        r#"{"command": "a\u0000b"}"#,
        r#"{"command": "${SET}"}"#,
        r#"{"command": "a", "args": "b"}"#,
        r#"{"command": "a", "args": ["b", 3]}"#,
        r#"{"command": "a", "args": ["b", "c\u0000"]}"#,
        r#"{"command": "a", "args": [null]}"#,
        r#"{"command": "a", "cwd": ""}"#,
        r#"{"command": "a", "cwd": 1}"#,
    ]);
    insta::assert_snapshot!(all);
}

#[test]
fn a_program_with_a_space_in_its_name_is_taken_where_there_is_one() {
    let case = Case::empty(&[]);
    let program = case.folder().join("my tool");
    std::fs::write(&program, "").unwrap();
    let folder = case.folder().to_str().expect("a plain path");
    for command in [program.to_str().expect("a plain path"), "my tool"] {
        let content = serde_json::json!({"mcpServers": {"x": {"command": command}}});
        let found = Case::new(content.to_string(), &[("PATH", folder)])
            .read()
            .unwrap();
        assert_eq!(server(&found.toolboxes[0]).command, command);
    }
}

/// C9.
#[test]
fn a_variable_that_cannot_be_set_is_named_without_its_value() {
    let all = all_said(&[
        r#"{"command": "a", "env": {"PATH": 1}}"#,
        r#"{"command": "a", "env": {"A": true}}"#,
        r#"{"command": "a", "env": {"A": null}}"#,
        r#"{"command": "a", "env": {"A=B": "x"}}"#,
        r#"{"command": "a", "env": {"TOKEN=hunter2": "x"}}"#,
        r#"{"command": "a", "env": {"": "x"}}"#,
        r#"{"command": "a", "env": {"A\u0000": "x"}}"#,
        r#"{"command": "a", "env": {"A": "x\u0000"}}"#,
        r#"{"command": "a", "env": {"TOOLSPAN_COOKIE": "x"}}"#,
        r#"{"command": "a", "env": ["A=b"]}"#,
        r#"{"command": "a", "inherit_env": "some"}"#,
        r#"{"command": "a", "inherit_env": "save"}"#,
        r#"{"command": "a", "inherit_env": true}"#,
        r#"{"command": "a", "inherit_env": ["A", "B=C"]}"#,
    ]);
    insta::assert_snapshot!(all);
}

/// C10.
#[test]
fn a_text_that_cannot_be_filled_in_names_the_variable() {
    let all = all_said(&[
        r#"{"command": "a", "args": ["ok", "${MISSING}"]}"#,
        r#"{"command": "a", "env": {"A": "${env:MISSING}"}}"#,
        r#"{"command": "a", "cwd": "${MISSING}/b"}"#,
        r#"{"command": "a", "args": ["${"]}"#,
        r#"{"command": "a", "args": ["${SET"]}"#,
        r#"{"command": "a", "args": ["${}"]}"#,
        r#"{"command": "a", "args": ["${input:key}"]}"#,
        r#"{"command": "a", "args": ["${A:-${SET}}"]}"#,
        r#"{"command": "a", "args": ["$${MISSING} ${SET} ${MISSING:-b}"]}"#,
    ]);
    insta::assert_snapshot!(all);
}

/// C10.
#[test]
fn a_text_that_grows_over_a_mebibyte_is_refused() {
    let entry = format!(
        r#"{{"mcpServers": {{"x": {{"command": "a", "args": ["{}"]}}}}}}"#,
        "${A}".repeat(10_000)
    );
    let report = Case::new(entry, &[("A", &"y".repeat(200))]).report();
    assert!(
        report.contains("mcpServers.x.args[0]: the text is larger than 1 MiB"),
        "{report}"
    );
}

/// C10 and C9 the other way round: what is right ends up in the server, once filled in.
#[test]
fn variables_are_filled_in_once() {
    let content = r#"{"mcpServers": {"x": {"command": "a", "args": ["${A}", "$$A", "${NO:-d}"],
        "env": {"Z": "${env:A}", "Y": "plain"}, "inherit_env": ["HOME"]}}}"#;
    let read = Case::new(content, &[("A", "${B}"), ("B", "b")])
        .read()
        .unwrap();
    let server = server(&read.toolboxes[0]);
    assert_eq!(server.args, ["${B}", "$A", "d"]);
    let expected = [("Z", "${B}"), ("Y", "plain")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(server.env, expected);
    assert_eq!(
        server.inherit_env,
        toolspan::config::InheritEnv::Names(vec!["HOME".into()])
    );
}

/// C11.
#[test]
fn a_time_or_a_limit_that_means_nothing_is_refused() {
    let all = all_said(&[
        r#"{"command": "a", "timeout": 0}"#,
        r#"{"command": "a", "timeout": -1}"#,
        r#"{"command": "a", "timeout": 1e309}"#,
        r#"{"command": "a", "timeout": "30"}"#,
        r#"{"command": "a", "timeout": null}"#,
        r#"{"command": "a", "timeout": 1000000000000}"#,
        r#"{"command": "a", "timeout": 86400}"#,
        r#"{"command": "a", "timeout": 86400.5}"#,
        r#"{"command": "a", "timeout": 1e-9}"#,
        r#"{"command": "a", "timeout": "soon"}"#,
        r#"{"command": "a", "timeout": "inf"}"#,
        r#"{"command": "a", "timeout": true}"#,
        r#"{"command": "a", "timeouts": {"total": 0}}"#,
        r#"{"command": "a", "timeouts": {"conect": 5, "idle": 1}}"#,
        r#"{"command": "a", "timeouts": 5}"#,
        r#"{"command": "a", "limits": {"tools": 0}}"#,
        r#"{"command": "a", "limits": {"tools": 1.5}}"#,
        r#"{"command": "a", "limits": {"json_depth": 5000}}"#,
        r#"{"command": "a", "limits": {"in_flight_total": 5, "output": 5}}"#,
        r#"{"command": "a", "limits": {"concurrency": 2}}"#,
        r#"{"command": "a", "max_in_flight": 1e7}"#,
        r#"{"command": "a", "max_in_flight": "64"}"#,
    ]);
    insta::assert_snapshot!(all);
}

#[test]
fn other_values_of_the_wrong_type_are_refused() {
    let all = all_said(&[
        "null",
        "\"uvx mcp-server-time\"",
        "[]",
        r#"{"command": "a", "disabled": "yes"}"#,
        r#"{"command": "a", "disabled": true, "enabled": true}"#,
        r#"{"command": "a", "required": 1}"#,
        r#"{"command": "a", "prefix": 1}"#,
        r#"{"command": "a", "prefix": "a b"}"#,
        r#"{"command": "a", "prefix": ""}"#,
        r#"{"command": "a", "prefix": "ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"}"#,
        r#"{"command": "a", "tools": "get_*"}"#,
        r#"{"command": "a", "tools": {"include": "get_*"}}"#,
        r#"{"command": "a", "tools": {"include": ["ok", "[a"]}}"#,
        r#"{"command": "a", "tools": {"exclude": ["{a"]}}"#,
        r#"{"command": "a", "tools": {"exclude": [""]}}"#,
        r#"{"command": "a", "tools": {"include": [], "exlude": []}}"#,
    ]);
    insta::assert_snapshot!(all);
}

/// C13.
#[test]
fn a_key_that_cannot_stand_in_a_name_is_reported_or_refused() {
    let mut all = String::new();
    let long = "k".repeat(201);
    for key in [
        "a__b",
        "my server.v2",
        "a/b",
        "🦀",
        "\u{202e}abc",
        "",
        "native",
        &long,
    ] {
        let content = serde_json::json!({"mcpServers": {key: {"command": "a"}}}).to_string();
        writeln!(all, "{}", Case::new(content, &[]).report()).expect("a string");
    }
    insta::assert_snapshot!(all);
    assert!(
        resolved(
            &serde_json::json!({"mcpServers": {"k".repeat(200): {"command": "a"}}}).to_string()
        )
        .problems()
        .next()
        .is_none()
    );
}

#[test]
fn one_bad_entry_leaves_the_others_and_its_own_flags_as_they_are() {
    let read = resolved(
        r#"{"mcpServers": {
            "a": {"command": "a"},
            "b": {"command": 1, "required": true, "prefix": "p", "timeout": 7},
            "c": {"command": 1, "disabled": true},
            "d": {"command": "d", "enabled": false}}}"#,
    );
    let toolboxes = &read.toolboxes;
    let keys: Vec<&str> = toolboxes
        .iter()
        .map(|toolbox| toolbox.key.as_str())
        .collect();
    assert_eq!(keys, ["a", "b", "c", "d"]);
    let good: Vec<bool> = toolboxes
        .iter()
        .map(|toolbox| toolbox.transport.is_ok())
        .collect();
    assert_eq!(good, [true, false, false, true]);
    assert!(toolboxes[1].required && toolboxes[2].disabled && toolboxes[3].disabled);
    assert_eq!(toolboxes[1].prefix.as_deref(), Some("p"));
    assert_eq!(toolboxes[1].timeouts.total.as_secs(), 7);
    // A disabled one is left out of what a check fails on.
    assert_eq!(read.problems().count(), 1);
}
