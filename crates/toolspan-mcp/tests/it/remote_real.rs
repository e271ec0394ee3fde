//! Do servers over the network that we did not write work, whichever of the transports they speak?

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome, ToolBox};
use toolspan_io::http::{HttpClient, HttpSettings};
use toolspan_mcp::Transport;
use toolspan_mcp::transport::{RemoteKind, RemoteServer};
use toolspan_testkit::real::{RunningServer, remote_server, remote_server_with};
use url::Url;

use crate::real::{assert_same, calls_of_everything, calls_of_fastmcp, seen_by_rmcp, seen_by_us};
use crate::support::Tools;

/// More than any of these tests needs, also on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);

/// Starts servers at the same time.
fn started<const N: usize>(names: [&str; N]) -> [RunningServer; N] {
    std::thread::scope(|scope| {
        let starting = names.map(|name| scope.spawn(|| remote_server(name)));
        starting.map(|thread| thread.join().unwrap())
    })
}

fn transport(server: &RunningServer, kind: RemoteKind) -> Transport {
    let url = Url::parse(&server.url()).unwrap();
    let client = HttpClient::new(HttpSettings::new(url.clone())).unwrap();
    Transport::Remote(Arc::new(RemoteServer::new(url, client).with_kind(kind)))
}

/// A toolbox over a server, listed.
async fn connected(server: &RunningServer, kind: RemoteKind) -> Tools {
    let tools = Tools::new(
        transport(server, kind),
        Limits::default(),
        Timeouts::default(),
    );
    let discovery = tools.discover().await;
    let discovery = discovery.unwrap_or_else(|error| panic!("{error:?}\n{}", server.output()));
    assert!(discovery.broken.is_empty(), "{:?}", discovery.broken);
    assert!(!discovery.tools.is_empty());
    tools
}

/// The text of a call that works.
async fn text(tools: &Tools, tool: &str, arguments: Value) -> String {
    let seen = tools.run(tool, arguments, CallOptions::default()).await;
    let seen = seen.unwrap();
    assert!(!seen.is_error, "{}", seen.text());
    seen.text()
}

/// Calls a tool that reports progress, and gives the latest that came.
async fn progress(tools: &Tools, tool: &str, arguments: Value) -> (Option<f64>, Option<f64>) {
    let latest = Arc::new(Mutex::new((None, None)));
    let seen = Arc::clone(&latest);
    let options = CallOptions::default().with_progress(move |progress| {
        *seen.lock().unwrap() = (Some(progress.progress), progress.total);
    });
    tools.run(tool, arguments, options).await.unwrap();
    *latest.lock().unwrap()
}

/// Cancels a call once it has reported progress, then calls once more.
async fn cancel(tools: &Tools, tool: &str, arguments: Value) {
    let cancel = CancellationToken::new();
    let begun = cancel.clone();
    let options = CallOptions::default()
        .with_cancel(cancel)
        .with_progress(move |_| begun.cancel());
    let ended = tools.run(tool, arguments, options).await.unwrap_err();
    assert_eq!(
        (ended.kind(), ended.outcome()),
        (ErrorKind::Cancelled, Outcome::Unknown)
    );
}

/// Everything that the reference server shows of the transport that is found for it.
async fn everything_works(name: &str, kind: &str) {
    let mut server = remote_server(name);
    let tools = connected(&server, RemoteKind::Auto).await;
    assert_eq!(tools.toolbox.kind(), kind);
    let echo = json!({"message": "hi"});
    assert_eq!(text(&tools, "echo", echo.clone()).await, "Echo: hi");
    let structured = tools
        .run(
            "get-structured-content",
            json!({"location": "New York"}),
            CallOptions::default(),
        )
        .await
        .unwrap();
    assert!(structured.structured.is_some() && structured.schema_violation.is_none());
    let long = "trigger-long-running-operation";
    let short = json!({"duration": 0.2, "steps": 4});
    assert_eq!(progress(&tools, long, short).await, (Some(4.0), Some(4.0)));
    cancel(&tools, long, json!({"duration": 3600, "steps": 36000})).await;
    assert_eq!(text(&tools, "echo", echo.clone()).await, "Echo: hi");
    // It knows nothing of the session any more.
    server.restart();
    assert_eq!(text(&tools, "echo", echo).await, "Echo: hi");
    tools.toolbox.close().await;
}

/// Everything that our two scripts in Python show of the transport that is found for them.
async fn python_works(name: &str, kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cancelled.txt");
    let variable = ("TOOLSPAN_CANCELLED_FILE", file.to_str().unwrap());
    let mut server = remote_server_with(name, &[variable]);
    let tools = connected(&server, RemoteKind::Auto).await;
    assert_eq!(tools.toolbox.kind(), kind);

    let label = json!({"label": "short", "seconds": 0});
    assert_eq!(text(&tools, "nap", label).await, "short");
    let report = json!({"title": "squares", "numbers": [3]});
    let report = tools.run("report", report, CallOptions::default()).await;
    let report = report.unwrap();
    let wanted = json!({"title": "squares", "rows": [{"number": 3, "square": 9}]});
    let structured = report.structured.as_ref().map(|value| json!(value));
    assert_eq!(structured, Some(wanted));
    assert_eq!(report.schema_violation, None);
    let crashed = json!({"message": "by accident"});
    let crashed = tools.run("crash", crashed, CallOptions::default()).await;
    let crashed = crashed.unwrap();
    assert!(crashed.is_error && crashed.text().contains("by accident"));
    let counted = progress(&tools, "count", json!({"to": 20})).await;
    // Only the latest is kept; it is one of the last when it comes beside the answer.
    assert_eq!(counted.1, Some(20.0));

    cancel(&tools, "slow", json!({"label": "first"})).await;
    let written = || std::fs::read_to_string(&file).is_ok_and(|text| text == "cancelled first\n");
    toolspan_testkit::wait_until_async(LIMIT, "the server writes the cancellation down", written)
        .await;
    let label = json!({"label": "after", "seconds": 0});
    assert_eq!(text(&tools, "nap", label.clone()).await, "after");
    // It knows nothing of the session any more.
    server.restart();
    assert_eq!(text(&tools, "nap", label).await, "after");
    tools.toolbox.close().await;
}

#[tokio::test]
async fn the_reference_server_works_over_streamable_http() {
    everything_works("everything-http", "mcp/http").await;
}

#[tokio::test]
async fn the_reference_server_works_over_the_older_transport() {
    everything_works("everything-sse", "mcp/sse").await;
}

#[tokio::test]
async fn fastmcp_works_over_streamable_http() {
    python_works("fastmcp-http", "mcp/http").await;
}

#[tokio::test]
async fn fastmcp_works_over_the_older_transport() {
    python_works("fastmcp-sse", "mcp/sse").await;
}

#[tokio::test]
async fn the_older_sdk_works_with_sessions_and_event_streams() {
    python_works("mcp-sdk-http", "mcp/http").await;
}

#[tokio::test]
async fn the_older_sdk_works_with_json_replies_and_without_sessions() {
    for server in started(["mcp-sdk-http-json", "mcp-sdk-http-stateless"]) {
        let tools = connected(&server, RemoteKind::StreamableHttp).await;
        let echo = json!({"text": "hi"});
        assert_eq!(text(&tools, "echo", echo).await, "hi");
        let crashed = json!({"message": "by accident"});
        let crashed = tools.run("crash", crashed, CallOptions::default()).await;
        assert!(crashed.unwrap().is_error);
        tools.toolbox.close().await;
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_at_once_and_serves_again() {
    for mut server in started(["mcp-sdk-http", "fastmcp-sse"]) {
        let tools = connected(&server, RemoteKind::Auto).await;
        let begun = CancellationToken::new();
        let reported = begun.clone();
        let options = CallOptions::default().with_progress(move |_| reported.cancel());
        let call = tools.run("slow", json!({"label": "lost"}), options);
        let kill = async {
            begun.cancelled().await;
            server.kill();
        };
        let both = async { tokio::join!(call, kill) };
        let (ended, ()) = tokio::time::timeout(LIMIT, both).await.unwrap();
        let ended = ended.unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::Closed, "{ended}");
        assert_eq!(ended.outcome(), Outcome::Unknown, "{ended}");

        server.restart();
        let label = json!({"label": "again", "seconds": 0});
        assert_eq!(text(&tools, "nap", label).await, "again");
        tools.toolbox.close().await;
    }
}

/// Both clients over streamable HTTP, with the same server.
async fn assert_same_over_http(name: &str, calls: &[(&str, Value)]) {
    let server = remote_server(name);
    let ours = seen_by_us(transport(&server, RemoteKind::StreamableHttp), calls).await;
    let theirs = StreamableHttpClientTransport::from_uri(server.url());
    let theirs = seen_by_rmcp(().serve(theirs).await.unwrap(), calls).await;
    assert_same(&ours, &theirs, calls);
}

#[tokio::test]
async fn the_reference_server_looks_the_same_as_to_the_official_client_over_http() {
    assert_same_over_http("everything-http", &calls_of_everything()).await;
}

#[tokio::test]
async fn fastmcp_looks_the_same_as_to_the_official_client_over_http() {
    assert_same_over_http("fastmcp-http", &calls_of_fastmcp()).await;
}

#[tokio::test]
async fn the_same_server_looks_the_same_over_every_transport() {
    let calls = calls_of_fastmcp();
    let [http, sse] = started(["fastmcp-http", "fastmcp-sse"]);
    let over_http = seen_by_us(transport(&http, RemoteKind::StreamableHttp), &calls).await;
    let over_sse = seen_by_us(transport(&sse, RemoteKind::Sse), &calls).await;
    assert_same(&over_http, &over_sse, &calls);
}
