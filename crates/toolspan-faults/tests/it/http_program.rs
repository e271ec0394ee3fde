//! Does the program start, record and end over HTTP as it says?

use std::fs;
use std::net::TcpStream;

use serde_json::{Value, json};
use toolspan_faults::{Command, CommandError, Transport};

use crate::web::{Client, Server, call, initialize, reply};

fn refused(arguments: &[&str]) -> String {
    let parsed = Command::parse(arguments.iter().map(std::ffi::OsString::from));
    parsed.expect_err("no sense").to_string()
}

#[test]
fn one_line_tells_the_url_and_the_end_of_input_ends_it() {
    for (option, path) in [
        ("--http", "/mcp"),
        ("--sse", "/sse"),
        ("--null-http-server", "/mcp"),
    ] {
        let mut server = Server::start([option]);
        assert!(server.url.ends_with(path), "{}", server.url);
        let address = server.address().to_owned();
        drop(TcpStream::connect(&address).expect("it listens"));
        let (status, rest) = server.end();
        assert_eq!((status.code(), rest.as_str()), (Some(0), ""), "{option}");
        assert!(TcpStream::connect(&address).is_err(), "{option}");
    }
}

#[test]
fn a_script_decides_how_it_exits() {
    let mut server =
        Server::playing(&json!([{"expect": "tools/call"}, {"send": 1}, {"exit": {"code": 9}}]));
    let mut client = server.called();
    assert_eq!(
        client.response().text(),
        "1\n",
        "what was sent comes before the end"
    );
    assert_eq!(server.child.wait().unwrap().code(), Some(9));
}

#[cfg(unix)]
#[test]
fn a_script_can_kill_it() {
    use std::os::unix::process::ExitStatusExt;
    let mut server = Server::start(["--http", "--fault", "kill_self_on_call"]);
    let mut client = server.called();
    assert_eq!(client.rest().0, "");
    assert_eq!(server.child.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_port_can_be_chosen() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let server = Server::start(["--http", "--port", &port]);
    assert_eq!(server.address(), format!("127.0.0.1:{port}"));
}

#[test]
fn messages_and_requests_are_recorded_also_those_to_the_other_port() {
    let folder = tempfile::tempdir().unwrap();
    let (messages, requests) = (
        folder.path().join("messages"),
        folder.path().join("requests"),
    );
    let server = Server::start([
        "--fault".as_ref(),
        "redirect_307_other_port".as_ref(),
        "--http".as_ref(),
        "--record".as_ref(),
        messages.as_os_str(),
        "--record-http".as_ref(),
        requests.as_os_str(),
    ]);
    let (mut client, session) = server.begin();
    let redirect = client.ask(&session, &call(7, "hi"));
    assert_eq!(redirect.status, 307);
    let (origin, _) = redirect.header("location").rsplit_once('/').unwrap();
    let mut other = Client::connect(origin.strip_prefix("http://").unwrap());
    assert_eq!(other.ask(&session, &call(7, "hi")).json(), reply(7, "hi"));
    let lines = |path| -> Vec<Value> {
        let text = fs::read_to_string(path).unwrap();
        let parse = |line| serde_json::from_str(line).unwrap();
        text.lines().map(parse).collect()
    };
    assert_eq!(
        lines(&messages),
        [initialize(), call(7, "hi"), call(7, "hi")]
    );
    let requests = lines(&requests);
    let ports: Vec<&Value> = requests.iter().map(|it| &it["port"]).collect();
    assert_eq!(ports, ["main", "main", "other"]);
    let expected = json!({"method": "POST", "path": "/mcp", "port": "main", "headers": {
        "host": "a", "mcp-session-id": session, "content-length": call(7, "hi").to_string().len().to_string(),
    }, "body": call(7, "hi").to_string().len()});
    assert_eq!(requests[1], expected);
}

#[test]
fn a_step_that_a_transport_cannot_carry_is_named_before_anything_starts() {
    let cases: [(&[&str], &str); 5] = [
        (
            &["--http", "--fault", "never_reads"],
            "`stop_reading` cannot be played over http;",
        ),
        (
            &["--sse", "--fault", "banner_first"],
            "`send_raw` cannot be played over sse;",
        ),
        (
            &["--fault", "html_200"],
            "`respond` cannot be played over stdio;",
        ),
        (
            &["--http", "--steps", "[{\"respond\": {\"status\": 200}}]"],
            "`respond` cannot be played over http;",
        ),
        (&["--http", "--sse"], "--sse is a second transport;"),
    ];
    for (arguments, expected) in cases {
        let error = refused(arguments);
        assert!(error.starts_with(expected), "{error}");
    }
    let misfit = Command::parse(["--fault", "get_405"].map(Into::into));
    assert!(matches!(
        misfit,
        Err(CommandError::Misfit {
            transport: Transport::Stdio,
            ..
        })
    ));
}

#[test]
fn the_null_server_keeps_a_connection_and_offers_nothing_else() {
    let server = Server::start(["--null-http-server"]);
    let mut client = server.connect();
    let ok = |id: u32| reply(id, "ok");
    assert_eq!(client.ask("", &initialize()).json()["id"], 1);
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(client.ask("", &told).status, 202);
    for id in 2..1000 {
        assert_eq!(client.ask("", &call(id, "x")).json(), ok(id));
    }
    let large = "x".repeat(1 << 20);
    assert_eq!(client.ask("", &call(1, &large)).json(), ok(1));
    for id in 1..4 {
        client.post("", &call(id, "x"));
    }
    for id in 1..4 {
        assert_eq!(client.response().json(), ok(id));
    }
    client.get("");
    assert_eq!(client.response().status, 405);
}
