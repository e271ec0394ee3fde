//! Does a server that behaves do so over HTTP, too?

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::web::{Client, Server, call, initialize, reply};

fn honest() -> Server {
    Server::start(["--http"])
}

#[test]
fn a_session_is_begun_used_and_ended() {
    let server = honest();
    let mut client = server.connect();
    let first = client.ask("", &initialize());
    assert_eq!(first.status, 200);
    assert_eq!(first.json()["result"]["protocolVersion"], "2025-06-18");
    let session = first.header("mcp-session-id").to_owned();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let told = client.ask(&session, &told);
    assert_eq!((told.status, told.text()), (202, ""));
    assert_eq!(client.ask(&session, &call(2, "a")).json(), reply(2, "a"));
    client.send("DELETE /mcp", &format!("Mcp-Session-Id: {session}\r\n"), "");
    assert_eq!(client.response().status, 200);
    let refused = client.ask(&session, &call(3, "b"));
    assert_eq!(refused.status, 404);
    assert_eq!(refused.json()["error"]["message"], "Session not found");
}

#[test]
fn what_belongs_to_no_session_is_refused() {
    let server = honest();
    let mut client = server.connect();
    assert_eq!(client.ask("", &call(1, "a")).status, 400);
    assert_eq!(client.ask("unknown", &call(1, "a")).status, 404);
    for (line, session, status) in [
        ("GET /mcp", "", 400),
        ("GET /mcp", "mcp-session-id: unknown\r\n", 404),
        ("DELETE /mcp", "mcp-session-id: unknown\r\n", 404),
        ("PUT /mcp", "", 405),
    ] {
        client.send(line, session, "");
        assert_eq!(client.response().status, status, "{line} {session}");
    }
    for body in ["", "{", "[1]"] {
        client.send("POST /mcp", "", body);
        assert_eq!(client.response().status, 400, "{body}");
    }
}

#[test]
fn a_probe_of_the_newest_revision_is_refused_as_an_old_server_does() {
    let server = honest();
    let probe = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"});
    let refused = server.connect().ask("", &probe);
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["error"]["code"], -32601);
    let modern = Server::start(["--http", "--fault", "modern"]);
    let answer = modern.connect().ask("", &probe);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["result"]["resultType"], "complete");
}

#[test]
fn a_stream_stays_open_until_its_session_ends() {
    let server = honest();
    let (mut client, session) = server.begin();
    let mut stream = server.connect();
    stream.get(&session);
    let head = stream.head();
    assert!(
        head.contains("content-type: text/event-stream\r\n"),
        "{head}"
    );
    client.send("DELETE /mcp", &format!("mcp-session-id: {session}\r\n"), "");
    assert_eq!(client.response().status, 200);
    assert_eq!(stream.chunk(), None);
}

#[test]
fn a_connection_serves_many_requests_and_closes_when_asked() {
    let server = honest();
    let (mut client, session) = server.begin();
    for id in 2..100 {
        assert_eq!(client.ask(&session, &call(id, "x")).json(), reply(id, "x"));
    }
    let last = format!("mcp-session-id: {session}\r\nconnection: close\r\n");
    client.send("POST /mcp", &last, &call(100, "x").to_string());
    assert_eq!(client.response().json(), reply(100, "x"));
    assert_eq!(client.rest(), (String::new(), Ok(())));
}

#[test]
fn requests_that_came_together_are_answered_in_order() {
    let server = honest();
    let (mut client, session) = server.begin();
    for id in 2..5 {
        client.post(&session, &call(id, "x"));
    }
    let ids: Vec<Value> = (2..5)
        .map(|_| client.response().json()["id"].clone())
        .collect();
    assert_eq!(ids, [2, 3, 4]);
}

#[test]
fn two_hundred_connections_are_served_side_by_side() {
    let server = honest();
    let (_, session) = server.begin();
    let mut clients: Vec<Client> = (0..200).map(|_| server.connect()).collect();
    for (client, id) in clients.iter_mut().zip(0..) {
        client.post(&session, &call(id, "x"));
    }
    for (client, id) in clients.iter_mut().zip(0..) {
        assert_eq!(client.response().json(), reply(id, "x"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_held_call_holds_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let (hold_path, mut hold) = crate::program::fifo(folder.path(), "hold");
    let (reached_path, mut reached) = crate::program::fifo(folder.path(), "reached");
    let held = json!({"fifo": hold_path, "reached": reached_path});
    let server = Server::playing(&json!([{"set": {"held": held}}, "serve"]));
    let (mut client, session) = server.begin();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let tools = client.ask(&session, &list).json();
    assert_eq!(tools["result"]["tools"][1]["name"], "held");
    let mut waiting = server.connect();
    let mut message = call(3, "late");
    message["params"]["name"] = "held".into();
    waiting.post(&session, &message);
    reached.read_exact(&mut [0]).unwrap();
    assert_eq!(client.ask(&session, &call(4, "x")).json(), reply(4, "x"));
    hold.write_all(b"x").unwrap();
    assert_eq!(waiting.response().json(), reply(3, "late"));
}

/// Opens a stream of HTTP+SSE; returns it with the endpoint that it names.
fn open(server: &Server) -> (Client, String) {
    let mut stream = server.connect();
    stream.send("GET /sse", "", "");
    let head = stream.head();
    assert!(
        head.contains("content-type: text/event-stream\r\n"),
        "{head}"
    );
    let event = stream.event();
    let endpoint = event.strip_prefix("event: endpoint\ndata: ").unwrap();
    (stream, endpoint.trim_end().to_owned())
}

#[test]
fn the_older_dialect_names_its_endpoint_and_answers_on_its_stream() {
    let server = Server::start(["--sse"]);
    let (mut stream, endpoint) = open(&server);
    assert!(endpoint.starts_with("/messages?session="), "{endpoint}");
    let mut client = server.connect();
    for (id, text) in [(1, "a"), (2, "b")] {
        client.send(&format!("POST {endpoint}"), "", &call(id, text).to_string());
        assert_eq!(client.response().status, 202);
        let expected = format!("event: message\ndata: {}\n\n", reply(id, text));
        assert_eq!(stream.event(), expected);
    }
}

#[test]
fn the_older_dialect_refuses_other_methods_and_sessions() {
    let server = Server::start(["--sse"]);
    let (stream, endpoint) = open(&server);
    let mut client = server.connect();
    let message = call(1, "a").to_string();
    for (line, status) in [
        ("POST /sse", 405),
        ("POST /messages?session=unknown", 404),
        ("GET /messages", 404),
        ("DELETE /sse", 405),
    ] {
        client.send(line, "", &message);
        assert_eq!(client.response().status, status, "{line}");
    }
    drop(stream);
    // That the stream is gone is found out when it is; each answer until then is a 202.
    let post = format!("POST {endpoint}");
    let mut statuses = std::iter::repeat_with(|| {
        client.send(&post, "", &message);
        client.response().status
    });
    assert!(
        statuses.any(|status| status == 404),
        "a session ends with its stream"
    );
}
