//! Is every usable tool listed, whatever else the list holds, and does every list end?

use serde_json::{Value, json};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::services::Event;
use toolspan_core::{Discovery, Result, ToolBox};

use crate::support::peer::echo_tool;
use crate::support::{connect, memory, told};

/// The listing of a server that answers `tools/list` number n with the nth page, the last one for
/// ever; and how often it was asked.
async fn listed(limits: Limits, page: impl Fn(u64) -> Value) -> (Result<Discovery>, u64, String) {
    let (tools, mut server) = memory(limits, Timeouts::default());
    let mut asked = 0;
    let play = async {
        let mut peer = server.accept().await;
        peer.shake_hands().await;
        while let Some(list) = peer.next().await {
            peer.answer(&list, page(asked)).await;
            asked += 1;
        }
    };
    let list = async {
        let discovery = tools.discover().await;
        let state = tools.toolbox.state();
        tools.toolbox.close().await;
        let why = state.error().map(told).unwrap_or_default();
        (discovery, format!("{}\n{why}", state.as_str()))
    };
    let ((discovery, state), ()) = tokio::join!(list, play);
    (discovery, asked, state)
}

fn names(discovery: &Discovery) -> Vec<&str> {
    discovery
        .tools
        .iter()
        .map(|tool| tool.definition.name.as_str())
        .collect()
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

// R22, J23
#[tokio::test(start_paused = true)]
async fn a_cursor_that_comes_again_ends_the_list_and_the_tools_so_far_are_kept() {
    let page = |n| json!({"tools": [tool(&format!("tool_{n}"))], "nextCursor": "again"});
    let (discovery, asked, state) = listed(Limits::default(), page).await;
    assert_eq!(names(&discovery.unwrap()), ["tool_0", "tool_1"]);
    assert_eq!(asked, 2);
    insta::assert_snapshot!(state);
}

// R22
#[tokio::test(start_paused = true)]
async fn endless_pages_end_at_the_limit_and_the_tools_so_far_are_kept() {
    let page =
        |n| json!({"tools": [tool(&format!("tool_{n}"))], "nextCursor": format!("page-{n}")});
    let (discovery, asked, state) = listed(Limits::default(), page).await;
    assert_eq!(discovery.unwrap().tools.len(), 100);
    assert_eq!(asked, 100);
    insta::assert_snapshot!(state);
}

// R22
#[tokio::test(start_paused = true)]
async fn tools_over_the_limit_are_left_out() {
    let page = |_| json!({"tools": (0..1_001).map(|n| tool(&format!("t{n}"))).collect::<Vec<_>>()});
    let (discovery, asked, state) = listed(Limits::default(), page).await;
    assert_eq!(discovery.unwrap().tools.len(), 1_000);
    assert_eq!(asked, 1);
    insta::assert_snapshot!(state);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_ends_exactly_at_the_limits_is_whole() {
    let mut limits = Limits::default();
    (limits.tools, limits.pages) = (4, 2);
    let page = |n: u64| match n {
        0 => json!({"tools": [tool("a"), tool("b")], "nextCursor": "more"}),
        _ => json!({"tools": [tool("c"), tool("d")]}),
    };
    let (discovery, asked, state) = listed(limits, page).await;
    let discovery = discovery.unwrap();
    assert_eq!((names(&discovery), asked), (vec!["a", "b", "c", "d"], 2));
    assert_eq!((discovery.incomplete, state.trim()), (None, "ready"));
}

// J23
#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_none_ends_the_list() {
    for cursor in [json!(5), json!("x".repeat(1 << 20)), json!({})] {
        let page = |_| json!({"tools": [tool("a")], "nextCursor": cursor});
        let (discovery, asked, state) = listed(Limits::default(), page).await;
        assert_eq!((names(&discovery.unwrap()), asked), (vec!["a"], 1));
        assert!(state.starts_with("degraded"), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn bad_tools_are_named_and_cost_the_others_nothing() {
    let page = |_| json!({"tools": [tool("good"), {"name": 5, "inputSchema": "none"}, {"name": "schemaless"}, {"name": "odd", "inputSchema": {"type": "nonsense"}}, 7, tool("fine")]});
    let (discovery, _, state) = listed(Limits::default(), page).await;
    let discovery = discovery.unwrap();
    assert_eq!(names(&discovery), ["good", "fine"]);
    assert_eq!(state.trim(), "ready");
    let broken: Vec<String> = discovery
        .broken
        .iter()
        .map(|tool| format!("{}: {}", tool.name, tool.reason))
        .collect();
    insta::assert_snapshot!(broken.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_none_is_refused() {
    let mut all = Vec::new();
    for result in [json!({}), json!([]), json!({"tools": {}}), json!(null)] {
        let (discovery, _, _) = listed(Limits::default(), |_| result.clone()).await;
        all.push(told(&discovery.unwrap_err()));
    }
    insta::assert_snapshot!(all.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tools_may_not_know_the_method() {
    let (tools, mut server) = memory(Limits::default(), Timeouts::default());
    let play = async {
        let mut peer = server.accept().await;
        peer.shake_hands().await;
        let list = peer.expect("tools/list").await;
        let error = json!({"code": -32601, "message": "no"});
        peer.send(json!({"jsonrpc": "2.0", "id": list["id"], "error": error}))
            .await;
        peer
    };
    let (discovery, _peer) = tokio::join!(tools.discover(), play);
    assert!(discovery.unwrap().tools.is_empty());
}

// R18: the host is told once until it lists again.
#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_is_told_once_until_the_tools_are_listed_again() {
    let (tools, _server, mut peer) = connect().await;
    let told = || {
        tools
            .heard
            .count(|event| matches!(event, Event::ToolsChanged))
    };
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    for _ in 0..1_000 {
        peer.send(changed.clone()).await;
    }
    // A change after the list was asked for is told again: the trailing edge is never lost.
    let play = async {
        let list = peer.expect("tools/list").await;
        peer.send(changed.clone()).await;
        peer.answer(&list, json!({"tools": [echo_tool()]})).await;
    };
    let (discovery, ()) = tokio::join!(tools.discover(), play);
    discovery.unwrap();
    assert_eq!(told(), 2);
}
