//! Does a remote server of a config get what the config says, and is the rest left alone?

use std::path::Path;

use serde_json::{Value, json};
use toolspan::config::{Environment, Resolved};
use toolspan::{ErrorKind, Host};
use toolspan_testkit::Fault;

use crate::support::shown;

fn host(config: Value, variables: &[(&str, &str)]) -> Host {
    let environment = Environment::from_pairs(variables.iter().copied());
    let config = Resolved::from_value(&config, &environment).unwrap();
    let builder = Host::builder().environment(environment).config(config);
    builder.start().unwrap()
}

#[tokio::test]
async fn headers_token_and_query_reach_the_server_with_every_request() {
    let server = Fault::honest().over_http();
    let config = json!({"mcpServers": {"docs": {
        "url": format!("{}?key=${{QUERY_KEY}}", server.url()),
        "headers": {"X-Team": "a ${TEAM}", "Content-Type": "text/html"},
        "auth": "${MY_TOKEN}",
    }}});
    let variables = [
        ("MY_TOKEN", "a-bearer-token"),
        ("TEAM", "b"),
        ("QUERY_KEY", "q"),
    ];
    let host = host(config, &variables);
    let seen = host
        .call("docs__echo", json!({"text": "hi"}))
        .await
        .unwrap();
    assert_eq!(seen.text(), "hi");
    host.close().await;
    let requests = server.requests();
    assert!(requests.len() >= 3, "{requests:?}");
    for request in &requests {
        let headers = &request["headers"];
        assert_eq!(headers["authorization"], "Bearer a-bearer-token");
        assert_eq!(headers["x-team"], "a b");
        assert_ne!(headers["content-type"], "text/html");
        assert_eq!(request["path"], "/mcp?key=q");
    }
}

#[tokio::test]
async fn a_server_of_the_older_transport_is_found_without_a_type() {
    let server = Fault::honest().over_sse();
    let host = Host::builder().url(server.url()).start().unwrap();
    let seen = host.call("echo", json!({"text": "hi"})).await.unwrap();
    assert_eq!(seen.text(), "hi");
    host.close().await;
}

/// R37 and what else stands beside the server: it disables its own toolbox alone.
#[tokio::test]
async fn what_cannot_be_used_beside_a_server_disables_its_own_toolbox() {
    let server = Fault::honest().over_http();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let good = json!({"url": server.url()});
    let mut all = String::new();
    for (name, tls, variables) in [
        (
            "no certificate",
            json!({"ca": file("ca.pem", "hello")}),
            &[][..],
        ),
        (
            "too large",
            json!({"ca": file("large.pem", &"A".repeat((1 << 20) + 1))}),
            &[],
        ),
        ("no key", json!({"cert": file("cert.pem", "hello")}), &[]),
        (
            "a proxy of the environment",
            json!({}),
            &[("HTTPS_PROXY", "gopher://me:pw-secret@proxy")],
        ),
        (
            "a list of hosts without a proxy",
            json!({}),
            &[("NO_PROXY", "10.0.0.0/99"), ("http_proxy", "gopher://x")],
        ),
    ] {
        let bad = json!({"url": "https://mcp.invalid:1/mcp", "tls": tls});
        let good = good.clone();
        let host = host(json!({"mcpServers": {"bad": bad, "good": good}}), variables);
        let error = host.call("bad__echo", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{name}");
        let seen = host
            .call("good__echo", json!({"text": "hi"}))
            .await
            .unwrap();
        assert_eq!(seen.text(), "hi");
        host.close().await;
        all += &format!("# {name}\n{}\n\n", shown(&error));
    }
    let folder = folder.path().to_string_lossy();
    insta::assert_snapshot!(all.replace(&*folder, "[FOLDER]"));
}

/// A server of this machine is never asked through a proxy, so that none is in its way.
#[test]
fn only_a_server_elsewhere_needs_proxies_that_can_be_used() {
    for variable in [
        ("http_proxy", "gopher://x"),
        ("HTTPS_PROXY", "gopher://x"),
        ("NO_PROXY", "10.0.0.0/99"),
    ] {
        let faults = |url: &str| {
            let config = json!({"mcpServers": {"docs": {"url": url}, "other": {"command": "x"}}});
            let host = host(config, &[variable]);
            let docs = host.status().into_iter().find(|it| &*it.toolbox == "docs");
            docs.is_some_and(|docs| docs.state.error().is_some())
        };
        for here in [
            "http://localhost:1/mcp",
            "https://LOCALHOST.:1/mcp",
            "http://127.1.2.3:1/mcp",
            "http://[::1]:1/mcp",
            "http://[::ffff:127.0.0.1]:1/mcp",
        ] {
            assert!(!faults(here), "{here}");
        }
        for elsewhere in [
            "https://mcp.invalid/",
            "http://10.0.0.1/",
            "https://localhost.invalid/",
        ] {
            assert!(faults(elsewhere), "{elsewhere}");
        }
    }
}

/// A file may go away between the reading of the config and the start.
#[tokio::test]
async fn a_certificate_that_is_gone_is_told_with_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, "").unwrap();
    let config = json!({"mcpServers": {
        "docs": {"url": "https://localhost:1/mcp", "tls": {"ca": ca}},
        "other": {"command": "other"}}});
    let environment = Environment::from_pairs([("HOME", Path::new("/"))]);
    let config = Resolved::from_value(&config, &environment).unwrap();
    std::fs::remove_file(&ca).unwrap();
    let host = Host::builder().config(config).start().unwrap();
    let error = host.call("docs__x", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().starts_with("tls.ca: "), "{error}");
    host.close().await;
}
