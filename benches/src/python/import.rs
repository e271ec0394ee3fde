//! How long does a process take that does nothing but import?

use std::time::Instant;

use super::places::{self, ADAPTERS};
use super::process::Process;
use crate::failure::Failure;
use crate::options::Options;
use crate::rows::Round;

/// A process that is started in each round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import {
    who: &'static str,
    program: &'static str,
    ours: bool,
}

impl Import {
    /// The whole program; with nothing to do, the time is the interpreter's own.
    pub(crate) const fn of(who: &'static str, program: &'static str) -> Self {
        let ours = false;
        Self { who, program, ours }
    }

    /// A program that imports our module.
    pub(crate) const fn ours(who: &'static str, program: &'static str) -> Self {
        let ours = true;
        Self { who, program, ours }
    }

    /// The figure of its rounds is the time of one process, from its start to its end, in milliseconds.
    pub(crate) fn timed(self, options: &Options) -> Round {
        let options = options.clone();
        Box::new(move |_| self.once(&options))
    }

    fn once(self, options: &Options) -> Result<f64, Failure> {
        let mut command = places::interpreter(options, ADAPTERS, self.ours)?;
        command.args(["-c", self.program]);
        let began = Instant::now();
        Process::start(self.who, command)?.end()?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }
}
