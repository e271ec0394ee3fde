//! Can native tools come and go while a host runs?

use serde_json::{Value, json};
use toolspan::tool::{native, tool_fn};
use toolspan::{ErrorKind, Host, ToolFailure, ToolboxTool};

fn saying(name: &str, says: &'static str) -> ToolboxTool {
    native(tool_fn(name, "Says it", move |_: Nothing| async move {
        Ok::<_, ToolFailure>(says.to_owned())
    }))
    .unwrap()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl toolspan::Action for Nothing {}

fn names(host: &Host) -> Vec<String> {
    let snapshot = host.snapshot();
    snapshot
        .tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

#[tokio::test]
async fn a_tool_that_is_added_can_be_called_at_once_and_one_that_is_removed_no_more() {
    let host = Host::builder().start().unwrap();
    host.add_tool(saying("first", "1")).unwrap();
    host.add_tool(saying("second", "2")).unwrap();
    assert_eq!(names(&host), ["first", "second"]);
    assert_eq!(host.call("second", Value::Null).await.unwrap().text(), "2");
    host.refresh().await.unwrap();
    assert_eq!(host.status().first().unwrap().tools, 2);

    assert!(host.remove_tool("first").is_some() && host.remove_tool("first").is_none());
    assert_eq!(names(&host), ["second"]);
    let missing = host.call("first", json!({})).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::ToolNotFound);
}

#[tokio::test]
async fn a_tool_that_is_added_has_a_name_of_its_own_and_comes_behind_those_before() {
    let tool = tool_fn("built", "Is there", |_: Nothing| async {
        Ok::<_, ToolFailure>("b".to_owned())
    });
    let host = Host::builder().tool(tool).connect().await.unwrap();
    host.add_tool(saying("added", "a")).unwrap();
    for name in ["built", "added", " "] {
        let refused = host.add_tool(saying(name, "other")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage, "{name}: {refused}");
    }
    assert_eq!(names(&host), ["built", "added"]);
    assert!(host.remove_tool("built").is_none());
    assert_eq!(host.call("built", json!({})).await.unwrap().text(), "b");
}

#[tokio::test]
async fn a_closed_host_takes_no_tool() {
    let host = Host::builder().start().unwrap();
    host.add_tool(saying("first", "1")).unwrap();
    host.close().await;
    let refused = host.add_tool(saying("second", "2")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
}
