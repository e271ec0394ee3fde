//! What does a caller get when a server spoils an answer over HTTP, and does the next call work?

mod case;

use std::time::Duration;

use serde_json::{Value, json};
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::{ErrorKind, Outcome, ToolBox};
use toolspan_mcp::transport::RemoteKind;
use toolspan_testkit::{Census, Fault, RunningFault};

use self::case::{Case, SOON, Story};

/// How long a call waits for what never comes.
const SHORT: Duration = Duration::from_millis(300);

/// How long 100,000 notifications may take on a loaded machine, both sides without optimization.
const FLOOD: Duration = Duration::from_secs(50);

fn http(name: &str) -> RunningFault {
    Fault::named(name).over_http()
}

fn sse(name: &str) -> RunningFault {
    Fault::named(name).over_sse()
}

/// The stories of calls over streamable HTTP, each under its fault's name.
async fn stories(names: &[&str]) -> String {
    let mut all = String::new();
    for name in names {
        let case = Case::started(http(name)).await;
        all += &format!("--- {name}\n{}\n", case.story(Story::default()).await);
        case.finish().await;
    }
    all
}

/// The same over HTTP with SSE.
async fn stories_sse(names: &[&str]) -> String {
    let mut all = String::new();
    for name in names {
        let case = Case::started(sse(name)).await;
        all += &format!("--- {name}\n{}\n", case.story(Story::default()).await);
        case.finish().await;
    }
    all
}

/// The stories of calls with a short limit.
async fn short_stories(names: &[&str]) -> String {
    let mut all = String::new();
    for name in names {
        let case = Case::started(http(name)).await;
        let story = case.story(Story::within(SHORT)).await;
        all += &format!("--- {name}\n{story}\n");
        case.finish().await;
    }
    all
}

/// What the server does cannot be seen in the results of calls.
async fn harmless(server: RunningFault) -> RunningFault {
    let case = Case::started(server).await;
    for _ in 0..3 {
        case.call()
            .await
            .unwrap_or_else(|error| panic!("{error:?}"));
    }
    case.finish().await
}

fn paths(requests: &[Value], port: &str) -> Vec<String> {
    let at = requests.iter().filter(|request| request["port"] == port);
    at.map(|request| format!("{} {}", request["method"], request["path"]))
        .map(|path| path.replace('"', ""))
        .collect()
}

// R42, H1
#[tokio::test]
async fn an_answer_that_is_none_fails_its_own_call_at_once() {
    let names = [
        "html_200",
        "empty_200",
        "status_204",
        "accepted_202_to_request",
        "two_json_documents",
        "wrong_content_type",
        "no_content_type",
        "wrong_id",
        "string_id",
        "null_id_error",
        "both_result_and_error",
        "neither_result_nor_error",
        "invalid_json_with_id",
        "invalid_utf8",
        "deep_200",
        "remote_error",
        "tool_error",
    ];
    insta::assert_snapshot!(stories(&names).await);
}

// R41, H16
#[tokio::test]
async fn a_status_is_told_with_what_it_means_for_the_caller() {
    let names = [
        "status_400",
        "status_401",
        "status_403",
        "status_429",
        "status_429_retry_garbage",
        "status_429_retry_99999",
        "status_429_always",
        "status_500_html",
    ];
    insta::assert_snapshot!(stories(&names).await);
}

// R41, H16
#[tokio::test]
async fn a_server_that_asks_for_a_moment_is_asked_once_more() {
    for name in [
        "status_429_retry_1",
        "status_429_retry_past",
        "status_503_retry_after",
    ] {
        let server = harmless(http(name)).await;
        assert_eq!(server.count("tools/call"), 5, "{name}");
    }
}

// R30
#[tokio::test]
async fn a_lost_session_is_begun_anew_once_for_all_who_need_it() {
    const CALLS: usize = 50;
    let case = Case::started(http("session_lost_once")).await;
    let calls = futures_util::future::join_all((0..CALLS).map(|_| case.call()));
    for result in calls.await {
        result.unwrap();
    }
    let server = case.finish().await;
    assert_eq!(server.count("initialize"), 2);
}

// R30
#[tokio::test]
async fn a_session_that_is_lost_with_every_call_is_not_begun_for_ever() {
    let case = Case::started(http("session_lost_always")).await;
    let story = case.story(Story::default()).await;
    let server = case.finish().await;
    insta::assert_snapshot!(story);
    // The first one, and at most one more for each of the three calls.
    assert!(
        server.count("initialize") <= 4,
        "{}",
        server.count("initialize")
    );
}

// H8
#[tokio::test]
async fn a_session_id_that_cannot_be_sent_back_is_refused() {
    let mut all = String::new();
    for name in [
        "session_id_10kb",
        "session_id_non_ascii",
        "session_id_control_byte",
        "session_id_empty",
    ] {
        let case = Case::new(http(name)).await;
        all += &format!("--- {name}\n{}\n", case.start().await);
        case.finish().await;
    }
    insta::assert_snapshot!(all);
}

// H8
#[tokio::test]
async fn a_session_id_that_comes_later_is_not_followed() {
    let server = harmless(http("session_id_changes")).await;
    let sent = server
        .requests()
        .iter()
        .filter(|it| it["headers"]["mcp-session-id"] == "another-session")
        .count();
    assert_eq!(sent, 0);
}

#[tokio::test]
async fn a_server_without_sessions_or_with_streams_for_replies_is_an_honest_one() {
    for name in ["no_sessions", "sse_replies", "delete_405"] {
        let server = harmless(http(name)).await;
        assert_eq!(server.count("initialize"), 1, "{name}");
    }
}

// H3, R38
#[tokio::test]
async fn a_redirect_is_followed_once_and_within_the_origin_alone() {
    let names = [
        "redirect_307_other_port",
        "redirect_to_https",
        "redirect_303",
        "redirect_without_location",
    ];
    let mut all = String::new();
    for name in names {
        let case = Case::started(http(name)).await;
        all += &format!("--- {name}\n{}\n", case.story(Story::default()).await);
        let server = case.finish().await;
        let elsewhere = paths(&server.requests(), "other");
        assert_eq!(elsewhere, Vec::<String>::new(), "{name}");
    }
    for name in ["redirect_loop"] {
        let case = Case::new(http(name)).await;
        all += &format!("--- {name}\n{}\n", case.start().await);
        let server = case.finish().await;
        let posts = paths(&server.requests(), "main");
        assert!(posts.len() <= 3, "{posts:?}");
    }
    insta::assert_snapshot!(all);
}

// H5
#[tokio::test]
async fn a_redirect_within_the_origin_works_and_plants_no_cookie() {
    for name in ["redirect_307_same_origin", "redirect_308_set_cookie"] {
        let server = harmless(http(name)).await;
        let requests = server.requests();
        assert!(
            paths(&requests, "main").contains(&"POST /moved".to_owned()),
            "{name}"
        );
        assert!(
            requests.iter().all(|it| it["headers"]["cookie"].is_null()),
            "{name}"
        );
    }
}

// R33, H2
#[tokio::test]
async fn a_response_that_breaks_off_fails_its_own_call_at_once() {
    let names = [
        "reset_before_status",
        "reset_after_headers",
        "reset_mid_body",
        "close_before_status",
        "close_mid_headers",
        "close_after_headers",
        "close_mid_body",
        "long_content_length",
        "short_content_length",
        "both_lengths",
        "two_content_lengths",
        "bad_chunk_size",
        "chunk_size_no_number",
        "no_http",
    ];
    insta::assert_snapshot!(stories(&names).await);
}

// R05
#[tokio::test]
async fn a_response_that_stops_ends_with_the_callers_limit() {
    let names = [
        "never_answer_call",
        "slow_headers_hang",
        "hang_after_headers",
        "hang_mid_body",
        "half_line_then_hang",
        "sse_hang",
        "sse_comments_forever",
        "sse_cut_always",
        "progress_forever",
    ];
    let mut told = short_stories(&names).await;
    let case = Case::started(sse("sse_post_reply_in_body")).await;
    told += "--- sse_post_reply_in_body\n";
    told += &case.story(Story::within(SHORT)).await;
    case.finish().await;
    insta::assert_snapshot!(told);
}

// R08
#[tokio::test]
async fn a_body_over_the_limit_fails_its_own_call_and_takes_no_memory() {
    // What stays for the life of the process is not counted.
    harmless(http("honest")).await;
    let before = Census::take();
    let names = [
        "body_256mb",
        "body_256mb_chunked",
        "body_endless",
        "gzip_bomb",
        "headers_endless",
        "reply_20mb",
        "sse_huge_event",
        "sse_endless_event",
        "endless_line",
    ];
    let told = stories(&names).await;
    // I3: the message cap and 16 MiB.
    before.assert_memory_grew_at_most(32 << 20);
    insta::assert_snapshot!(told);
}

// R32
#[tokio::test]
async fn a_stream_that_ends_without_the_reply_fails_its_call() {
    let names = [
        "sse_no_reply_close",
        "sse_cut_without_event_id",
        "sse_reset",
        "sse_id_with_nul",
        "sse_no_final_blank_line",
        "sse_invalid_utf8",
        "sse_data_not_json",
        "sse_resume_404",
        "noise_between",
        "unknown_id_then_right",
    ];
    insta::assert_snapshot!(stories(&names).await);
}

// R31
#[tokio::test]
async fn a_stream_that_is_cut_after_an_event_is_taken_up_where_it_was_cut() {
    for name in [
        "sse_cut_with_event_id",
        "sse_cut_then_replay",
        "sse_retry_field",
        "sse_retry_garbage",
    ] {
        let server = harmless(http(name)).await;
        let asked = server
            .requests()
            .iter()
            .filter(|it| it["headers"]["last-event-id"] == "event-1")
            .count();
        assert_eq!(asked, 1, "{name}");
    }
}

// R31: cut after each event of a stream of ten; what was seen is sent again with the rest.
#[tokio::test]
async fn a_stream_may_be_cut_after_any_of_its_events() {
    const EVENTS: usize = 10;
    let event = |number: usize| match number {
        EVENTS => json!({"id": "event-10", "message": {"jsonrpc": "2.0", "id": "$id", "result":
            {"content": [{"type": "text", "text": "$text"}]}}}),
        _ => json!({"id": format!("event-{number}"), "retry": 100, "message": {"jsonrpc": "2.0",
            "method": "notifications/message", "params": {"level": "info", "data": number}}}),
    };
    let stream = |numbers: std::ops::RangeInclusive<usize>, end: &str| {
        let events: Vec<Value> = numbers.map(event).collect();
        json!({"sse": {"events": events, "end": end}})
    };
    let mut steps = Vec::new();
    for cut in 1..EVENTS {
        let last = format!("event-{cut}");
        let resume = json!({"method": "GET", "headers": {"last-event-id": last}});
        steps.push(json!({"expect": "tools/call"}));
        steps.push(stream(1..=cut, "cut"));
        steps.push(json!({"expect_request": resume}));
        steps.push(stream(1..=EVENTS, "close"));
    }
    steps.push(json!("serve"));
    let case = Case::started(Fault::script(steps).over_http()).await;
    let mut heard_so_far = Vec::new();
    for _ in 1..EVENTS {
        case.call_for(FLOOD).await.unwrap();
        heard_so_far.push(case.tools.heard.logged().len());
    }
    // Each of the nine notes of a stream was heard once, wherever the stream was cut.
    let heard: Vec<usize> = (1..EVENTS).map(|call| call * (EVENTS - 1)).collect();
    assert_eq!(heard_so_far, heard);
    case.finish().await;
}

// R43
#[tokio::test]
async fn a_stream_may_be_as_odd_as_the_standard_allows() {
    for name in [
        "sse_comments_and_crlf",
        "sse_cr_only",
        "sse_bom",
        "sse_multi_data_lines",
        "sse_server_requests",
    ] {
        harmless(http(name)).await;
    }
    for name in [
        "sse_comments_and_crlf",
        "sse_cr_only",
        "sse_multi_data_lines",
        "sse_server_requests",
        "sse_endpoint_absolute",
    ] {
        harmless(sse(name)).await;
    }
}

#[tokio::test]
async fn requests_of_a_server_are_answered_by_posts_of_their_own() {
    let server = harmless(http("sse_server_requests")).await;
    server.await_recorded(SOON, "three answers", |messages| {
        messages.iter().filter(|it| it["method"].is_null()).count() == 3
    });
}

#[tokio::test]
async fn the_stream_of_what_nobody_asked_for_delays_and_spoils_nothing() {
    for name in [
        "get_405",
        "get_hangs",
        "get_html",
        "get_stream_notifications",
        "get_stream_requests",
        "get_stream_closes_often",
        "get_stream_cut_often",
    ] {
        let server = harmless(http(name)).await;
        assert_eq!(server.count("initialize"), 1, "{name}");
    }
}

#[tokio::test]
async fn what_comes_beside_the_reply_does_not_touch_the_call() {
    for name in [
        "batch_reply",
        "duplicate_reply",
        "noise_between",
        "progress_then_reply",
        "split_reply",
        "unknown_content_block",
        "unknown_id_then_right",
        "flood_stderr",
    ] {
        // A response holds nothing but the reply: there, noise and foreign replies are its fault.
        if !["noise_between", "unknown_id_then_right"].contains(&name) {
            harmless(http(name)).await;
        }
        harmless(sse(name)).await;
    }
}

// R17, R18, R20
#[tokio::test]
async fn a_flood_before_the_reply_does_not_hide_it() {
    for name in [
        "flood_notifications",
        "list_changed_storm",
        "server_requests_1000",
    ] {
        for server in [http(name), sse(name)] {
            let case = Case::started(server).await;
            case.call_for(FLOOD).await.unwrap();
            case.call().await.unwrap();
            case.finish().await;
        }
    }
}

#[tokio::test]
async fn what_was_promised_of_lists_and_versions_holds_over_http() {
    for name in [
        "bad_tool_in_list",
        "discover_empty",
        "discover_silent",
        "exit_on_discover",
        "list_cursor_loop",
        "modern",
        "old_version",
    ] {
        harmless(http(name)).await;
        harmless(sse(name)).await;
    }
}

// H2, R42
#[tokio::test]
async fn a_server_that_cannot_be_begun_with_says_why() {
    let mut all = String::new();
    for name in [
        "html_200_at_start",
        "status_401_at_start",
        "status_404",
        "status_405_at_start",
        "status_500_at_start",
        "unknown_version",
    ] {
        let case = Case::new(http(name)).await;
        all += &format!("--- {name}\n{}\n", case.start().await);
        case.finish().await;
    }
    let mut case = Case::new(http("exit_at_start")).await;
    case.server_ends().await;
    all += &format!("--- exit_at_start\n{}\n", case.start().await);
    case.finish().await;
    // Nothing is the URL itself, which takes no messages.
    let case = Case::new(sse("sse_endpoint_empty")).await;
    all += &format!("--- sse_endpoint_empty\n{}\n", case.start().await);
    case.finish().await;
    insta::assert_snapshot!(all);
}

// H6, H4
#[tokio::test]
async fn an_older_server_that_cannot_be_begun_with_says_why_and_nothing_goes_elsewhere() {
    let mut all = String::new();
    for name in [
        "sse_endpoint_other_origin",
        "sse_endpoint_scheme_relative",
        "sse_endpoint_javascript",
        "sse_endpoint_other_port",
        "sse_closes_before_endpoint",
        "sse_get_html",
        "redirect_chain_4",
    ] {
        let case = Case::of_kind(sse(name), RemoteKind::Sse).await;
        all += &format!("--- {name}\n{}\n", case.start().await);
        let server = case.finish().await;
        assert_eq!(server.recorded(), Vec::<Value>::new(), "{name}");
        assert_eq!(
            paths(&server.requests(), "other"),
            Vec::<String>::new(),
            "{name}"
        );
    }
    insta::assert_snapshot!(all);
}

#[tokio::test]
async fn an_older_server_that_names_no_endpoint_is_given_up_in_time() {
    let mut all = String::new();
    for name in [
        "sse_no_endpoint",
        "sse_get_hangs",
        "never_answer_initialize",
    ] {
        let mut timeouts = Timeouts::default();
        timeouts.connect = SHORT;
        let case = Case::within(sse(name), RemoteKind::Sse, (Limits::default(), timeouts)).await;
        all += &format!("--- {name}\n{}\n", case.start().await);
        case.finish().await;
    }
    insta::assert_snapshot!(all);
}

// H6
#[tokio::test]
async fn where_both_protocols_fail_the_hint_is_the_one_that_fits() {
    let case = Case::of_kind(sse("sse_endpoint_other_origin"), RemoteKind::Auto).await;
    let told = case.start().await;
    case.finish().await;
    insta::assert_snapshot!(told);
}

// H7
#[tokio::test]
async fn the_first_endpoint_is_the_one_that_counts() {
    let server = harmless(sse("sse_endpoint_second")).await;
    assert_eq!(paths(&server.requests(), "other"), Vec::<String>::new());
}

#[tokio::test]
async fn over_http_with_sse_a_post_or_the_stream_may_fail() {
    let names = [
        "sse_post_500",
        "sse_stream_ends_on_call",
        "sse_stream_cut_on_call",
        "sse_reset",
        "reset_before_status",
        "close_mid_headers",
        "status_401",
        "status_429",
        "sse_invalid_utf8",
        "sse_huge_event",
        "invalid_json_with_id",
        "deep_100000",
    ];
    insta::assert_snapshot!(stories_sse(&names).await);
}

#[tokio::test]
async fn an_older_server_is_found_where_the_newer_protocol_is_refused() {
    for name in [
        "streamable_400_sse_ok",
        "streamable_404_sse_ok",
        "streamable_405_sse_ok",
    ] {
        let case = Case::of_kind(sse(name), RemoteKind::Auto).await;
        case.call_of_started().await.unwrap();
        let server = case.finish().await;
        let requests = paths(&server.requests(), "main");
        assert_eq!(
            requests.first().map(String::as_str),
            Some("POST /sse"),
            "{name}"
        );
        assert_eq!(
            requests.get(1).map(String::as_str),
            Some("GET /sse"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_at_once() {
    let mut all = String::new();
    for name in [
        "exit_on_call",
        "kill_self_on_call",
        "half_line_then_exit",
        "reply_then_exit",
    ] {
        for server in [http(name), sse(name)] {
            let mut case = Case::started(server).await;
            let way = case.tools.toolbox.kind();
            all += &format!("--- {name}, {way}\n{}\n", case.one_call().await);
            // Whether its port is closed by now, or the connection only, is a matter of moments.
            let next = case.call().await.unwrap_err();
            let kinds = [ErrorKind::Connect, ErrorKind::Closed];
            assert!(kinds.contains(&next.kind()), "{name}: {next:?}");
            case.server_ends().await;
            case.finish().await;
        }
    }
    insta::assert_snapshot!(all);
}

// R34
#[tokio::test]
async fn a_connection_that_is_closed_unused_costs_at_most_the_call_that_met_its_end() {
    let case = Case::started(http("closes_idle")).await;
    let mut works = 0;
    for _ in 0..20 {
        match case.call().await {
            Ok(_) => works += 1,
            Err(error) => assert_eq!(
                (error.kind(), error.outcome()),
                (ErrorKind::Closed, Outcome::Unknown)
            ),
        }
    }
    assert!(works > 0);
    case.finish().await;
}

// R06
#[tokio::test]
async fn a_late_reply_goes_to_nobody_else() {
    for name in ["late_reply", "late_reply_reversed"] {
        for server in [http(name), sse(name)] {
            let case = Case::started(server).await;
            let error = case.call_for(SHORT).await.unwrap_err();
            assert_eq!(
                (error.kind(), error.outcome()),
                (ErrorKind::Timeout, Outcome::Unknown),
                "{name}"
            );
            case.call().await.unwrap();
            case.call().await.unwrap();
            case.finish().await;
        }
    }
}

#[tokio::test]
async fn closing_does_not_wait_for_a_server_that_never_lets_go() {
    let mut timeouts = Timeouts::default();
    timeouts.close = SHORT;
    let limits = Limits::default();
    let case = Case::within(
        http("delete_hangs"),
        RemoteKind::StreamableHttp,
        (limits, timeouts),
    )
    .await;
    case.call_of_started().await.unwrap();
    let server = case.finish().await;
    let requests = paths(&server.requests(), "main");
    assert_eq!(requests.last().map(String::as_str), Some("DELETE /mcp"));
}
