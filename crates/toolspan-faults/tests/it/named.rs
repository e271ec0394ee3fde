//! Do the ready-made faults do what their descriptions say?

use serde_json::{Value, json};
use toolspan_faults::{Ended, FAULTS, Fault, Transport};

use crate::stage::{Kept, Played, play_script, session};

/// Faults whose wrong is not in their bytes but in what the operating system shows; they are
/// started as programs in `program.rs`.
const SEEN_FROM_OUTSIDE: [&str; 3] = [
    "grandchild",
    "grandchild_double_fork",
    "ignore_eof_and_term",
];

/// Plays until 1 MiB beyond the longest reply is written; only the endless ones get there.
fn play_fault(name: &str) -> Played {
    play_up_to(name, 65 << 20)
}

fn play_up_to(name: &str, bytes: usize) -> Played {
    let script = Fault::named(name).unwrap().script().unwrap();
    play_script(&script, &session(), Kept::breaking_after(bytes))
}

/// What is written after the answers to the probe, the handshake and the list.
fn replies_to_calls(name: &str) -> Vec<Value> {
    play_fault(name).messages().split_off(3)
}

fn text_reply(id: Value, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
}

fn honest_reply(id: u32, text: &str) -> Value {
    let mut reply = text_reply(id.into(), text);
    reply["result"]["isError"] = false.into();
    reply
}

#[test]
fn every_fault_shows() {
    let honest = play_fault("honest");
    assert_eq!(honest.messages().len(), 5);
    for fault in FAULTS {
        let is_for_streams = fault.transports().contains(&Transport::Stdio);
        if fault.name == "honest" || SEEN_FROM_OUTSIDE.contains(&fault.name) || !is_for_streams {
            continue;
        }
        let played = play_up_to(fault.name, 100_000);
        let end = played.end.as_ref().expect("it can be played");
        let is_honest = *end == Ended::Streams
            && played.output.bytes() == honest.output.bytes()
            && played.errors.bytes() == honest.errors.bytes();
        // In pieces the bytes are the same.
        assert!(
            !is_honest || played.output.writes() != honest.output.writes(),
            "{}",
            fault.name
        );
    }
}

#[test]
fn the_fault_in_a_reply_is_the_described_one() {
    let [first, second] = [
        text_reply(4.into(), "first"),
        text_reply(5.into(), "second"),
    ];
    let honest = honest_reply(5, "second");
    let cases = [
        (
            "wrong_id",
            vec![text_reply(999_999.into(), "first"), honest.clone()],
        ),
        (
            "unknown_id_then_right",
            vec![
                text_reply(999_999.into(), "for nobody"),
                first.clone(),
                honest.clone(),
            ],
        ),
        (
            "duplicate_reply",
            vec![
                first.clone(),
                text_reply(4.into(), "the second reply"),
                honest.clone(),
            ],
        ),
        ("late_reply", vec![first.clone(), second.clone()]),
        ("late_reply_reversed", vec![second, first.clone()]),
        (
            "string_id",
            vec![text_reply("4".into(), "first"), honest.clone()],
        ),
        ("batch_reply", vec![json!([first]), honest.clone()]),
        ("never_answer_call", vec![honest.clone()]),
        (
            "neither_result_nor_error",
            vec![json!({"jsonrpc": "2.0", "id": 4}), honest],
        ),
    ];
    for (name, expected) in cases {
        assert_eq!(replies_to_calls(name), expected, "{name}");
    }
}

#[test]
fn the_handshake_faults_answer_as_described() {
    let version = |name: &str| play_fault(name).messages()[1]["result"]["protocolVersion"].clone();
    assert_eq!(version("unknown_version"), "2030-01-01");
    assert_eq!(version("old_version"), "2024-11-05");
    let ids = |name: &str| -> Vec<Value> {
        play_fault(name)
            .messages()
            .iter()
            .map(|message| message["id"].clone())
            .collect()
    };
    assert_eq!(ids("never_answer_initialize"), [1, 3, 4, 5]);
    assert_eq!(ids("discover_silent"), [2, 3, 4, 5]);
    assert_eq!(
        play_fault("discover_empty").messages()[0]["result"],
        json!({})
    );
    assert_eq!(play_fault("exit_on_discover").end.unwrap(), Ended::Exit(1));
    let modern = play_fault("modern").messages();
    assert_eq!(
        modern[0]["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
}

#[test]
fn the_sizes_are_the_described_ones() {
    let longest = |name: &str| {
        play_fault(name)
            .output
            .text()
            .lines()
            .map(str::len)
            .max()
            .expect("a line")
    };
    for (name, at_least) in [
        ("reply_20mb", 20_000_000),
        ("reply_64mb", 64_000_000),
        ("endless_line", 65 << 20),
        ("deep_100000", 200_000),
    ] {
        let length = longest(name);
        assert!(
            (at_least..at_least + (1 << 17)).contains(&length),
            "{name}: {length}"
        );
    }
    let deep = play_fault("deep_200").output.text();
    assert!(deep.contains(&format!(":{}{}}}", "[".repeat(200), "]".repeat(200))));
    assert_eq!(
        play_fault("flood_stderr").errors.bytes(),
        vec![b'x'; 4_000_000]
    );
}

#[test]
fn the_floods_end_with_the_reply() {
    for (name, method, count) in [
        ("flood_notifications", "notifications/message", 100_000),
        (
            "list_changed_storm",
            "notifications/tools/list_changed",
            20_000,
        ),
        ("server_requests_1000", "sampling/createMessage", 1_000),
        ("progress_then_reply", "notifications/progress", 3),
    ] {
        let mut replies = replies_to_calls(name);
        assert_eq!(replies.pop(), Some(honest_reply(5, "second")), "{name}");
        assert_eq!(replies.pop(), Some(text_reply(4.into(), "first")), "{name}");
        assert_eq!(replies.len(), count, "{name}");
        assert!(
            replies.iter().all(|message| message["method"] == method),
            "{name}"
        );
    }
    let progress = replies_to_calls("progress_then_reply");
    assert_eq!(
        progress[2]["params"],
        json!({"progressToken": "t4", "progress": 2, "total": 3})
    );
}

#[test]
fn the_pages_of_tools_never_end() {
    let pages = |name: &str| {
        let script = Fault::named(name).unwrap().script().unwrap();
        let asked = "{\"id\":1,\"method\":\"tools/list\"}\n".repeat(3);
        let messages = play_script(&script, &asked, Kept::default()).messages();
        messages
            .iter()
            .map(|page| page["result"]["nextCursor"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(pages("list_cursor_loop"), ["again", "again", "again"]);
    assert_eq!(pages("list_cursor_endless"), ["page-0", "page-1", "page-2"]);
}

#[test]
fn a_later_call_can_be_the_bad_one() {
    let script = Fault::named("exit_on_call")
        .unwrap()
        .script()
        .unwrap()
        .on_call(2);
    let played = play_script(&script, &session(), Kept::default());
    assert_eq!(played.end.unwrap(), Ended::Exit(1));
    assert_eq!(
        played.output.messages().last(),
        Some(&honest_reply(4, "first"))
    );
}

#[test]
fn bytes_that_are_not_text_are_written_as_they_are() {
    let bytes = play_fault("invalid_utf8").output.bytes();
    assert!(bytes.windows(2).any(|pair| pair == [0xff, 0xfe]));
    let broken = play_fault("invalid_json_with_id").output.text();
    let line = broken.lines().nth(3).unwrap();
    assert!(line.starts_with("{\"jsonrpc\":\"2.0\",\"id\":4,"), "{line}");
    assert!(serde_json::from_str::<Value>(line).is_err(), "{line}");
}
