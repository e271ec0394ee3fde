//! How is a script played, step by step?

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::Value;

use crate::error::PlayError;
use crate::honest::Honest;
use crate::http_step::ExpectRequest;
use crate::parts::{raw_length, write_raw};
use crate::pipe::Pipe;
use crate::placeholder::Placeholders;
use crate::script::Script;
use crate::step::{Append, Cut, Expect, Hold, Loop, Once, Raw, Signal, Split, Step};
use crate::system;
use crate::wire::{Flow, Held, Incoming, Stop, Wire, outlook, system_failure};

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
    wire: Box<dyn Wire>,
    honest: Honest,
    placeholders: Placeholders,
    /// The latest expected message.
    latest: Value,
}

impl Player {
    /// Makes a player over a pair of streams; nothing is read or written yet.
    #[must_use]
    pub fn new(streams: Streams) -> Self {
        Self::over(Box::new(Pipe::new(streams)))
    }

    /// As [`new`](Self::new), but every incoming line is added to a file as soon as it is read, so
    /// that a test can see what came.
    #[must_use]
    pub fn recording(streams: Streams, file: File) -> Self {
        let mut pipe = Pipe::new(streams);
        pipe.record(file);
        Self::over(Box::new(pipe))
    }

    pub(crate) fn over(wire: Box<dyn Wire>) -> Self {
        Self {
            wire,
            honest: Honest::default(),
            placeholders: Placeholders::default(),
            latest: Value::Null,
        }
    }

    /// Plays the steps. After the last one, input is read and ignored until it ends.
    ///
    /// Blocks as long as the script and the client want; a script that hangs ends with
    /// [`Ended::Hang`] instead of hanging. The streams are closed when this returns, except for a
    /// hang: then they are leaked on purpose, since a hanging process keeps its pipes open.
    pub fn play(mut self, script: &Script) -> Result<Ended, PlayError> {
        let mut step = 0;
        let mut flow = Ok(());
        for (index, next) in script.steps().iter().enumerate() {
            step = index + 1;
            let rest = script.steps().get(step..).unwrap_or_default();
            flow = self.step(next, rest).and_then(|()| self.wire.flush());
            if let Err(Stop::Gone) = flow {
                flow = Ok(());
            }
            if flow.is_err() {
                break;
            }
        }
        if flow.is_ok() {
            step += 1;
            flow = self.linger();
        }
        match flow {
            Ok(()) | Err(Stop::Gone) => Ok(Ended::Streams),
            Err(Stop::End(ended)) => {
                // What was sent before the end must not be lost; nobody reading is no news here.
                let _ = self.wire.flush();
                if ended == Ended::Hang {
                    std::mem::forget(self);
                }
                Ok(ended)
            }
            Err(Stop::Failure(reason)) => Err(PlayError { step, reason }),
        }
    }

    /// Plays a list of steps inside a step.
    fn steps(&mut self, steps: &[Step]) -> Flow {
        for (index, step) in steps.iter().enumerate() {
            self.step(step, steps.get(index + 1..).unwrap_or_default())?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, rest: &[Step]) -> Flow {
        match step {
            Step::Expect(expect) => self.expect(expect, rest),
            Step::Handshake => self.handshake(),
            Step::Serve => self.serve(),
            Step::Set(set) => {
                self.honest.set(set);
                self.wire.set(set);
                Ok(())
            }
            Step::Send(message) => self.send(&self.placeholders.fill(message)),
            Step::SendRaw(raw) => self.send_raw(raw),
            Step::Split(split) => self.split(split),
            Step::Cut(cut) => self.cut(cut),
            Step::Answer => match self.honest.answer(&self.latest) {
                Some(reply) => self.send(&reply),
                None => Ok(()),
            },
            Step::Hold(hold) => self.hold(hold),
            Step::Reached(reached) => self.reached(&reached.fifo),
            Step::Stderr(raw) => self.stderr(raw),
            Step::SpawnGrandchild(grandchild) => {
                self.wire.flush()?;
                system::spawn_grandchild(grandchild, self.wire.errors())
                    .map_err(|source| system_failure("start the grandchild", source))
            }
            Step::IgnoreSignals(signals) => system::ignore_signals(signals)
                .map_err(|source| system_failure("ignore signals", source)),
            Step::IgnoreEof | Step::StopReading | Step::CloseStdin | Step::CloseStdout => {
                self.wire.change_streams(step)
            }
            Step::Loop(inner) => self.repeat(inner),
            Step::Once(once) => self.once(once),
            Step::Append(append) => self.append(append),
            Step::Exit(exit) => Err(Stop::End(Ended::Exit(exit.code))),
            Step::KillSelf(kill) => Err(Stop::End(Ended::Kill(kill.signal))),
            Step::ExpectRequest(expected) => self.expect_request(expected, rest),
            Step::Respond(_)
            | Step::Sse(_)
            | Step::Break(_)
            | Step::RawHttp(_)
            | Step::ExpireSessions => self.wire.play_http(step, &self.placeholders),
        }
    }

    /// Reads until the expected message comes.
    fn expect(&mut self, expect: &Expect, rest: &[Step]) -> Flow {
        let mut left = expect.nth;
        loop {
            let incoming = self.wire.receive()?;
            if let Incoming::Message(message) = &incoming
                && method(message) == Some(&expect.method)
            {
                left -= 1;
                if left == 0 {
                    self.latest = message.clone();
                    self.placeholders
                        .bind(message.clone(), expect.name.as_deref());
                    return self.wire.bind(outlook(rest), &mut self.placeholders);
                }
            }
            if expect.auto {
                self.answer(&incoming)?;
            } else {
                self.wire.ignore()?;
            }
        }
    }

    /// Reads until the expected request of HTTP comes.
    fn expect_request(&mut self, expected: &ExpectRequest, rest: &[Step]) -> Flow {
        let mut left = expected.nth;
        loop {
            let incoming = self.wire.receive()?;
            if self.wire.is_expected(expected)? {
                left -= 1;
                if left == 0 {
                    return self.wire.bind(outlook(rest), &mut self.placeholders);
                }
            }
            self.answer(&incoming)?;
        }
    }

    /// Answers until the tools were listed and no `initialize` is left without its confirmation.
    fn handshake(&mut self) -> Flow {
        let (mut unconfirmed, mut listed) = (false, false);
        while unconfirmed || !listed {
            let incoming = self.wire.receive()?;
            if let Incoming::Message(message) = &incoming {
                match method(message) {
                    Some("initialize") => unconfirmed = true,
                    Some("notifications/initialized") => unconfirmed = false,
                    Some("tools/list") => listed = true,
                    _ => {}
                }
            }
            self.answer(&incoming)?;
        }
        Ok(())
    }

    fn serve(&mut self) -> Flow {
        loop {
            let incoming = self.wire.receive()?;
            self.answer(&incoming)?;
        }
    }

    fn answer(&mut self, incoming: &Incoming) -> Flow {
        match incoming {
            Incoming::Message(message) => {
                let reply = self.honest.answer(message);
                match self.honest.holds(message) {
                    Some(hold) => self.wire.answer_when_released(reply, hold),
                    None => self.wire.answer(reply),
                }
            }
            Incoming::Request => self.wire.answer(None),
            Incoming::Released => Ok(()),
        }
    }

    /// What happens after the last step: read until the end of input, or stay when nothing is read.
    fn linger(&mut self) -> Flow {
        self.wire.linger()?;
        loop {
            self.wire.receive()?;
            self.wire.ignore()?;
        }
    }

    fn repeat(&mut self, inner: &Loop) -> Flow {
        let reads = contains_reading(&inner.steps);
        self.placeholders.enter_loop();
        let mut round = 0;
        while inner.times.is_none_or(|times| round < times) {
            match self.steps(&inner.steps) {
                // Only the writing for one client is over, or one round of a loop for many.
                Err(Stop::Gone) if !reads => break,
                Ok(()) | Err(Stop::Gone) => {}
                stopped => return stopped,
            }
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
            Ok(_) => self.steps(&once.steps),
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
        self.wire.flush()?;
        let barrier = system::open_barrier(&hold.fifo)
            .map_err(|error| system_failure(&format!("wait at {}", hold.fifo.display()), error))?;
        if let Some(fifo) = &hold.reached {
            self.reached(fifo)?;
        }
        if self.wire.wait_at(barrier)? == Held::Passed {
            return Ok(());
        }
        loop {
            match self.wire.receive()? {
                Incoming::Released => return Ok(()),
                other => self.answer(&other)?,
            }
        }
    }

    fn reached(&mut self, fifo: &Path) -> Flow {
        self.wire.flush()?;
        system::report(fifo)
            .map_err(|error| system_failure(&format!("write to {}", fifo.display()), error))
    }

    fn send(&mut self, message: &Value) -> Flow {
        let line = line(message);
        self.wire.begin(Some(message), line.len() as u64)?;
        self.wire.write(&line)?;
        self.wire.end()
    }

    fn cut(&mut self, cut: &Cut) -> Flow {
        let message = self.placeholders.fill(&cut.message);
        let line = line(&message);
        self.wire.begin(Some(&message), line.len() as u64)?;
        self.wire.write(line.get(..cut.at).unwrap_or(&line))?;
        self.wire.end()
    }

    fn split(&mut self, split: &Split) -> Flow {
        let message = self.placeholders.fill(&split.message);
        let line = line(&message);
        self.wire.begin(Some(&message), line.len() as u64)?;
        let mut rest = line.as_slice();
        let mut sizes = split.sizes.iter().copied();
        let mut size = rest.len();
        while !rest.is_empty() {
            size = sizes.next().unwrap_or(size).min(rest.len());
            let (piece, tail) = rest.split_at(size);
            self.wire.write(piece)?;
            self.wire.flush()?;
            rest = tail;
        }
        self.wire.end()
    }

    fn send_raw(&mut self, raw: &Raw) -> Flow {
        let length = raw_length(raw, &self.placeholders);
        self.wire.begin(None, length)?;
        let wire = self.wire.as_mut();
        write_raw(raw, &self.placeholders, &mut |bytes| wire.write(bytes))?;
        self.wire.end()
    }

    fn stderr(&mut self, raw: &Raw) -> Flow {
        let errors = self.wire.errors();
        let failed = |error| system_failure("write to the error stream", error);
        write_raw(raw, &self.placeholders, &mut |bytes| {
            errors.write_all(bytes).map_err(failed)
        })?;
        errors.flush().map_err(failed)
    }
}

fn method(message: &Value) -> Option<&str> {
    message.get("method").and_then(Value::as_str)
}

/// Recursion is bounded: a script nests at most 128 deep.
fn contains_reading(steps: &[Step]) -> bool {
    steps
        .iter()
        .any(|step| step.reads() || contains_reading(step.inner()))
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
