//! A server in the same process, joined by two bounded streams; no process, no system call.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncWrite, DuplexStream, WriteHalf};

use super::Pipe;
use crate::inlet::Stream;
use crate::outbox::Sink;

/// Bytes that each direction holds before the writer has to wait: what a pipe of Linux holds.
pub const STREAM_BYTES: usize = 64 << 10;

/// Is given the server's end of a new pair of streams at each start. The end of the stream is the
/// end of the server.
pub type Connector = Arc<dyn Fn(DuplexStream) + Send + Sync>;

pub(super) fn open(connector: &Connector) -> Pipe {
    let (ours, theirs) = tokio::io::duplex(STREAM_BYTES);
    connector(theirs);
    let (source, sink) = tokio::io::split(ours);
    Pipe {
        sink: Box::new(Writer(sink)),
        stream: Stream::Joined(Box::new(source)),
        process: None,
    }
}

/// Shuts the stream down when dropped: the other half may live on for a while.
struct Writer(WriteHalf<DuplexStream>);

impl Sink for Writer {
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut nobody = Context::from_waker(std::task::Waker::noop());
        let _ = Pin::new(&mut self.0).poll_shutdown(&mut nobody);
    }
}
