//! Do servers that we did not write work, each from its package registry?

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolspan::{CallOptions, Content, ErrorKind, Host, Outcome};
use toolspan_testkit::Census;
use toolspan_testkit::real::real_server;

use crate::support::SOON;

/// Every server that setup installs.
const ALL: [&str; 9] = [
    "everything",
    "fastmcp",
    "fetch",
    "filesystem",
    "git",
    "memory",
    "sequential-thinking",
    "sqlite",
    "time",
];

/// The entry of a config for a real server, with further arguments and its own variables.
fn entry(name: &str, more: &[&str], env: Value) -> Value {
    let server = real_server(name);
    let mut args = server.args;
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    json!({"command": server.command, "args": args, "env": env})
}

/// A host of one real server called `box`.
async fn host(name: &str, more: &[&str]) -> Host {
    host_of(entry(name, more, json!({}))).await
}

async fn host_of(entry: Value) -> Host {
    let config = json!({"mcpServers": {"box": entry}});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    let status = &host.status()[0];
    assert_eq!(status.state.as_str(), "ready", "{:?}", status.state);
    assert!(status.broken.is_empty(), "{:?}", status.broken);
    host
}

async fn text(host: &Host, tool: &str, arguments: Value) -> String {
    let seen = host.call(tool, arguments).await.unwrap();
    assert!(!seen.is_error, "{}", seen.text());
    seen.text()
}

#[tokio::test]
async fn everything_sends_images_links_and_structured_results() {
    let before = Census::take();
    let host = host("everything", &[]).await;
    assert_eq!(
        text(&host, "box__echo", json!({"message": "hi"})).await,
        "Echo: hi"
    );
    let image = host.call("box__get-tiny-image", json!({})).await.unwrap();
    assert!(
        image
            .content
            .iter()
            .any(|block| matches!(block, Content::Image(_)))
    );
    let link = host
        .call("box__get-resource-links", json!({"count": 2}))
        .await
        .unwrap();
    assert!(
        link.content
            .iter()
            .any(|block| matches!(block, Content::ResourceLink(_)))
    );
    let structured = host
        .call(
            "box__get-structured-content",
            json!({"location": "New York"}),
        )
        .await
        .unwrap();
    assert!(structured.structured.is_some() && structured.schema_violation.is_none());
    host.close().await;
    before.assert_nothing_left_async().await;
}

#[tokio::test]
async fn filesystem_writes_reads_and_refuses_what_lies_outside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note.txt");
    let host = host("filesystem", &[folder.path().to_str().unwrap()]).await;
    text(
        &host,
        "box__write_file",
        json!({"path": path, "content": "kept"}),
    )
    .await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    assert!(
        text(&host, "box__read_text_file", json!({"path": path}))
            .await
            .contains("kept")
    );
    let outside = host
        .call("box__read_text_file", json!({"path": "/etc/hostname"}))
        .await
        .unwrap();
    assert!(outside.is_error, "the tool's own refusal is an observation");
    host.close().await;
}

#[tokio::test]
async fn memory_keeps_its_state_between_calls() {
    let folder = tempfile::tempdir().unwrap();
    let env = json!({"MEMORY_FILE_PATH": folder.path().join("memory.jsonl")});
    let host = host_of(entry("memory", &[], env)).await;
    let entity =
        json!({"name": "Ada", "entityType": "person", "observations": ["writes programs"]});
    text(&host, "box__create_entities", json!({"entities": [entity]})).await;
    assert!(
        text(&host, "box__read_graph", json!({}))
            .await
            .contains("writes programs")
    );
    let wrong = host
        .call("box__create_entities", json!({"entities": [{"name": 5}]}))
        .await;
    let wrong = wrong.unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::InvalidArguments);
    assert!(
        wrong
            .violations()
            .iter()
            .any(|violation| violation.pointer == "/entities/0/name")
    );
    host.close().await;
}

#[tokio::test]
async fn sequential_thinking_takes_arguments_of_listed_types() {
    let host = host("sequential-thinking", &[]).await;
    let thought = json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    assert!(
        text(&host, "box__sequentialthinking", thought)
            .await
            .contains("thoughtNumber")
    );
    host.close().await;
}

#[tokio::test]
async fn time_answers_with_structure_and_calls_an_odd_zone_an_error_of_its_own() {
    let host = host("time", &[]).await;
    let now = host
        .call("box__get_current_time", json!({"timezone": "UTC"}))
        .await
        .unwrap();
    let zone = now.structured.as_ref().and_then(|now| now.get("timezone"));
    assert_eq!(zone, Some(&json!("UTC")));
    let odd = host
        .call("box__get_current_time", json!({"timezone": "Mars/Base"}))
        .await
        .unwrap();
    assert!(odd.is_error && odd.text().contains("Mars/Base"));
    host.close().await;
}

#[tokio::test]
async fn git_reads_its_repository_and_refuses_another() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = tempfile::tempdir().unwrap();
    // A repository of the test's own: the workspace may be no git checkout.
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    for name in ["objects", "refs"] {
        std::fs::create_dir(folder.path().join(".git").join(name)).unwrap();
    }
    std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let repository = folder.path().to_str().unwrap();
    let host = host("git", &["--repository", repository]).await;
    let status = host
        .call("box__git_status", json!({"repo_path": repository}))
        .await
        .unwrap();
    assert!(!status.text().is_empty());
    let outside = host
        .call("box__git_status", json!({"repo_path": root}))
        .await
        .unwrap();
    assert!(outside.is_error, "{}", outside.text());
    host.close().await;
}

#[tokio::test]
async fn fetch_is_listed_and_its_arguments_are_checked() {
    let host = host("fetch", &[]).await;
    assert_eq!(host.snapshot().tools().len(), 1);
    let wrong = host
        .call("box__fetch", json!({"url": 5}))
        .await
        .unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::InvalidArguments);
    host.close().await;
}

#[tokio::test]
async fn sqlite_keeps_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("test.db");
    let host = host("sqlite", &["--db-path", file.to_str().unwrap()]).await;
    let write = "CREATE TABLE fruit (name TEXT)";
    text(&host, "box__create_table", json!({"query": write})).await;
    let insert = "INSERT INTO fruit VALUES ('quince')";
    text(&host, "box__write_query", json!({"query": insert})).await;
    let read = json!({"query": "SELECT name FROM fruit"});
    assert!(
        text(&host, "box__read_query", read)
            .await
            .contains("quince")
    );
    host.close().await;
}

#[tokio::test]
async fn fastmcp_has_odd_but_legal_schemas_that_are_checked_in_depth() {
    let host = host("fastmcp", &[]).await;
    let tree = json!({"name": "a", "children": [{"name": "b"}]});
    text(&host, "box__tree", json!({"root": tree})).await;
    let deep = json!({"name": "a", "children": [{"name": "b", "children": [{"name": 5}]}]});
    let wrong = host
        .call("box__tree", json!({"root": deep}))
        .await
        .unwrap_err();
    let pointers: Vec<&str> = wrong
        .violations()
        .iter()
        .map(|violation| &*violation.pointer)
        .collect();
    assert_eq!(pointers, ["/root/children/0/children/0/name"]);
    text(&host, "box__pair", json!({"values": [1, "one"]})).await;
    let report = json!({"title": "squares", "numbers": [2, 3]});
    let report = host.call("box__report", report).await.unwrap();
    assert_eq!(report.schema_violation, None);
    let rows = report
        .structured
        .as_ref()
        .and_then(|report| report.get("rows"));
    assert_eq!(
        rows,
        Some(&json!([{"number": 2, "square": 4}, {"number": 3, "square": 9}]))
    );
    let image = host.call("box__image", json!({})).await.unwrap();
    assert!(matches!(&image.content[0], Content::Image(image) if image.mime_type == "image/png"));
    let failed = host
        .call("box__fail", json!({"message": "as asked"}))
        .await
        .unwrap();
    assert!(failed.is_error && failed.text().contains("as asked"));
    host.close().await;
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cancelled.txt");
    let env = json!({"TOOLSPAN_CANCELLED_FILE": file});
    let host = host_of(entry("fastmcp", &[], env)).await;
    let cancel = CancellationToken::new();
    let started = cancel.clone();
    // It reports progress once, when it has begun to wait.
    let options = CallOptions::default()
        .with_cancel(cancel.clone())
        .with_progress(move |_| started.cancel());
    let ended = host
        .call_with("box__slow", json!({"label": "first"}), options)
        .await;
    let ended = ended.unwrap_err();
    assert_eq!(
        (ended.kind(), ended.outcome()),
        (ErrorKind::Cancelled, Outcome::Unknown)
    );
    let written = || std::fs::read_to_string(&file).is_ok_and(|text| text == "cancelled first\n");
    toolspan_testkit::wait_until_async(SOON, "the server writes the cancellation down", written)
        .await;
    assert_eq!(host.in_flight(), 0);
    host.close().await;
}

#[tokio::test]
async fn progress_of_a_real_server_is_reported() {
    let host = host("fastmcp", &[]).await;
    let latest = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&latest);
    let options = CallOptions::default().with_progress(move |progress| {
        *seen.lock().unwrap() = Some(progress);
    });
    host.call_with("box__count", json!({"to": 20}), options)
        .await
        .unwrap();
    let latest = latest.lock().unwrap().take().unwrap();
    assert_eq!(latest.total, Some(20.0));
    assert!(
        latest
            .message
            .is_some_and(|message| message.starts_with("step "))
    );
    host.close().await;
}

#[tokio::test]
async fn all_of_them_are_ready_in_one_host() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("all.db");
    let path = folder.path().to_str().unwrap();
    let database = database.to_str().unwrap();
    let more = |name: &str| match name {
        "filesystem" => vec![path],
        "sqlite" => vec!["--db-path", database],
        _ => vec![],
    };
    let servers: serde_json::Map<_, _> = ALL
        .iter()
        .map(|name| (name.to_string(), entry(name, &more(name), json!({}))))
        .collect();
    let before = Census::take();
    let host = Host::builder()
        .config_value(json!({"mcpServers": servers}))
        .connect()
        .await
        .unwrap();
    let failed: Vec<_> = host
        .status()
        .into_iter()
        .filter(|status| status.state.as_str() != "ready")
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    host.close().await;
    before.assert_nothing_left_async().await;
}
