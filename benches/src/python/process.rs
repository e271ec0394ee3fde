//! How is a process in Python started, heard and ended?

use std::io::Write;
use std::process::{Child, ChildStdin, Command};
use std::time::Duration;

use super::answers::{Answer, Answers};
use crate::failure::Failure;

/// For imports, the start of a server and the handshake, and for each round.
const PATIENCE: Duration = Duration::from_secs(60);
/// For the end after the end of its input; then it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A running process with pipes for both ends; dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    who: &'static str,
    child: Child,
    /// Its end is the process's.
    input: Option<ChildStdin>,
    answers: Answers,
}

impl Process {
    pub(super) fn start(who: &'static str, mut command: Command) -> Result<Self, Failure> {
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let output = output.ok_or_else(|| std::io::Error::other("no pipe for the output"))?;
        let answers = Answers::new(output);
        Ok(Self {
            who,
            child,
            input,
            answers,
        })
    }

    /// Writes a line.
    pub(super) fn ask(&mut self, line: &str) -> Result<(), Failure> {
        if let Some(input) = &mut self.input {
            writeln!(input, "{line}")?;
        }
        Ok(())
    }

    /// Waits for the next line; an error where the process ends or says nothing for a minute.
    pub(super) fn line(&mut self) -> Result<String, Failure> {
        let who = self.who;
        match self.answers.next(PATIENCE)? {
            Answer::Line(line) => Ok(line),
            Answer::End => Err(Failure::Ended { who }),
            Answer::Nothing => Err(Failure::Silent { who }),
        }
    }

    /// Waits for an end that is its own; an error where it fails, says something or goes on.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        let who = self.who;
        match self.answers.next(PATIENCE)? {
            Answer::End if self.child.wait()?.success() => Ok(()),
            Answer::End => Err(Failure::Ended { who }),
            Answer::Nothing => Err(Failure::Silent { who }),
            Answer::Line(reply) => Err(Failure::WrongReply { who, reply }),
        }
    }

    /// Its resident memory in MiB: `VmRSS`, which counts pages that it shares with others in full.
    pub(super) fn resident(&self) -> Result<f64, Failure> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).map_err(|_| Failure::NoProc)?;
        resident_of(&status).ok_or(Failure::NoProc)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        while let Ok(Answer::Line(_)) = self.answers.next(GRACE) {}
        // Of no effect where it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn resident_of(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = line?.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_mib_and_only_where_it_is_told() {
        let status = "Name:\tpython\nVmHWM:\t    4096 kB\nVmRSS:\t    3072 kB\nThreads:\t1\n";
        assert_eq!(resident_of(status), Some(3.0));
        assert_eq!(resident_of("Name:\tpython\n"), None);
    }
}
