//! What does a caller get when a server spoils an answer, and does the next call work?

use std::time::{Duration, Instant};

use serde_json::json;
use toolspan_core::execute::CallOptions;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{Content, ErrorKind, Outcome, Phase};
use toolspan_testkit::{Barrier, Census, Fault, pid_alive};

use crate::support::case::Case;
use crate::support::told;

/// How soon an end must come that needs no waiting; the machine may be busy.
const SOON: Duration = Duration::from_secs(5);

/// A fault in the first call, told; the second call works.
async fn spoiled(name: &str) -> String {
    let case = Case::started(Fault::named(name)).await;
    let began = Instant::now();
    let error = case.fails_then_works().await;
    assert!(began.elapsed() < SOON, "{name} took {:?}", began.elapsed());
    case.finish().await;
    format!("{name}: {}\n", told(&error))
}

/// A fault that an honest answer follows: the call works.
async fn harmless(name: &str) -> Vec<String> {
    let case = Case::started(Fault::named(name)).await;
    for _ in 0..3 {
        case.call()
            .await
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
    let notes = case.tools.notes();
    case.finish().await;
    notes
}

// R11, R12, R13, J2, J4, J5, J9
#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_own_call_at_once() {
    let mut all = String::new();
    for name in [
        "both_result_and_error",
        "deep_100000",
        "deep_200",
        "invalid_json_with_id",
        "invalid_utf8",
        "neither_result_nor_error",
        "remote_error",
    ] {
        all += &spoiled(name).await;
    }
    insta::assert_snapshot!(all);
}

// R07, J3
#[tokio::test]
async fn an_answer_over_the_limit_fails_its_own_call_and_takes_no_memory() {
    let before = Census::take();
    let mut all = String::new();
    for name in ["reply_20mb", "reply_64mb"] {
        all += &spoiled(name).await;
    }
    insta::assert_snapshot!(all);
    // I3: the message cap and 16 MiB.
    before.assert_memory_grew_at_most(32 << 20);
}

// R07
#[tokio::test]
async fn a_line_without_an_end_ends_the_server() {
    let mut limits = Limits::default();
    limits.message_bytes = 1 << 20;
    let timeouts = Timeouts::default();
    let case = Case::started_within(Fault::named("endless_line"), limits, timeouts).await;
    let pid = case.tools.toolbox.pid().unwrap();
    let error = case.call().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
    toolspan_testkit::wait_until_async(SOON, "the server is ended", || !pid_alive(pid)).await;
    // The next call meets a new server, with the same fault.
    let error = case.call().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
    case.finish().await;
}

// R07: an id behind the part of the line that is kept.
#[tokio::test]
async fn a_line_over_the_limit_whose_owner_is_unknown_fails_all_calls() {
    let mut limits = Limits::default();
    limits.message_bytes = 64 << 10;
    // The first call is answered by the script alone, so that both wait when the line comes.
    let fault = Fault::script([
        json!({"expect": "tools/call"}),
        json!({"expect": "tools/call"}),
        json!({"send_raw": {"parts": [{"text": "{\"jsonrpc\":\"2.0\",\"result\":{\"text\":\""}, {"repeat": {"text": "x", "times": 100_000}}, {"text": "\"},\"id\":${id}}"}]}}),
        json!("serve"),
    ]);
    let case = Case::started_within(fault, limits, Timeouts::default()).await;
    let (first, second) = tokio::join!(case.call(), case.call());
    for error in [first.unwrap_err(), second.unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
        assert_eq!(error.outcome(), Outcome::Unknown);
    }
    case.call().await.unwrap();
    case.finish().await;
}

// R10, R15, R19, J1, J10, J11, J12, J15
#[tokio::test]
async fn noise_and_foreign_replies_do_not_touch_the_call() {
    let mut all = String::new();
    for name in [
        "batch_reply",
        "duplicate_reply",
        "noise_between",
        "split_reply",
        "string_id",
        "unknown_id_then_right",
    ] {
        all += &format!("{name}: {}\n", harmless(name).await.join("; "));
    }
    insta::assert_snapshot!(all);
}

// R19, J10
#[tokio::test]
async fn a_reply_under_a_foreign_id_or_none_is_never_delivered() {
    let mut all = String::new();
    for name in [
        "wrong_id",
        "null_id_error",
        "never_answer_call",
        "half_line_then_hang",
    ] {
        let case = Case::started(Fault::named(name)).await;
        let error = case.call_for(Duration::from_millis(200)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{name}");
        assert_eq!(error.outcome(), Outcome::Unknown, "{name}");
        assert_eq!(error.phase(), Phase::Call, "{name}");
        all += &format!("{name}: {}\n", told(&error));
        if name != "half_line_then_hang" {
            case.call().await.unwrap();
        }
        case.finish().await;
    }
    insta::assert_snapshot!(all);
}

// R19
#[tokio::test]
async fn a_hundred_replies_to_no_call_end_the_server() {
    let fault = Fault::script([
        json!({"expect": "tools/call"}),
        json!({"loop": {"times": 101, "steps": [{"send": {"jsonrpc": "2.0", "id": 999_999, "result": {}}}]}}),
        json!("serve"),
    ]);
    let case = Case::started(fault).await;
    let error = case.call().await.unwrap_err();
    insta::assert_snapshot!(told(&error));
    let again = case.call().await.unwrap_err();
    assert_eq!(
        again.kind(),
        error.kind(),
        "a new server with the same fault"
    );
    case.finish().await;
}

// R06
#[tokio::test]
async fn a_late_reply_is_dropped_and_never_given_to_another_call() {
    for name in ["late_reply", "late_reply_reversed"] {
        let case = Case::started(Fault::named(name)).await;
        let error = case.call_for(Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{name}");
        case.call().await.unwrap();
        case.call().await.unwrap();
        let notes = case.tools.notes().join("\n");
        insta::assert_snapshot!(
            "a_call_whose_reply_comes_late",
            format!("{}\n{notes}", told(&error))
        );
        case.finish().await;
    }
}

// R02, R04, R14
#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_at_once_and_says_how() {
    let mut all = String::new();
    for name in ["kill_self_on_call", "exit_on_call", "half_line_then_exit"] {
        // An honest call first: the next server must answer one, too.
        let case = Case::started(Fault::named(name).on_call(2)).await;
        case.call().await.unwrap();
        let began = Instant::now();
        let error = case.call().await.unwrap_err();
        assert!(began.elapsed() < SOON, "{name}: {:?}", began.elapsed());
        all += &format!("{name}: {}\n", told(&error));
        case.call().await.expect("a new server answers");
        case.finish().await;
    }
    insta::assert_snapshot!(all);
}

// R02, R04: every call that waits hears of the death, with the server's last words.
#[tokio::test]
async fn a_server_that_dies_tells_all_who_wait_its_exit_status_and_last_words() {
    let fault = Fault::script([
        json!({"expect": "tools/call"}),
        json!({"expect": "tools/call"}),
        json!({"expect": "tools/call"}),
        json!({"stderr": {"parts": [{"text": "cannot write to the disk: no space left\n"}]}}),
        json!({"exit": {"code": 9}}),
    ]);
    let case = Case::started(fault).await;
    let (first, second, third) = tokio::join!(case.call(), case.call(), case.call());
    let told = [first, second, third].map(|result| told(&result.unwrap_err()));
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    insta::assert_snapshot!(told[0]);
    case.finish().await;
}

// R04: seven tries, since the machine may be busy; one fast one shows that nothing waits.
#[tokio::test]
async fn the_death_of_a_server_is_told_within_100_milliseconds() {
    let case = Case::started(Fault::named("kill_self_on_call").on_call(2)).await;
    let mut fastest = Duration::MAX;
    for _ in 0..7 {
        case.call().await.unwrap();
        let began = Instant::now();
        case.call().await.unwrap_err();
        fastest = fastest.min(began.elapsed());
    }
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
    case.finish().await;
}

#[tokio::test]
async fn a_last_answer_before_the_exit_is_delivered() {
    let case = Case::started(Fault::named("reply_then_exit")).await;
    for _ in 0..5 {
        case.call().await.expect("each server answers once");
        let gone = || case.tools.toolbox.pid().is_none();
        toolspan_testkit::wait_until_async(SOON, "the end is noticed", gone).await;
    }
    case.finish().await;
}

#[tokio::test]
async fn a_server_that_closes_its_output_is_gone_although_its_process_lives() {
    let case = Case::started(Fault::named("close_stdout_on_call").on_call(2)).await;
    case.call().await.unwrap();
    let error = case.call().await.unwrap_err();
    case.call().await.expect("a new server answers");
    case.finish().await;
    insta::assert_snapshot!(told(&error));
}

// R28
#[tokio::test]
async fn a_server_that_never_reads_blocks_only_its_own_callers() {
    let case = Case::started(Fault::named("never_reads")).await;
    let large = "x".repeat(10 << 20);
    let limit = Duration::from_millis(300);
    let began = Instant::now();
    let large = case.tools.echo_within(&large, limit);
    let small = case.tools.echo_within("small", limit);
    let (large, small) = tokio::join!(large, small);
    assert!(began.elapsed() < limit + SOON);
    let (large, small) = (large.unwrap_err(), small.unwrap_err());
    assert_eq!(large.outcome(), Outcome::Unknown, "it was begun");
    assert_eq!(small.outcome(), Outcome::NotSent, "it never left the queue");
    insta::assert_snapshot!([large, small].map(|error| told(&error)).join("\n"));
    case.finish().await;
}

// R20, J22
#[tokio::test]
async fn a_thousand_requests_of_the_server_are_answered_and_never_block_its_reply() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let case = Case::started(Fault::named("server_requests_1000").recording(&record)).await;
    case.call().await.unwrap();
    case.call().await.unwrap();
    case.finish().await;
    let record = std::fs::read_to_string(record).unwrap();
    let answers = record
        .lines()
        .filter(|line| line.contains("-32601"))
        .count();
    assert!((8..=1_000).contains(&answers), "{answers}");
}

// R17
#[tokio::test]
async fn a_reply_behind_100_000_notifications_is_found_and_memory_stays_flat() {
    let case = Case::started(Fault::named("flood_notifications")).await;
    case.call().await.unwrap();
    case.call().await.unwrap();
    assert_eq!(case.tools.heard.logged().len(), 100_000);
    case.finish().await;
}

#[tokio::test]
async fn progress_reaches_the_caller_in_order_before_the_reply() {
    let case = Case::started(Fault::named("progress_then_reply")).await;
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = std::sync::Arc::clone(&seen);
    let options = CallOptions::default()
        .with_progress(move |progress| sink.lock().unwrap().push(progress.progress));
    case.call_with(options).await.unwrap();
    let seen = seen.lock().unwrap().clone();
    assert_eq!(
        seen.last(),
        Some(&2.0),
        "the latest is never lost: {seen:?}"
    );
    assert!(seen.is_sorted());
    case.finish().await;
}

#[tokio::test]
async fn a_content_block_of_an_unknown_kind_passes_through() {
    let case = Case::started(Fault::named("unknown_content_block")).await;
    let observation = case.call().await.unwrap();
    assert_eq!(
        observation.content[0],
        Content::Other(json!({"type": "hologram", "depth": 3}))
    );
    case.call().await.unwrap();
    case.finish().await;
}

#[tokio::test]
async fn a_tool_that_says_it_failed_is_an_observation() {
    let case = Case::started(Fault::named("tool_error")).await;
    assert!(case.call().await.unwrap().is_error);
    case.finish().await;
}

// R53: multiplexed, not queued.
#[tokio::test]
async fn calls_reach_the_server_while_earlier_ones_still_wait() {
    let barrier = Barrier::new();
    let reply = |name: &str| json!({"send": {"jsonrpc": "2.0", "id": format!("${name}.id"), "result": {"content": [{"type": "text", "text": format!("${name}.text")}]}}});
    let expect = |name: &str| json!({"expect": {"method": "tools/call", "as": name}});
    let fault = Fault::script([
        expect("a"),
        expect("b"),
        expect("c"),
        barrier.hold_step(),
        reply("c"),
        reply("a"),
        reply("b"),
        json!("serve"),
    ]);
    let case = Case::started(fault).await;
    let release = async {
        barrier.reached(Duration::from_secs(20)).await;
        assert_eq!(
            case.tools.toolbox.waiting(),
            3,
            "all arrived before any reply"
        );
        barrier.release();
    };
    let (a, b, c, ()) = tokio::join!(case.call(), case.call(), case.call(), release);
    for result in [a, b, c] {
        result.unwrap();
    }
    case.finish().await;
}
