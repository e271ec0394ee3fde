//! What is the least a call can cost: the same bytes over a bare pipe, no client at all.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tokio::runtime::Runtime;
use toolspan_io::process::{AsyncStdin, AsyncStdout, Process};

use crate::failure::Failure;
use crate::measure::{Effort, IN_FLIGHT, Times, one_by_one, per_second};
use crate::runtime;
use crate::server;

/// Bytes read at once: a full pipe.
const READ_BYTES: usize = 64 << 10;

/// A server and two blocking pipes.
pub(crate) struct Floor {
    /// Dropped first: it ends the server's input, and so the server.
    input: PipeWriter,
    _server: Ending,
    output: PipeReader,
    frame: Vec<u8>,
    reply: Vec<u8>,
    buffer: Vec<u8>,
}

impl Floor {
    /// Starts a server.
    #[expect(
        clippy::disallowed_methods,
        reason = "the floor is what is there without any part of ours"
    )]
    pub(crate) fn start() -> Result<Self, Failure> {
        let (its_input, input) = std::io::pipe()?;
        let (output, its_output) = std::io::pipe()?;
        let server = Command::new(server::program()?)
            .arg(server::SERVE)
            .stdin(its_input)
            .stdout(its_output)
            .stderr(Stdio::inherit())
            .spawn()?;
        Ok(Self {
            input,
            _server: Ending(server),
            output,
            frame: server::frame(),
            reply: server::reply(),
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Calls one after another: one write, one read.
    pub(crate) fn one_by_one(&mut self, calls: usize) -> Result<f64, Failure> {
        one_by_one(calls, || {
            self.input.write_all(&self.frame)?;
            let count = self.output.read(&mut self.buffer)?;
            check(self.buffer.get(..count).unwrap_or_default(), &self.reply)
        })
    }

    /// Calls with [`IN_FLIGHT`] of them under way, `together` in one write.
    ///
    /// One at a time is what callers do that know nothing of one another; all together is what
    /// only a caller could do that has all its calls at hand.
    pub(crate) fn in_flight(&mut self, effort: Effort, together: usize) -> Result<f64, Failure> {
        let (calls, frames) = (effort.calls_in_flight(), self.frame.repeat(together));
        let (mut sent, mut done, mut part) = (0, 0, 0);
        let began = Instant::now();
        while done < calls {
            while sent < calls && sent - done + together <= IN_FLIGHT {
                self.input.write_all(&frames)?;
                sent += together;
            }
            let count = self.output.read(&mut self.buffer)?;
            let read = self.buffer.get(..count).unwrap_or_default();
            (done, part) = replies(read, &self.reply, (done, part))?;
        }
        Ok(per_second(calls, began.elapsed()))
    }
}

/// A server whose input has ended; waits for its end.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

/// Counts whole replies in what was read, beginning within one, and looks at every byte.
fn replies(
    mut read: &[u8],
    reply: &[u8],
    (mut done, mut part): (usize, usize),
) -> Result<(usize, usize), Failure> {
    if read.is_empty() {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    while !read.is_empty() {
        let wanted = reply.get(part..).unwrap_or_default();
        let (now, later) = read.split_at(wanted.len().min(read.len()));
        check(now, wanted.get(..now.len()).unwrap_or_default())?;
        part += now.len();
        if part == reply.len() {
            (done, part) = (done + 1, 0);
        }
        read = later;
    }
    Ok((done, part))
}

fn check(read: &[u8], wanted: &[u8]) -> Result<(), Failure> {
    if read == wanted {
        return Ok(());
    }
    Err(Failure::WrongReply {
        who: "the floor",
        reply: String::from_utf8_lossy(read).into_owned(),
    })
}

/// The same with tokio's readiness instead of a blocking read: what any asynchronous client pays.
pub(crate) struct AsyncFloor {
    runtime: Runtime,
    input: AsyncStdin,
    output: AsyncStdout,
    _server: Process,
}

impl AsyncFloor {
    /// Starts a server.
    pub(crate) fn start() -> Result<Self, Failure> {
        let runtime = runtime::here()?;
        let launch = server::launch()?;
        let child = toolspan_io::process::spawn(&launch).map_err(std::io::Error::other)?;
        let (input, output) = {
            let _inside = runtime.enter();
            (child.stdin.into_async()?, child.stdout.into_async()?)
        };
        Ok(Self {
            runtime,
            input,
            output,
            _server: child.process,
        })
    }

    /// Calls one after another: one write, one read.
    pub(crate) fn one_by_one(&mut self, calls: usize) -> Result<f64, Failure> {
        let (frame, reply) = (server::frame(), server::reply());
        let mut buffer = vec![0; READ_BYTES];
        let (input, output) = (&self.input, &mut self.output);
        self.runtime.block_on(async {
            let mut times = Times::with_room(calls);
            for _ in 0..calls {
                let began = Instant::now();
                input.try_write(&frame)?;
                let count = output.read(&mut buffer).await?;
                check(buffer.get(..count).unwrap_or_default(), &reply)?;
                times.add(began);
            }
            Ok(times.median())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_counted_however_they_are_cut() {
        let reply = b"abc\n";
        let once = replies(b"abc\nab", reply, (0, 0)).expect("right so far");
        assert_eq!(once, (1, 2));
        assert_eq!(replies(b"c\nabc\n", reply, once).expect("right"), (3, 0));
    }

    #[test]
    fn a_wrong_byte_and_the_end_are_failures() {
        assert!(matches!(
            replies(b"abx", b"abc\n", (0, 0)),
            Err(Failure::WrongReply { .. })
        ));
        assert!(matches!(
            replies(b"", b"abc\n", (0, 0)),
            Err(Failure::Io(_))
        ));
    }
}
