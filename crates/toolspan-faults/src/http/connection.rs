//! How do connections become requests for the stage?

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::http::exchange::{Connection, Exchange};
use crate::http::record::Record;
use crate::http::request::{RequestError, read_request};
use crate::http::response::Head;
use crate::http::stage::Event;

/// How many connections there may be at once; one more is refused with 503.
const MAX_CONNECTIONS: usize = 512;

/// How long a client may leave a full socket unread before it counts as gone.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// The pause after a connection could not be accepted, for want of descriptors most likely.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// What all connections share.
pub(crate) struct Gate {
    pub(crate) events: SyncSender<Event>,
    pub(crate) record: Record,
    next_number: AtomicU64,
    open: AtomicUsize,
    /// Held while a request is recorded and handed over, so that both happen in one order.
    order: Mutex<()>,
}

impl Gate {
    pub(crate) fn new(events: SyncSender<Event>, record: Record) -> Self {
        Self {
            events,
            record,
            next_number: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            order: Mutex::new(()),
        }
    }
}

/// Accepts connections for ever, each served by a thread of its own.
pub(crate) fn accept(listener: &TcpListener, is_other_port: bool, gate: &Arc<Gate>) {
    loop {
        let Ok((stream, _)) = listener.accept() else {
            thread::park_timeout(ACCEPT_PAUSE);
            continue;
        };
        if gate.open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            gate.open.fetch_sub(1, Ordering::Relaxed);
            // A courtesy; the client sees the end in any case.
            let _ = (&stream).write_all(&Head::new(503).with("content-length", "0").bytes());
            continue;
        }
        let gate = Arc::clone(gate);
        thread::spawn(move || {
            serve(stream, is_other_port, &gate);
            gate.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Reads requests until the client or the stage ends the connection.
fn serve(stream: TcpStream, is_other_port: bool, gate: &Gate) {
    // Both only fail on a socket that is no longer connected, which reading finds out.
    let _ = stream.set_nodelay(true);
    let _ = stream.set_write_timeout(Some(WRITE_LIMIT));
    let number = gate.next_number.fetch_add(1, Ordering::Relaxed);
    let connection = Arc::new(Connection { stream, number });
    let mut reader = BufReader::with_capacity(64 << 10, &connection.stream);
    let mut response: Option<Receiver<()>> = None;
    // Looking for the first byte of the next request also finds a client that goes away.
    while reader.fill_buf().is_ok_and(|bytes| !bytes.is_empty()) {
        if response.take().is_some_and(|it| it.recv().is_err()) {
            break;
        }
        let mut request = match read_request(&mut reader) {
            Ok(request) => request,
            Err(RequestError::Malformed(reason)) => {
                let head = Head::new(400).with("content-length", reason.len().to_string());
                let text = [head.bytes().as_slice(), reason.as_bytes()].concat();
                let _ = (&connection.stream).write_all(&text);
                break;
            }
            Err(RequestError::Read) => break,
        };
        request.at_other_port = is_other_port;
        let message = serde_json::from_slice(&request.body)
            .ok()
            .filter(Value::is_object);
        let (over, is_over) = sync_channel(1);
        response = Some(is_over);
        let _in_order = gate.order.lock().unwrap_or_else(PoisonError::into_inner);
        gate.record.request(&request);
        if message.is_some() {
            gate.record.message(&request.body);
        }
        let exchange = Exchange::new(request, message, Arc::clone(&connection), over);
        if gate
            .events
            .send(Event::Request(Box::new(exchange)))
            .is_err()
        {
            break;
        }
    }
    // The stage ends before its threads only when the whole program does.
    let _ = gate.events.send(Event::Gone(number));
}
