//! How does a contestant in Python run a round?

use super::places::Program;
use super::process::Process;
use crate::failure::Failure;
use crate::options::Options;
use crate::rows::Round;

/// A contestant that is ready.
#[derive(Debug)]
pub(crate) struct Runner {
    who: &'static str,
    process: Process,
}

impl Runner {
    /// Starts a program and waits until it is ready.
    pub(crate) fn start(
        who: &'static str,
        program: Program,
        options: &Options,
    ) -> Result<Self, Failure> {
        let process = Process::start(who, program.command(options)?)?;
        let mut runner = Self { who, process };
        match runner.process.line()?.as_str() {
            "ready" => Ok(runner),
            reply => Err(runner.wrong(reply)),
        }
    }

    /// The figure of its rounds is the median call's time in microseconds.
    pub(crate) fn timed(mut self) -> Round {
        Box::new(move |effort| self.calls(effort.calls_python))
    }

    /// The figure of its rounds is the time of its work, done once, in milliseconds.
    pub(crate) fn once(mut self) -> Round {
        Box::new(move |_| Ok(self.calls(1)? / 1e3))
    }

    /// The figure of its rounds is its memory in MiB after the calls.
    pub(crate) fn weighed(mut self) -> Round {
        Box::new(move |effort| {
            self.calls(effort.calls_python)?;
            self.process.resident()
        })
    }

    fn calls(&mut self, calls: usize) -> Result<f64, Failure> {
        self.process.ask(&calls.to_string())?;
        let reply = self.process.line()?;
        reply.parse().map_err(|_| self.wrong(&reply))
    }

    fn wrong(&self, reply: &str) -> Failure {
        let (who, reply) = (self.who, reply.to_owned());
        Failure::WrongReply { who, reply }
    }
}
