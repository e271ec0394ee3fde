//! Are the events those of the HTML standard, however the bytes were cut, and is memory bounded?

use std::time::Duration;

use proptest::prelude::*;
use toolspan_io::sse::{HEAD_SIZE, LONGEST_ID, SseDecoder, SseEvent, SseItem};

const LIMIT: usize = 64;
const UNBOUNDED: usize = 1 << 30;

/// What a stream came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    items: Vec<SseItem>,
    last_event_id: Option<String>,
    retry: Option<Duration>,
}

fn decode<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut decoder = SseDecoder::new(limit);
    let mut seen = Seen::default();
    for mut chunk in chunks {
        while let Some(item) = decoder.next_item(&mut chunk) {
            seen.items.push(item);
        }
        assert!(chunk.is_empty());
        assert!(decoder.pending() <= limit + 2 * LONGEST_ID + 2);
    }
    seen.last_event_id = decoder.last_event_id().map(str::to_owned);
    seen.retry = decoder.retry();
    seen
}

/// One item on one line: `name[data]`, then what it carries besides.
fn shown(item: &SseItem) -> String {
    match item {
        SseItem::Event(SseEvent {
            event,
            data,
            id,
            retry,
            ..
        }) => {
            let id = id
                .as_ref()
                .map(|id| format!(" id={id}"))
                .unwrap_or_default();
            let retry = retry.map(|retry| format!(" retry={}", retry.as_millis()));
            format!(
                "{event}[{}]{id}{}",
                data.escape_ascii(),
                retry.unwrap_or_default()
            )
        }
        SseItem::Oversize { head } => format!("oversize[{}]", head.escape_ascii()),
        SseItem::Endless => "endless".to_owned(),
        _ => unreachable!("a kind the test does not know"),
    }
}

/// Streams and their items, by the rules of the standard.
const EVENTS: &[(&[u8], &[&str])] = &[
    // Lines of data.
    (b"data: a\n\n", &["message[a]"]),
    (b"data:a\n\n", &["message[a]"]),
    (b"data:  a\n\n", &["message[ a]"]),
    (b"data:\ta\n\n", &["message[\\ta]"]),
    (b"data: a \n\n", &["message[a ]"]),
    (b"data: a\ndata: b\n\n", &["message[a\\nb]"]),
    (b"data: a\ndata:\ndata: b\n\n", &["message[a\\n\\nb]"]),
    (b"data: a\ndata\n\n", &["message[a\\n]"]),
    (b"data\ndata\n\n", &["message[\\n]"]),
    (b"data\n\n", &["message[]"]),
    (b"data:\n\n", &["message[]"]),
    (b"data: \n\n", &["message[]"]),
    (
        b"data:\n\ndata\n\ndata:x\n\n",
        &["message[]", "message[]", "message[x]"],
    ),
    (b"data: a: b\n\n", &["message[a: b]"]),
    (b"data::\n\n", &["message[:]"]),
    (b"data: a\0b\n\n", &["message[a\\x00b]"]),
    (b"data: \xEF\xBB\xBFa\n\n", &["message[\\xef\\xbb\\xbfa]"]),
    (b"data: \xFF\xC3\n\n", &["message[\\xff\\xc3]"]),
    (b"data: k\xC3\xA4se\n\n", &["message[k\\xc3\\xa4se]"]),
    // Ends of lines.
    (b"data: a\r\n\r\n", &["message[a]"]),
    (b"data: a\r\r", &["message[a]"]),
    (b"data: a\rdata: b\r\r", &["message[a\\nb]"]),
    (b"data: a\n\r", &["message[a]"]),
    (b"data: a\r\n\n", &["message[a]"]),
    (b"data: a\n\r\n", &["message[a]"]),
    (
        b"data: a\r\ndata: b\n\r\ndata: c\r\r\n",
        &["message[a\\nb]", "message[c]"],
    ),
    (b"data: a\n\n\n\ndata: b\n\n", &["message[a]", "message[b]"]),
    (b"\n\r\r\n\ndata: a\n\n", &["message[a]"]),
    (
        b"data: a\x0bb\x0cc\xC2\x85d\xE2\x80\xA8e\n\n",
        &["message[a\\x0bb\\x0cc\\xc2\\x85d\\xe2\\x80\\xa8e]"],
    ),
    // The end of the stream.
    (b"", &[]),
    (b"data: a", &[]),
    (b"data: a\n", &[]),
    (b"data: a\r", &[]),
    (b"data: a\n\ndata: b\n", &["message[a]"]),
    // The byte order mark.
    (b"\xEF\xBB\xBFdata: a\n\n", &["message[a]"]),
    (b"\xEF\xBB\xBF\ndata: a\n\n", &["message[a]"]),
    (b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", &[]),
    (b"\xEF\xBBdata: a\n\n", &[]),
    (b"\xEF\xBB\ndata: a\n\n", &["message[a]"]),
    (
        b"\xEF\xBB\xBE\n\xEF\xBB\xBFdata: a\n\ndata: b\n\n",
        &["message[b]"],
    ),
    (b"data: a\n\n\xEF\xBB\xBFdata: b\n\n", &["message[a]"]),
    // Comments and unknown fields.
    (b":\n\n", &[]),
    (b": keep-alive\n\ndata: a\n\n", &["message[a]"]),
    (
        b"data: a\n: data: x\n:data: y\ndata: b\n\n",
        &["message[a\\nb]"],
    ),
    (
        b"dat: a\ndata : b\n data: c\nDATA: d\ndatas: e\ndata\0: f\n\n",
        &[],
    ),
    (b"unknown\n:\nevent-data: x\ndata: a\n\n", &["message[a]"]),
    // The event's name.
    (b"event: add\ndata: a\n\n", &["add[a]"]),
    (
        b"data: a\nevent:add\n\ndata: b\n\n",
        &["add[a]", "message[b]"],
    ),
    (b"event: one\nevent: two\ndata: a\n\n", &["two[a]"]),
    (b"event: one\nevent\ndata: a\n\n", &["message[a]"]),
    (b"event:\ndata: a\n\n", &["message[a]"]),
    (b"event: one\n\ndata: a\n\n", &["message[a]"]),
    (b"event:  a b\xFF\ndata\n\n", &[" a b\u{FFFD}[]"]),
    // The id and the time to wait.
    (
        b"id: 7\ndata: a\n\ndata: b\n\n",
        &["message[a] id=7", "message[b]"],
    ),
    (b"id: 7\nid: 8\ndata: a\n\n", &["message[a] id=8"]),
    (b"id: 7\nid\ndata: a\n\n", &["message[a] id="]),
    (b"id: 7\nid: 8\0\ndata: a\n\n", &["message[a] id=7"]),
    (b"id: \0\ndata: a\n\n", &["message[a]"]),
    (
        b"id: k\xC3\xA4\xFF\ndata\n\n",
        &["message[] id=k\u{e4}\u{FFFD}"],
    ),
    (b"id: 7\n\ndata: a\n\n", &["message[a]"]),
    (b"retry: 1500\ndata: a\n\n", &["message[a] retry=1500"]),
    (
        b"retry: x\nretry: -1\nretry: 1.5\nretry: 1 \nretry\nretry:\nretry:  1\ndata\n\n",
        &["message[]"],
    ),
    (b"retry: 5\nretry: x\ndata\n\n", &["message[] retry=5"]),
    (b"retry: \xD9\xA3\ndata\n\n", &["message[]"]),
    // What MCP servers send.
    (
        b"event: endpoint\r\ndata: /messages?id=1\r\n\r\n",
        &["endpoint[/messages?id=1]"],
    ),
    (
        b": ping - 2026\r\n\r\nevent: message\r\ndata: {\"id\":1}\r\n\r\n",
        &["message[{\\\"id\\\":1}]"],
    ),
    (
        b"id: p\nretry: 3000\ndata:\n\n",
        &["message[] id=p retry=3000"],
    ),
];

/// Streams, the last id that took effect, and the time to wait in milliseconds.
const AFTERWARDS: &[(&[u8], Option<&str>, Option<u64>)] = &[
    (b"data: a\n\n", None, None),
    (b"id: 7\ndata: a\n\ndata: b\n\n", Some("7"), None),
    // Without data there is no event, but the id takes effect.
    (b"id: 7\n\n", Some("7"), None),
    (b"id: 7\n\nid: 8\ndata: x\n", Some("7"), None),
    (b"id: 7\n\nid\n\n", Some(""), None),
    (b"id: 7\n\nid: 8\0\n\n", Some("7"), None),
    // A time to wait takes effect at once.
    (b"retry: 10\n", None, Some(10)),
    (b"retry: 10\n\nretry: x\n\n", None, Some(10)),
    (b"retry: 10\nretry: 007\n", None, Some(7)),
    (b"retry: 10", None, None),
    (b"retry: 99999999999999999999999\n", None, Some(u64::MAX)),
];

/// The stream cut at these lengths, over and over.
fn cut<'a>(mut rest: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at((*cut).min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

// R43
#[test]
fn events_are_those_of_the_standard() {
    assert!(EVENTS.len() >= 60);
    for (stream, wanted) in EVENTS {
        let seen = decode(LIMIT, [*stream]);
        let items: Vec<String> = seen.items.iter().map(shown).collect();
        assert_eq!(items, *wanted, "{}", stream.escape_ascii());
        assert_eq!(
            decode(LIMIT, stream.chunks(1)),
            seen,
            "{}",
            stream.escape_ascii()
        );
    }
}

// R43
#[test]
fn an_id_takes_effect_with_its_blank_line_and_a_time_to_wait_at_once() {
    for (stream, id, retry) in AFTERWARDS {
        let seen = decode(LIMIT, [*stream]);
        assert_eq!(
            seen.last_event_id.as_deref(),
            *id,
            "{}",
            stream.escape_ascii()
        );
        let retry = retry.map(Duration::from_millis);
        assert_eq!(seen.retry, retry, "{}", stream.escape_ascii());
        assert_eq!(
            decode(LIMIT, stream.chunks(1)),
            seen,
            "{}",
            stream.escape_ascii()
        );
    }
}

/// What the decoder is meant to do, said in the plainest way for a whole stream without bounds.
fn expected(stream: &[u8]) -> Seen {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut text: Vec<u8> = Vec::new();
    let mut before = 0;
    for byte in stream {
        match byte {
            b'\n' if before == b'\r' => {}
            b'\r' => text.push(b'\n'),
            other => text.push(*other),
        }
        before = *byte;
    }
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // Without its end, a line is none.
    lines.pop();
    let mut seen = Seen::default();
    let (mut name, mut data, mut id, mut wait) = (String::new(), Vec::<u8>::new(), None, None);
    for line in lines {
        if line.is_empty() {
            if let Some(id) = &id {
                seen.last_event_id = Some(String::clone(id));
            }
            let (name, mut data) = (std::mem::take(&mut name), std::mem::take(&mut data));
            let (id, retry) = (id.take(), wait.take());
            if data.pop().is_some() {
                let name = if name.is_empty() {
                    "message".to_owned()
                } else {
                    name
                };
                let id: Option<String> = id;
                let head = [("id", id), ("retry", retry)];
                let more: Vec<u8> = head
                    .into_iter()
                    .filter_map(|(key, value)| Some(format!("{key}: {}\n", value?)))
                    .collect::<String>()
                    .into_bytes();
                seen.items.extend(one_event(&name, &data, &more));
            }
            continue;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let lossy = String::from_utf8_lossy(value).into_owned();
        match field {
            b"event" => name = lossy,
            b"data" => data.extend([value, b"\n"].concat()),
            b"id" if !value.contains(&0) => id = Some(lossy),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                seen.retry = Some(Duration::from_millis(lossy.parse().unwrap_or(u64::MAX)));
                wait = Some(lossy);
            }
            _ => {}
        }
    }
    seen
}

/// The event that these few fields make: its type cannot be made from outside.
fn one_event(name: &str, data: &[u8], more: &[u8]) -> Option<SseItem> {
    let mut stream = [b"event: ", name.as_bytes(), b"\n", more].concat();
    for line in data.split(|byte| *byte == b'\n') {
        stream.extend([b"data: ", line, b"\n"].concat());
    }
    stream.push(b'\n');
    decode(UNBOUNDED, [stream.as_slice()]).items.pop()
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let pieces: &[&[u8]] = &[
        b"\n",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r\n\r\n",
        b"\r",
        b"\r\r",
        b"data",
        b"data:",
        b"data: ",
        b"data: x\n",
        b"event: ",
        b"event:e\n",
        b"id: ",
        b"id:7\n",
        b"retry: ",
        b"retry:12\n",
        b":",
        b" ",
        b"\0",
        b"\xEF\xBB\xBF",
        b"\xEF\xBB",
        b"\xC3\xA4",
        b"\xFF",
        b"a",
        b"12",
        b"xxxxxxxxxxxx",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunking_gives_the_events_of_the_standard(
        stream in stream(),
        cuts in prop::collection::vec(1_usize..9, 1..40),
    ) {
        let wanted = expected(&stream);
        prop_assert_eq!(&decode(UNBOUNDED, [stream.as_slice()]), &wanted);
        prop_assert_eq!(&decode(UNBOUNDED, cut(&stream, &cuts)), &wanted);
    }

    #[test]
    fn any_chunking_gives_the_same_items_at_any_limit(
        stream in stream(),
        cuts in prop::collection::vec(1_usize..9, 1..40),
        limit in 0_usize..24,
    ) {
        let whole = decode(limit, [stream.as_slice()]);
        prop_assert_eq!(&decode(limit, cut(&stream, &cuts)), &whole);
        prop_assert_eq!(&decode(limit, stream.chunks(1)), &whole);
        // What fits is given, whatever came before it.
        let events = |seen: &Seen| -> Vec<SseItem> {
            seen.items.iter().filter(|item| matches!(item, SseItem::Event(_))).cloned().collect()
        };
        let all = events(&decode(UNBOUNDED, [stream.as_slice()]));
        let oversize = whole.items.iter().filter(|item| matches!(item, SseItem::Oversize { .. }));
        prop_assert!(events(&whole).len() + oversize.count() >= all.len());
        prop_assert!(events(&whole).iter().all(|event| all.contains(event)));
        prop_assert_eq!(whole.retry, decode(UNBOUNDED, [stream.as_slice()]).retry);
    }

    #[test]
    fn every_case_is_the_same_for_any_chunking(
        case in prop::sample::select(EVENTS),
        cuts in prop::collection::vec(1_usize..9, 1..20),
    ) {
        let (stream, wanted) = case;
        let items: Vec<String> = decode(LIMIT, cut(stream, &cuts)).items.iter().map(shown).collect();
        prop_assert_eq!(items, wanted);
    }
}

#[test]
fn an_oversize_event_is_told_as_soon_as_the_limit_is_passed_and_the_next_one_is_read() {
    let mut decoder = SseDecoder::new(8);
    let mut next = |mut bytes: &[u8]| {
        let item = decoder.next_item(&mut bytes);
        (item.as_ref().map(shown), bytes.len())
    };
    assert_eq!(next(b"data: 12345678"), (None, 0));
    assert_eq!(next(b"9more"), (Some("oversize[12345678]".to_owned()), 4));
    assert_eq!(next(b"more\ndata: still more\n"), (None, 0));
    assert_eq!(
        next(b"\ndata: next\n\n"),
        (Some("message[next]".to_owned()), 0)
    );
}

#[test]
fn an_event_of_exactly_the_limit_is_an_event() {
    let seen =
        |stream: &[u8]| -> Vec<String> { decode(8, [stream]).items.iter().map(shown).collect() };
    assert_eq!(seen(b"data: 12345678\n\n"), ["message[12345678]"]);
    assert_eq!(seen(b"data: 1234\ndata: 678\n\n"), ["message[1234\\n678]"]);
    assert_eq!(
        seen(b"data: 1234\ndata: 6789\n\n"),
        ["oversize[1234\\n678]"]
    );
    assert_eq!(seen(b"data: 12345678\ndata\n\n"), ["oversize[12345678]"]);
    assert_eq!(seen(b"event: name\ndata: 5678\n\n"), ["name[5678]"]);
    assert_eq!(seen(b"event: name\ndata: 56789\n\n"), ["oversize[56789]"]);
    assert_eq!(
        seen(b"event: a long name\ndata: 5\n\ndata: b\n\n"),
        ["oversize[]", "message[b]"]
    );
    assert_eq!(
        seen(b":a long comment\nx: a long field\ndata: 12345678\n\n"),
        ["message[12345678]"]
    );
}

#[test]
fn the_id_of_an_oversize_event_takes_effect() {
    let seen = decode(8, [b"data: 123456789\nid: 7\n\n".as_slice()]);
    assert_eq!(seen.items.len(), 1);
    assert_eq!(seen.last_event_id.as_deref(), Some("7"));
}

#[test]
fn an_endless_event_is_told_once() {
    let seen = decode(
        8,
        [
            [b"data: ".as_slice(), &[b'x'; 200]].concat().as_slice(),
            b"xx\ndata: y\n\n",
        ],
    );
    let items: Vec<String> = seen.items.iter().map(shown).collect();
    assert_eq!(items, ["oversize[xxxxxxxx]", "endless"]);
}

#[test]
fn an_id_over_its_bound_is_ignored_and_a_long_retry_too() {
    let long = "7".repeat(LONGEST_ID);
    let stream = format!("id: {long}\n\nid: {long}8\nretry: {long}8\n\n");
    let seen = decode(UNBOUNDED, [stream.as_bytes()]);
    assert_eq!(seen.last_event_id, Some(long));
    assert_eq!(seen.retry, None);
}

// R43
#[test]
fn a_megabyte_of_lines_of_data_is_one_event() {
    let stream = [b"data: xxxxxxx\n".repeat(75_000), b"\n".to_vec()].concat();
    let seen = decode(UNBOUNDED, stream.chunks(1000));
    let [SseItem::Event(event)] = seen.items.as_slice() else {
        panic!("one event, not {}", seen.items.len());
    };
    assert_eq!(event.data.len(), 75_000 * 8 - 1);
}

#[test]
fn memory_is_bounded_by_the_limit_and_the_head_is_kept() {
    let limit = 1024 * 1024;
    let mut decoder = SseDecoder::new(limit);
    let piece = b"data: {\"id\":7,\"result\":\"xxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(1000);
    let mut heads = Vec::new();
    for _ in 0..1000 {
        let mut input = piece.as_slice();
        while let Some(item) = decoder.next_item(&mut input) {
            if let SseItem::Oversize { head } = item {
                heads.push((head.len(), head.capacity(), head.starts_with(b"{\"id\":7,")));
            }
        }
        assert!(decoder.pending() <= limit + 1);
    }
    assert_eq!(heads, [(HEAD_SIZE, HEAD_SIZE, true)]);
    assert_eq!(decoder.pending(), 0);
}
