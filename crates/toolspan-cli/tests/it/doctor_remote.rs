//! `doctor` for servers at a URL: each step of the way, why one failed, and what to do.

use std::net::TcpListener;
use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolspan_testkit::{Fault, RunningFault};

use crate::cli::{Cli, Ran};

/// What a doctor says of a server in the config, and the port in it by its name.
fn examined(entry: Value) -> String {
    let port = port(&entry);
    let cli = Cli::with_servers(json!({"box": entry}));
    steady(&cli.run(&["doctor"]).to_string(), &port)
}

fn of(server: &RunningFault) -> String {
    examined(server.config_entry())
}

fn port(entry: &Value) -> String {
    let url = entry["url"]
        .as_str()
        .expect("an entry of a server at a URL");
    let authority = url.split('/').nth(2).unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    port.unwrap_or("no port").to_owned()
}

fn steady(text: &str, port: &str) -> String {
    text.replace(&format!(":{port}"), ":[PORT]")
}

#[test]
fn a_server_that_works_shows_every_step_of_the_way() {
    assert_snapshot!(of(&Fault::honest().over_http()));
}

#[test]
fn a_server_that_speaks_the_older_transport_shows_it() {
    assert_snapshot!(of(&Fault::honest().over_sse()));
}

#[test]
fn a_redirect_names_where_it_leads() {
    assert_snapshot!(of(&Fault::named("redirect_307_same_origin").over_http()));
}

#[test]
fn a_name_that_nobody_knows_is_said_to_be_one() {
    // A label of 64 letters cannot be looked up (RFC 1035, section 2.3.4), so no network is asked.
    let name = "a".repeat(64);
    let text = examined(json!({"url": format!("http://{name}.invalid/mcp")}));
    let (before, reason) = text.split_once("was not resolved: ").expect("it says so");
    // What the system says is its own affair.
    let (_, after) = reason.split_once("; ").expect("it says what to do");
    let text = format!("{before}was not resolved: [REASON]; {after}");
    assert_snapshot!(text.replace(&name, "[NAME]"));
}

#[test]
fn a_port_that_nobody_listens_on_is_said_to_refuse() {
    assert_snapshot!(examined(json!({"url": "http://127.0.0.1:1/mcp"})));
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_named() {
    let server = Tls::start();
    let text = examined(json!({"url": format!("https://localhost:{}/mcp", server.port)}));
    assert_snapshot!(text);
}

#[test]
fn an_answer_that_is_no_success_is_told_with_its_status() {
    let html = json!({"content-type": "text/html"});
    let page =
        "<html><body><h1>500 Internal Server Error</h1><p>upstream said no</p></body></html>";
    let broken = json!({"status": 500, "headers": html, "body": [{"text": page}]});
    let steps = json!([{"expect_request": {"method": "*"}}, {"respond": broken}]);
    let mut all = String::new();
    for (what, fault) in [
        ("401", Fault::named("status_401_at_start")),
        ("404", Fault::named("status_404")),
        (
            "500 and a page",
            Fault::script([json!({"loop": {"steps": steps}})]),
        ),
    ] {
        all += &format!("# {what}\n{}\n", of(&fault.over_http()));
    }
    assert_snapshot!(all);
}

#[test]
fn a_page_for_people_is_no_mcp_server() {
    assert_snapshot!(of(&Fault::named("html_200_at_start").over_http()));
}

#[test]
fn a_server_that_never_answers_ends_at_its_limit() {
    let server = Fault::named("never_answer_initialize").over_http();
    let mut entry = server.config_entry();
    entry["timeouts"] = json!({"connect": 0.5});
    assert_snapshot!(examined(entry));
}

#[test]
fn as_json_the_steps_are_those_of_the_text() {
    let server = Fault::honest().over_http();
    let cli = Cli::with_servers(json!({"box": server.config_entry()}));
    let report = cli.run(&["doctor", "--json"]).json();
    let steps = report["toolboxes"][0]["steps"].as_array().expect("steps");
    let names: Vec<&str> = steps.iter().filter_map(|it| it["what"].as_str()).collect();
    let text = cli.run(&["doctor"]).stdout;
    for name in &names {
        assert!(text.contains(name), "{name} {text}");
    }
    assert!(steps.iter().all(|step| step["ok"] == true), "{report:#}");
    assert!(steps.iter().all(|step| step["duration_ms"].is_number()));
    assert_eq!(report["error"], Value::Null);
}

#[test]
fn a_failed_step_is_the_error_and_exit_3() {
    let server = Fault::named("status_401_at_start").over_http();
    let cli = Cli::with_servers(json!({"box": server.config_entry()}));
    let ran = cli.run(&["doctor", "--json"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["toolbox"]),
        (Some(3), &json!("box"))
    );
}

#[test]
fn no_secret_of_a_server_is_in_any_step() {
    let mut seen: Vec<Ran> = Vec::new();
    for fault in [
        "honest",
        "redirect_307_same_origin",
        "status_401_at_start",
        "status_404",
        "html_200_at_start",
    ] {
        let server = Fault::named(fault).over_http();
        let url = server.url().replacen("//", "//me:planted-password@", 1);
        let entry = json!({
            "url": format!("{url}?api_key=planted-query&page=2#token=planted-fragment"),
            "headers": {"Authorization": "Bearer planted-header", "X-Odd": "planted-header-too"},
        });
        let cli = Cli::with_servers(json!({"box": entry}));
        seen.push(cli.run(&["doctor", "-vv"]));
        seen.push(cli.run(&["doctor", "--json"]));
    }
    for ran in seen {
        assert!(!ran.to_string().contains("planted"), "{ran}");
    }
}

/// A server that offers a certificate which it made itself.
struct Tls {
    port: u16,
}

impl Tls {
    fn start() -> Self {
        let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
        let key = key.expect("a certificate");
        let config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(
                vec![key.cert.der().clone()],
                key.signing_key.serialize_der().try_into().expect("a key"),
            );
        let config = Arc::new(config.expect("a certificate and its key"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        // It ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), Ok(mut connection)) =
                    (stream, rustls::ServerConnection::new(Arc::clone(&config)))
                else {
                    continue;
                };
                // The client refuses the certificate: that is the end of the connection.
                let _ = connection.complete_io(&mut stream);
            }
        });
        Self { port }
    }
}
