//! Are the lines the same however the bytes were cut?

use proptest::prelude::*;
use toolspan_io::lines::{HEAD_SIZE, Line, LineDecoder, READ_SIZE};

/// A line that outlives the decoder's buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owned {
    Complete(Vec<u8>),
    TooLong(Vec<u8>),
    Endless,
}

impl From<Line<'_>> for Owned {
    fn from(line: Line<'_>) -> Self {
        match line {
            Line::Complete(bytes) => Self::Complete(bytes.to_vec()),
            Line::TooLong { head } => Self::TooLong(head.to_vec()),
            Line::Endless => Self::Endless,
            _ => unreachable!("a kind the test does not know"),
        }
    }
}

fn complete(text: &str) -> Owned {
    Owned::Complete(text.as_bytes().to_vec())
}

fn too_long(text: &str) -> Owned {
    Owned::TooLong(text.as_bytes().to_vec())
}

fn decode<'a>(max_line: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut decoder = LineDecoder::new(max_line);
    let mut lines = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        while let Some(line) = decoder.next_line() {
            lines.push(Owned::from(line));
        }
    }
    lines.extend(decoder.finish().map(Owned::from));
    lines
}

/// What the decoder is meant to do, said in the plainest way for a whole stream.
fn expected(max_line: usize, stream: &[u8]) -> Vec<Owned> {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines = Vec::new();
    for raw in stream.split(|byte| *byte == b'\n') {
        let line = raw.strip_suffix(b"\r").unwrap_or(raw);
        if line.len() > max_line {
            lines.push(Owned::TooLong(
                line.iter().take(max_line.min(HEAD_SIZE)).copied().collect(),
            ));
            if raw.len() > 4 * max_line {
                lines.push(Owned::Endless);
            }
        } else if !line.is_empty() {
            lines.push(Owned::Complete(line.to_vec()));
        }
    }
    lines
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        1 => Just(b"\xEF\xBB".to_vec()),
        6 => prop::collection::vec(any::<u8>(), 0..12),
        1 => prop::collection::vec(Just(b'x'), 20..60),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunking_gives_the_same_lines(
        stream in stream(),
        cuts in prop::collection::vec(1_usize..9, 1..40),
        max_line in 1_usize..16,
    ) {
        let mut rest = stream.as_slice();
        let mut chunks = Vec::new();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*cut).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        let wanted = expected(max_line, &stream);
        prop_assert_eq!(decode(max_line, [stream.as_slice()]), wanted.clone());
        prop_assert_eq!(decode(max_line, chunks), wanted.clone());
        prop_assert_eq!(decode(max_line, stream.chunks(1)), wanted);
    }
}

// R07
#[test]
fn an_over_long_line_is_reported_as_soon_as_the_cap_is_passed_and_the_next_line_is_read() {
    let mut decoder = LineDecoder::new(8);
    decoder.feed(b"12345678");
    assert_eq!(decoder.next_line(), None);
    decoder.feed(b"9");
    assert_eq!(
        decoder.next_line().map(Owned::from),
        Some(too_long("12345678"))
    );
    decoder.feed(b"more");
    assert_eq!(decoder.next_line(), None);
    decoder.feed(b"\nnext\n");
    assert_eq!(decoder.next_line().map(Owned::from), Some(complete("next")));
}

#[test]
fn a_line_of_four_times_the_cap_is_endless_said_once_and_the_decoder_goes_on() {
    let lines = decode(4, [b"0123456789abcdef".as_slice(), b"0", b"123", b"\nok\n"]);
    assert_eq!(lines, [too_long("0123"), Owned::Endless, complete("ok")]);
}

#[test]
fn a_carriage_return_does_not_count_against_the_cap() {
    assert_eq!(decode(4, [b"1234\r".as_slice(), b"\n"]), [complete("1234")]);
    assert_eq!(
        decode(4, [b"1234\r".as_slice(), b"5\n"]),
        [too_long("1234")]
    );
}

#[test]
fn the_head_of_a_long_line_is_4_kib() {
    let line = vec![b'x'; 100_000];
    let lines = decode(50_000, [line.as_slice(), b"\n"]);
    assert_eq!(lines, [Owned::TooLong(vec![b'x'; HEAD_SIZE])]);
}

#[test]
fn an_endless_stream_needs_no_more_memory_than_the_cap_and_two_chunks() {
    let max_line = 1024 * 1024;
    let mut decoder = LineDecoder::new(max_line);
    let mut kinds = Vec::new();
    for _ in 0..200 {
        let space = decoder.space();
        assert!(space.len() >= READ_SIZE);
        space[..READ_SIZE].fill(b'x');
        decoder.filled(READ_SIZE);
        while let Some(line) = decoder.next_line() {
            kinds.push(matches!(line, Line::Endless));
        }
        assert!(
            decoder.capacity() <= max_line + 2 * READ_SIZE,
            "{}",
            decoder.capacity()
        );
    }
    assert_eq!(kinds, [false, true]);
}

#[test]
fn memory_is_given_back_after_a_large_line() {
    let mut decoder = LineDecoder::new(8 * 1024 * 1024);
    let mut large = vec![b'x'; 4 * 1024 * 1024];
    large.push(b'\n');
    for chunk in large.chunks(READ_SIZE) {
        let space = decoder.space();
        space[..chunk.len()].copy_from_slice(chunk);
        decoder.filled(chunk.len());
        while let Some(line) = decoder.next_line() {
            assert!(matches!(line, Line::Complete(bytes) if bytes.len() == large.len() - 1));
        }
    }
    assert!(decoder.capacity() > 4 * 1024 * 1024);
    decoder.space();
    assert!(
        decoder.capacity() <= 2 * READ_SIZE,
        "{}",
        decoder.capacity()
    );
}

#[test]
fn what_is_left_at_the_end_is_the_last_line() {
    assert_eq!(
        decode(8, [b"one\ntwo".as_slice()]),
        [complete("one"), complete("two")]
    );
    assert_eq!(decode(8, [b"one\n".as_slice()]), [complete("one")]);
    assert_eq!(decode(2, [b"one".as_slice()]), [too_long("on")]);
}
