//! How did a process end?

use std::fmt;

/// How a process ended: with a code, by a signal, or unknown when another part of the host
/// collected it first (`waitpid(-1)`, or SIGCHLD set to be ignored).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExitStatus {
    /// The exit code, when it exited by itself.
    pub code: Option<i32>,
    /// The signal's number, when a signal ended it.
    pub signal: Option<i32>,
}

impl ExitStatus {
    /// It ended, but how is not known.
    pub const UNKNOWN: Self = Self {
        code: None,
        signal: None,
    };

    /// It exited by itself.
    pub fn exited(code: i32) -> Self {
        Self {
            code: Some(code),
            signal: None,
        }
    }

    /// A signal ended it.
    pub fn signalled(signal: i32) -> Self {
        Self {
            code: None,
            signal: Some(signal),
        }
    }

    /// Whether it exited by itself with code 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(formatter, "exit status {code}"),
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(formatter, "signal {signal} ({name})"),
                None => write!(formatter, "signal {signal}"),
            },
            (None, None) => formatter.write_str("unknown exit status"),
        }
    }
}

/// The names whose numbers are the same on every Unix, and the few of Linux that end processes.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        7 if cfg!(target_os = "linux") => "SIGBUS",
        24 if cfg!(target_os = "linux") => "SIGXCPU",
        25 if cfg!(target_os = "linux") => "SIGXFSZ",
        31 if cfg!(target_os = "linux") => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_its_code_or_the_name_of_its_signal() {
        assert_eq!(ExitStatus::exited(3).to_string(), "exit status 3");
        assert_eq!(ExitStatus::signalled(9).to_string(), "signal 9 (SIGKILL)");
        assert_eq!(ExitStatus::signalled(60).to_string(), "signal 60");
        assert_eq!(ExitStatus::UNKNOWN.to_string(), "unknown exit status");
    }
}
