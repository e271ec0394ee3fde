//! Does an answer mean the same however its bytes are cut, and does a broken one touch no other
//! call?

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolspan_core::guard::{Limits, Redactor, Timeouts};
use toolspan_core::{Error, ErrorKind, Outcome, ToolBox};
use toolspan_mcp::McpServer;

use crate::support::tools::KEY;
use crate::support::{Peer, Server, Tools, connect, connect_to, connect_within, told};

/// Calls while the server answers with these bytes, in which `ID` is the call's id.
async fn answered_with(
    tools: &Tools,
    peer: &mut Peer,
    answer: &[u8],
) -> toolspan_core::Result<Value> {
    let play = async {
        let call = peer.expect("tools/call").await;
        peer.send_raw(&with_id(answer, &call["id"])).await;
    };
    let options = Default::default();
    let (result, ()) = tokio::join!(tools.echo_with("x", options), play);
    result.map(|observation| observation.to_mcp())
}

/// The bytes with `ID` replaced.
fn with_id(bytes: &[u8], id: &Value) -> Vec<u8> {
    let id = id.to_string().into_bytes();
    let mut filled = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(2).position(|window| window == b"ID") {
        filled.extend_from_slice(&rest[..at]);
        filled.extend_from_slice(&id);
        rest = &rest[at + 2..];
    }
    filled.extend_from_slice(rest);
    filled
}

async fn next_call_works(tools: &Tools, peer: &mut Peer) {
    let answer = br#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}"#;
    let answer = [&answer[..], b"\n"].concat();
    answered_with(tools, peer, &answer)
        .await
        .expect("the next call works");
}

// J2, J4, J5, J6, J8, J9: each fails its own call at once, and nothing else.
#[tokio::test(start_paused = true)]
async fn a_reply_that_breaks_a_rule_fails_its_own_call_with_the_rule() {
    let (tools, _server, mut peer) = connect().await;
    let mut all = Vec::new();
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let frames = [
        r#"{"jsonrpc":"2.0","id":ID"#.to_owned(),
        r#"{"id":ID} trailing"#.to_owned(),
        r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#.to_owned(),
        r#"{"jsonrpc":2.0,"id":ID,"result":{}}"#.to_owned(),
        r#"{"id":ID,"result":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"result":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"error":"x"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":1e400,"message":"x"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":1.5,"message":"x"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":[]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":null}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":1,"data":{}}}}}"#,
            nested(65)
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":ID,"result":{{"_meta":{}}}}}"#,
            nested(1_000_000)
        ),
    ];
    for frame in frames {
        let error = answered_with(&tools, &mut peer, format!("{frame}\n").as_bytes()).await;
        let error = error.expect_err(&frame);
        assert_eq!(error.kind(), ErrorKind::Protocol, "{frame}");
        assert_eq!(error.outcome(), Outcome::Answered, "{frame}");
        let shown: String = frame.chars().take(70).collect();
        all.push(format!("{shown}\n{}", told(&error)));
        next_call_works(&tools, &mut peer).await;
    }
    insta::assert_snapshot!(all.join("\n"));
}

// J1, J5, J7, J11
#[tokio::test(start_paused = true)]
async fn a_reply_that_is_only_unusual_is_taken() {
    let (tools, _server, mut peer) = connect().await;
    let deep = format!("{}{}", "[".repeat(62), "]".repeat(62));
    for frame in [
        "\n  \r\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\r\n".to_owned(),
        " { \"jsonrpc\" : \"2.0\" , \"id\" : ID , \"result\" : { } } \n".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"result\":{}}\n".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":ID,\"Result\":1,\"RESULT\":2,\"extra\":[],\"result\":{}}\n"
            .to_owned(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"_meta\":{deep}}}}}\n"),
    ] {
        answered_with(&tools, &mut peer, frame.as_bytes())
            .await
            .unwrap_or_else(|error| panic!("{frame}: {error}"));
    }
    let escapes = br#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\u0000b\ud83d\ude00"}]}}"#;
    let result = answered_with(&tools, &mut peer, &[&escapes[..], b"\n"].concat())
        .await
        .unwrap();
    assert_eq!(result["content"][0]["text"], "a\0b\u{1f600}");
}

// J5: servers in JavaScript cut texts within a character.
#[tokio::test(start_paused = true)]
async fn half_a_character_in_a_text_does_not_cost_the_answer() {
    let (tools, _server, mut peer) = connect().await;
    let answer = br#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"cut \ud83d"},{"type":"text","text":"\\ud83d \ude00\u0041\ud83d\ud83d\ude00"}]}}"#;
    let result = answered_with(&tools, &mut peer, &[&answer[..], b"\n"].concat())
        .await
        .unwrap();
    assert_eq!(result["content"][0]["text"], "cut \u{fffd}");
    assert_eq!(
        result["content"][1]["text"],
        "\\ud83d \u{fffd}A\u{fffd}\u{1f600}"
    );
}

// J10, J11, J16: none of these is a reply to the call that waits.
#[tokio::test(start_paused = true)]
async fn replies_to_nobody_are_counted_and_never_delivered() {
    let (tools, _server, mut peer) = connect().await;
    let play = async {
        let call = peer.expect("tools/call").await;
        let id = call["id"].as_u64().unwrap();
        for foreign in [
            json!(null),
            json!(id + 1),
            json!(-1),
            json!({"id": id}),
            json!([id]),
            json!(format!("0{id}")),
            json!("x".repeat(10_000)),
        ] {
            peer.send(json!({"jsonrpc": "2.0", "id": foreign, "result": {"content": []}}))
                .await;
        }
        for foreign in ["3.0", "3e0", "9007199254740993", "99999999999999999999"] {
            let frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{foreign},\"result\":{{}}}}\n");
            peer.send_raw(frame.as_bytes()).await;
        }
        // Errors without an id, requests without a method, a notification with an id.
        peer.send(json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "x"}}))
            .await;
        peer.send(json!({"jsonrpc": "2.0", "id": id, "method": "notifications/progress"}))
            .await;
        peer.send(json!({"jsonrpc": "2.0", "method": "x\u{1b}[31m".repeat(100)}))
            .await;
        // The same id within another call's result.
        peer.send(json!({"jsonrpc": "2.0", "id": 1, "result": {"id": id, "result": {}}}))
            .await;
        for empty in [json!([]), json!([[]]), json!([1, "a", null])] {
            peer.send(empty).await;
        }
        peer.send(json!(vec![
            json!({"jsonrpc": "2.0", "id": id, "result": {}});
            51
        ]))
        .await;
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo("mine"), play);
    assert_eq!(text.unwrap(), "mine");
    insta::assert_snapshot!(tools.notes().join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_long_batch_of_nothing_is_noise_and_takes_no_memory() {
    let (tools, _server, mut peer) = connect().await;
    let batch = format!("[{}0]\n", "0,".repeat(4 << 20));
    let play = async {
        let call = peer.expect("tools/call").await;
        peer.send_raw(batch.as_bytes()).await;
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo("x"), play);
    text.unwrap();
    assert_eq!(tools.notes().len(), 1);
}

// R07
#[tokio::test(start_paused = true)]
async fn a_request_over_the_limit_is_nobodys_answer() {
    let mut limits = Limits::default();
    limits.message_bytes = 10_000;
    let (tools, _server, mut peer) = connect_within(limits, Timeouts::default()).await;
    let long = "x".repeat(20_000);
    let play = async {
        let call = peer.expect("tools/call").await;
        peer.send(
            json!({"jsonrpc": "2.0", "id": call["id"], "params": {"text": long}, "method": "x"}),
        )
        .await;
        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"result": long}})).await;
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo("x"), play);
    assert_eq!(text.unwrap(), "x");
    // The exact limit: one byte less passes.
    let result = |length: usize| {
        let frame = "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"a\":\"\"}}";
        let text = "x".repeat(length - frame.len());
        format!("{{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{{\"a\":\"{text}\"}}}}\n")
    };
    answered_with(&tools, &mut peer, result(10_000).as_bytes())
        .await
        .unwrap();
    let over = result(10_001).replace("\"id\":4", "\"id\":5");
    let error = answered_with(&tools, &mut peer, over.as_bytes())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
    next_call_works(&tools, &mut peer).await;
}

#[tokio::test(start_paused = true)]
async fn a_long_log_message_is_cut() {
    let (tools, _server, mut peer) = connect().await;
    let data = "\u{e4}".repeat(1 << 20);
    let params = json!({"level": "info", "data": data});
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
        .await;
    while tools.heard.logged().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(tools.heard.logged()[0], "\u{e4}".repeat(4 << 10));
}

#[tokio::test(start_paused = true)]
async fn secrets_are_hidden_wherever_a_server_shows_them() {
    let (server, transport) = Server::new();
    let known = McpServer::new(KEY, transport).with_redactor(Redactor::new(["hunter2-hunter2"]));
    let (tools, _server, mut peer) = connect_to(known, server).await;
    peer.send_raw(b"connected with hunter2-hunter2\n").await;
    let params = json!({"level": "info", "data": "token hunter2-hunter2"});
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
        .await;
    let play = async {
        let call = peer.expect("tools/call").await;
        let error = json!({"code": 1, "message": "bad token hunter2-hunter2"});
        peer.send(json!({"jsonrpc": "2.0", "id": call["id"], "error": error}))
            .await;
    };
    let (result, ()) = tokio::join!(tools.echo("x"), play);
    let shown = [
        told(&result.unwrap_err()),
        tools.notes().join("\n"),
        tools.heard.logged().join("\n"),
        format!("{:?}", tools.toolbox.diagnosis()),
    ];
    for text in &shown {
        assert!(!text.contains("hunter2"), "{text}");
    }
    insta::assert_snapshot!(shown[..3].join("\n"));
}

/// A conversation with everything that may come between a call and its reply, and its result.
fn conversation() -> Vec<u8> {
    let frames = [
        "\u{1}log line\r\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"\u{fffd}\"}}\n",
        "\n\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
        "{broken\n",
        "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\u{e4}\u{1f600}\"}]}}\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[]}}\n",
    ];
    frames.concat().into_bytes()
}

// R15
#[test]
fn the_result_does_not_depend_on_how_the_bytes_are_cut() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let (tools, _server, peer) = runtime.block_on(connect());
    let peer = tokio::sync::Mutex::new(peer);
    let conversation = conversation();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let sizes = proptest::collection::vec(1_usize..80, 1..40);
    let check = |sizes: Vec<usize>| {
        runtime.block_on(async {
            let peer = &mut *peer.lock().await;
            let play = async {
                let call = peer.expect("tools/call").await;
                let bytes = with_id(&conversation, &call["id"]);
                let mut rest = &bytes[..];
                for size in sizes.iter().cycle() {
                    let (piece, tail) = rest.split_at((*size).min(rest.len()));
                    peer.send_raw(piece).await;
                    // The reader takes the piece before the next one comes.
                    tokio::task::yield_now().await;
                    rest = tail;
                    if rest.is_empty() {
                        break;
                    }
                }
            };
            let (text, ()) = tokio::join!(tools.echo("x"), play);
            assert_eq!(text.unwrap(), "\u{e4}\u{1f600}");
        });
        Ok(())
    };
    runner.run(&sizes, check).unwrap();
}

// R14
#[tokio::test(start_paused = true)]
async fn a_frame_cut_at_any_byte_before_the_end_of_output_leaves_the_outcome_open() {
    let text = "x".repeat(2_048 - 70);
    let frame = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    );
    let (tools, mut server, mut peer) = connect().await;
    let limit = Duration::from_secs(1_000);
    for at in 0.. {
        let play = async {
            let call = peer.expect("tools/call").await;
            let bytes = with_id(frame.as_bytes(), &call["id"]);
            peer.send_raw(bytes.get(..at).unwrap_or(&bytes)).await;
            peer.end_output().await;
            bytes.len() - 1
        };
        let (result, whole) = tokio::join!(tools.echo_within("x", limit), play);
        match result {
            Err(error) if at < whole => is_cut(&error, at),
            result => {
                assert!(at >= whole, "cut at {at} of {whole}");
                assert_eq!(
                    result.unwrap(),
                    text,
                    "a whole message needs no end of line"
                );
            }
        }
        if at > whole {
            return;
        }
        while tools.toolbox.state().as_str() == "ready" {
            tokio::task::yield_now().await;
        }
        // A good call, so that the next restart comes at once.
        let serve = async {
            let mut peer = server.accept().await;
            peer.shake_hands().await;
            let call = peer.expect("tools/call").await;
            peer.echo(&call).await;
            peer
        };
        let (good, next) = tokio::join!(tools.echo_within("good", limit), serve);
        assert_eq!(good.unwrap(), "good");
        peer = next;
    }
}

fn is_cut(error: &Error, at: usize) {
    assert_eq!(error.kind(), ErrorKind::Closed, "cut at {at}: {error:?}");
    assert_eq!(error.outcome(), Outcome::Unknown, "cut at {at}: {error:?}");
}
