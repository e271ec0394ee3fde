//! Does one bad toolbox leave the others alone?

use std::time::{Duration, Instant};

use serde_json::json;
use toolspan::{ErrorKind, Host, Phase};
use toolspan_testkit::{Barrier, Census, Fault, Marker};

use crate::support::{SOON, config, one, shown};

/// Two healthy servers, a command that does not exist and one that never answers.
fn mixed(marker: &Marker, connect: f64) -> serde_json::Value {
    let mut config = config([
        ("first", Fault::honest().marked(marker), json!({})),
        (
            "hangs",
            Fault::named("never_answer_initialize").marked(marker),
            json!({"timeouts": {"connect": connect}}),
        ),
        ("second", Fault::honest().marked(marker), json!({})),
    ]);
    config["mcpServers"]["missing"] = json!({"command": "no-such-command-anywhere"});
    config
}

#[tokio::test]
async fn a_call_of_a_healthy_server_does_not_wait_for_the_others() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    // The one that hangs would hang for an hour.
    let host = Host::builder()
        .config_value(mixed(&marker, 3600.0))
        .start()
        .unwrap();
    let seen = host
        .call("first__echo", json!({"text": "hi"}))
        .await
        .unwrap();
    assert_eq!(seen.text(), "hi");
    let started: Vec<&str> = host
        .status()
        .iter()
        .filter(|status| status.state.as_str() == "ready")
        .map(|status| {
            if &*status.toolbox == "first" {
                "first"
            } else {
                "another"
            }
        })
        .collect();
    assert_eq!(
        started,
        ["first"],
        "a full name starts only its own toolbox"
    );
    let dotted = host
        .call("second.echo", json!({"text": "ho"}))
        .await
        .unwrap();
    assert_eq!(dotted.text(), "ho");
    host.close().await;
    before.assert_nothing_left_async().await;
}

// R56
#[tokio::test]
async fn the_healthy_are_listed_and_the_others_tell_their_reasons() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let began = Instant::now();
    let host = Host::builder()
        .config_value(mixed(&marker, 1.0))
        .connect()
        .await
        .unwrap();
    assert!(
        began.elapsed() >= Duration::from_secs(1),
        "the hanging one was given its time"
    );
    let names: Vec<String> = host
        .snapshot()
        .tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(names, ["first__echo", "second__echo"]);
    let status: Vec<String> = host
        .status()
        .iter()
        .map(|status| {
            let reason = status.state.error().map(shown).unwrap_or_default();
            let reason = reason
                .split("searched")
                .next()
                .unwrap_or_default()
                .to_owned();
            format!(
                "{} {} {}\n{reason}",
                status.toolbox,
                status.state.as_str(),
                status.tools
            )
        })
        .collect();
    insta::assert_snapshot!(status.join("\n---\n"));
    host.close().await;
    before.assert_nothing_left_async().await;
}

// R56
#[tokio::test]
async fn a_required_toolbox_that_fails_fails_the_host() {
    let mut config = mixed(&Marker::new(), 1.0);
    config["mcpServers"]["missing"]["required"] = json!(true);
    let error = Host::builder()
        .config_value(config)
        .connect()
        .await
        .err()
        .unwrap();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Startup, Phase::Connect)
    );
    assert_eq!(error.toolbox(), Some("missing"));
}

#[tokio::test]
async fn a_call_of_a_failed_server_gives_the_servers_reason_not_an_unknown_name() {
    let host = one(Fault::named("exit_with_stderr")).start().unwrap();
    let error = host
        .call("box__echo", json!({"text": "x"}))
        .await
        .unwrap_err();
    insta::assert_snapshot!(format!(
        "{}\nstderr: {}",
        shown(&error),
        error.stderr().unwrap_or("-")
    ));
    host.close().await;
}

#[tokio::test]
async fn a_bare_name_waits_for_every_toolbox_and_is_never_won_by_the_fastest() {
    let config = config([
        ("a", Fault::honest(), json!({})),
        ("b", Fault::honest(), json!({})),
    ]);
    for _ in 0..3 {
        let host = Host::builder()
            .config_value(config.clone())
            .start()
            .unwrap();
        let error = host.call("echo", json!({"text": "x"})).await.unwrap_err();
        insta::assert_snapshot!("a_bare_name_of_two_tools", shown(&error));
        host.close().await;
    }
}

#[tokio::test]
async fn a_bare_name_of_one_tool_is_enough() {
    let host = one(Fault::honest()).start().unwrap();
    assert!(host.call("echo", json!({"text": "x"})).await.is_ok());
    let error = host.call("ecco", json!({})).await.unwrap_err();
    assert_eq!(error.hint(), Some("the nearest names are box__echo"));
    host.close().await;
}

#[tokio::test]
async fn a_config_of_which_nothing_can_be_used_is_an_error() {
    let config = json!({"mcpServers": {"a": {"args": ["x"]}, "b": {"command": ""}}});
    let error = Host::builder().config_value(config).start().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(error.toolbox(), Some("a"));
}

#[tokio::test]
async fn disabled_and_broken_entries_are_in_the_status_and_start_nothing() {
    let marker = Marker::new();
    let before = Census::take().marked(&marker);
    let mut config = config([
        ("good", Fault::honest(), json!({})),
        (
            "off",
            Fault::honest().marked(&marker),
            json!({"disabled": true}),
        ),
    ]);
    config["mcpServers"]["bad"] = json!({"command": "x", "transport": "ws2"});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    let states: Vec<String> = host
        .status()
        .iter()
        .map(|status| format!("{} {}", status.toolbox, status.state.as_str()))
        .collect();
    assert_eq!(states, ["good ready", "off disabled", "bad failed"]);
    let error = host.call("bad__x", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    host.close().await;
    before.assert_nothing_left_async().await;
}

#[tokio::test]
async fn a_malformed_tool_is_listed_as_broken_beside_the_good_ones() {
    let host = one(Fault::named("bad_tool_in_list"))
        .connect()
        .await
        .unwrap();
    let status = &host.status()[0];
    assert_eq!(status.state.as_str(), "ready");
    assert_eq!((status.tools, status.broken.len()), (2, 1));
    assert_eq!(status.broken[0].reason, "its name is not a string");
    host.close().await;
}

#[tokio::test]
async fn a_tool_that_is_listed_twice_is_usable_once_and_told() {
    let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
    let twice = [json!({"set": {"tools": [tool, tool]}}), json!("serve")];
    let host = one(Fault::script(twice)).connect().await.unwrap();
    let status = &host.status()[0];
    assert_eq!(status.state.as_str(), "ready");
    assert_eq!((status.tools, status.broken.len()), (1, 1));
    assert_eq!(status.broken[0].name, "echo");
    let reason = &status.broken[0].reason;
    assert!(
        reason.ends_with("is taken by a tool listed before it"),
        "{reason}"
    );
    host.close().await;
}

#[tokio::test]
async fn filters_and_prefixes_of_the_config_hold() {
    let config = config([
        ("kept", Fault::honest(), json!({"prefix": ""})),
        (
            "cut",
            Fault::honest(),
            json!({"tools": {"exclude": ["ec*"]}}),
        ),
        ("my box.2", Fault::honest(), json!({})),
    ]);
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    let names: Vec<String> = host
        .snapshot()
        .tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(names, ["echo", "my_box_2__echo"]);
    assert!(
        host.call("my box.2.echo", json!({"text": "x"}))
            .await
            .is_ok()
    );
    assert!(host.call("kept.echo", json!({"text": "x"})).await.is_ok());
    host.close().await;
}

#[tokio::test]
async fn a_failed_toolbox_is_started_again_by_a_refresh() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("late-server");
    let late = json!({"command": program, "args": ["--fault", "honest"]});
    let config = json!({"mcpServers": {"late": late}});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    assert_eq!(host.status()[0].state.as_str(), "failed");
    std::os::unix::fs::symlink(toolspan_testkit::faults_binary(), &program).unwrap();
    // For a quarter of a second after a failure the same error is given again.
    let began = Instant::now();
    while host.status()[0].state.as_str() == "failed" && began.elapsed() < SOON {
        host.refresh().await.unwrap();
    }
    assert_eq!(host.status()[0].state.as_str(), "ready");
    assert!(host.call("late__echo", json!({"text": "x"})).await.is_ok());
    host.close().await;
}

#[tokio::test]
async fn a_bare_name_with_nobody_to_ask_gives_the_reason_of_the_failure() {
    let host = one(Fault::named("exit_with_stderr")).start().unwrap();
    let error = host.call("echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.toolbox()),
        (ErrorKind::Startup, Some("box"))
    );
    host.close().await;
}

#[tokio::test]
async fn a_host_of_a_changed_config_disturbs_no_call_of_the_one_before() {
    let (marker, barrier) = (Marker::new(), Barrier::new());
    let before = Census::take().marked(&marker);
    let slow = Fault::script([
        json!({"expect": "tools/call"}),
        barrier.hold_step(),
        json!({"send": {"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": "done"}]}}}),
        json!("serve"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolspan.json");
    let write = |config: serde_json::Value| std::fs::write(&file, config.to_string()).unwrap();
    let stubborn = Fault::named("ignore_eof_and_term");
    let before_the_change = [("slow", slow), ("stubborn", stubborn)];
    write(config(
        before_the_change.map(|(key, fault)| (key, fault.marked(&marker), json!({}))),
    ));
    let first = Host::builder().config_file(&file).connect().await.unwrap();
    let call = first.call("slow__echo", json!({"text": "x"}));
    let change = async {
        barrier.reached(SOON).await;
        write(config([(
            "added",
            Fault::honest().marked(&marker),
            json!({}),
        )]));
        let second = Host::builder().config_file(&file).connect().await.unwrap();
        let names = |host: &Host| host.snapshot().tools()[0].name.to_string();
        assert_eq!(
            [names(&first), names(&second)],
            ["slow__echo", "added__echo"]
        );
        barrier.release();
        second
    };
    let (seen, second) = tokio::join!(call, change);
    assert_eq!(seen.unwrap().text(), "done");
    let began = Instant::now();
    first.close().await;
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
    assert!(
        second
            .call("added__echo", json!({"text": "x"}))
            .await
            .is_ok()
    );
    second.close().await;
    before.assert_nothing_left_async().await;
}

#[tokio::test]
async fn a_name_of_a_disabled_toolbox_says_that_it_is_switched_off() {
    let config = config([
        ("good", Fault::honest(), json!({})),
        ("off", Fault::honest(), json!({"disabled": true})),
    ]);
    let host = Host::builder().config_value(config).start().unwrap();
    let error = host
        .call("off__echo", json!({"text": "x"}))
        .await
        .unwrap_err();
    insta::assert_snapshot!(shown(&error));
    host.close().await;
}
