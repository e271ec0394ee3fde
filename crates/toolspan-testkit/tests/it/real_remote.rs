//! Does a real server over HTTP start at a port of its own, come back there, and end with its test?

use std::io::{Read, Write};
use std::net::TcpStream;

use toolspan_testkit::Census;
use toolspan_testkit::real::remote_server;

/// Whether the server answers a request at its URL, whatever it answers.
fn answers(url: &str) -> bool {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let Ok(mut stream) = TcpStream::connect(address) else {
        return false;
    };
    let request =
        format!("OPTIONS /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/1.1"
}

#[test]
fn each_server_answers_at_its_url_and_is_gone_when_dropped() {
    let before = Census::take();
    let names = [
        "everything-http",
        "everything-sse",
        "fastmcp-http",
        "fastmcp-sse",
        "mcp-sdk-http",
        "mcp-sdk-http-json",
        "mcp-sdk-http-stateless",
    ];
    let servers: Vec<_> = std::thread::scope(|scope| {
        let starting = names.map(|name| scope.spawn(|| remote_server(name)));
        starting.map(|thread| thread.join().unwrap()).into()
    });
    for server in &servers {
        assert!(answers(&server.url()), "{}", server.output());
    }
    let mut urls: Vec<_> = servers.iter().map(|server| server.url()).collect();
    urls.dedup();
    assert_eq!(urls.len(), names.len());
    drop(servers);
    assert!(!urls.iter().any(|url| answers(url)));
    before.assert_nothing_left();
}

#[test]
fn a_server_comes_back_at_the_same_url() {
    let mut server = remote_server("everything-http");
    let url = server.url();
    server.kill();
    assert!(!answers(&url));
    server.restart();
    assert_eq!(server.url(), url);
    assert!(answers(&url), "{}", server.output());
}

#[test]
#[should_panic(expected = "\"time\" is no server over HTTP")]
fn a_server_of_stdio_is_refused() {
    drop(remote_server("time"));
}
