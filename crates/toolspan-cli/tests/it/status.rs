//! `status` and `doctor`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolspan_testkit::Fault;

use crate::cli::{BINARY, Cli, demo_server};

/// One toolbox of each kind of luck.
fn mixed() -> Cli {
    Cli::with_servers(json!({
        "demo": demo_server(),
        "off": {"command": BINARY, "args": ["demo-server"], "disabled": true},
        "gone": Fault::named("exit_with_stderr").config_entry(),
        "odd": Fault::named("bad_tool_in_list").config_entry(),
        "wrong": {"command": "x", "transport": "carrier"},
    }))
}

#[test]
fn status_shows_every_toolbox_and_what_is_broken() {
    assert_snapshot!(mixed().run(&["status"]));
}

#[test]
fn status_as_json_has_the_members_of_the_contract() {
    let ran = mixed().run(&["status", "--json"]);
    let status = ran.json();
    let state = |index: usize| {
        (
            status[index]["toolbox"].clone(),
            status[index]["state"].clone(),
        )
    };
    assert_eq!(ran.code, Some(0));
    assert_eq!(state(0), (json!("demo"), json!("ready")));
    assert_eq!(state(1), (json!("off"), json!("disabled")));
    assert_eq!(state(2), (json!("gone"), json!("failed")));
    assert_eq!(state(3), (json!("odd"), json!("ready")));
    assert_eq!(state(4), (json!("wrong"), json!("failed")));
    assert_eq!(
        (&status[0]["tools"], &status[0]["error"]),
        (&json!(6), &Value::Null)
    );
    assert_eq!(status[2]["error"]["kind"], "startup");
    assert_eq!(status[3]["broken"].as_array().map(Vec::len), Some(1));
    let keys: Vec<&String> = status[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["toolbox", "kind", "state", "tools", "broken", "error"]
    );
}

#[test]
fn a_tool_that_is_listed_twice_is_shown_like_other_broken_ones() {
    let tool = json!({"name": "now", "inputSchema": {"type": "object"}});
    let twice = Fault::script([json!({"set": {"tools": [tool, tool]}}), json!("serve")]);
    let cli = Cli::with_servers(json!({"odd": twice.config_entry()}));
    let reason = "its name odd__now is taken by a tool listed before it";
    for command in ["status", "doctor"] {
        let shown = cli.run(&[command]).stdout;
        assert!(shown.contains(reason), "{shown}");
    }
    let heard = cli.run(&["tools"]).stderr;
    assert!(
        heard.contains("toolbox odd: 1 tool cannot be used"),
        "{heard}"
    );
}

#[test]
fn a_required_toolbox_that_failed_is_exit_3_beside_the_whole_status() {
    let mut hangs = Fault::named("never_answer_initialize").config_entry();
    hangs["required"] = json!(true);
    hangs["timeouts"] = json!({"connect": 0.5});
    let cli = Cli::with_servers(json!({"hangs": hangs, "demo": demo_server()}));
    let ran = cli.run(&["status", "--json"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.json()[0]["error"]["kind"], "timeout");
    assert_eq!(ran.json()[1]["state"], "ready");
    assert_eq!(cli.run(&["status"]).code, Some(3));
    assert_eq!(cli.run(&["tools"]).code, Some(3));
    let healthy = cli.run(&["call", "demo__echo", "text=hi"]);
    assert_eq!(healthy.code, Some(0));
}

#[test]
fn doctor_names_the_tools_that_cannot_be_used() {
    assert_snapshot!(mixed().run(&["doctor", "odd"]));
}

#[test]
fn doctor_shows_the_steps_of_a_start() {
    assert_snapshot!(Cli::with_demo().run(&["doctor"]));
}

#[test]
fn doctor_shows_why_a_server_does_not_start() {
    assert_snapshot!(mixed().run(&["doctor", "gone"]));
}

#[test]
fn doctor_shows_what_is_wrong_in_the_config() {
    assert_snapshot!(mixed().run(&["doctor", "wrong"]));
}

#[test]
fn doctor_shows_lines_on_stdout_that_are_no_messages() {
    assert_snapshot!(Cli::with_fault(&Fault::named("banner_first")).run(&["doctor"]));
}

#[test]
fn doctor_of_an_unknown_toolbox_names_the_ones_there_are() {
    assert_snapshot!(mixed().run(&["doctor", "nothing"]));
}

#[test]
fn doctor_as_json_has_an_error_whenever_it_is_not_exit_0() {
    let good = Cli::with_demo().run(&["doctor", "--json"]);
    assert_eq!((good.code, &good.json()["error"]), (Some(0), &Value::Null));
    let bad = mixed().run(&["doctor", "--json"]);
    let report = bad.json();
    assert_eq!(
        (bad.code, &report["error"]["toolbox"]),
        (Some(3), &json!("gone"))
    );
    assert_eq!(report["toolboxes"].as_array().map(Vec::len), Some(4));
    assert_eq!(report["toolboxes"][0]["steps"][0]["ok"], json!(true));
    assert_eq!(
        report["toolboxes"][1]["stderr"],
        json!(["cannot open the database: no such file"])
    );
}
