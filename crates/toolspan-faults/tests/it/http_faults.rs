//! Do the ready-made faults over HTTP do what their descriptions say?

use std::io::ErrorKind;

use serde_json::{Value, json};
use toolspan_faults::{FAULTS, Fault, Transport};

use crate::web::{Client, Response, Server, call, header, reply};

fn named(name: &str) -> Server {
    let first = Fault::named(name).unwrap().transports();
    let option = if first.contains(&Transport::Http) {
        "--http"
    } else {
        "--sse"
    };
    Server::start([option, "--fault", name])
}

fn response(name: &str) -> Response {
    named(name).called().response()
}

/// The reply that scripts send.
fn text_reply(id: u32, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}).to_string()
}

/// The events of a stream, each as its data.
fn data(text: &str) -> Vec<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .map(|line| serde_json::from_str(line).unwrap_or(Value::Null))
        .collect()
}

#[test]
fn every_fault_starts_over_each_of_its_transports() {
    for fault in FAULTS {
        for (transport, option) in [(Transport::Http, "--http"), (Transport::Sse, "--sse")] {
            if fault.transports().contains(&transport) {
                let server = Server::start([option, "--fault", fault.name]);
                assert!(
                    server.url.starts_with("http://127.0.0.1:"),
                    "{}",
                    fault.name
                );
            }
        }
    }
}

#[test]
fn a_call_is_answered_with_the_described_status_and_body() {
    let right = text_reply(7, "hi");
    let cases = [
        (
            "html_200",
            200,
            "text/html; charset=utf-8",
            "<!doctype html>".to_owned(),
        ),
        ("empty_200", 200, "application/json", String::new()),
        ("status_204", 204, "", String::new()),
        ("accepted_202_to_request", 202, "", String::new()),
        (
            "two_json_documents",
            200,
            "application/json",
            format!("{right}\n{right}"),
        ),
        ("wrong_content_type", 200, "text/plain", right.clone()),
        ("no_content_type", 200, "", right.clone()),
        (
            "wrong_id",
            200,
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":999999,".to_owned(),
        ),
        (
            "status_400",
            400,
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\"".to_owned(),
        ),
        ("status_401", 401, "", String::new()),
        (
            "status_403",
            403,
            "application/json",
            "{\"error\":\"insufficient_scope\"}".to_owned(),
        ),
        ("status_429", 429, "text/plain", "slow down\n".to_owned()),
        (
            "status_500_html",
            500,
            "text/html; charset=utf-8",
            "<html>".to_owned(),
        ),
        ("status_503_retry_after", 503, "", String::new()),
        (
            "session_lost_once",
            404,
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":null,".to_owned(),
        ),
        ("redirect_loop", 307, "", String::new()),
        (
            "reply_20mb",
            200,
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":7,".to_owned(),
        ),
        ("split_reply", 200, "application/json", right),
        (
            "deep_200",
            200,
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":7,".to_owned(),
        ),
    ];
    for (name, status, content_type, start) in cases {
        let server = named(name);
        // Its session is not looked at where nothing can be begun.
        let mut client = match name {
            "redirect_loop" => {
                let mut client = server.connect();
                client.post("", &call(7, "hi"));
                client
            }
            _ => server.called(),
        };
        let response = client.response();
        assert_eq!(response.status, status, "{name}");
        assert_eq!(response.header("content-type"), content_type, "{name}");
        assert!(
            response.text().starts_with(&start),
            "{name}: {}",
            response.text()
        );
        assert_eq!(start.is_empty(), response.body.is_empty(), "{name}");
    }
}

#[test]
fn everything_is_answered_with_the_described_status() {
    for (name, status) in [
        ("html_200_at_start", 200),
        ("status_401_at_start", 401),
        ("status_404", 404),
        ("status_405_at_start", 405),
        ("status_500_at_start", 500),
    ] {
        let server = named(name);
        let mut client = server.connect();
        for id in 1..3 {
            assert_eq!(client.ask("", &call(id, "x")).status, status, "{name}");
        }
    }
}

#[test]
fn the_hints_and_places_are_in_the_headers() {
    for (name, header, value) in [
        ("status_429_retry_1", "retry-after", "1"),
        ("status_429_retry_99999", "retry-after", "99999"),
        ("status_429_retry_garbage", "retry-after", "abc"),
        (
            "status_429_retry_past",
            "retry-after",
            "Wed, 21 Oct 2015 07:28:00 GMT",
        ),
        ("status_503_retry_after", "retry-after", "1"),
        (
            "redirect_308_set_cookie",
            "set-cookie",
            "session=planted; Path=/",
        ),
        ("redirect_303", "location", "/moved"),
        ("redirect_without_location", "location", ""),
        ("session_id_changes", "mcp-session-id", ""),
    ] {
        assert_eq!(response(name).header(header), value, "{name}");
    }
    let server = named("redirect_to_https");
    let (_, port) = server.address().split_once(':').unwrap();
    let target = server.called().response().header("location").to_owned();
    assert_eq!(target, format!("https://127.0.0.1:{port}/mcp"));
    let challenge = response("status_401").header("www-authenticate").to_owned();
    assert!(
        challenge.contains("resource_metadata=\"http://127.0.0.1:"),
        "{challenge}"
    );
}

#[test]
fn after_its_one_fault_a_server_serves_again() {
    for name in [
        "status_500_html",
        "empty_200",
        "redirect_303",
        "sse_no_reply_close",
    ] {
        let server = named(name);
        let (mut client, session) = server.begin();
        client.ask(&session, &call(7, "hi"));
        assert_eq!(
            client.ask(&session, &call(8, "x")).json(),
            reply(8, "x"),
            "{name}"
        );
    }
}

#[test]
fn a_lost_session_is_lost_for_everybody_and_can_be_begun_anew() {
    let server = named("session_lost_once");
    let (mut client, session) = server.begin();
    assert_eq!(client.ask(&session, &call(2, "a")).status, 404);
    assert_eq!(client.ask(&session, &call(3, "a")).status, 404);
    let (mut client, session) = server.begin();
    assert_eq!(client.ask(&session, &call(4, "a")).json(), reply(4, "a"));
    let server = named("session_lost_always");
    for _ in 0..2 {
        let (mut client, session) = server.begin();
        assert_eq!(client.ask(&session, &call(2, "a")).status, 404);
    }
}

#[test]
fn bad_session_ids_are_sent_as_they_are() {
    for (name, id) in [
        ("session_id_10kb", "s".repeat(10_000).into_bytes()),
        ("session_id_empty", Vec::new()),
        ("session_id_non_ascii", b"s\xc3\xa9\xe9".to_vec()),
        ("session_id_control_byte", b"s\x01s".to_vec()),
    ] {
        let server = named(name);
        let mut client = server.connect();
        client.post("", &crate::web::initialize());
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.extend(client.take(1));
        }
        let line = [b"\r\nmcp-session-id: ", id.as_slice(), b"\r\n"].concat();
        assert!(head.windows(line.len()).any(|it| it == line), "{name}");
    }
}

#[test]
fn an_id_of_another_session_comes_with_each_reply_and_is_unknown() {
    let server = named("session_id_changes");
    let (mut client, session) = server.begin();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    client.ask(
        &session,
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    );
    client.ask(&session, &list);
    let response = client.ask(&session, &call(3, "a"));
    assert_eq!(response.header("mcp-session-id"), "another-session");
    assert_eq!(client.ask("another-session", &call(3, "a")).status, 404);
    assert_eq!(client.ask(&session, &call(3, "a")).status, 200);
}

#[test]
fn every_message_is_redirected_once_within_the_origin() {
    let server = named("redirect_307_same_origin");
    let mut client = server.connect();
    let redirect = client.ask("", &crate::web::initialize());
    assert_eq!(
        (redirect.status, redirect.header("location")),
        (307, "/moved")
    );
    client.send("POST /moved", "", &crate::web::initialize().to_string());
    assert_eq!(client.response().status, 200);
}

#[test]
fn connections_break_off_where_they_should() {
    for (name, text, end) in [
        (
            "reset_before_status",
            false,
            Err(ErrorKind::ConnectionReset),
        ),
        ("reset_after_headers", true, Err(ErrorKind::ConnectionReset)),
        ("reset_mid_body", true, Err(ErrorKind::ConnectionReset)),
        ("close_before_status", false, Ok(())),
        ("close_mid_headers", true, Ok(())),
        ("close_after_headers", true, Ok(())),
        ("close_mid_body", true, Ok(())),
        ("short_content_length", true, Ok(())),
        ("long_content_length", true, Ok(())),
        ("bad_chunk_size", true, Ok(())),
        ("chunk_size_no_number", true, Ok(())),
        ("sse_cut_without_event_id", true, Ok(())),
        ("sse_id_with_nul", true, Ok(())),
        ("sse_reset", true, Err(ErrorKind::ConnectionReset)),
    ] {
        let server = named(name);
        let (came, ended) = server.called().rest();
        assert_eq!(ended, end, "{name}");
        // A reset may overtake what was written before it.
        assert!(text != came.is_empty() || end.is_err(), "{name}: {came}");
    }
}

#[test]
fn what_hangs_says_nothing_more() {
    for name in [
        "slow_headers_hang",
        "hang_after_headers",
        "hang_mid_body",
        "sse_hang",
    ] {
        let server = named(name);
        let mut client = server.called();
        assert_eq!(client.take(9), b"HTTP/1.1 ", "{name}");
        let (mut other, session) = server.begin();
        let answered = other.ask(&session, &call(8, "x"));
        assert_eq!(answered.json(), reply(8, "x"), "{name}");
    }
}

#[test]
fn the_lengths_are_the_described_ones() {
    let head = |name: &str| named(name).called().head();
    let frame = text_reply(7, "").len();
    assert_eq!(
        header(&head("body_256mb"), "content-length"),
        ((256 << 20) + frame).to_string()
    );
    assert_eq!(
        header(&head("body_256mb_chunked"), "transfer-encoding"),
        "chunked"
    );
    assert!(head("both_lengths").contains("\r\ncontent-length: "));
    assert_eq!(
        head("two_content_lengths")
            .matches("content-length: ")
            .count(),
        2
    );
    let bomb = response("gzip_bomb");
    assert_eq!(bomb.header("content-encoding"), "gzip");
    assert_eq!(&bomb.body[..3], [0x1f, 0x8b, 8]);
    assert!(bomb.body.len() < 300_000, "{}", bomb.body.len());
    let unpacked = &bomb.body[bomb.body.len() - 4..];
    assert_eq!(unpacked, (256_u32 << 20).to_le_bytes());
}

#[test]
fn what_is_endless_goes_on_until_its_client_goes_away() {
    for name in [
        "body_256mb",
        "body_256mb_chunked",
        "body_endless",
        "headers_endless",
        "sse_endless_event",
        "sse_comments_forever",
        "progress_forever",
        "endless_line",
    ] {
        let server = named(name);
        let mut client = server.called();
        assert_eq!(client.skip(4 << 20).unwrap(), 4 << 20, "{name}");
        drop(client);
        let (mut client, session) = server.begin();
        assert_eq!(
            client.ask(&session, &call(8, "x")).json(),
            reply(8, "x"),
            "{name}"
        );
    }
}

#[test]
fn streams_are_as_described() {
    let last = |name: &str| {
        let response = response(name);
        assert_eq!(
            response.header("content-type"),
            "text/event-stream",
            "{name}"
        );
        response.text().to_owned()
    };
    let right = text_reply(7, "hi");
    assert!(last("sse_comments_and_crlf").starts_with(": a comment\r\n\r\n"));
    assert!(last("sse_cr_only").ends_with(&format!("event: message\rdata: {right}\r\r")));
    assert_eq!(last("sse_bom"), format!("\u{feff}data: {right}\n\n"));
    assert_eq!(last("sse_no_final_blank_line"), format!("data: {right}\n"));
    let joined: String = last("sse_multi_data_lines")
        .lines()
        .map(|line| line.trim_start_matches("data: "))
        .collect();
    assert_eq!(serde_json::from_str::<Value>(&joined).unwrap()["id"], 7);
    assert!(last("sse_huge_event").len() > 20_000_000);
    let methods: Vec<Value> = data(&last("sse_server_requests"))
        .iter()
        .map(|it| it["method"].clone())
        .collect();
    assert_eq!(
        methods,
        [
            json!("ping"),
            json!("roots/list"),
            json!("sampling/createMessage"),
            Value::Null
        ]
    );
    assert_eq!(data(&last("sse_no_reply_close")).len(), 1);
    assert!(last("sse_retry_garbage").contains("\nretry: soon\n"));
    assert_eq!(
        last("sse_replies"),
        format!("event: message\ndata: {}\n\n", reply(7, "hi"))
    );
}

#[test]
fn a_cut_stream_goes_on_where_it_is_asked_to() {
    for name in [
        "sse_cut_with_event_id",
        "sse_cut_then_replay",
        "sse_retry_field",
    ] {
        let server = named(name);
        let (text, end) = server.called().first_event_and_rest();
        assert!(text.contains("id: event-1\n"), "{name}: {text}");
        assert_eq!(end, Ok(()), "{name}");
        let mut stream = server.connect();
        stream.send("GET /mcp", "last-event-id: event-1\r\n", "");
        let events = data(stream.response().text());
        assert_eq!(events.last().unwrap()["id"], 7, "{name}");
        assert_eq!(
            events.len(),
            if name == "sse_cut_then_replay" { 2 } else { 1 }
        );
    }
}

#[test]
fn the_stream_of_a_session_is_as_described() {
    let get = |name: &str| {
        let server = named(name);
        let (_, session) = server.begin();
        let mut stream = server.connect();
        stream.get(&session);
        (server, stream)
    };
    let (_server, mut stream) = get("get_405");
    assert_eq!(stream.response().status, 405);
    let (_server, mut stream) = get("get_html");
    assert_eq!(
        stream.response().header("content-type"),
        "text/html; charset=utf-8"
    );
    let (_server, mut stream) = get("get_hangs");
    assert!(stream.is_silent());
    let (_server, mut stream) = get("get_stream_closes_often");
    assert_eq!(
        stream.response().text(),
        "id: stream-0\nretry: 1\ndata: \n\n"
    );
    let (_server, mut stream) = get("get_stream_notifications");
    stream.head();
    assert_eq!(
        data(&stream.event())[0]["method"],
        "notifications/tools/list_changed"
    );
}

fn endpoint_of(server: &Server) -> (Client, String) {
    let mut stream = server.connect();
    stream.send("GET /sse", "", "");
    stream.head();
    let event = stream.event();
    (stream, event)
}

#[test]
fn endpoints_are_named_as_described() {
    for (name, endpoint) in [
        ("sse_endpoint_other_origin", "https://evil.test/collect"),
        ("sse_endpoint_scheme_relative", "//evil.test/collect"),
        ("sse_endpoint_javascript", "javascript:alert(1)"),
        ("sse_endpoint_empty", ""),
    ] {
        let server = named(name);
        for _ in 0..2 {
            let (_stream, event) = endpoint_of(&server);
            assert_eq!(
                event,
                format!("event: endpoint\ndata: {endpoint}\n\n"),
                "{name}"
            );
        }
    }
    let server = named("sse_endpoint_absolute");
    let (_stream, event) = endpoint_of(&server);
    let expected = format!("http://{}/messages?session=", server.address());
    assert!(event.contains(&expected), "{event}");
    let server = named("sse_endpoint_second");
    let (_stream, event) = endpoint_of(&server);
    assert_eq!(event.matches("event: endpoint\n").count(), 2, "{event}");
}

/// How the stream of a session ends.
enum Ending {
    None,
    InOrder,
    Cut,
}

#[test]
fn the_older_dialect_fails_as_described() {
    for (name, status, ends) in [
        ("sse_post_500", 500, Ending::None),
        ("sse_post_reply_in_body", 200, Ending::None),
        ("sse_stream_ends_on_call", 202, Ending::InOrder),
        ("sse_stream_cut_on_call", 202, Ending::Cut),
    ] {
        let server = named(name);
        let (mut stream, event) = endpoint_of(&server);
        let endpoint = event.lines().last().unwrap_or_default();
        let endpoint = event
            .lines()
            .find_map(|it| it.strip_prefix("data: "))
            .unwrap_or(endpoint);
        let mut client = server.connect();
        client.send(&format!("POST {endpoint}"), "", &call(7, "hi").to_string());
        assert_eq!(client.response().status, status, "{name}");
        match ends {
            Ending::None => assert!(stream.is_silent(), "{name}"),
            Ending::InOrder => assert_eq!(stream.chunk(), None, "{name}"),
            Ending::Cut => assert_eq!(stream.rest().1, Ok(()), "{name}"),
        }
    }
    let server = named("redirect_chain_4");
    let mut client = server.connect();
    let mut path = "/sse".to_owned();
    for _ in 0..4 {
        client.send(&format!("GET {path}"), "", "");
        let response = client.response();
        assert_eq!(response.status, 307);
        response.header("location").clone_into(&mut path);
    }
    client.send(&format!("GET {path}"), "", "");
    assert!(client.head().starts_with("HTTP/1.1 200 "));
}

#[test]
fn who_tries_the_newer_dialect_first_is_told_no() {
    for (name, status) in [
        ("streamable_400_sse_ok", 400),
        ("streamable_404_sse_ok", 404),
        ("streamable_405_sse_ok", 405),
    ] {
        let server = named(name);
        let mut client = server.connect();
        client.send("POST /sse", "", &crate::web::initialize().to_string());
        assert_eq!(client.response().status, status, "{name}");
        let (_stream, event) = endpoint_of(&server);
        assert!(
            event.starts_with("event: endpoint\ndata: /messages"),
            "{event}"
        );
    }
}
