//! How do messages travel over a pair of streams, one a line?

use std::fs::File;
use std::io::{self, BufWriter, Write};

use serde_json::Value;

use crate::error::PlayFailure;
use crate::http_step::ExpectRequest;
use crate::lines::{LineError, Lines, MAX_LINE_BYTES};
use crate::placeholder::Placeholders;
use crate::player::{Ended, Streams};
use crate::step::{Hold, Set, Step};
use crate::system;
use crate::wire::{Flow, Held, Incoming, Outlook, Stop, Wire, system_failure};

/// The wire over a pair of streams.
pub(crate) struct Pipe {
    input: Option<Lines>,
    output: Option<BufWriter<Box<dyn Write>>>,
    errors: Box<dyn Write>,
    record: Option<File>,
    ignores_eof: bool,
}

impl Pipe {
    pub(crate) fn new(streams: Streams) -> Self {
        Self {
            input: Some(Lines::new(streams.input)),
            output: Some(BufWriter::with_capacity(64 << 10, streams.output)),
            errors: streams.errors,
            record: None,
            ignores_eof: false,
        }
    }

    /// Adds every incoming line to a file as soon as it is read.
    pub(crate) fn record(&mut self, file: File) {
        self.record = Some(file);
    }

    fn output(&mut self) -> Result<&mut BufWriter<Box<dyn Write>>, Stop> {
        self.output
            .as_mut()
            .ok_or(Stop::Failure(PlayFailure::NoOutput))
    }

    fn write_stop(&mut self, error: io::Error) -> Stop {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // Without this the unwritten bytes would fail again when the writer is dropped.
            if let Some(output) = self.output.take() {
                let _ = output.into_parts();
            }
            self.end_of_streams()
        } else {
            system_failure("write a message", error)
        }
    }

    fn end_of_streams(&self) -> Stop {
        Stop::End(if self.ignores_eof {
            Ended::Hang
        } else {
            Ended::Streams
        })
    }
}

impl Wire for Pipe {
    /// The next message. Lines that are not JSON are noted on the error stream and skipped.
    fn receive(&mut self) -> Result<Incoming, Stop> {
        self.flush()?;
        loop {
            let input = self
                .input
                .as_mut()
                .ok_or(Stop::Failure(PlayFailure::NoInput))?;
            let line = match input.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Err(self.end_of_streams()),
                Err(LineError::TooLong) => {
                    let failure = PlayFailure::LineTooLong {
                        limit: MAX_LINE_BYTES,
                    };
                    return Err(Stop::Failure(failure));
                }
                Err(LineError::Read(error)) => return Err(system_failure("read a line", error)),
            };
            if let Some(record) = &mut self.record {
                record
                    .write_all(line)
                    .and_then(|()| record.write_all(b"\n"))
                    .map_err(|error| system_failure("record a line", error))?;
            }
            match serde_json::from_slice(line) {
                Ok(message) => return Ok(Incoming::Message(message)),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(error) => {
                    // The error stream may be closed; the note is not worth an end.
                    let _ = writeln!(self.errors, "skipped a line that is not JSON: {error}");
                }
            }
        }
    }

    fn answer(&mut self, reply: Option<Value>) -> Flow {
        match reply {
            Some(reply) => {
                let mut line = reply.to_string().into_bytes();
                line.push(b'\n');
                self.write(&line)
            }
            None => Ok(()),
        }
    }

    fn answer_when_released(&mut self, reply: Option<Value>, hold: &Hold) -> Flow {
        self.flush()?;
        system::hold(hold).map_err(|error| system_failure("hold a call", error))?;
        self.answer(reply)
    }

    fn ignore(&mut self) -> Flow {
        Ok(())
    }

    fn bind(&mut self, _: Outlook, _: &mut Placeholders) -> Flow {
        Ok(())
    }

    fn is_expected(&self, _: &ExpectRequest) -> Result<bool, Stop> {
        Err(no_http("expect_request"))
    }

    fn begin(&mut self, _: Option<&Value>, _: u64) -> Flow {
        self.output().map(drop)
    }

    fn write(&mut self, bytes: &[u8]) -> Flow {
        let written = self.output()?.write_all(bytes);
        written.map_err(|error| self.write_stop(error))
    }

    fn end(&mut self) -> Flow {
        Ok(())
    }

    fn flush(&mut self) -> Flow {
        let flushed = self.output.as_mut().map_or(Ok(()), Write::flush);
        flushed.map_err(|error| self.write_stop(error))
    }

    fn errors(&mut self) -> &mut dyn Write {
        &mut self.errors
    }

    fn wait_at(&mut self, barrier: File) -> Result<Held, Stop> {
        system::wait_at(barrier)
            .map(|()| Held::Passed)
            .map_err(|error| system_failure("wait at a barrier", error))
    }

    fn set(&mut self, _: &Set) {}

    fn play_http(&mut self, step: &Step, _: &Placeholders) -> Flow {
        Err(no_http(step.name()))
    }

    fn change_streams(&mut self, step: &Step) -> Flow {
        match step {
            Step::IgnoreEof => self.ignores_eof = true,
            // Forgotten, not dropped: the pipe stays open and fills up.
            Step::StopReading => std::mem::forget(self.input.take()),
            Step::CloseStdin => self.input = None,
            Step::CloseStdout => {
                self.flush()?;
                self.output = None;
            }
            _ => {}
        }
        Ok(())
    }

    fn linger(&mut self) -> Flow {
        if self.input.is_none() {
            return Err(Stop::End(Ended::Hang));
        }
        Ok(())
    }
}

fn no_http(step: &'static str) -> Stop {
    Stop::Failure(PlayFailure::HttpOnly { step })
}
