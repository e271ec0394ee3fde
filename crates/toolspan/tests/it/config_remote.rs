//! Is a server that is reached over HTTP read as it is written, and are its slips told?

use std::fmt::Write as _;

use toolspan::config::{ProxyChoice, RemoteConfig, RemoteKind, Resolved, Transport};
use toolspan_core::guard::Secret;

use crate::config_case::{Case, report, resolved};

const VARIABLES: [(&str, &str); 5] = [
    ("SET", "value"),
    ("MY_TOKEN", "variable-secret"),
    ("LINE", "two\nlines"),
    ("EMPTY", ""),
    ("HOST", "me:pw-secret@example.com"),
];

/// What is said about one server, given as the text of its entry.
fn said(entry: &str) -> String {
    let content = format!("{{\"mcpServers\": {{\n  \"x\": {entry}\n}}}}");
    Case::new(content, &VARIABLES).report()
}

fn all_said(entries: &[&str]) -> String {
    let mut all = String::new();
    for entry in entries {
        writeln!(all, "# {entry}\n{}", said(entry)).expect("a string");
    }
    all
}

/// The server of a good entry.
#[expect(clippy::panic, reason = "the test fails with what is there instead")]
fn remote(resolved: &Resolved, index: usize) -> &RemoteConfig {
    match &resolved.toolboxes[index].transport {
        Ok(Transport::Remote(server)) => server,
        other => panic!("{other:?}"),
    }
}

fn one(entry: &str) -> RemoteConfig {
    let content = format!("{{\"mcpServers\": {{\"x\": {entry}}}}}");
    let read = Case::new(content, &VARIABLES).read().expect("readable");
    remote(&read, 0).clone()
}

fn shown(headers: &[(String, Secret)]) -> Vec<(&str, &str)> {
    let mut shown = Vec::new();
    for (name, value) in headers {
        shown.push((name.as_str(), value.reveal()));
    }
    shown
}

#[test]
fn each_spelling_of_a_transport_is_taken() {
    for (kind, spellings) in [
        (
            RemoteKind::StreamableHttp,
            &[
                "http",
                "streamable-http",
                "streamableHttp",
                "streamable_http",
                "Streamable-HTTP",
                "streamablehttp",
                "http-stream",
                "shttp",
            ][..],
        ),
        (RemoteKind::Sse, &["sse", "SSE", "http+sse"]),
        (RemoteKind::Auto, &["remote"]),
    ] {
        for spelling in spellings {
            for key in ["transport", "type"] {
                let server = one(&format!(
                    r#"{{"url": "https://example.com/sse", "{key}": "{spelling}"}}"#
                ));
                assert_eq!(server.kind, kind, "{key} {spelling}");
            }
        }
    }
    let kind = |entry| one(entry).kind;
    assert_eq!(
        kind(r#"{"url": "https://example.com/sse"}"#),
        RemoteKind::Auto
    );
    assert_eq!(
        kind(r#"{"httpUrl": "https://example.com"}"#),
        RemoteKind::StreamableHttp
    );
    assert_eq!(
        kind(r#"{"serverUrl": "https://example.com"}"#),
        RemoteKind::Auto
    );
}

#[test]
fn everything_about_a_server_is_read_and_filled_in() {
    let folder = Case::empty(&[]);
    std::fs::write(folder.folder().join("ca.pem"), "").expect("a file");
    let ca = folder.folder().join("ca.pem");
    let ca_text = ca.to_str().expect("a plain path");
    let server = one(&format!(
        r#"{{"url": "https://example.com/${{SET}}?page=${{NONE:-2}}&key=query-secret#frag",
            "headers": {{"X-Custom": " a ${{SET}} ", "X-Key": "${{env:MY_TOKEN}}"}},
            "auth": "Bearer ${{MY_TOKEN}}", "proxy": "socks5h://me:proxy-secret@127.0.0.1",
            "tls": {{"ca": "{ca_text}"}}}}"#
    ));
    let url = "https://example.com/value?page=2&key=query-secret";
    assert_eq!(server.url.as_str(), url);
    assert_eq!(
        shown(&server.headers),
        [("x-custom", "a value"), ("x-key", "variable-secret")]
    );
    assert_eq!(server.auth, Some(Secret::new("variable-secret")));
    assert_eq!(server.tls.ca.as_deref(), Some(&*ca));
    let proxy = "socks5h://me:proxy-secret@127.0.0.1";
    assert_eq!(server.proxy, ProxyChoice::Url(Secret::new(proxy)));
    let known: Vec<&str> = server.secrets.iter().map(Secret::reveal).collect();
    for secret in ["variable-secret", "a value", "query-secret", "proxy-secret"] {
        assert!(known.contains(&secret), "{secret}");
    }
    let direct = one(r#"{"url": "https://example.com", "proxy": false}"#);
    assert_eq!(direct.proxy, ProxyChoice::Direct);
    assert_eq!(
        one(r#"{"url": "https://example.com"}"#).proxy,
        ProxyChoice::Environment
    );
}

/// M2, M11 and the slips beside them. No value is repeated.
#[test]
fn what_cannot_be_connected_to_is_refused_with_its_place() {
    let all = all_said(&[
        r#"{"url": ""}"#,
        r#"{"url": 5}"#,
        r#"{"url": "example.com/mcp"}"#,
        r#"{"url": "localhost:8080/mcp"}"#,
        r#"{"url": "ws://example.com/mcp"}"#,
        r#"{"url": "unix:///run/mcp.sock"}"#,
        r#"{"url": "https://me:pw-secret@example.com/mcp"}"#,
        r#"{"url": "https://${HOST}/mcp"}"#,
        r#"{"url": "http://127.0.0.1@evil.test/mcp"}"#,
        r#"{"url": "https://exam ple.com"}"#,
        r#"{"url": "https://example.com/${MISSING}"}"#,
        r#"{"url": "https://example.com", "headers": ["a: b"]}"#,
        r#"{"url": "https://example.com", "headers": {"A": 1}}"#,
        r#"{"url": "https://example.com", "headers": {"": "a"}}"#,
        r#"{"url": "https://example.com", "headers": {"Authorization: Bearer pw-secret": ""}}"#,
        r#"{"url": "https://example.com", "headers": {"X\r\nHost: evil": "a"}}"#,
        r#"{"url": "https://example.com", "headers": {"Host": "evil.test"}}"#,
        r#"{"url": "https://example.com", "headers": {"Transfer-Encoding": "chunked"}}"#,
        r#"{"url": "https://example.com", "headers": {"Mcp-Session-Id": "a"}}"#,
        r#"{"url": "https://example.com", "headers": {"X-A": "${LINE}"}}"#,
        r#"{"url": "https://example.com", "headers": {"X-A": "pw-sécret"}}"#,
        r#"{"url": "https://example.com", "headers": {"X-A": "a\u0007"}}"#,
        r#"{"url": "https://example.com", "headers": {"X-A": "a", "x-a": "b"}}"#,
        r#"{"url": "https://example.com", "headers": {"X-A": "${MISSING}"}}"#,
        r#"{"url": "https://example.com", "auth": "oauth"}"#,
        r#"{"url": "https://example.com", "auth": {"CLIENT_ID": "a", "CLIENT_SECRET": "b"}}"#,
        r#"{"url": "https://example.com", "auth": true}"#,
        r#"{"url": "https://example.com", "auth": "${EMPTY}"}"#,
        r#"{"url": "https://example.com", "auth": "a", "headers": {"Authorization": "b"}}"#,
        r#"{"url": "https://example.com", "tls": {"ca": "missing.pem"}}"#,
        r#"{"url": "https://example.com", "tls": {"ca": "/"}}"#,
        r#"{"url": "https://example.com", "tls": {"ca": ""}}"#,
        r#"{"url": "https://example.com", "tls": {"key": "toolspan.json"}}"#,
        r#"{"url": "https://example.com", "tls": {"insecure": "yes"}}"#,
        r#"{"url": "https://example.com", "proxy": true}"#,
        r#"{"url": "https://example.com", "proxy": "ftp://me:pw-secret@proxy"}"#,
        r#"{"url": "https://example.com", "proxy": "http://"}"#,
        r#"{"url": "https://example.com", "transport": "stdio"}"#,
        r#"{"httpUrl": "https://example.com", "type": "sse"}"#,
        r#"{"url": "https://example.com", "serverUrl": "https://example.org"}"#,
        r#"{"url": "https://example.com", "max_in_flight": 0}"#,
        r#"{"url": "https://example.com", "sse_read_timeout": 0}"#,
    ]);
    let answers: Vec<&str> = all.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!answers.concat().contains("cret"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn what_is_odd_about_a_remote_server_is_a_warning() {
    let all = all_said(&[
        r#"{"url": "http://example.com/mcp"}"#,
        r#"{"url": "http://8.8.8.8/mcp"}"#,
        r#"{"url": "http://127.0.0.1.evil.test/mcp"}"#,
        r#"{"url": "http://localhost:8080/mcp"}"#,
        r#"{"url": "http://192.168.1.5/mcp"}"#,
        r#"{"url": "http://mcp:8080/mcp"}"#,
        r#"{"url": "https://example.com", "tls": {"insecure": true, "certt": "a"}}"#,
        r#"{"url": "https://example.com", "headers": {"Content-Type": "application/json", "accept": "*/*"}}"#,
        r#"{"url": "https://example.com", "headers": {"Authorization": "Bearer $MY_TOKEN"}}"#,
        r#"{"url": "https://example.com", "headers": {"Authorization": "Bearer $$MY_TOKEN"}}"#,
        r#"{"url": "https://example.com", "args": [], "env": {"A": "b"}, "cwd": "."}"#,
        r#"{"command": "a", "headers": {"A": "b"}, "auth": "c", "proxy": false}"#,
        r#"{"url": "https://example.com", "oauth": {"clientId": "a"}, "headersHelper": "b"}"#,
        r#"{"url": "https://example.com", "header": {"A": "b"}, "authh": "c", "api_key": "d"}"#,
        r#"{"url": "https://example.com", "serverURL": "https://example.com"}"#,
        r#"{"url": "https://example.com", "timeout": 30000}"#,
        r#"{"url": "https://example.com", "timeout": 3600}"#,
    ]);
    insta::assert_snapshot!(all);
}

#[test]
fn a_remote_server_has_fewer_calls_in_flight_unless_the_config_says_how_many() {
    let most = |content: &str| resolved(content).toolboxes[0].limits.max_in_flight;
    let with = |top: &str, entry: &str| {
        most(&format!(
            r#"{{{top} "mcpServers": {{"x": {{"url": "https://example.com"{entry}}}}}}}"#
        ))
    };
    assert_eq!(with("", ""), 100);
    assert_eq!(with(r#""limits": {"max_in_flight": 256},"#, ""), 256);
    assert_eq!(with("", r#", "max_in_flight": 7"#), 7);
    assert_eq!(with("", r#", "limits": {"max_in_flight": 300}"#), 300);
    assert_eq!(most(r#"{"mcpServers": {"x": {"command": "a"}}}"#), 256);
}

#[test]
fn a_timeout_in_milliseconds_is_taken_as_such() {
    let timeouts = |entry: &str| {
        let content =
            format!(r#"{{"mcpServers": {{"x": {{"url": "https://example.com", {entry}}}}}}}"#);
        let timeouts = resolved(&content).toolboxes[0].timeouts.clone();
        [timeouts.total, timeouts.idle].map(|time| time.as_secs_f64())
    };
    assert_eq!(timeouts(r#""timeout": 30000"#), [30.0, 60.0]);
    assert_eq!(timeouts(r#""timeout": 600000"#), [600.0, 600.0]);
    assert_eq!(timeouts(r#""timeout": 3600"#), [3600.0, 3600.0]);
    assert_eq!(timeouts(r#""sse_read_timeout": 300"#), [600.0, 300.0]);
    assert_eq!(timeouts(r#""timeouts": {"total": 7200}"#), [7200.0, 60.0]);
}

/// A server that is told secrets in each way there is.
#[test]
fn no_secret_of_a_remote_server_is_shown() {
    const SECRETS: [&str; 8] = [
        "header-1-secret",
        "bearer-2-secret",
        "query-3-secret",
        "path-4-secret",
        "proxy-5-secret",
        "in7",
        "auth-8-secret",
        "sig-9-secret",
    ];
    let content = r#"{"mcpServers": {
        "x": {"url": "https://example.com/${P_TOKEN}/mcp?api_key=query-3-secret&sig=sig-9-secret",
            "headers": {"X-Any": "header-1-secret", "Authorization": "Bearer bearer-2-secret",
                        "X-Short": "in7"},
            "proxy": "http://me:proxy-5-secret@proxy:3128"},
        "y": {"url": "https://example.com/mcp", "auth": "auth-8-secret"},
        "z": {"url": "https://example.com/mcp?token=in7"}}}"#;
    let read = Case::new(content, &[("P_TOKEN", "path-4-secret")])
        .read()
        .expect("readable");
    assert_eq!(report(&Ok(read.clone())), "fine, 3 toolboxes\n");
    let texts = [
        format!("{read:?}"),
        format!("{read:#?}"),
        read.to_json().to_string(),
        remote(&read, 0).shown_url(),
    ];
    for text in &texts {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    insta::assert_snapshot!(texts[3]);
    let mut json = read.to_json();
    for server in ["x", "y", "z"] {
        for rest in ["limits", "timeouts"] {
            json["mcpServers"][server]
                .as_object_mut()
                .expect("a server")
                .remove(rest);
        }
    }
    insta::assert_json_snapshot!(json["mcpServers"]);
}

#[test]
fn servers_of_the_command_line_have_names_of_their_own() {
    let read = Resolved::from_server_lines(&["uvx mcp-server-time"])
        .and_then(|read| {
            read.with_urls(
                &["https://time.example.com/mcp", "https://example.com/time"],
                &[] as &[&str],
            )
        })
        .expect("good");
    let keys: Vec<&str> = read.toolboxes.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["time", "time-example", "time-2"]);
    assert_eq!(read.toolboxes[1].limits.max_in_flight, 100);
}

#[test]
fn a_header_of_the_command_line_goes_to_one_server_alone() {
    let with = |urls: &[&str], headers: &[&str]| Resolved::default().with_urls(urls, headers);
    let read = with(
        &["http://127.0.0.1:1/a", "http://127.0.0.1:1/b"],
        &["Authorization:  Bearer long-secret", "X-A: b: c"],
    )
    .expect("good");
    for index in [0, 1] {
        let wanted = [("authorization", "Bearer long-secret"), ("x-a", "b: c")];
        assert_eq!(shown(&remote(&read, index).headers), wanted);
    }
    assert!(!format!("{read:?}").contains("long-secret"));
    let mut all = String::new();
    for (urls, headers) in [
        (&["https://a.test", "https://b.test"][..], &["A: b"][..]),
        (&[], &["A: b"]),
        (&["https://a.test"], &["no-colon-secret"]),
        (&["https://a.test"], &["Host: a"]),
        (&["https://a.test"], &["A B: c"]),
        (&["https://a.test"], &["A: sécret"]),
        (&["https://me:pw@a.test"], &[]),
        (&["a.test"], &[]),
        (&[""], &[]),
    ] {
        let error = with(urls, headers).expect_err("a usage error");
        writeln!(all, "# {urls:?} {headers:?}").expect("a string");
        writeln!(all, "{}", report(&Err(error))).expect("a string");
    }
    insta::assert_snapshot!(all);
    let open = with(&["http://example.com/mcp"], &[]).expect("good");
    assert_eq!(open.warnings.len(), 1);
}
