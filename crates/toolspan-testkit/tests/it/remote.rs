//! Is a server over HTTP reached, recorded and ended as described?

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};
use toolspan_testkit::{Fault, RunningFault, pid_alive, wait_until};

use crate::session::LIMIT;

fn address(server: &RunningFault) -> String {
    let url = server.url();
    let (address, _) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    address.to_owned()
}

/// Posts one message on a connection of its own and returns the whole response.
fn post(server: &RunningFault, message: &Value) -> String {
    let mut stream = TcpStream::connect(address(server)).unwrap();
    let body = message.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn what_came_over_http_is_recorded_and_the_port_is_given_back() {
    let server = Fault::honest().over_http();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let response = post(&server, &message);
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("\r\nmcp-session-id: "), "{response}");
    assert_eq!(server.recorded(), [message]);
    assert_eq!(server.count("initialize"), 1);
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["path"], "/mcp");
    assert_eq!(requests[0]["port"], "main");
    assert_eq!(requests[0]["headers"]["host"], "a");
    let (address, pid) = (address(&server), server.pid());
    drop(server);
    assert!(!pid_alive(pid));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_server_that_has_exited_is_still_reaped() {
    let mut server = Fault::named("exit_at_start").over_http();
    wait_until(LIMIT, "the server is gone", || {
        TcpStream::connect(address(&server)).is_err()
    });
    wait_until(LIMIT, "it is reaped", || !server.is_running());
    server.kill();
    assert!(!pid_alive(server.pid()));
}

#[test]
fn the_older_dialect_has_an_entry_that_names_it() {
    let server = Fault::honest().over_sse();
    assert_eq!(
        server.config_entry(),
        json!({"type": "sse", "url": server.url()})
    );
    assert!(server.url().ends_with("/sse"));
}

#[test]
fn the_null_server_answers_calls_over_http() {
    let server = Fault::null_http_server();
    let response = post(&server, &json!({"id": "a", "method": "tools/call"}));
    assert!(
        response.contains("{\"jsonrpc\":\"2.0\",\"id\":\"a\","),
        "{response}"
    );
}

#[test]
#[should_panic(expected = "`close_stdin` cannot be played over http")]
fn a_fault_of_the_standard_streams_is_refused() {
    drop(Fault::named("close_stdin_early").over_http());
}
