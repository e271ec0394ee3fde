//! Do we see the same tools and the same results as the official client of another team?

use std::collections::BTreeMap;
use std::io;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use toolspan_core::ToolBox;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_io::process::{self, Launch};
use toolspan_mcp::Transport;
use toolspan_testkit::real::{RealServer, real_server};

use crate::support::Tools;

fn launch(server: &RealServer) -> Launch {
    Launch::new(&server.command)
        .with_args(&server.args)
        .with_env([("PATH", "/usr/local/bin:/usr/bin:/bin")])
}

/// Starts a server and joins its pipes to a stream, for a client that brings no process of its own.
fn bridged(server: &RealServer) -> (DuplexStream, process::Process) {
    let child = process::spawn(&launch(server)).unwrap();
    let (stdin, stdout) = (
        child.stdin.into_async().unwrap(),
        child.stdout.into_async().unwrap(),
    );
    let (theirs, ours) = tokio::io::duplex(64 << 10);
    let (mut from_client, mut to_client) = tokio::io::split(ours);
    tokio::spawn(async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            let mut rest = &buffer[..count];
            while !rest.is_empty() {
                match stdin.try_write(rest) {
                    Ok(written) => rest = &rest[written..],
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        stdin.writable().await.unwrap();
                    }
                    Err(_) => return,
                }
            }
        }
    });
    tokio::spawn(async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
            if to_client.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    });
    (theirs, child.process)
}

/// What a client saw: the tools as listed, and the result of each call.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    tools: BTreeMap<String, Value>,
    results: Vec<Value>,
}

/// Only what both clients keep of a tool.
fn essence(tool: &Value) -> (String, Value) {
    let kept = [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    ];
    let members = tool.as_object().unwrap();
    let kept = members
        .iter()
        .filter(|(key, value)| kept.contains(&key.as_str()) && !value.is_null());
    let kept: serde_json::Map<_, _> = kept
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (
        tool["name"].as_str().unwrap().to_owned(),
        Value::Object(kept),
    )
}

/// The result without the members that only say what is the default.
fn plain(mut result: Value) -> Value {
    let members = result.as_object_mut().unwrap();
    members.retain(|key, value| !(value.is_null() || (key == "isError" && value == &json!(false))));
    with_one_kind_of_number(result)
}

/// The other client turns a priority of `1` into `1.0`.
fn with_one_kind_of_number(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(items) => items.into_iter().map(with_one_kind_of_number).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| (key, with_one_kind_of_number(value)))
            .collect(),
        other => other,
    }
}

/// What our client sees.
pub(crate) async fn seen_by_us(transport: Transport, calls: &[(&str, Value)]) -> Seen {
    let tools = Tools::new(transport, Limits::default(), Timeouts::default());
    let discovery = tools.discover().await.unwrap();
    assert!(discovery.broken.is_empty(), "{:?}", discovery.broken);
    let listed = discovery
        .tools
        .iter()
        .map(|tool| essence(&tool.definition.to_mcp(&tool.definition.name)));
    let listed = listed.collect();
    let mut results = Vec::new();
    for (name, arguments) in calls {
        let observation = tools
            .run(name, arguments.clone(), Default::default())
            .await
            .unwrap();
        results.push(plain(observation.to_mcp()));
    }
    tools.toolbox.close().await;
    Seen {
        tools: listed,
        results,
    }
}

/// What the official client sees, over whichever transport it was started.
pub(crate) async fn seen_by_rmcp(
    client: RunningService<RoleClient, ()>,
    calls: &[(&str, Value)],
) -> Seen {
    let tools = client.list_all_tools().await.unwrap();
    let tools = tools
        .iter()
        .map(|tool| essence(&serde_json::to_value(tool).unwrap()))
        .collect();
    let mut results = Vec::new();
    for (name, arguments) in calls {
        let arguments = arguments.as_object().unwrap().clone();
        let params = CallToolRequestParams::new((*name).to_owned()).with_arguments(arguments);
        let result = client.call_tool(params).await.unwrap();
        results.push(plain(serde_json::to_value(result).unwrap()));
    }
    client.cancel().await.unwrap();
    Seen { tools, results }
}

/// Compares tool by tool and result by result, so that a difference is named.
pub(crate) fn assert_same(ours: &Seen, theirs: &Seen, calls: &[(&str, Value)]) {
    assert!(!ours.tools.is_empty());
    for (name, tool) in &ours.tools {
        assert_eq!(Some(tool), theirs.tools.get(name), "{name}");
    }
    assert_eq!(ours.tools.len(), theirs.tools.len());
    assert_eq!(
        (ours.results.len(), theirs.results.len()),
        (calls.len(), calls.len())
    );
    for ((call, ours), theirs) in calls.iter().zip(&ours.results).zip(&theirs.results) {
        assert_eq!(ours, theirs, "{call:?}");
    }
}

/// Both clients over stdio, each with a server of its own.
async fn assert_same_over_stdio(server: &RealServer, calls: &[(&str, Value)]) {
    let theirs = async {
        let (stream, process) = bridged(server);
        let seen = seen_by_rmcp(().serve(stream).await.unwrap(), calls).await;
        process.begin_end(process::EndPolicy::default());
        process.ended().await;
        seen
    };
    let ours = Transport::Stdio(std::sync::Arc::new(launch(server)));
    let (ours, theirs) = tokio::join!(seen_by_us(ours, calls), theirs);
    assert_same(&ours, &theirs, calls);
}

/// Calls of the reference server whose results are the same each time.
pub(crate) fn calls_of_everything() -> Vec<(&'static str, Value)> {
    vec![
        ("echo", json!({"message": "hello \u{1f600} \"quoted\"\n"})),
        ("get-sum", json!({"a": 2, "b": 40.5})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("get-tiny-image", json!({})),
        (
            "get-annotated-message",
            json!({"messageType": "error", "includeImage": true}),
        ),
        ("get-resource-links", json!({"count": 3})),
    ]
}

/// Calls of our FastMCP server whose results are the same each time.
pub(crate) fn calls_of_fastmcp() -> Vec<(&'static str, Value)> {
    vec![
        (
            "tree",
            json!({"root": {"name": "a", "children": [{"name": "b"}]}}),
        ),
        ("pet", json!({"animal": {"kind": "cat", "meow": 1.5}})),
        ("pair", json!({"values": [1, "x"]})),
        (
            "options",
            json!({"either": "text", "distinct": [3, 1], "counts": {"a": 1}}),
        ),
        ("nothing", json!({})),
        ("image", json!({})),
        ("report", json!({"title": "squares", "numbers": [1, 2, 3]})),
        ("fail", json!({"message": "on purpose"})),
        ("crash", json!({"message": "by accident"})),
        ("count", json!({"to": 50})),
    ]
}

#[tokio::test]
async fn the_reference_server_looks_the_same_as_to_the_official_client() {
    assert_same_over_stdio(&real_server("everything"), &calls_of_everything()).await;
}

#[tokio::test]
async fn a_fastmcp_server_looks_the_same_as_to_the_official_client() {
    assert_same_over_stdio(&real_server("fastmcp"), &calls_of_fastmcp()).await;
}
