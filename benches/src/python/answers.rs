//! How is a line of a contestant waited for, with an end to the waiting?

use std::io::Read;
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::failure::Failure;

/// The longest answer: a number, or a line of versions.
const LINE_BYTES: usize = 4096;

/// What a process writes, line by line.
#[derive(Debug)]
pub(super) struct Answers {
    pipe: ChildStdout,
    /// Read, and not yet given away.
    read: Vec<u8>,
}

/// What there was to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A line, without its end.
    Line(String),
    /// The process has closed its output, or writes a line without an end.
    End,
    /// Neither within the time that was given.
    Nothing,
}

impl Answers {
    pub(super) fn new(pipe: ChildStdout) -> Self {
        let read = Vec::new();
        Self { pipe, read }
    }

    /// Waits for a line, or the end.
    pub(super) fn next(&mut self, limit: Duration) -> Result<Answer, Failure> {
        let until = Instant::now() + limit;
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line);
                return Ok(Answer::Line(text.trim_end().to_owned()));
            }
            if !self.readable(until)? {
                return Ok(Answer::Nothing);
            }
            let mut buffer = [0; LINE_BYTES];
            let count = self.pipe.read(&mut buffer)?;
            if count == 0 || self.read.len() + count > LINE_BYTES {
                return Ok(Answer::End);
            }
            self.read.extend(buffer.iter().take(count));
        }
    }

    fn readable(&self, until: Instant) -> Result<bool, Failure> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let limit = Timespec::try_from(left).map_err(std::io::Error::other)?;
            let mut pipes = [PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut pipes, Some(&limit)) {
                Ok(count) => return Ok(count > 0),
                // A signal: what is left of the time is waited for again.
                Err(Errno::INTR) => {}
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[expect(clippy::disallowed_methods, reason = "a test starts a process to hear")]
    fn answers_of(script: &str) -> (Answers, std::process::Child) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let output = child.stdout.take().expect("its output is a pipe");
        (Answers::new(output), child)
    }

    #[test]
    fn lines_are_given_one_by_one_and_then_the_end() {
        let (mut answers, mut child) = answers_of("printf 'one\\ntwo\\nrest'");
        let mut next = || answers.next(LIMIT).expect("the pipe works");
        assert_eq!(next(), Answer::Line("one".to_owned()));
        assert_eq!(next(), Answer::Line("two".to_owned()));
        assert_eq!(next(), Answer::End);
        assert!(child.wait().expect("it ends").success());
    }

    #[test]
    fn silence_has_an_end() {
        let (mut answers, mut child) = answers_of("read line");
        let silence = answers.next(Duration::from_millis(10));
        assert_eq!(silence.expect("the pipe works"), Answer::Nothing);
        drop(child.stdin.take());
        assert_eq!(answers.next(LIMIT).expect("the pipe works"), Answer::End);
        child.wait().expect("it ends");
    }

    #[test]
    fn a_line_that_goes_on_and_on_is_taken_for_the_end() {
        let (mut answers, mut child) = answers_of("while printf 0123456789; do :; done");
        assert_eq!(answers.next(LIMIT).expect("the pipe works"), Answer::End);
        drop(answers);
        child.wait().expect("nobody reads any more, so it ends");
    }
}
