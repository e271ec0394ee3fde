//! Does each step do what it says, over streams in memory?

use std::fs::{self, File};
use std::io::{self, Cursor, Read};

use serde_json::{Value, json};
use toolspan_faults::{Ended, Player, Streams};

use crate::stage::{Kept, call, play, play_reader, play_script, script, session};

fn reply(id: &str) -> Value {
    json!({"send": {"id": id, "text": "$text"}})
}

#[test]
fn what_is_not_expected_is_answered_honestly() {
    let played = play(
        &json!([{"expect": "tools/call"}, reply("$id"), "serve"]),
        &session(),
    );
    let messages = played.messages();
    let ids: Vec<&Value> = messages.iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
    assert_eq!(messages[0]["error"]["code"], -32601);
    assert_eq!(messages[1]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(messages[3], json!({"id": 4, "text": "first"}));
    assert_eq!(messages[4]["result"]["content"][0]["text"], "second");
}

#[test]
fn without_auto_the_others_get_no_answer() {
    let expect = json!({"expect": {"method": "tools/call", "nth": 2, "auto": false}});
    let played = play(&json!([expect, reply("$id")]), &session());
    assert_eq!(played.messages(), [json!({"id": 5, "text": "second"})]);
}

#[test]
fn named_messages_can_be_answered_in_any_order() {
    let expect =
        |name: &str| json!({"expect": {"method": "tools/call", "as": name, "auto": false}});
    let steps = json!([
        expect("a"),
        expect("b"),
        {"send": ["$b.id", "$b.token"]},
        {"send": ["$a.id", "$a.token"]},
    ]);
    let messages = play(&steps, &session()).messages();
    assert_eq!(messages, [json!([5, "t5"]), json!([4, "t4"])]);
}

#[test]
fn a_handshake_ends_when_the_tools_were_listed_and_initialize_was_confirmed() {
    let steps = json!(["handshake", {"send": "after"}]);
    let messages = play(&steps, &session()).messages();
    assert_eq!(messages.last(), Some(&json!("after")));
    assert_eq!(messages[2]["id"], 3);
    let unconfirmed: String = session()
        .lines()
        .filter(|line| !line.contains("initialized"))
        .collect::<Vec<_>>()
        .join("\n");
    let messages = play(&steps, &format!("{unconfirmed}\n")).messages();
    assert!(!messages.contains(&json!("after")), "{messages:?}");
}

#[test]
fn set_changes_the_honest_answers() {
    let steps = json!([{"set": {"version": "2030-01-01", "tools": [{"name": "t"}]}}, "serve"]);
    let messages = play(&steps, &session()).messages();
    assert_eq!(messages[1]["result"]["protocolVersion"], "2030-01-01");
    assert_eq!(messages[2]["result"]["tools"], json!([{"name": "t"}]));
    assert_eq!(
        messages[3]["error"]["code"], -32602,
        "echo is not listed any more"
    );
}

#[test]
fn a_split_message_is_written_in_pieces_of_these_sizes() {
    let played = play(
        &json!([{"split": {"message": [1, 2, 3], "sizes": [1, 3]}}]),
        "",
    );
    let pieces: Vec<String> = played
        .output
        .writes()
        .into_iter()
        .map(|piece| String::from_utf8(piece).unwrap())
        .collect();
    assert_eq!(pieces, ["[", "1,2", ",3]", "\n"]);
}

#[test]
fn a_cut_message_ends_anywhere() {
    for (at, written) in [(0, ""), (3, "[1,"), (6, "[1,2]\n"), (99, "[1,2]\n")] {
        let played = play(&json!([{"cut": {"message": [1, 2], "at": at}}]), "");
        assert_eq!(played.output.text(), written);
    }
}

#[test]
fn raw_bytes_need_not_be_text_and_are_not_stored() {
    let raw = json!({"send_raw": {"parts": [
        {"text": "${id}:"}, {"hex": "ff00"}, {"repeat": {"text": "abc", "times": 1_000_000}},
    ], "newline": false}});
    let bytes = play(
        &json!([{"expect": "tools/call"}, raw]),
        &format!("{}\n", call(4, "x")),
    )
    .output
    .bytes();
    assert!(bytes.starts_with(b"4:\xff\x00abcabc"));
    assert!(bytes.ends_with(b"cabc"));
    assert_eq!(bytes.len(), 4 + 3_000_000);
}

#[test]
fn a_loop_counts_its_rounds() {
    let played = play(
        &json!([{"loop": {"times": 3, "steps": [{"send": "$n"}]}}]),
        "",
    );
    assert_eq!(played.messages(), [0, 1, 2]);
}

#[test]
fn an_endless_loop_ends_with_its_reader() {
    let steps = json!([{"loop": {"steps": [{"send": "$n"}]}}]);
    let played = play_script(&script(&steps), "", Kept::breaking_after(100_000));
    assert_eq!(played.end.unwrap(), Ended::Streams);
    let stubborn = json!(["ignore_eof", {"loop": {"steps": [{"send": "$n"}]}}]);
    let played = play_script(&script(&stubborn), "", Kept::breaking_after(100_000));
    assert_eq!(played.end.unwrap(), Ended::Hang);
}

#[test]
fn each_end_is_reported() {
    let cases = [
        (json!([]), Ended::Streams),
        (json!(["serve"]), Ended::Streams),
        (
            json!([{"expect": "never/said"}, {"exit": {"code": 9}}]),
            Ended::Streams,
        ),
        (json!(["ignore_eof"]), Ended::Hang),
        (json!(["stop_reading"]), Ended::Hang),
        (json!(["close_stdin"]), Ended::Hang),
        (json!([{"exit": {"code": 9}}, "serve"]), Ended::Exit(9)),
    ];
    for (steps, expected) in cases {
        assert_eq!(play(&steps, &session()).end.unwrap(), expected, "{steps}");
    }
    let killed = play(&json!([{"kill_self": {"signal": "TERM"}}]), "")
        .end
        .unwrap();
    assert!(matches!(killed, Ended::Kill(_)), "{killed:?}");
}

#[test]
fn what_was_sent_before_an_end_is_written() {
    let played = play(
        &json!([{"loop": {"steps": [{"send": 1}, {"exit": {"code": 0}}]}}]),
        "",
    );
    assert_eq!(played.output.text(), "1\n");
}

/// Fails the test when it is read.
struct Untouchable;

impl Read for Untouchable {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("the input was read");
    }
}

#[test]
fn nothing_is_read_before_a_step_asks_or_after_reading_was_stopped() {
    let steps = json!([{"send": 1}, "stop_reading", {"send": 2}]);
    let played = play_reader(&script(&steps), Box::new(Untouchable), Kept::default());
    assert_eq!(played.end.unwrap(), Ended::Hang);
    assert_eq!(played.output.text(), "1\n2\n");
}

#[test]
fn an_impossible_step_is_named() {
    let cases = [
        (
            json!([{"send": 1}, "close_stdout", {"send": 2}]),
            "step 3 failed: nothing can be written",
        ),
        (
            json!(["close_stdin", "serve"]),
            "step 2 failed: nothing can be read",
        ),
        (
            json!([{"reached": {"fifo": "/nowhere/x"}}]),
            "step 1 failed: cannot write to /nowhere/x",
        ),
        (
            json!([{"hold": {"fifo": "/nowhere/x"}}]),
            "step 1 failed: cannot wait at /nowhere/x",
        ),
        (
            json!([{"append": {"file": "/nowhere/x", "text": ""}}]),
            "step 1 failed: cannot append to",
        ),
    ];
    for (steps, expected) in cases {
        let error = play(&steps, "")
            .end
            .expect_err("the step is impossible")
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_line_that_is_not_json_is_skipped_with_a_note() {
    let input = format!("\n{{half\n{}\n", call(4, "x"));
    let played = play(&json!(["serve"]), &input);
    assert_eq!(played.messages().len(), 1);
    let notes = played.errors.text();
    assert_eq!(notes.lines().count(), 1, "{notes}");
    assert!(
        notes.starts_with("skipped a line that is not JSON"),
        "{notes}"
    );
}

#[test]
fn steps_marked_once_are_played_by_the_first_process_only() {
    let folder = tempfile::tempdir().unwrap();
    let once =
        json!({"once": {"marker": folder.path().join("seen"), "steps": [{"exit": {"code": 3}}]}});
    assert_eq!(play(&json!([once]), "").end.unwrap(), Ended::Exit(3));
    assert_eq!(play(&json!([once]), "").end.unwrap(), Ended::Streams);
}

#[test]
fn lines_are_appended_and_incoming_ones_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (log, record) = (folder.path().join("log"), folder.path().join("record"));
    let append = json!({"append": {"file": log, "text": "call ${id} ${text}"}});
    let steps = json!([{"expect": "tools/call"}, append, {"expect": "tools/call"}, append]);
    let streams = Streams {
        input: Box::new(Cursor::new(session().into_bytes())),
        output: Box::new(io::sink()),
        errors: Box::new(io::sink()),
    };
    let player = Player::recording(streams, File::create(&record).unwrap());
    assert_eq!(player.play(&script(&steps)).unwrap(), Ended::Streams);
    assert_eq!(
        fs::read_to_string(log).unwrap(),
        "call 4 first\ncall 5 second\n"
    );
    assert_eq!(fs::read_to_string(record).unwrap(), session());
}
