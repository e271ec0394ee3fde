//! What is told of a server at a URL beside its calls, and what do runtimes and settings do to it?

use http::HeaderMap;
use toolspan_core::services::Event;
use toolspan_core::{ErrorKind, ToolBox};
use toolspan_io::http::{HttpClient, HttpSettings, TlsSettings};
use toolspan_mcp::transport::{RemoteKind, RemoteServer, is_reserved_header};

use crate::support::http::{HttpPeer, connected, greeted, remote, server_at};
use crate::support::peer::hello;
use crate::support::told;

#[tokio::test]
async fn a_config_that_sets_a_header_of_the_protocol_is_refused_before_anything_is_sent() {
    let peer = HttpPeer::new().await;
    let mut headers = HeaderMap::new();
    headers.insert("mcp-session-id", "stolen".parse().unwrap());
    let tools = remote(server_at(&peer.url).with_headers(headers));
    let error = tools.discover().await.unwrap_err();
    assert_eq!(peer.accepted(), 0);
    insta::assert_snapshot!(told(&error));
}

#[test]
fn the_headers_of_the_protocol_are_known_in_any_case() {
    for name in [
        "Host",
        "CONTENT-LENGTH",
        "Mcp-Protocol-Version",
        "mcp-anything",
        "Last-Event-ID",
    ] {
        assert!(is_reserved_header(name), "{name}");
    }
    for name in [
        "Authorization",
        "cookie",
        "X-Api-Key",
        "mcpserver",
        "no name",
    ] {
        assert!(!is_reserved_header(name), "{name}");
    }
}

#[tokio::test]
async fn a_warning_of_the_client_is_told_once_and_stays_in_the_diagnosis() {
    let peer = HttpPeer::new().await;
    let tls = TlsSettings::default().with_insecure(true);
    let settings = HttpSettings::new(peer.url.clone()).with_tls(tls);
    let client = HttpClient::new(settings).unwrap();
    let server = RemoteServer::new(peer.url.clone(), client);
    let server = server.with_kind(RemoteKind::StreamableHttp);
    let (tools, mut peer) = greeted(remote(server), peer).await;
    let serve = async { peer.expect("tools/call").await.echo().await };
    tokio::join!(tools.echo("hello"), serve).0.unwrap();
    let warnings = |event: &Event| matches!(event, Event::Log { level, .. } if level == "warning");
    assert_eq!(tools.heard.count(warnings), 1);
    let port = peer.url.port().unwrap().to_string();
    insta::assert_snapshot!(tools.notes().join("\n").replace(&port, "PORT"));
}

#[tokio::test]
async fn the_way_to_a_server_is_looked_at_below_the_protocol() {
    let (tools, peer) = connected().await;
    let seen = tools.toolbox.probe().await;
    let steps: Vec<&str> = seen.iter().map(|step| step.what.as_str()).collect();
    assert_eq!(steps, ["connect (TCP)"]);
    peer.end().await;
    let mut seen = tools.toolbox.probe().await;
    let error = seen.remove(0).result.unwrap_err();
    assert_eq!(
        (error.kind(), error.toolbox()),
        (ErrorKind::Connect, Some("peer"))
    );
}

#[tokio::test]
async fn a_url_is_shown_without_its_secrets() {
    let mut peer = HttpPeer::new().await;
    let mut url = peer.url.clone();
    url.set_query(Some("key=hidden-in-the-query"));
    url.set_fragment(Some("hidden-in-the-fragment"));
    let server = server_at(&url);
    let debug = format!("{server:?}");
    let tools = remote(server);
    let play = async {
        let initialize = peer.expect("initialize").await;
        // The server is asked with all of it but the fragment.
        assert_eq!(initialize.path, "/mcp?key=hidden-in-the-query");
        initialize
            .respond(
                "307 Temporary Redirect",
                "location: /other?key=hidden-too\r\n",
                "",
            )
            .await;
        peer.expect("initialize")
            .await
            .reply(hello("2025-11-25"))
            .await;
        peer.expect("notifications/initialized")
            .await
            .status("202 Accepted")
            .await;
        peer.list().await;
    };
    tokio::join!(tools.discover(), play).0.unwrap();
    let port = peer.url.port().unwrap().to_string();
    let steps = tools.toolbox.diagnosis().steps;
    let steps = steps
        .iter()
        .map(|step| format!("{}: {}", step.what, step.result.as_ref().unwrap()));
    let shown = [debug]
        .into_iter()
        .chain(steps)
        .collect::<Vec<_>>()
        .join("\n");
    insta::assert_snapshot!(shown.replace(&port, "PORT"));
}

#[test]
fn a_toolbox_outlives_the_runtime_that_connected_it() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let of_peer = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let peer = of_peer.block_on(HttpPeer::new());
    let first = runtime();
    let (tools, mut peer) = first.block_on(greeted(remote(server_at(&peer.url)), peer));
    // Its tasks and its connections end with it.
    drop(first);
    let serve = async {
        peer.shake_hands(2).await;
        let call = peer.expect("tools/call").await;
        assert_eq!(call.session(), 2);
        call.echo().await;
    };
    let (text, ()) = runtime().block_on(async { tokio::join!(tools.echo("hello"), serve) });
    assert_eq!(text.unwrap(), "hello");
}

#[test]
fn a_caller_whose_runtime_ends_takes_no_connection_of_others_with_it() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let home = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (tools, mut peer) = home.block_on(connected());
    for _ in 0..2 {
        let serve = async { peer.expect("tools/call").await.echo().await };
        let calls = async { tokio::join!(tools.echo("from another runtime"), serve) };
        let (text, ()) = runtime().block_on(calls);
        assert_eq!(text.unwrap(), "from another runtime");
    }
    assert!(peer.accepted() <= 2, "{}", peer.accepted());
}
