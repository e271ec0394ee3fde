//! What becomes of a config that the servers of another program are added to?

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolspan::config::import::{App, ChangeState, Import, target};
use toolspan::config::{Environment, Resolved};

use crate::config_import::{environment, imported};

/// A folder with a config that servers go into.
struct Target {
    folder: TempDir,
    environment: Environment,
}

impl Target {
    fn new(text: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            std::fs::write(folder.path().join("toolspan.json"), text).unwrap();
        }
        let environment = environment().with_current_dir(folder.path());
        Self {
            folder,
            environment,
        }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("toolspan.json")).unwrap()
    }

    /// Writes the import and gives what became of each server, and the notes.
    fn add(&self, import: &Import) -> String {
        let plan = import
            .plan(Path::new("toolspan.json"), &self.environment)
            .unwrap();
        plan.write(&self.environment).unwrap();
        let changes = plan.changes.iter().map(|change| {
            let state = change.state.as_str();
            format!("{} {state}", change.key)
        });
        let notes = plan.notes.iter().map(|note| format!("note: {note}"));
        changes.chain(notes).collect::<Vec<_>>().join("\n")
    }
}

/// An import of these servers, from Cursor.
fn of(servers: &Value) -> Import {
    let text = json!({"mcpServers": servers}).to_string();
    Import::from_text(App::Cursor, &text, Path::new("x"), &environment()).unwrap()
}

#[test]
fn a_config_keeps_its_comments_order_and_indentation() {
    let import = of(&json!({
        "new": {"command": "n", "args": ["\"quoted\" \\ \u{e9}\n", "y"], "env": {}},
        "time": {"command": "uvx", "args": ["mcp-server-time"]},
        "other": {"command": "changed"},
    }));
    let mut all = String::new();
    for text in [
        "{\n  // mine\n  \"mcpServers\": {\n    \"time\": {\"args\": [\"mcp-server-time\"], \"command\": \"uvx\"}, // here\n    /* two */ \"other\": {\"command\": \"o\"}\n  },\n  \"limits\": {\"tools\": 5} // last\n}\n// end\n",
        "{\"limits\":{\"tools\":5}}",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"other\": {\"command\": \"o\"}\r\n\t}\r\n}\r\n",
        "{\n    \"servers\": {\n        \"other\": {\"command\": \"o\"}\n    }\n}\n",
        "{\"other\": {\"command\": \"o\"}}",
        "{\"mcpServers\": null}",
        "// nothing yet\n",
        "{\"mcpServers\": {}, \"servers\": {\"other\": {\"command\": \"o\"}}}",
        "null",
        " \n",
    ] {
        let target = Target::new(Some(text));
        let changes = target.add(&import);
        let merged = target.text();
        writeln!(all, "# {text:?}\n{changes}\n{merged}").unwrap();
        assert_eq!(merged.contains('\r'), text.contains('\r'));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_second_import_changes_nothing() {
    for app in App::ALL {
        let target = Target::new(None);
        let import = imported(app);
        target.add(&import);
        let first = target.text();
        let plan = import
            .plan(Path::new("toolspan.json"), &target.environment)
            .unwrap();
        assert!(!plan.is_change());
        let is_there = |state| state == ChangeState::AlreadyThere;
        assert!(plan.changes.iter().all(|change| is_there(change.state)));
        plan.write(&target.environment).unwrap();
        assert_eq!(target.text(), first, "{app}");
    }
}

#[test]
fn what_was_written_is_what_was_imported_secrets_included() {
    for app in App::ALL {
        let target = Target::new(None);
        let import = imported(app);
        target.add(&import);
        let written: Value = serde_json::from_str(&target.text()).unwrap();
        assert_eq!(
            written["mcpServers"],
            Value::Object(import.servers),
            "{app}"
        );
    }
}

#[test]
fn inputs_go_beside_the_servers_once() {
    let text = r#"{"inputs": [{"id": "token", "type": "promptString"}], "mcpServers": {}}"#;
    let target = Target::new(Some(text));
    let notes = target.add(&imported(App::VsCode));
    assert!(
        notes.contains("note: the config has another input \"token\""),
        "{notes}"
    );
    let written: Value = serde_json::from_str(&target.text()).unwrap();
    assert_eq!(written["inputs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_server_that_needs_something_yet_is_named() {
    let import = of(&json!({
        "a": {"command": "a", "env": {"X": "${env:NOT_SET}"}},
        "b": {"command": "b"},
    }));
    assert_eq!(
        Target::new(None).add(&import),
        "a added\nb added\nnote: a: not usable yet: the variable NOT_SET is not set; set it, or write ${NOT_SET:-default}"
    );
}

#[test]
fn a_config_that_cannot_be_added_to_stays_as_it_is() {
    let mut all = String::new();
    for text in [
        "[]",
        "{\"mcpServers\": []}",
        "{\"mcpServers\": {,}}",
        "{\"a\": 1, \"a\": 2}",
    ] {
        let target = Target::new(Some(text));
        let planned = of(&json!({"a": {"command": "a"}}))
            .plan(Path::new("toolspan.json"), &target.environment);
        let error = planned.expect_err(text);
        writeln!(all, "{text}\n  {} {error}", error.kind()).unwrap();
        assert_eq!(target.text(), text);
    }
    let flat = r#"{"mine": {"command": "m"}}"#;
    let target = Target::new(Some(flat));
    let planned = imported(App::VsCode).plan(Path::new("toolspan.json"), &target.environment);
    let error = planned.expect_err("inputs have no place there");
    writeln!(
        all,
        "{flat}\n  {} {error}; {}",
        error.kind(),
        error.hint().unwrap()
    )
    .unwrap();
    insta::assert_snapshot!(all);
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let target = Target::new(None);
    std::fs::write(target.folder.path().join("file"), "mine").unwrap();
    let import = of(&json!({"a": {"command": "a"}}));
    let plan = import.plan(Path::new("file/toolspan.json"), &target.environment);
    let error = plan
        .and_then(|plan| plan.write(&target.environment))
        .unwrap_err();
    assert_eq!(error.kind(), toolspan::ErrorKind::Config, "{error}");
    assert_eq!(std::fs::read_dir(target.folder.path()).unwrap().count(), 1);
}

#[test]
fn the_config_to_write_is_the_one_that_would_be_read() {
    let environment = |pairs: &[(&str, &str)]| Environment::from_pairs(pairs.iter().copied());
    let of = |explicit: Option<&str>, pairs: &[(&str, &str)]| {
        let found = target(explicit.map(Path::new), &environment(pairs));
        found.map(|path| path.to_string_lossy().into_owned())
    };
    let home = ("HOME", "/h");
    assert_eq!(
        of(Some("a"), &[home, ("TOOLSPAN_CONFIG", "b")]).unwrap(),
        "a"
    );
    assert_eq!(of(None, &[home, ("TOOLSPAN_CONFIG", "b")]).unwrap(), "b");
    let user = of(None, &[home, ("TOOLSPAN_CONFIG", "")]).unwrap();
    assert_eq!(user, "/h/.config/toolspan/toolspan.json");
    assert!(of(None, &[]).unwrap_err().hint().is_some());
    assert!(of(Some(""), &[home]).is_err());
}

/// Keys that mean something to one of the programs.
const KEYS: [&str; 26] = [
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "type",
    "headers",
    "timeout",
    "trust",
    "disabled",
    "enabled",
    "includeTools",
    "excludeTools",
    "tools",
    "auth",
    "env_vars",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "startup_timeout_ms",
    "tool_timeout_sec",
    "enabled_tools",
    "odd",
];

/// A value of any type, with texts that have variables and secrets in them.
fn any_value() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let text = r"(\$|\{|\}|:-|env:|input:|A|TOKEN|=|https://u:p@h/\?|Bearer |é){0,6}";
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        let key = "[A-Za-z_-]{1,6}|api_key|name";
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn any_entry() -> impl proptest::strategy::Strategy<Value = Map<String, Value>> {
    use proptest::strategy::Strategy;
    let key = proptest::sample::select(&KEYS[..]);
    let owned = |(key, value): (&str, Value)| (key.to_owned(), value);
    proptest::collection::btree_map(key, any_value(), 0..8)
        .prop_map(move |entry| entry.into_iter().map(owned).collect())
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_stands_in_an_entry_becomes_a_config_that_can_be_read(entry in any_entry()) {
        for app in App::ALL {
            let servers = json!({"a": entry});
            let text = match app {
                App::Codex => match toml::to_string(&json!({"mcp_servers": servers})) {
                    Ok(text) => text,
                    // TOML has no null.
                    Err(_) => continue,
                },
                App::VsCode => json!({"servers": servers}).to_string(),
                _ => json!({"mcpServers": servers}).to_string(),
            };
            let import = Import::from_text(app, &text, Path::new("x"), &environment()).unwrap();
            let target = Target::new(None);
            target.add(&import);
            let file = target.folder.path().join("toolspan.json");
            let read = Resolved::from_file(&file, &target.environment).unwrap();
            proptest::prop_assert_eq!(read.toolboxes.len(), 1);
        }
    }

    #[test]
    fn a_merged_config_has_every_server_as_it_was(
        old in proptest::collection::btree_map("[a-f\"\\\\\u{e9}\n]{1,3}", "[ -~\u{1F980}\t\u{1}]{0,8}", 0..4),
        new in proptest::collection::btree_map("[d-i\"\\\\\u{e9}\n]{1,3}", "[ -~\u{1F980}\t\u{1}]{0,8}", 1..4),
    ) {
        let servers = |texts: &std::collections::BTreeMap<String, String>| -> Map<String, Value> {
            let entry = |(key, text): (&String, &String)| (key.clone(), json!({"command": "c", "x": text}));
            texts.iter().map(entry).collect()
        };
        let (old, new) = (servers(&old), servers(&new));
        let target = Target::new(Some(&format!("{:#}", json!({"mcpServers": old}))));
        target.add(&of(&new.clone().into()));
        let mut wanted = new;
        wanted.extend(old);
        let written: Value = serde_json::from_str(&target.text()).unwrap();
        proptest::prop_assert_eq!(&written["mcpServers"], &Value::Object(wanted));
    }
}
