//! How is a script played over a pair of streams?

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde_json::Value;

use crate::error::{PlayError, PlayFailure};
use crate::honest::Honest;
use crate::lines::{LineError, Lines, MAX_LINE_BYTES};
use crate::placeholder::Placeholders;
use crate::script::{Script, decode_hex};
use crate::step::{Append, Expect, Hold, Loop, Once, Part, Raw, Signal, Split, Step};
use crate::system;

/// The streams a script is played over. Dropping one is closing it.
pub struct Streams {
    /// Where the client's messages come from, one a line.
    pub input: Box<dyn Read>,
    /// Where the server's messages go.
    pub output: Box<dyn Write>,
    /// Where everything else goes.
    pub errors: Box<dyn Write>,
}

/// How a play ended, and so what the process has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The input ended, or nobody reads the output any more: exit with 0.
    Streams,
    /// The script asks for this exit code.
    Exit(u8),
    /// The script asks for a signal to the process itself.
    Kill(Signal),
    /// The script asks for a process that stays until it is killed.
    Hang,
}

/// Plays one script.
pub struct Player {
    input: Option<Lines>,
    output: Option<BufWriter<Box<dyn Write>>>,
    errors: Box<dyn Write>,
    record: Option<File>,
    honest: Honest,
    placeholders: Placeholders,
    ignores_eof: bool,
}

/// Why a step is not followed by the next one.
enum Stop {
    End(Ended),
    Failure(PlayFailure),
}

type Flow = Result<(), Stop>;

impl Player {
    /// Makes a player; nothing is read or written yet.
    #[must_use]
    pub fn new(streams: Streams) -> Self {
        Self {
            input: Some(Lines::new(streams.input)),
            output: Some(BufWriter::with_capacity(64 << 10, streams.output)),
            errors: streams.errors,
            record: None,
            honest: Honest::default(),
            placeholders: Placeholders::default(),
            ignores_eof: false,
        }
    }

    /// Adds every incoming line to a file as soon as it is read, so that a test can see what came.
    #[must_use]
    pub fn recording(mut self, file: File) -> Self {
        self.record = Some(file);
        self
    }

    /// Plays the steps. After the last one, input is read and ignored until it ends.
    ///
    /// Blocks as long as the script and the client want; a script that hangs ends with
    /// [`Ended::Hang`] instead of hanging. The streams are closed when this returns, except for a
    /// hang: then they are leaked on purpose, since a hanging process keeps its pipes open.
    pub fn play(mut self, script: &Script) -> Result<Ended, PlayError> {
        let mut step = 0;
        let mut flow = Ok(());
        for next in script.steps() {
            step += 1;
            flow = self.step(next).and_then(|()| self.flush());
            if flow.is_err() {
                break;
            }
        }
        if flow.is_ok() {
            step += 1;
            flow = self.linger();
        }
        match flow {
            Ok(()) => Ok(Ended::Streams),
            Err(Stop::End(ended)) => {
                // What was sent before the end must not be lost; nobody reading is no news here.
                let _ = self.flush();
                if ended == Ended::Hang {
                    std::mem::forget(self);
                }
                Ok(ended)
            }
            Err(Stop::Failure(reason)) => Err(PlayError { step, reason }),
        }
    }

    fn step(&mut self, step: &Step) -> Flow {
        match step {
            Step::Expect(expect) => self.expect(expect),
            Step::Handshake => self.handshake(),
            Step::Serve => self.serve(),
            Step::Set(set) => {
                self.honest.set(set);
                Ok(())
            }
            Step::Send(message) => self.send(&self.placeholders.fill(message)),
            Step::SendRaw(raw) => self.send_raw(raw),
            Step::Split(split) => self.split(split),
            Step::Cut(cut) => {
                let line = line(&self.placeholders.fill(&cut.message));
                self.write(line.get(..cut.at).unwrap_or(&line))
            }
            Step::Hold(hold) => self.hold(hold),
            Step::Reached(reached) => self.reached(&reached.fifo),
            Step::Stderr(raw) => self.stderr(raw),
            Step::SpawnGrandchild(grandchild) => {
                self.flush()?;
                system::spawn_grandchild(grandchild, &mut self.errors)
                    .map_err(|source| system_failure("start the grandchild", source))
            }
            Step::IgnoreSignals(signals) => system::ignore_signals(signals)
                .map_err(|source| system_failure("ignore signals", source)),
            Step::IgnoreEof => {
                self.ignores_eof = true;
                Ok(())
            }
            Step::StopReading => {
                // Forgotten, not dropped: the pipe stays open and fills up.
                std::mem::forget(self.input.take());
                Ok(())
            }
            Step::CloseStdin => {
                self.input = None;
                Ok(())
            }
            Step::CloseStdout => {
                self.flush()?;
                self.output = None;
                Ok(())
            }
            Step::Loop(inner) => self.repeat(inner),
            Step::Once(once) => self.once(once),
            Step::Append(append) => self.append(append),
            Step::Exit(exit) => Err(Stop::End(Ended::Exit(exit.code))),
            Step::KillSelf(kill) => Err(Stop::End(Ended::Kill(kill.signal))),
        }
    }

    /// Reads until the expected message comes.
    fn expect(&mut self, expect: &Expect) -> Flow {
        let mut left = expect.nth;
        loop {
            let message = self.receive()?;
            if message.get("method").and_then(Value::as_str) == Some(&expect.method) {
                left -= 1;
                if left == 0 {
                    self.placeholders.bind(message, expect.name.as_deref());
                    return Ok(());
                }
            }
            if expect.auto {
                self.answer(&message)?;
            }
        }
    }

    /// Answers until the tools were listed and no `initialize` is left without its confirmation.
    fn handshake(&mut self) -> Flow {
        let (mut unconfirmed, mut listed) = (false, false);
        while unconfirmed || !listed {
            let message = self.receive()?;
            match message.get("method").and_then(Value::as_str) {
                Some("initialize") => unconfirmed = true,
                Some("notifications/initialized") => unconfirmed = false,
                Some("tools/list") => listed = true,
                _ => {}
            }
            self.answer(&message)?;
        }
        Ok(())
    }

    fn serve(&mut self) -> Flow {
        loop {
            let message = self.receive()?;
            self.answer(&message)?;
        }
    }

    fn answer(&mut self, message: &Value) -> Flow {
        match self.honest.answer(message) {
            Some(reply) => self.send(&reply),
            None => Ok(()),
        }
    }

    /// What happens after the last step: read until the end of input, or stay when nothing is read.
    fn linger(&mut self) -> Flow {
        if self.input.is_none() {
            return Err(Stop::End(Ended::Hang));
        }
        loop {
            self.receive()?;
        }
    }

    fn repeat(&mut self, inner: &Loop) -> Flow {
        self.placeholders.enter_loop();
        let mut round = 0;
        while inner.times.is_none_or(|times| round < times) {
            inner.steps.iter().try_for_each(|step| self.step(step))?;
            self.placeholders.next_round();
            round += 1;
        }
        self.placeholders.leave_loop();
        Ok(())
    }

    fn once(&mut self, once: &Once) -> Flow {
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&once.marker)
        {
            Ok(_) => once.steps.iter().try_for_each(|step| self.step(step)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(system_failure(
                &format!("create {}", once.marker.display()),
                error,
            )),
        }
    }

    fn append(&mut self, append: &Append) -> Flow {
        let mut text = self.placeholders.fill_text(&append.text);
        text.push('\n');
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&append.file)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| system_failure(&format!("append to {}", append.file.display()), error))
    }

    /// The FIFO is open before the script reports: who hears of it may already take the FIFO away.
    fn hold(&mut self, hold: &Hold) -> Flow {
        self.flush()?;
        let failed = |error| system_failure(&format!("wait at {}", hold.fifo.display()), error);
        let barrier = system::open_barrier(&hold.fifo).map_err(failed)?;
        if let Some(fifo) = &hold.reached {
            self.reached(fifo)?;
        }
        system::wait_at(barrier).map_err(failed)
    }

    fn reached(&mut self, fifo: &Path) -> Flow {
        self.flush()?;
        OpenOptions::new()
            .write(true)
            .open(fifo)
            .and_then(|mut file| file.write_all(b"\n"))
            .map_err(|error| system_failure(&format!("write to {}", fifo.display()), error))
    }

    /// The next message. Lines that are not JSON are noted on the error stream and skipped.
    fn receive(&mut self) -> Result<Value, Stop> {
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
                Ok(message) => return Ok(message),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(error) => {
                    // The error stream may be closed; the note is not worth an end.
                    let _ = writeln!(self.errors, "skipped a line that is not JSON: {error}");
                }
            }
        }
    }

    fn send(&mut self, message: &Value) -> Flow {
        self.write(&line(message))
    }

    fn split(&mut self, split: &Split) -> Flow {
        let line = line(&self.placeholders.fill(&split.message));
        let mut rest = line.as_slice();
        let mut sizes = split.sizes.iter().copied();
        let mut size = rest.len();
        while !rest.is_empty() {
            size = sizes.next().unwrap_or(size).min(rest.len());
            let (piece, tail) = rest.split_at(size);
            self.write(piece)?;
            self.flush()?;
            rest = tail;
        }
        Ok(())
    }

    fn send_raw(&mut self, raw: &Raw) -> Flow {
        let output = self
            .output
            .as_mut()
            .ok_or(Stop::Failure(PlayFailure::NoOutput))?;
        let written = write_raw(raw, &self.placeholders, output);
        written.map_err(|error| self.write_stop(error))
    }

    fn stderr(&mut self, raw: &Raw) -> Flow {
        write_raw(raw, &self.placeholders, &mut self.errors)
            .and_then(|()| self.errors.flush())
            .map_err(|error| system_failure("write to the error stream", error))
    }

    fn write(&mut self, bytes: &[u8]) -> Flow {
        let output = self
            .output
            .as_mut()
            .ok_or(Stop::Failure(PlayFailure::NoOutput))?;
        let written = output.write_all(bytes);
        written.map_err(|error| self.write_stop(error))
    }

    /// Flushes before everything that waits or ends, and after each outer step: a loop of sends
    /// then costs one system call per 64 KiB.
    fn flush(&mut self) -> Flow {
        let flushed = self.output.as_mut().map_or(Ok(()), Write::flush);
        flushed.map_err(|error| self.write_stop(error))
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

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn system_failure(what: &str, source: io::Error) -> Stop {
    Stop::Failure(PlayFailure::System {
        what: what.to_owned(),
        source,
    })
}

fn write_raw(raw: &Raw, placeholders: &Placeholders, output: &mut dyn Write) -> io::Result<()> {
    for part in &raw.parts {
        match part {
            Part::Text(text) => output.write_all(placeholders.fill_raw(text).as_bytes())?,
            Part::Hex(digits) => {
                let bytes = decode_hex(digits).map_err(io::Error::other)?;
                output.write_all(&bytes)?;
            }
            Part::Repeat(repeat) => write_repeated(repeat.text.as_bytes(), repeat.times, output)?,
        }
    }
    if raw.newline {
        output.write_all(b"\n")
    } else {
        Ok(())
    }
}

/// Writes a text many times in blocks of about 64 KiB.
fn write_repeated(text: &[u8], times: u64, output: &mut dyn Write) -> io::Result<()> {
    let per_block = (64 << 10) / text.len().max(1) as u64;
    let per_block = per_block.clamp(1, times.max(1));
    let block = text.repeat(usize::try_from(per_block).unwrap_or(1));
    for _ in 0..times / per_block {
        output.write_all(&block)?;
    }
    let rest = usize::try_from(times % per_block).unwrap_or_default() * text.len();
    output.write_all(block.get(..rest).unwrap_or_default())
}
