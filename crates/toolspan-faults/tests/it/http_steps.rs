//! Does each step put on the wire what it says?

use std::io::ErrorKind;

use serde_json::{Value, json};

use crate::web::{Client, Server, call, reply};

/// Plays steps and calls `echo` with `hi` under the id 7; the response is unread.
fn called(steps: &Value) -> (Server, Client) {
    let server = Server::playing(steps);
    let client = server.called();
    (server, client)
}

fn expecting_call(step: Value) -> Value {
    json!([{"expect": "tools/call"}, step, "serve"])
}

/// Everything that answers the call, up to the end of the connection, and that end.
fn wire(step: Value) -> (String, Result<(), ErrorKind>) {
    let (_server, mut client) = called(&expecting_call(step));
    client.rest()
}

#[test]
fn one_message_is_a_body_and_several_are_a_stream() {
    let send = json!({"send": {"id": "$id"}});
    let (_server, mut client) = called(&json!([{"expect": "tools/call"}, send, "serve"]));
    let response = client.response();
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.text(), "{\"id\":7}\n");
    let (_server, mut client) = called(&json!([{"expect": "tools/call"}, send, send, "serve"]));
    let response = client.response();
    assert_eq!(response.header("content-type"), "text/event-stream");
    let event = "event: message\ndata: {\"id\":7}\n\n";
    assert_eq!(response.text(), event.repeat(2));
}

#[test]
fn raw_text_is_a_body_or_events_line_by_line() {
    let raw = json!({"send_raw": {"parts": [{"text": "a\nb"}, {"hex": "ff"}]}});
    let (_server, mut client) = called(&json!([{"expect": "tools/call"}, raw, "serve"]));
    assert_eq!(client.response().body, b"a\nb\xff\n");
    let looped = json!({"loop": {"times": 2, "steps": [raw]}});
    let (_server, mut client) = called(&json!([{"expect": "tools/call"}, looped, "serve"]));
    let events = b"event: message\ndata: a\n\nevent: message\ndata: b\xff\n\n";
    assert_eq!(client.response().body, events.repeat(2));
}

#[test]
fn a_split_reply_comes_in_pieces_and_a_cut_one_never_ends() {
    let split = json!({"split": {"message": [1, 2], "sizes": [1, 2]}});
    let (_server, mut client) = called(&json!([{"expect": "tools/call"}, split, "serve"]));
    assert_eq!(client.response().text(), "[1,2]\n");
    let cut = json!({"cut": {"message": [1, 2], "at": 3}});
    let (_server, mut client) = called(&json!([{"expect": "tools/call"}, cut, "serve"]));
    assert!(client.head().contains("content-length: 6\r\n"));
    assert_eq!(client.take(3), b"[1,");
    assert!(client.is_silent());
}

#[test]
fn replies_find_their_requests() {
    let expect = |name: &str| json!({"expect": {"method": "tools/call", "as": name}});
    let send = |name: &str| json!({"send": {"jsonrpc": "2.0", "id": format!("${name}.id")}});
    let steps = json!([expect("a"), expect("b"), send("b"), send("a"), "serve"]);
    let server = Server::playing(&steps);
    let (_, session) = server.begin();
    let (mut first, mut second) = (server.connect(), server.connect());
    first.post(&session, &call(1, "x"));
    second.post(&session, &call(2, "x"));
    let id = |client: &mut Client| {
        let text = client.response().text().to_owned();
        let data = text.strip_prefix("event: message\ndata: ").unwrap_or(&text);
        serde_json::from_str::<Value>(data).unwrap()["id"].clone()
    };
    assert_eq!([id(&mut first), id(&mut second)], [1, 2]);
}

#[test]
fn a_late_reply_goes_to_nobody_else() {
    let expect = |name: &str| json!({"expect": {"method": "tools/call", "as": name}});
    let send = |name: &str| json!({"send": {"jsonrpc": "2.0", "id": format!("${name}.id")}});
    let server = Server::playing(&json!([
        expect("a"),
        expect("b"),
        send("a"),
        send("b"),
        "serve"
    ]));
    let (mut second, session) = server.begin();
    let mut first = server.connect();
    first.post(&session, &call(1, "x"));
    drop(first);
    second.post(&session, &call(2, "x"));
    let text = second.response().text().to_owned();
    assert!(
        text.contains("\"id\":2") && !text.contains("\"id\":1"),
        "{text}"
    );
}

#[test]
fn a_response_has_the_status_headers_and_body_it_was_given() {
    let step = json!({"respond": {"status": 429, "headers": {
        "Retry-After": "5", "x-place": "${origin}|${n}", "x-bytes": [{"hex": "e9"}, {"repeat": {"text": "ab", "times": 2}}],
    }, "body": [{"text": "${id} ${text}"}]}});
    let (server, mut client) = called(&expecting_call(step));
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend(client.take(1));
    }
    let place = format!(
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nx-place: http://{}|null\r\n",
        server.address()
    );
    let rest = b"x-bytes: \xe9abab\r\ncontent-length: 6\r\n\r\n";
    assert_eq!(head, [place.as_bytes(), rest].concat());
    assert_eq!(client.take(6), b"7 \"hi\"");
}

#[test]
fn a_message_as_a_response_says_that_it_is_json_and_keeps_the_connection() {
    let step = json!({"respond": {"status": 404, "message": {"id": "$id"}}});
    let server = Server::playing(&expecting_call(step));
    let (mut client, session) = server.begin();
    let response = client.ask(&session, &call(7, "hi"));
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!((response.status, response.text()), (404, "{\"id\":7}"));
    assert_eq!(client.ask(&session, &call(8, "x")).json(), reply(8, "x"));
}

#[test]
fn a_status_that_has_no_body_has_no_length() {
    let step = json!({"respond": {"status": 204, "then": "close"}});
    assert_eq!(
        wire(step),
        ("HTTP/1.1 204 No Content\r\n\r\n".to_owned(), Ok(()))
    );
}

#[test]
fn lengths_can_lie_in_every_way() {
    let cases = [
        (json!("length"), "content-length: 3\r\n\r\nabc"),
        (
            json!("chunked"),
            "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ),
        (json!("close"), "\r\nabc"),
        (
            json!("both"),
            "content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ),
        (json!({"claims": 2}), "content-length: 2\r\n\r\nabc"),
        (json!({"claims": 9}), "content-length: 9\r\n\r\nabc"),
        (
            json!({"chunk_size": "FFFFFFFFFFFFFFFF"}),
            "transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nabc",
        ),
        (json!("none"), "\r\n"),
    ];
    for (framing, expected) in cases {
        let step = json!({"respond": {"status": 200, "body": [{"text": "abc"}], "framing": framing, "then": "close"}});
        let (text, end) = wire(step);
        let expected = format!("HTTP/1.1 200 OK\r\n{expected}");
        assert_eq!((text, end), (expected, Ok(())), "{framing}");
    }
}

#[test]
fn a_connection_is_kept_closed_reset_or_left_hanging() {
    let step = |then: &str| json!({"respond": {"status": 200, "body": [{"text": "abc"}], "framing": "chunked", "then": then}});
    let (_server, mut client) = called(&expecting_call(step("keep")));
    assert_eq!(client.response().text(), "abc");
    assert!(client.is_silent());
    assert_eq!(wire(step("close")).1, Ok(()));
    assert_eq!(wire(step("reset")).1, Err(ErrorKind::ConnectionReset));
    let (_server, mut client) = called(&expecting_call(step("hang")));
    client.head();
    assert_eq!(client.event(), "abc");
    assert!(client.is_silent());
}

#[test]
fn a_response_breaks_off_anywhere() {
    let places = [
        ("before_status", "", ""),
        (
            "mid_headers",
            "HTTP/1.1 200 OK\r\ncontent-type: applica",
            "applica",
        ),
        ("after_headers", "HTTP/1.1 200 OK\r\n", "\r\n\r\n"),
        ("mid_body", "HTTP/1.1 200 OK\r\n", "[{\"type\":\"t"),
    ];
    for (place, start, end) in places {
        let step = |by: &str| json!({"break": {"at": place, "by": by}});
        let (text, closed) = wire(step("close"));
        assert!(
            text.starts_with(start) && text.ends_with(end),
            "{place}: {text}"
        );
        assert_eq!(closed, Ok(()), "{place}");
        // A reset may overtake what was written before it.
        assert_eq!(
            wire(step("reset")).1,
            Err(ErrorKind::ConnectionReset),
            "{place}"
        );
        let (_server, mut client) = called(&expecting_call(step("hang")));
        assert_eq!(client.take(text.len()), text.as_bytes(), "{place}");
        assert!(client.is_silent(), "{place}");
    }
}

#[test]
fn the_fields_of_an_event_are_written_in_order() {
    let event =
        json!({"comment": "c", "event": "e", "id": "i-${id}", "retry": 5, "data": "a\n${text}"});
    let step = json!({"sse": {"events": [event, {"message": {"id": "$id"}}]}});
    let (_server, mut client) = called(&expecting_call(step));
    let response = client.response();
    assert_eq!(response.header("content-type"), "text/event-stream");
    let expected =
        ": c\nevent: e\nid: i-7\nretry: 5\ndata: a\ndata: \"hi\"\n\ndata: {\"id\":7}\n\n";
    assert_eq!(response.text(), expected);
}

#[test]
fn a_stream_is_as_odd_as_the_standard_allows_and_odder() {
    let cases = [
        (
            json!({"line_end": "crlf", "events": [{"data": "a"}]}),
            "data: a\r\n\r\n".into(),
        ),
        (
            json!({"line_end": "cr", "events": [{"data": "a"}]}),
            "data: a\r\r".into(),
        ),
        (
            json!({"bom": true, "events": [{"data": "a"}]}),
            "\u{feff}data: a\n\n".into(),
        ),
        (
            json!({"events": [{"data": "a", "unfinished": true}]}),
            "data: a\n".to_owned(),
        ),
        (
            json!({"events": [{"retry": "soon"}]}),
            "retry: soon\n\n".into(),
        ),
        (
            json!({"events": [{"raw": [{"text": "${id}"}, {"hex": "0a"}]}]}),
            "7\n".into(),
        ),
        (
            json!({"status": 201, "headers": {"x": "y"}, "events": []}),
            String::new(),
        ),
    ];
    for (stream, expected) in cases {
        let (_server, mut client) = called(&expecting_call(json!({"sse": stream})));
        assert_eq!(client.response().text(), expected, "{stream}");
    }
}

#[test]
fn a_stream_ends_goes_on_is_cut_or_is_reset() {
    let step = |end: &str| json!({"sse": {"events": [{"data": "a"}], "end": end}});
    let (text, end) = wire(step("cut"));
    assert!(text.ends_with("\r\n\r\n9\r\ndata: a\n\n\r\n"), "{text}");
    assert_eq!(end, Ok(()));
    assert_eq!(wire(step("reset")).1, Err(ErrorKind::ConnectionReset));
    let (_server, mut client) = called(&expecting_call(step("keep")));
    client.head();
    assert_eq!(client.event(), "data: a\n\n");
    assert!(client.is_silent());
    let (_server, mut client) =
        called(&json!([{"expect": "tools/call"}, step("keep"), step("close"), "serve"]));
    assert_eq!(client.response().text(), "data: a\n\ndata: a\n\n");
}

#[test]
fn raw_bytes_are_all_that_a_connection_carries() {
    let step = json!({"raw_http": {"parts": [{"text": "no HTTP ${id}"}]}});
    let (_server, mut client) = called(&expecting_call(step));
    assert_eq!(client.line(), "no HTTP 7\n");
    assert!(client.is_silent());
}

#[test]
fn expired_sessions_are_unknown_and_their_streams_end() {
    let server =
        Server::playing(&json!([{"expect": "tools/call"}, "expire_sessions", "answer", "serve"]));
    let (mut client, session) = server.begin();
    let mut stream = server.connect();
    stream.get(&session);
    stream.head();
    assert_eq!(client.ask(&session, &call(7, "hi")).json(), reply(7, "hi"));
    assert_eq!(stream.chunk(), None);
    assert_eq!(client.ask(&session, &call(8, "hi")).status, 404);
}

#[test]
fn a_request_is_expected_by_method_path_and_headers() {
    let expected = json!({"method": "GET", "path": "/a", "headers": {"Last-Event-ID": "5", "x-any": "*"}, "nth": 2});
    let server = Server::playing(
        &json!([{"expect_request": expected}, {"respond": {"status": 299}}, "serve"]),
    );
    let mut client = server.connect();
    for (line, headers, status) in [
        ("POST /a", "last-event-id: 5\r\nx-any: 1\r\n", 400),
        ("GET /b", "last-event-id: 5\r\nx-any: 1\r\n", 400),
        ("GET /a", "last-event-id: 6\r\nx-any: 1\r\n", 400),
        ("GET /a", "last-event-id: 5\r\n", 400),
        ("GET /ab?c", "last-event-id: 5\r\nx-any: 1\r\n", 400),
        ("GET /a", "last-event-id: 5\r\nx-any: 1\r\n", 299),
    ] {
        client.send(line, headers, "");
        assert_eq!(client.response().status, status, "{line} {headers}");
    }
}

#[test]
fn honest_responses_can_be_streams_and_have_more_headers() {
    let http = json!({"replies": "sse", "headers": {"x-more": "1"}, "session_id": "mine"});
    let server = Server::playing(&json!([{"set": {"http": http}}, "serve"]));
    let (mut client, session) = server.begin();
    assert_eq!(session, "mine");
    let response = client.ask(&session, &call(7, "hi"));
    assert_eq!(response.header("x-more"), "1");
    let expected = format!("event: message\ndata: {}\n\n", reply(7, "hi"));
    assert_eq!(response.text(), expected);
}

#[test]
fn without_sessions_none_is_named_or_asked_for() {
    let server = Server::playing(
        &json!([{"set": {"http": {"sessions": false, "close_after_reply": true}}}, "serve"]),
    );
    let mut client = server.connect();
    assert_eq!(client.ask("", &call(7, "hi")).json(), reply(7, "hi"));
    assert_eq!(client.rest(), (String::new(), Ok(())));
    assert_eq!(
        server.connect().ask("", &call(8, "hi")).json(),
        reply(8, "hi")
    );
}

#[test]
fn a_client_that_goes_away_ends_a_loop_that_writes_to_it() {
    let endless = json!({"loop": {"steps": [{"send": {"n": "$n"}}]}});
    let server = Server::playing(&json!([{"expect": "tools/call"}, endless, "serve"]));
    let mut client = server.called();
    assert_eq!(client.skip(1 << 20).unwrap(), 1 << 20);
    drop(client);
    let (mut client, session) = server.begin();
    assert_eq!(client.ask(&session, &call(8, "x")).json(), reply(8, "x"));
}

#[test]
fn after_the_last_step_calls_hang_and_all_else_is_answered() {
    let server = Server::playing(&json!(["handshake"]));
    let (mut client, session) = server.begin();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(client.ask(&session, &told).status, 202);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(client.ask(&session, &list).status, 200);
    assert_eq!(client.ask(&session, &told).status, 202);
    client.post(&session, &call(3, "x"));
    let mut other = server.connect();
    other.get(&session);
    assert!(other.head().starts_with("HTTP/1.1 200 "));
    assert!(client.is_silent());
}

#[test]
fn over_the_older_dialect_events_go_to_the_stream_and_statuses_to_the_post() {
    let steps = json!([
        {"expect": "tools/call"}, {"sse": {"events": [{"data": "a"}]}},
        {"expect": "tools/call"}, {"send": {"id": "$id"}},
        {"expect": "tools/call"}, {"respond": {"status": 500}},
        {"expect": "tools/call"}, {"sse": {"events": [{"data": "b"}], "end": "cut"}},
    ]);
    let server = Server::playing_legacy(&steps);
    let mut stream = server.connect();
    stream.send("GET /sse", "", "");
    stream.head();
    let event = stream.event();
    let endpoint = event.lines().last().unwrap_or_default();
    let endpoint = event
        .lines()
        .find_map(|it| it.strip_prefix("data: "))
        .unwrap_or(endpoint);
    let mut client = server.connect();
    let mut statuses = Vec::new();
    for id in 1..5 {
        client.send(&format!("POST {endpoint}"), "", &call(id, "x").to_string());
        statuses.push(client.response().status);
    }
    assert_eq!(statuses, [202, 202, 500, 202]);
    let (text, end) = stream.rest();
    let sent = [
        "data: a\n\n",
        "event: message\ndata: {\"id\":2}\n\n",
        "data: b\n\n",
    ];
    let chunks = sent.map(|event| format!("{:x}\r\n{event}\r\n", event.len()));
    assert_eq!((text, end), (chunks.concat(), Ok(())));
}

#[test]
fn what_cannot_be_read_as_a_step_is_named() {
    let cases = [
        (
            json!([{"respond": {}}]),
            "step 1 is not a step: missing field `status`",
        ),
        (
            json!([{"respond": {"status": 99}}]),
            "step 1 cannot be played: 99 is no final status",
        ),
        (
            json!([{"respond": {"status": 200, "framing": "guess"}}]),
            "step 1 is not a step: unknown variant `guess`",
        ),
        (
            json!([{"respond": {"status": 200, "headers": {"a b": 1}}}]),
            "step 1 is not a step: invalid type: integer `1`, expected a text, or an array of parts",
        ),
        (
            json!([{"respond": {"status": 200, "headers": {"a:": "1"}}}]),
            "step 1 is not a step: `a:` is no header name",
        ),
        (
            json!([{"respond": {"status": 200, "headers": {"a": "1\r\n"}}}]),
            "step 1 cannot be played: the value of `a` holds a line end",
        ),
        (
            json!([{"respond": {"status": 200, "message": 1, "body": [{"text": ""}]}}]),
            "step 1 cannot be played: `message` and `body`",
        ),
        (
            json!([{"sse": {"end": "maybe"}}]),
            "step 1 is not a step: unknown variant `maybe`",
        ),
        (
            json!([{"sse": {"events": [{"data": "", "message": 1}]}}]),
            "step 1 cannot be played: `message` and `data`",
        ),
        (
            json!([{"sse": {"events": [{"raw": [{"hex": "f"}]}]}}]),
            "step 1 cannot be played: `f` is not an even number",
        ),
        (
            json!([{"break": {"at": "noon", "by": "reset"}}]),
            "step 1 is not a step: unknown variant `noon`",
        ),
        (
            json!([{"expect_request": {"method": "GET", "nth": 0}}]),
            "step 1 is not a step: `nth` counts from 1",
        ),
        (
            json!([{"expect_request": 1}]),
            "step 1 is not a step: invalid type: integer `1`, expected an HTTP method",
        ),
        (
            json!([{"set": {"http": {"session_id": "a\nb"}}}]),
            "step 1 cannot be played: the value of `session_id`",
        ),
        (
            json!([{"set": {"http": {"sesions": true}}}]),
            "step 1 is not a step: unknown field `sesions`",
        ),
    ];
    for (steps, expected) in cases {
        let error = toolspan_faults::Script::from_array(&steps.to_string());
        let error = error.expect_err("it is wrong").to_string();
        assert!(error.starts_with(expected), "{steps}: {error}");
    }
}
