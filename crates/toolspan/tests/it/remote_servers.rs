//! Do servers over the network, that we did not write, work beside one another and beside others?

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolspan::{CallOptions, ErrorKind, Host, Outcome};
use toolspan_testkit::Census;
use toolspan_testkit::real::{RunningServer, real_server, remote_server};

use crate::support::SOON;

/// Starts servers at the same time.
fn started<const N: usize>(names: [&str; N]) -> [RunningServer; N] {
    std::thread::scope(|scope| {
        let starting = names.map(|name| scope.spawn(|| remote_server(name)));
        starting.map(|thread| thread.join().unwrap())
    })
}

/// The state of each toolbox and how it is reached, in the order of the config.
fn states(status: &[toolspan::ToolboxStatus]) -> Vec<(String, &'static str, String)> {
    let told = status.iter().map(|status| {
        let state = status.state.as_str();
        (status.toolbox.to_string(), state, status.kind.to_string())
    });
    told.collect()
}

#[test]
fn stdio_http_and_sse_serve_in_one_host_for_asynchronous_and_blocking_callers() {
    let [http, sse, sdk] = started(["everything-http", "everything-sse", "mcp-sdk-http"]);
    let stdio = real_server("everything");
    let config = json!({"mcpServers": {
        "here": {"command": stdio.command, "args": stdio.args},
        "http": {"type": "http", "url": http.url()},
        "sse": {"type": "sse", "url": sse.url()},
        "untold": {"url": sse.url()},
        "sdk": {"url": sdk.url()},
    }});
    let expected = [
        ("here", "mcp/stdio"),
        ("http", "mcp/http"),
        ("sse", "mcp/sse"),
        ("untold", "mcp/sse"),
        ("sdk", "mcp/http"),
    ];
    let expected = expected.map(|(key, kind)| (key.to_owned(), "ready", kind.to_owned()));
    let calls = [
        ("here__echo", json!({"message": "hi"}), "Echo: hi"),
        ("http__echo", json!({"message": "hi"}), "Echo: hi"),
        ("sse__echo", json!({"message": "hi"}), "Echo: hi"),
        ("untold__echo", json!({"message": "hi"}), "Echo: hi"),
        ("sdk__echo", json!({"text": "hi"}), "hi"),
    ];

    // The first runtime of a process leaves what listens for signals behind, for good.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let before = Census::take();
    runtime.block_on(async {
        let builder = Host::builder().config_value(config.clone());
        let host = builder.connect().await.unwrap();
        assert_eq!(states(&host.status()), expected);
        for (tool, arguments, answer) in &calls {
            let seen = host.call(tool, arguments.clone()).await.unwrap();
            assert_eq!(seen.text(), *answer, "{tool}");
        }
        host.close().await;
    });
    drop(runtime);
    before.assert_nothing_left();

    let builder = Host::builder().config_value(config);
    let host = toolspan::blocking::Host::connect_builder(builder).unwrap();
    assert_eq!(states(&host.status()), expected);
    for (tool, arguments, answer) in calls {
        assert_eq!(host.call(tool, arguments).unwrap().text(), answer, "{tool}");
    }
    host.close().unwrap();
}

#[tokio::test]
async fn headers_of_the_config_go_with_every_call_and_those_of_a_call_with_that_one_alone() {
    let [json, sdk, sse] = started(["mcp-sdk-http-json", "mcp-sdk-http", "fastmcp-sse"]);
    let entry =
        |server: &RunningServer| json!({"url": server.url(), "headers": {"x-all": "every"}});
    let config = json!({"mcpServers": {
        "json": entry(&json), "sdk": entry(&sdk), "sse": entry(&sse),
    }});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    for key in ["json", "sdk", "sse"] {
        let tool = format!("{key}__header");
        let asked = async |name: &str, options: CallOptions| {
            let seen = host.call_with(&tool, json!({"name": name}), options).await;
            let structured = seen.unwrap().structured;
            structured
                .and_then(|it| it.get("result").cloned())
                .unwrap_or_default()
        };
        let plain = CallOptions::default;
        let with = || CallOptions::default().with_headers([("x-one", "only this")]);
        assert_eq!(asked("x-all", plain()).await, "every", "{key}");
        assert_eq!(asked("x-one", plain()).await, Value::Null, "{key}");
        assert_eq!(asked("x-all", with()).await, "every", "{key}");
        assert_eq!(asked("x-one", with()).await, "only this", "{key}");
        assert_eq!(asked("x-one", plain()).await, Value::Null, "{key}");
    }
    host.close().await;
}

/// 64 calls of a second each, at the same time; gives how long all took.
async fn sixty_four(host: &Host, tool: &str) -> Duration {
    let arguments = json!({"duration": 1, "steps": 1});
    // Once before, so that the time is that of calls.
    host.call(tool, json!({"duration": 0, "steps": 1}))
        .await
        .unwrap();
    let began = Instant::now();
    let calls = (0..64).map(|_| host.call(tool, arguments.clone()));
    for ended in futures_util::future::join_all(calls).await {
        let seen = ended.unwrap();
        assert!(seen.text().contains("completed"), "{}", seen.text());
    }
    began.elapsed()
}

// It has the machine for itself: see .config/nextest.toml.
#[tokio::test]
async fn sixty_four_calls_of_a_second_take_less_than_two() {
    let [http, sse] = started(["everything-http", "everything-sse"]);
    let config = json!({"mcpServers": {
        "http": {"type": "http", "url": http.url()},
        "sse": {"type": "sse", "url": sse.url()},
    }});
    let host = Host::builder()
        .config_value(config)
        .connect()
        .await
        .unwrap();
    for key in ["http", "sse"] {
        let took = sixty_four(&host, &format!("{key}__trigger-long-running-operation")).await;
        assert!(took < Duration::from_secs(2), "{key}: {took:?}");
    }
    host.close().await;
}

#[tokio::test]
async fn a_dead_url_and_a_hanging_one_neither_delay_nor_break_the_others() {
    let [http, sse] = started(["everything-http", "everything-sse"]);
    // Bound without listening: the port is nobody else's, and refuses.
    let refusing = tokio::net::TcpSocket::new_v4().unwrap();
    refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let dead = refusing.local_addr().unwrap();
    // Connections are taken by the system, and nobody answers them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let hanging = silent.local_addr().unwrap();
    let config = json!({"mcpServers": {
        "hanging": {"url": format!("http://{hanging}/mcp"), "timeouts": {"connect": 3600}},
        "dead": {"url": format!("http://{dead}/mcp")},
        "http": {"url": http.url()},
        "sse": {"type": "sse", "url": sse.url()},
    }});
    let host = Host::builder().config_value(config).start().unwrap();
    // Had one of them waited for the one that hangs, it would wait an hour.
    let echo = json!({"message": "hi"});
    let healthy = ["http__echo", "sse__echo"].map(|tool| host.call(tool, echo.clone()));
    let dead = host.call("dead__echo", echo.clone());
    let all = async { tokio::join!(futures_util::future::join_all(healthy), dead) };
    let (healthy, dead) = tokio::time::timeout(SOON, all).await.unwrap();
    for seen in healthy {
        assert_eq!(seen.unwrap().text(), "Echo: hi");
    }
    let dead = dead.unwrap_err();
    assert_eq!(
        (dead.kind(), dead.outcome()),
        (ErrorKind::Connect, Outcome::NotSent),
        "{dead}"
    );
    assert_eq!(dead.toolbox(), Some("dead"));

    let state = |host: &Host, key: &str| {
        let status = host
            .status()
            .into_iter()
            .find(|status| &*status.toolbox == key);
        status.unwrap().state.as_str()
    };
    assert_eq!(
        (state(&host, "http"), state(&host, "sse")),
        ("ready", "ready")
    );
    let began = Instant::now();
    host.close().await;
    assert!(
        began.elapsed() < SOON,
        "a close does not wait for it either"
    );
    drop((silent, refusing));
}
