//! What can be done with one request and the response that it waits for?

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use serde_json::Value;

use crate::http::request::Request;
use crate::http::response::Head;
use crate::system;
use crate::wire::Outlook;

/// How much of a body is collected before it is handed to the system, in bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// The client cannot be written to any more.
#[derive(Debug)]
pub(crate) struct Gone;

/// A request and the right to answer it.
pub(crate) struct Exchange {
    pub(crate) request: Request,
    /// The message it carries.
    pub(crate) message: Option<Value>,
    /// What the script will do with it, if the script has it.
    pub(crate) outlook: Outlook,
    /// Whether its stream stays open when the script goes on.
    pub(crate) is_kept: bool,
    connection: Arc<Connection>,
    /// Tells the reading thread that the response is over.
    over: SyncSender<()>,
    state: State,
    buffer: Vec<u8>,
    /// Whether the last byte of a stream's text was not the end of a line.
    is_mid_line: bool,
}

/// A socket; the number is never used again.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was written.
    Fresh,
    /// So many bytes of the body are to come.
    Length(u64),
    /// The body comes in chunks.
    Chunks,
    /// The body comes as it is and ends with the connection.
    Plain,
    /// The response is over, or the connection is.
    Over,
}

impl Exchange {
    pub(crate) fn new(
        request: Request,
        message: Option<Value>,
        connection: Arc<Connection>,
        over: SyncSender<()>,
    ) -> Self {
        Self {
            request,
            message,
            outlook: Outlook::default(),
            is_kept: false,
            connection,
            over,
            state: State::Fresh,
            buffer: Vec::new(),
            is_mid_line: false,
        }
    }

    /// The number of its connection; no other open exchange has it.
    pub(crate) fn number(&self) -> u64 {
        self.connection.number
    }

    /// Whether nothing was written yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.state == State::Fresh
    }

    /// Whether a stream is open.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.state, State::Chunks | State::Plain)
    }

    /// Whether nothing can be written any more.
    pub(crate) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// A field of its message.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.message.as_ref()?.get(name)
    }

    /// The method of its message.
    pub(crate) fn rpc_method(&self) -> Option<&str> {
        self.field("method")?.as_str()
    }

    /// Whether its message wants a reply.
    pub(crate) fn is_rpc_request(&self) -> bool {
        self.rpc_method().is_some() && self.field("id").is_some()
    }

    /// Writes a whole response.
    pub(crate) fn respond(&mut self, head: Head, body: &[u8]) -> Result<(), Gone> {
        self.begin_length(head, body.len() as u64)?;
        self.write(body)?;
        self.finish()
    }

    /// Writes a head that announces so many bytes.
    pub(crate) fn begin_length(&mut self, head: Head, length: u64) -> Result<(), Gone> {
        // These have no body and no length (RFC 9110, section 8.6).
        let head = match head.status {
            204 | 304 => head,
            _ => head.with("content-length", length.to_string()),
        };
        self.begin(&head, State::Length(length))
    }

    /// Writes a head that announces chunks.
    pub(crate) fn begin_chunks(&mut self, head: Head) -> Result<(), Gone> {
        let head = head.with("transfer-encoding", "chunked");
        self.begin(&head, State::Chunks)
    }

    /// Writes a head as it is; what follows is not framed.
    pub(crate) fn begin_plain(&mut self, head: &Head) -> Result<(), Gone> {
        self.begin(head, State::Plain)
    }

    /// What follows is not framed, and there is no head.
    pub(crate) fn begin_raw(&mut self) {
        self.state = State::Plain;
    }

    fn begin(&mut self, head: &Head, state: State) -> Result<(), Gone> {
        if self.is_over() {
            return Err(Gone);
        }
        self.buffer.extend_from_slice(&head.bytes());
        let written = self.write_out();
        if written.is_ok() {
            self.state = state;
        }
        written
    }

    /// Adds to the body.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        if self.is_over() {
            return Err(Gone);
        }
        self.buffer.extend_from_slice(bytes);
        if let State::Length(left) = &mut self.state {
            *left = left.saturating_sub(bytes.len() as u64);
        }
        if self.buffer.len() >= BUFFER_BYTES {
            return self.flush();
        }
        Ok(())
    }

    /// Adds lines to a stream, each as one event.
    pub(crate) fn write_lines(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_mid_line {
                self.write(b"event: message\ndata: ")?;
            }
            self.write(piece)?;
            self.is_mid_line = !piece.ends_with(b"\n");
            if !self.is_mid_line {
                self.write(b"\n")?;
            }
        }
        Ok(())
    }

    /// Hands what was written to the system.
    pub(crate) fn flush(&mut self) -> Result<(), Gone> {
        if self.is_over() || self.buffer.is_empty() {
            return Ok(());
        }
        if self.state == State::Chunks {
            let size = format!("{:x}\r\n", self.buffer.len());
            self.buffer.splice(..0, size.into_bytes());
            self.buffer.extend_from_slice(b"\r\n");
        }
        self.write_out()
    }

    fn write_out(&mut self) -> Result<(), Gone> {
        let written = (&self.connection.stream).write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|_| {
            self.close();
            Gone
        })
    }

    /// Whether every announced byte was written.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Length(0)
    }

    /// Ends the response; the connection goes on if the client and the framing let it.
    pub(crate) fn finish(&mut self) -> Result<(), Gone> {
        let ends_connection = self.state == State::Plain || self.request.is_last();
        self.flush()?;
        if self.state == State::Chunks {
            self.buffer.extend_from_slice(b"0\r\n\r\n");
            self.write_out()?;
        }
        if ends_connection {
            self.close();
        } else if !self.is_over() {
            self.state = State::Over;
            // The reading thread may be gone with its connection.
            let _ = self.over.try_send(());
        }
        Ok(())
    }

    /// Closes the connection in order, whatever was announced.
    pub(crate) fn close(&mut self) {
        self.state = State::Over;
        // It fails where the peer has closed already.
        let _ = self.connection.stream.shutdown(Shutdown::Both);
    }

    /// Makes the connection end in a reset, once this exchange is dropped.
    ///
    /// The reading thread holds the socket, too: the end of its input makes it let go.
    pub(crate) fn reset(&mut self) -> std::io::Result<()> {
        self.state = State::Over;
        system::reset_when_closed(&self.connection.stream)?;
        // It fails where the peer has closed already.
        let _ = self.connection.stream.shutdown(Shutdown::Read);
        Ok(())
    }
}
