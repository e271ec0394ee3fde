//! Does a good config end up as what it says, and is what stands at its top checked?

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use toolspan::config::schema;

use crate::config_case::{Case, report, resolved, server};

/// What is documented, as far as this version supports it.
const EXAMPLE: &str = r#"{
  "$schema": "https://example.com/toolspan.schema.json",
  "mcpServers": {                                    // as in other hosts
    "time":  {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "${TZ:-UTC}"}, "cwd": ".", "inherit_env": "safe"},
    "old":   {"command": "old-server", "transport": "stdio", "required": true, "disabled": false,
              "timeouts": {"connect": 30, "idle": 60, "total": 300}, "tools": {"include": ["get_*"], "exclude": ["*_delete"]},
              "max_in_flight": 64}
  },
  "tools":   [{"name": "terminal", "params": {"working_dir": "."}}, {"name": "file_editor"}],
  "timeouts": {"list": 10},
  "limits":  {"output_chars": 20000}
}"#;

#[test]
fn the_documented_example_means_what_it_says() {
    let read = resolved(EXAMPLE);
    assert_eq!(report(&Ok(read.clone())), "fine, 2 toolboxes\n");
    let [time, old] = &read.toolboxes[..] else {
        panic!("two toolboxes")
    };
    assert_eq!(server(time).env, [("TZ".to_owned(), "UTC".to_owned())]);
    assert_eq!(time.timeouts.list, Duration::from_secs(10));
    assert_eq!(time.limits.output_chars, 20_000);
    assert_eq!(old.timeouts.list, Duration::from_secs(10));
    assert_eq!(old.timeouts.total, Duration::from_secs(300));
    assert_eq!(
        (old.limits.max_in_flight, read.limits.max_in_flight),
        (64, 256)
    );
    assert!(old.required && !old.disabled);
    assert!(old.filter.allows("get_time") && !old.filter.allows("set_time"));
    assert!(!old.filter.allows("get_delete") && time.filter.allows("anything/at all"));
    assert_eq!(read.tools[0].params["working_dir"], ".");
    assert!(read.tools[1].params.is_empty());
}

#[test]
fn timeout_sets_connect_and_total_and_raises_idle() {
    let read = resolved(
        r#"{"timeout": 20, "mcpServers": {
            "plain": {"command": "a"},
            "long": {"command": "a", "timeout": 300.5},
            "both": {"command": "a", "timeout": 300, "timeouts": {"idle": 10, "connect": 5}}}}"#,
    );
    let seconds = |index: usize| {
        let timeouts = &read.toolboxes[index].timeouts;
        [timeouts.connect, timeouts.total, timeouts.idle].map(|time| time.as_secs_f64())
    };
    assert_eq!(seconds(0), [20.0, 20.0, 60.0]);
    assert_eq!(seconds(1), [300.5, 300.5, 300.5]);
    assert_eq!(seconds(2), [5.0, 300.0, 10.0]);
    assert_eq!(read.timeouts.total, Duration::from_secs(20));
}

#[test]
fn each_limit_is_set_by_its_own_key() {
    let names: Vec<String> = keys_of(&schema()["properties"]["limits"]);
    assert_eq!(names.len(), 12);
    for name in names {
        let read = resolved(&json!({"limits": {&name: 7}}).to_string());
        let shown = read.to_json();
        let limits = shown["limits"].as_object().unwrap();
        let changed: Vec<&String> = limits
            .iter()
            .filter(|(_, v)| **v == 7)
            .map(|(k, _)| k)
            .collect();
        assert_eq!(changed, [&name]);
    }
    for name in keys_of(&schema()["properties"]["timeouts"]) {
        let shown = resolved(&json!({"timeouts": {&name: 7.25}}).to_string()).to_json();
        let timeouts = shown["timeouts"].as_object().unwrap();
        let changed: Vec<&String> = timeouts
            .iter()
            .filter(|(_, v)| **v == 7.25)
            .map(|(k, _)| k)
            .collect();
        assert_eq!(changed, [&name]);
    }
}

fn keys_of(schema: &Value) -> Vec<String> {
    schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect()
}

#[test]
fn what_is_wrong_at_the_top_is_an_error_or_a_warning() {
    let mut all = String::new();
    for content in [
        r#"{"mcpServers": []}"#,
        r#"{"mcpServers": null, "tools": null, "limits": null, "policy": null}"#,
        r#"{"policy": {"deny": ["*__drop_*"]}}"#,
        r#"{"policy": {}}"#,
        r#"{"policy": []}"#,
        r#"{"policy": {"denny": ["*"]}}"#,
        r#"{"polcy": {"deny": ["*"]}}"#,
        r#"{"policy": {"sandbox": true}}"#,
        r#"{"policy": {"deny": "*"}}"#,
        r#"{"policy": {"deny": ["a", 1]}}"#,
        r#"{"policy": {"allow": [""]}}"#,
        r#"{"policy": {"confirm": "risk"}}"#,
        r#"{"policy": {"confirm": true}}"#,
        r#"{"policy": {"threshold": "low"}}"#,
        r#"{"policy": {"confirm": "risky", "threshold": "unknown"}}"#,
        r#"{"policy": {"confirm": "risky", "confirm_unknown": "yes"}}"#,
        r#"{"policy": {"mode": "yolo"}}"#,
        r#"{"policy": {"annotations": {"a": {"readOnly": true}}}}"#,
        r#"{"policy": {"annotations": {"a": {"readOnlyHint": "yes"}}}}"#,
        r#"{"policy": {"approval_wait": -1}}"#,
        r#"{"repair": 1}"#,
        r#"{"utcp": {}, "openapi": {}, "repair": false}"#,
        r#"{"servers": {"a": {"command": "b"}}, "inputs": []}"#,
        r#"{"mcpservers": {"a": {"command": "b"}}}"#,
        r#"{"time": {"command": "uvx"}}"#,
        r#"{"limits": {"output_chars": "many"}}"#,
        r#"{"limits": {"output_char": 5}}"#,
        r#"{"timeouts": {"total": -5}}"#,
        r#"{"timeout": []}"#,
        r#"{"tools": {}}"#,
        r#"{"tools": ["terminal", {"name": "a", "parms": {}}, {"params": {}}, {"name": 1}]}"#,
        r#"{"tools": [{"name": ""}, {"name": "a", "params": []}, {"name": "a", "params": {"n": 1e999}}]}"#,
    ] {
        writeln!(all, "# {content}\n{}", Case::new(content, &[]).report()).expect("a string");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_broken_native_tool_leaves_the_others() {
    let read = resolved(r#"{"tools": [{"name": "a"}, {"nam": "b"}, {"name": "c"}]}"#);
    let names: Vec<&str> = read.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, read.broken_tools.len()), (vec!["a", "c"], 1));
}

#[test]
fn what_a_config_can_make_is_bounded() {
    let many = |count: usize| (0..count).map(|n| format!("s{n}")).collect::<Vec<_>>();
    let servers = |count| {
        let entries = many(count)
            .into_iter()
            .map(|key| (key, json!({"command": "a"})));
        json!({"mcpServers": entries.collect::<serde_json::Map<_, _>>()}).to_string()
    };
    assert_eq!(resolved(&servers(1_000)).toolboxes.len(), 1_000);
    let report = Case::new(servers(1_001), &[]).report();
    assert!(
        report.contains("mcpServers: there are more than 1000 entries"),
        "{report}"
    );
    let entry = |key: &str, value: Value| {
        let content = json!({"mcpServers": {"x": {"command": "a", key: value}}});
        Case::new(content.to_string(), &[]).report()
    };
    let variables = |count| {
        let members = many(count).into_iter().map(|name| (name, json!("")));
        Value::Object(members.collect())
    };
    assert_eq!(entry("args", json!(many(4_096))), "fine, 1 toolboxes\n");
    assert!(entry("args", json!(many(4_097))).contains("more than 4096 entries"));
    assert_eq!(entry("env", variables(1_024)), "fine, 1 toolboxes\n");
    assert!(entry("env", variables(1_025)).contains("more than 1024 entries"));
    let keys = many(500)
        .into_iter()
        .map(|key| (key, json!(1)))
        .collect::<serde_json::Map<_, _>>();
    let warnings = resolved(&Value::Object(keys).to_string()).warnings;
    assert_eq!(warnings.len(), 101);
    assert_eq!(
        warnings[100].to_string(),
        "toolspan.json: 400 more warnings are not shown"
    );
}

#[test]
fn a_list_of_patterns_is_what_to_include_and_case_matters() {
    let read = resolved(
        r#"{"mcpServers": {
            "list": {"command": "a", "tools": ["{get,list}_*", "x?[yz]"]},
            "none": {"command": "a", "tools": {"include": []}},
            "some": {"command": "a", "tools": {"exclude": ["a/*"]}}}}"#,
    );
    let allows = |index: usize, name| read.toolboxes[index].filter.allows(name);
    assert!(allows(0, "get_a") && allows(0, "list_") && allows(0, "x1z"));
    assert!(!allows(0, "GET_a") && !allows(0, "set_a") && !allows(0, "x1"));
    assert!(!allows(1, "anything"));
    assert!(allows(2, "b/c") && !allows(2, "a/b/c"));
}

/// A server that is told secrets in each way there is, and has a problem in each.
#[test]
fn secrets_appear_in_no_text() {
    const SECRETS: [&str; 9] = [
        "literal-1-secret",
        "variable-2-secret",
        "default-3-secret",
        "option-4-secret",
        "option-5-secret",
        "urlpass-6-secret",
        "param-7-secret",
        "in7",
        "inherit-8-secret",
    ];
    let content = |broken: &str| {
        format!(
            r#"{{"mcpServers": {{"x": {{"command": "a", "inherit_env": ["MY_PASSWORD"],
            "args": ["--header=Bearer ${{MY_TOKEN}}", "${{OTHER_TOKEN:-default-3-secret}}",
                     "--api-key", "option-4-secret", "--password=option-5-secret", "a=${{PIN_KEY}}"],
            "env": {{"API_KEY": "literal-1-secret", "DB": "postgres://me:urlpass-6-secret@host/db",
                     "ALSO": "x literal-1-secret y"}}{broken}}}}},
            "tools": [{{"name": "t", "params": {{"deep": [{{"token": "param-7-secret"}}]}}}}]}}"#
        )
    };
    let variables = [
        ("MY_TOKEN", "variable-2-secret"),
        ("PIN_KEY", "in7"),
        ("MY_PASSWORD", "inherit-8-secret"),
    ];
    let good = Case::new(content(""), &variables).read().unwrap();
    let known: Vec<&str> = server(&good.toolboxes[0])
        .secrets
        .iter()
        .map(|s| s.reveal())
        .collect();
    for secret in SECRETS.iter().filter(|secret| **secret != "param-7-secret") {
        assert!(known.contains(secret), "{secret} is not known as a secret");
    }
    let mut texts = vec![
        format!("{good:?}"),
        format!("{good:#?}"),
        good.to_json().to_string(),
    ];
    for broken in [
        r#", "url": "https://me:urlpass-6-secret@host""#,
        r#", "cwd": "${NOT_THERE}""#,
        r#", "transport": 1"#,
        r#", "timeout": "literal-1-secret""#,
    ] {
        let case = Case::new(content(broken), &variables);
        let read = case.read().unwrap();
        assert_eq!(read.problems().count(), 1);
        texts.extend([
            case.report(),
            format!("{read:?}"),
            read.to_json().to_string(),
        ]);
    }
    for text in &texts {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[test]
fn a_config_is_shown_with_defaults_filled_in_and_secrets_hidden() {
    let content = r#"{"mcpServers": {
        "time": {"command": "uvx", "args": ["s", "--token=${T_TOKEN}"], "env": {"TZ": "UTC", "KEY": "another-long-value"}},
        "bad": {"command": 1, "prefix": "b", "tools": ["a*"]}},
        "tools": [{"name": "t", "params": {"api_key": "k", "n": [1]}}]}"#;
    let read = Case::new(content, &[("T_TOKEN", "long-enough-value")])
        .read()
        .unwrap();
    insta::assert_json_snapshot!(read.to_json());
}

#[test]
fn the_schema_takes_what_is_read_and_refuses_what_is_not() {
    let validator = jsonschema::draft202012::new(&schema()).expect("a valid schema");
    assert!(jsonschema::meta::is_valid(&schema()));
    let whole = |server: Value| json!({"mcpServers": {"x": server}});
    let without_comment = EXAMPLE.replace("// as in other hosts", "");
    let good = [
        serde_json::from_str(&without_comment).unwrap(),
        json!(null),
        json!({}),
        whole(json!({"command": "a", "timeout": "30", "prefix": "", "autoApprove": ["b"]})),
        whole(json!({"command": "a", "tools": ["a*"], "inherit_env": ["HOME"], "enabled": false})),
        whole(json!({"command": "a", "args": null, "env": null, "tools": null, "type": null})),
        whole(json!({"command": "a", "url": null, "timeout": 600_000, "excludeTools": ["b"]})),
        whole(json!({"url": "https://example.com", "command": null, "type": "streamable-http"})),
        whole(json!({"serverUrl": "https://example.com", "headers": {"X-Key": "a"}, "auth": "b"})),
        whole(json!({"httpUrl": "http://[::1]:80", "tls": {"insecure": true}, "proxy": false})),
        json!({
            "servers": {"x": {"url": "https://example.com/${input:a}", "type": "sse"}},
            "inputs": [{"type": "pickString", "id": "a", "options": ["b"], "default": "b"}],
        }),
        json!({"mcp": {"allowed": ["x"], "excluded": null}}),
        json!({"policy": {
            "confirm": "risky", "threshold": "medium", "confirm_unknown": false, "mode": "strict",
            "allow": ["time__*"], "deny": ["*__drop_*"], "commands": ["cargo check*"],
            "annotations": {"fs.read*": {"readOnlyHint": true, "title": null}}, "approval_wait": 60,
        }, "repair": false}),
        whole(json!({"command": "a", "trust": "annotations"})),
        whole(
            json!({"command": "a", "tools": {"exclude": ["b"], "shape": {
                "search": {"name": "find", "description": "Finds", "hidden": {"region": "eu"},
                           "defaults": {"limit": 10}},
                "other": null,
            }}}),
        ),
        whole(json!({"command": "a", "trust": true})),
    ];
    let bad = [
        json!([]),
        json!({"mcpServers": []}),
        json!({"mcpServers": {"native": {"command": "a"}}}),
        json!({"policy": {"deny": "a"}}),
        json!({"policy": {"denny": ["a"]}}),
        json!({"policy": {"confirm": "maybe"}}),
        json!({"policy": {"allow": [" "]}}),
        json!({"policy": {"annotations": {"a*": {"readOnly": true}}}}),
        json!({"policy": {"approval_wait": 0}}),
        json!({"repair": "no"}),
        whole(json!({"command": "a", "trust": "fully"})),
        whole(json!({"command": "a", "tools": {"shape": []}})),
        whole(json!({"command": "a", "tools": {"shape": {"b": {"name": " "}}}})),
        whole(json!({"command": "a", "tools": {"shape": {"b": {"hiden": {}}}}})),
        whole(json!({"command": "a", "tools": {"shape": {"b": {"hidden": ["c"]}}}})),
        json!({"tools": [{"params": {}}]}),
        json!({"limits": {"tools": 0}}),
        json!({"timeouts": {"total": 86401}}),
        whole(json!({})),
        whole(json!({"command": ["a"]})),
        whole(json!({"command": "a", "env": {"A": 1}})),
        whole(json!({"command": "a", "env": {"A=B": "c"}})),
        whole(json!({"command": "a", "timeout": 0})),
        whole(json!({"command": "a", "inherit_env": "some"})),
        whole(json!({"command": "a", "transport": "sse"})),
        whole(json!({"command": "a", "url": "https://example.com"})),
        whole(json!({"url": "https://example.com", "transport": "stdio"})),
        whole(json!({"url": "https://example.com", "headers": {"a b": "c"}})),
        whole(json!({"url": "https://example.com", "auth": "oauth"})),
        whole(json!({"url": "https://example.com", "proxy": true})),
        json!({"servers": {"x": {}}}),
    ];
    let is_read = |config: &Value| {
        let read = Case::new(config.to_string(), &[]).read();
        read.is_ok_and(|read| read.problems().next().is_none())
    };
    for config in &good {
        assert!(validator.is_valid(config) && is_read(config), "{config}");
    }
    for config in &bad {
        assert!(!validator.is_valid(config) && !is_read(config), "{config}");
    }
}

/// The schema's keys are those that give no warning, for the top and for a server.
#[test]
fn the_schema_names_each_key_that_has_an_effect() {
    let schema = schema();
    let warned = |content: Value| !resolved(&content.to_string()).warnings.is_empty();
    for key in keys_of(&schema) {
        assert!(!warned(json!({&key: null})), "{key}");
    }
    for key in keys_of(&schema["$defs"]["server"]) {
        assert!(!warned(json!({"mcpServers": {"x": {&key: null}}})), "{key}");
    }
    for key in keys_of(&schema["$defs"]["tool"]) {
        assert!(!warned(json!({"tools": [{&key: null}]})), "{key}");
    }
    assert_eq!(keys_of(&schema["$defs"]["server"]).len(), 30);
    assert_eq!(keys_of(&schema).len(), 11);
}
