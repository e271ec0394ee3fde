//! Do lines of any kind leave every call alone that they do not address, and never panic?

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolspan_core::guard::Limits;
use toolspan_io::lines::LineDecoder;

use super::pending::{CallSlot, Pending};
use super::receive::{Event, Receiver};
use super::slot::Arrival;

/// Calls that wait, by id.
const WAITING: std::ops::Range<u64> = 1..8;

/// A receiver with waiting calls.
struct Bench {
    receiver: Receiver,
    pending: Arc<Pending>,
    slots: Vec<(u64, Arc<CallSlot>)>,
    decoder: LineDecoder,
    fatal: bool,
}

impl Bench {
    fn new(message_bytes: usize) -> Self {
        let pending = Arc::<Pending>::default();
        let mut limits = Limits::default();
        limits.message_bytes = message_bytes;
        let next_id = Arc::new(AtomicU64::new(WAITING.end));
        let receiver = Receiver::new(Arc::clone(&pending), Arc::default(), next_id, limits);
        let open = |id| (id, pending.insert(id).expect("the table is open").0);
        let slots = WAITING.map(open).collect();
        Self {
            receiver,
            pending,
            slots,
            decoder: LineDecoder::new(message_bytes),
            fatal: false,
        }
    }

    /// Takes bytes as the driver does.
    fn feed(&mut self, bytes: &[u8]) {
        self.decoder.feed(bytes);
        while let Some(line) = self.decoder.next_line() {
            let event = self.receiver.line(line);
            self.fatal |= is_fatal(&event);
        }
    }

    /// The calls that have ended, with the text of their result or the kind of their error.
    fn ended(&self) -> Vec<(u64, String)> {
        let mut context = Context::from_waker(Waker::noop());
        let mut ended = Vec::new();
        for (id, slot) in &self.slots {
            while let Poll::Ready(arrival) = slot.poll(&mut context) {
                if let Arrival::Reply(reply) = arrival {
                    let end = reply
                        .map_or_else(|error| error.kind().to_string(), |raw| raw.get().to_owned());
                    ended.push((*id, end));
                }
            }
        }
        assert_eq!(self.pending.len() + ended.len(), self.slots.len());
        ended
    }
}

fn is_fatal(event: &Event) -> bool {
    match event {
        Event::Fatal(_) => true,
        Event::Several(events) => events.iter().any(is_fatal),
        _ => false,
    }
}

/// A JSON value of any shape, nested a little.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..20).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~\\p{L}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let key = prop_oneof![
            Just("jsonrpc".to_owned()),
            Just("id".to_owned()),
            Just("method".to_owned()),
            Just("params".to_owned()),
            Just("result".to_owned()),
            Just("error".to_owned()),
            "[a-z]{0,6}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An id that belongs to no waiting call.
fn foreign_id() -> impl Strategy<Value = Value> {
    any_json().prop_filter("a number or its text may be an id of ours", |id| {
        let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        !text.parse().is_ok_and(|id: u64| WAITING.contains(&id))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_of_any_kind_end_no_call_that_they_do_not_name(
        lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..12)
    ) {
        let mut bench = Bench::new(1 << 20);
        for line in &lines {
            bench.feed(line);
            bench.feed(b"\n");
        }
        // Random bytes name an id only if they contain its digit behind a quoted key.
        let names_one = lines.iter().any(|line| line.windows(4).any(|key| key == b"\"id\""));
        prop_assert!(names_one || bench.ended().is_empty());
    }

    #[test]
    fn json_of_any_shape_without_an_id_of_ours_ends_no_call(
        values in proptest::collection::vec(any_json(), 0..8)
    ) {
        let mut bench = Bench::new(1 << 20);
        for value in &values {
            let named = value.get("id").is_some()
                || value.as_array().is_some_and(|batch| batch.iter().any(|one| one.get("id").is_some()));
            if !named {
                bench.feed(format!("{value}\n").as_bytes());
            }
        }
        prop_assert_eq!(bench.ended(), vec![]);
    }

    #[test]
    fn a_reply_of_any_shape_under_a_foreign_id_ends_no_call(
        id in foreign_id(),
        result in any_json(),
        member in prop_oneof![Just("result"), Just("error"), Just("x")],
        cut in 0_usize..400,
    ) {
        let mut bench = Bench::new(1 << 20);
        let frame = json!({"jsonrpc": "2.0", "id": id, member: result}).to_string();
        bench.feed(format!("{frame}\n").as_bytes());
        prop_assert_eq!(bench.ended(), vec![]);
        prop_assert!(!bench.fatal);
        // Cut within the id, it might begin like one of ours: cut behind it.
        let behind = frame.len() - json!({member: result}).to_string().len() + 1;
        let mut at = (behind + cut).min(frame.len());
        while !frame.is_char_boundary(at) {
            at += 1;
        }
        bench.feed(format!("{}\n", &frame[..at]).as_bytes());
        prop_assert_eq!(bench.ended(), vec![]);
    }

    #[test]
    fn a_reply_in_any_chunks_ends_its_own_call_with_its_own_bytes(
        id in WAITING,
        result in any_json(),
        noise in "[a-z {\\[]{0,20}",
        sizes in proptest::collection::vec(1_usize..40, 1..20),
    ) {
        let mut bench = Bench::new(1 << 20);
        let text = result.to_string();
        let conversation = format!(
            "{noise}\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{text}}}\r\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":0}}\n"
        );
        let mut rest = conversation.as_bytes();
        for size in sizes.iter().cycle() {
            let (piece, tail) = rest.split_at((*size).min(rest.len()));
            bench.feed(piece);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(bench.ended(), vec![(id, text)]);
    }

    #[test]
    fn a_broken_reply_fails_its_own_call_alone(
        id in WAITING,
        result in any_json(),
        junk in "[\\]}\"x]{1,5}",
    ) {
        let mut bench = Bench::new(1 << 20);
        let mut frame = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        frame.push_str(&junk);
        bench.feed(format!("{frame}\n").as_bytes());
        prop_assert_eq!(bench.ended(), vec![(id, "protocol".to_owned())]);
    }

    #[test]
    fn a_long_reply_fails_its_own_call_alone(id in WAITING, length in 1_000_usize..9_000) {
        let mut bench = Bench::new(1_000);
        let text = "x".repeat(length);
        bench.feed(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"{text}\"}}\n").as_bytes());
        prop_assert_eq!(bench.ended(), vec![(id, "response_too_large".to_owned())]);
    }
}

#[test]
fn every_event_of_a_batch_is_handed_on_and_a_fatal_one_is_not_hidden() {
    let mut bench = Bench::new(1 << 20);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let unknown = json!({"jsonrpc": "2.0", "id": 999, "result": {}});
    // 98 replies to nobody, then a batch with four more behind and before a request.
    for _ in 0..98 {
        bench.feed(format!("{unknown}\n").as_bytes());
    }
    assert!(!bench.fatal);
    bench.feed(format!("{}\n", json!([ping, unknown, unknown, unknown, ping])).as_bytes());
    assert!(bench.fatal);
}
