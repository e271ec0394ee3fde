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
    ] {
        let bad = json!({"url": "https://localhost:1/mcp", "tls": tls});
        let good = match variables.is_empty() {
            true => good.clone(),
            // The environment's proxy is for every server that asks for it.
            false => json!({"url": server.url(), "proxy": false}),
        };
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
