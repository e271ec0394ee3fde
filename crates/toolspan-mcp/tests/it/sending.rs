//! What happens on the way to a server that reads slowly, late or never?

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome};
use toolspan_mcp::transport::memory::STREAM_BYTES;

use crate::support::{Peer, connect, connect_within, pass, told};

// R28
#[tokio::test(start_paused = true)]
async fn a_frame_that_stands_still_for_30_seconds_ends_the_server() {
    let (tools, mut server, peer) = connect().await;
    let began = Instant::now();
    let large = "x".repeat(1 << 20);
    let begun = async { (tools.echo(&large).await.unwrap_err(), began.elapsed()) };
    // I5: what was not begun meets a new server.
    let serve = async {
        let mut peer = server.ready().await;
        answer(&mut peer, 1).await;
        peer
    };
    let ((begun, elapsed), queued, _new) = tokio::join!(begun, tools.echo("queued"), serve);
    drop(peer);
    assert!(
        (Duration::from_secs(30)..Duration::from_secs(31)).contains(&elapsed),
        "{elapsed:?}"
    );
    assert_eq!(queued.unwrap(), "queued");
    insta::assert_snapshot!(told(&begun));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_that_makes_progress_is_left_alone() {
    let (tools, _server, mut peer) = connect().await;
    let large = "x".repeat(3 * STREAM_BYTES);
    let began = Instant::now();
    let slow = async {
        // One pipe of bytes every 25 seconds, longer in all than a frame may stand still.
        pass(Duration::from_secs(25)).await;
        let call = peer.expect("tools/call").await;
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo(&large), slow);
    assert_eq!(text.unwrap().len(), large.len());
    assert!(began.elapsed() < Duration::from_secs(26));
}

/// The texts of two calls, the first two of a connection, that fill the stream to its last byte.
fn filling() -> [String; 2] {
    let frame = |id: u64, text: usize| {
        let frame = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"\"}},\"_meta\":{{\"progressToken\":{id}}}}}}}\n"
        );
        frame.len() + text
    };
    let first = 60_000;
    let rest = STREAM_BYTES - frame(3, first) - frame(4, 0);
    ["x".repeat(first), "x".repeat(rest)]
}

/// Answers this many calls, none of which has the text `withdrawn`.
async fn answer(peer: &mut Peer, count: usize) {
    for _ in 0..count {
        let call = peer.expect("tools/call").await;
        assert_ne!(call["params"]["arguments"]["text"], "withdrawn");
        peer.echo(&call).await;
    }
}

// A frame is withdrawn while the writing task waits for the sink, and the queue is empty again.
#[tokio::test(start_paused = true)]
async fn a_frame_that_follows_a_withdrawn_one_leaves_as_soon_as_there_is_room() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let filling = filling();
    let full = futures_util::future::join_all(filling.iter().map(|text| tools.echo(text)));
    let mut full = std::pin::pin!(full);
    assert!(futures_util::poll!(full.as_mut()).is_pending());
    // This one is queued, the writing task waits for room, and it is taken back.
    let limit = Duration::from_secs(1);
    let withdrawn = tools.echo_within("withdrawn", limit).await.unwrap_err();
    assert_eq!(withdrawn.outcome(), Outcome::NotSent, "the stream was full");
    // This one meets an empty queue and a full stream.
    let mut follows = std::pin::pin!(tools.echo("follows"));
    assert!(futures_util::poll!(follows.as_mut()).is_pending());
    let (results, follows, ()) = tokio::join!(full, follows, answer(&mut peer, 3));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(follows.unwrap(), "follows");
    assert_eq!(began.elapsed(), limit, "nothing waited for a timer");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_room_gets_that_of_a_frame_taken_back() {
    let (tools, _server, mut peer) = connect().await;
    let began = Instant::now();
    let filling = filling();
    let full = futures_util::future::join_all(filling.iter().map(|text| tools.echo(text)));
    let mut full = std::pin::pin!(full);
    assert!(futures_util::poll!(full.as_mut()).is_pending());
    // One of these fills the queue, the other waits for room in it.
    let limit = Duration::from_secs(1);
    let large = "x".repeat(900 << 10);
    let (queued, waits) = (tools.echo_within(&large, limit), tools.echo(&large));
    let mut waits = std::pin::pin!(waits);
    let withdrawn = async {
        let mut queued = std::pin::pin!(queued);
        assert!(futures_util::poll!(queued.as_mut()).is_pending());
        assert!(futures_util::poll!(waits.as_mut()).is_pending());
        tokio::select! {
            queued = queued => queued.unwrap_err(),
            _ = waits.as_mut() => unreachable!("the server does not read"),
        }
    };
    assert_eq!(withdrawn.await.outcome(), Outcome::NotSent);
    let (results, waits, ()) = tokio::join!(full, waits, answer(&mut peer, 3));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(waits.unwrap().len(), large.len());
    assert_eq!(began.elapsed(), limit, "nothing waited for a timer");
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_room_and_all_of_them_get_it() {
    let (tools, _server, mut peer) = connect().await;
    let text = "x".repeat(300 << 10);
    let began = Instant::now();
    let calls = futures_util::future::join_all((0..20).map(|_| tools.echo(&text)));
    let serve = async {
        for _ in 0..20 {
            let call = peer.expect("tools/call").await;
            peer.echo(&call).await;
        }
    };
    let (results, ()) = tokio::join!(calls, serve);
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(
        began.elapsed(),
        Duration::ZERO,
        "nothing waited for a timer"
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_room_when_the_connection_ends_get_it_on_the_next_one() {
    let (tools, mut server, peer) = connect().await;
    let text = "x".repeat(600 << 10);
    let calls = futures_util::future::join_all((0..4).map(|_| tools.echo(&text)));
    let mut calls = std::pin::pin!(calls);
    assert!(futures_util::poll!(calls.as_mut()).is_pending());
    drop(peer);
    let serve = async {
        let mut peer = server.ready().await;
        answer(&mut peer, 3).await;
        peer
    };
    let (mut results, _peer) = tokio::join!(calls, serve);
    let begun = results.remove(0).unwrap_err();
    assert_eq!(
        (begun.kind(), begun.outcome()),
        (ErrorKind::Closed, Outcome::Unknown)
    );
    assert!(results.iter().all(Result::is_ok));
}

// R20
#[tokio::test(start_paused = true)]
async fn answers_to_a_server_that_does_not_read_are_bounded_and_never_block_its_replies() {
    let (tools, _server, mut peer) = connect().await;
    let play = async {
        let call = peer.expect("tools/call").await;
        for id in 0..3_000 {
            let method = "sampling/createMessage";
            peer.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}))
                .await;
        }
        peer.echo(&call).await;
    };
    let (text, ()) = tokio::join!(tools.echo("through"), play);
    assert_eq!(text.unwrap(), "through");
    let notes = tools.notes().join("\n");
    let dropped: usize = notes.rsplit(' ').next().unwrap().parse().unwrap();
    // What fits into the stream, and eight more.
    let mut answers = 0;
    let serve = async {
        loop {
            let message = peer.next().await.unwrap();
            if message["error"]["code"] == -32601 {
                answers += 1;
            } else {
                peer.echo(&message).await;
                return;
            }
        }
    };
    let (next, ()) = tokio::join!(tools.echo("next"), serve);
    next.unwrap();
    assert_eq!(answers + dropped, 3_000);
    assert!(dropped > 1_000, "{dropped}");
}

#[tokio::test(start_paused = true)]
async fn a_ping_is_answered_and_an_id_that_is_none_is_not_echoed() {
    let (tools, _server, mut peer) = connect().await;
    let long = "x".repeat(10_000);
    for id in [
        json!(null),
        json!({"a": 1}),
        json!([1]),
        json!(true),
        json!(long),
    ] {
        peer.send(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
            .await;
    }
    for id in [json!(7), json!(-1), json!("seven"), json!(1.5)] {
        peer.send(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
            .await;
        let answer = peer.next().await.unwrap();
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    peer.send(json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call"}))
        .await;
    let answer: Value = peer.next().await.unwrap();
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(tools.notes().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_answer_that_a_batch_asks_for_is_sent() {
    let (tools, _server, mut peer) = connect_within(Limits::default(), Timeouts::default()).await;
    let play = async {
        let call = peer.expect("tools/call").await;
        peer.send(json!([
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "id": call["id"], "result": {"content": [{"type": "text", "text": "in a batch"}]}},
            {"jsonrpc": "2.0", "id": "b", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        ]))
        .await;
        [peer.next().await.unwrap(), peer.next().await.unwrap()]
    };
    let (text, answers) = tokio::join!(tools.echo("x"), play);
    assert_eq!(text.unwrap(), "in a batch");
    assert_eq!(
        answers.map(|answer| answer["id"].clone()),
        [json!("a"), json!("b")]
    );
}
