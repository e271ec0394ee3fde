//! Does a changed config leave alone what did not change, and let the rest end in peace? (R55)

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolspan::config::{Environment, Resolved};
use toolspan::tool::tool_fn;
use toolspan::{ErrorKind, Host, ToolFailure};
use toolspan_testkit::{Barrier, Census, Fault, Marker, children_of};

use crate::support::{SOON, config};

fn resolved(config: &Value) -> Resolved {
    Resolved::from_value(config, &Environment::capture()).unwrap()
}

fn tools(host: &Host) -> Vec<String> {
    let snapshot = host.snapshot();
    snapshot
        .tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

/// The processes of servers, without the watchdog.
fn servers() -> Vec<u32> {
    let children = children_of(std::process::id());
    let servers = children
        .iter()
        .filter(|child| child.name.starts_with("toolspan-faul"));
    servers.map(|server| server.pid).collect()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl toolspan::Action for Nothing {}

#[tokio::test]
async fn unchanged_servers_keep_their_process_and_new_ones_appear() {
    let native = tool_fn("native_one", "Is native", |_: Nothing| async {
        Ok::<_, ToolFailure>("here")
    });
    let before = config([("kept", Fault::honest(), json!({}))]);
    let host = Host::builder()
        .config_value(before)
        .tool(native)
        .connect()
        .await
        .unwrap();
    let processes = servers();
    let after = config([
        ("added", Fault::honest(), json!({})),
        ("kept", Fault::honest(), json!({})),
    ]);
    host.reload(resolved(&after)).await.unwrap();
    assert_eq!(
        servers(),
        processes,
        "nothing was started or ended by the reload itself"
    );
    assert_eq!(
        tools(&host),
        ["kept__echo", "native_one"],
        "the kept one was not listed anew"
    );
    assert!(host.call("added__echo", json!({"text": "x"})).await.is_ok());
    assert_eq!(tools(&host), ["added__echo", "kept__echo", "native_one"]);
    assert!(servers().contains(&processes[0]));
    host.close().await;
}

#[tokio::test]
async fn calls_under_way_on_a_removed_server_end_and_then_it_does() {
    let marker = Marker::new();
    let barrier = Barrier::new();
    let answer = json!({"jsonrpc": "2.0", "id": "$id", "result": {"content": [{"type": "text", "text": "done"}]}});
    let slow = Fault::script([
        json!("handshake"),
        json!({"expect": "tools/call"}),
        barrier.hold_step(),
        json!({"send": answer}),
        json!("serve"),
    ]);
    let stays = Fault::honest();
    let before = config([
        ("stays", stays.clone(), json!({})),
        ("goes", slow.marked(&marker), json!({})),
    ]);
    let host = Host::builder()
        .config_value(before)
        .connect()
        .await
        .unwrap();
    let census = Census::take().marked(&marker);
    let under_way = host.call("goes__echo", json!({"text": "x"}));
    let reload = async {
        barrier.reached(SOON).await;
        let after = config([("stays", stays, json!({}))]);
        let reloading = host.reload(resolved(&after));
        let other = async {
            // The reload waits for the call; nobody else waits for the reload.
            let error = host
                .call("goes__echo", json!({"text": "y"}))
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ToolNotFound);
            assert!(host.call("stays__echo", json!({"text": "z"})).await.is_ok());
            barrier.release();
        };
        tokio::join!(biased; reloading, other).0.unwrap();
    };
    let (under_way, ()) = tokio::join!(biased; under_way, reload);
    assert_eq!(under_way.unwrap().text(), "done");
    assert_eq!(tools(&host), ["stays__echo"]);
    assert!(census.leftover().processes.is_empty());
    assert_eq!(servers().len(), 1);
    host.close().await;
}

#[tokio::test]
async fn a_call_that_does_not_end_is_ended_with_its_server_at_the_close_limit() {
    let close = json!({"timeouts": {"close": 1}});
    let before = config([
        ("stays", Fault::honest(), json!({})),
        ("hangs", Fault::named("never_answer_call"), close),
    ]);
    let host = Host::builder()
        .config_value(before)
        .connect()
        .await
        .unwrap();
    let under_way = host.call("hangs__echo", json!({"text": "x"}));
    let began = Instant::now();
    let after = config([("stays", Fault::honest(), json!({}))]);
    let (under_way, reloaded) = tokio::join!(biased; under_way, host.reload(resolved(&after)));
    reloaded.unwrap();
    assert_eq!(under_way.unwrap_err().kind(), ErrorKind::Closed);
    assert!(
        began.elapsed() >= Duration::from_secs(1),
        "it was given its time"
    );
    assert!(began.elapsed() < SOON);
    host.close().await;
}

#[tokio::test]
async fn a_changed_entry_is_another_server() {
    let before = config([("box", Fault::honest(), json!({}))]);
    let host = Host::builder()
        .config_value(before)
        .connect()
        .await
        .unwrap();
    let old = servers();
    let after = config([("box", Fault::honest(), json!({"env": {"CHANGED": "yes"}}))]);
    host.reload(resolved(&after)).await.unwrap();
    assert_eq!(servers(), Vec::<u32>::new());
    assert!(host.call("box__echo", json!({"text": "x"})).await.is_ok());
    assert!(!servers().is_empty() && servers() != old);
    host.close().await;
}

#[tokio::test]
async fn a_config_that_cannot_be_used_changes_nothing() {
    let before = config([("box", Fault::honest(), json!({}))]);
    let host = Host::builder()
        .config_value(before)
        .connect()
        .await
        .unwrap();
    let useless = resolved(&json!({"mcpServers": {"bad": {"args": []}}}));
    assert_eq!(
        host.reload(useless).await.unwrap_err().kind(),
        ErrorKind::Config
    );
    assert!(host.call("box__echo", json!({"text": "x"})).await.is_ok());
    host.close().await;
    let again = resolved(&config([("box", Fault::honest(), json!({}))]));
    assert_eq!(
        host.reload(again).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
}
