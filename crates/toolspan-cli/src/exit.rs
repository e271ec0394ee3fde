//! Which exit code does a command end with? The table below is the contract; nothing else exits.

use std::process::ExitCode;

use toolspan::{Error, ErrorKind};

/// An exit code of `toolspan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(u8);

impl Code {
    /// Done.
    pub(crate) const DONE: Self = Self(0);
    /// A fault of this program, or its output could not be written.
    pub(crate) const INTERNAL: Self = Self(1);
    /// The command line or the config cannot work.
    pub(crate) const USAGE: Self = Self(2);
    /// A server could not be reached, started or understood.
    pub(crate) const SERVER: Self = Self(3);
    /// No tool has this name, or several have it.
    pub(crate) const TOOL_NOT_FOUND: Self = Self(4);
    /// The tool answered with an error.
    pub(crate) const TOOL_ERROR: Self = Self(5);
    /// The arguments do not match the tool's schema, or the schema cannot be used.
    pub(crate) const ARGUMENTS: Self = Self(6);
    /// A time limit passed.
    pub(crate) const TIMEOUT: Self = Self(7);
    /// A policy refuses the call, or nobody could approve it.
    pub(crate) const POLICY: Self = Self(8);
    /// Ended by Ctrl-C (128 + SIGINT).
    pub(crate) const INTERRUPTED: Self = Self(130);
    /// Ended by SIGTERM (128 + SIGTERM).
    pub(crate) const TERMINATED: Self = Self(143);

    /// The code for an error. A kind that this version does not know is `INTERNAL`.
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Config => Self::USAGE,
            ErrorKind::Connect
            | ErrorKind::Startup
            | ErrorKind::Closed
            | ErrorKind::Protocol
            | ErrorKind::ResponseTooLarge
            | ErrorKind::Auth
            | ErrorKind::Overloaded => Self::SERVER,
            ErrorKind::ToolNotFound => Self::TOOL_NOT_FOUND,
            ErrorKind::RemoteError => Self::TOOL_ERROR,
            ErrorKind::InvalidArguments | ErrorKind::SchemaRejected => Self::ARGUMENTS,
            ErrorKind::Timeout => Self::TIMEOUT,
            ErrorKind::PolicyDenied | ErrorKind::ApprovalRequired => Self::POLICY,
            ErrorKind::Cancelled => Self::INTERRUPTED,
            _ => Self::INTERNAL,
        }
    }

    /// The code for a toolbox that the host cannot do without and that did not start. Whatever
    /// went wrong with the server, also a time limit, means that it could not be reached.
    pub(crate) fn of_start(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Config => Self::USAGE,
            ErrorKind::Cancelled => Self::INTERRUPTED,
            _ => Self::SERVER,
        }
    }

    /// The code as a number.
    pub(crate) const fn number(self) -> u8 {
        self.0
    }

    /// The first code that is not `DONE`.
    pub(crate) fn or(self, later: Self) -> Self {
        if self == Self::DONE { later } else { self }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.0)
    }
}

/// Ends the process now, whatever runs. Its servers are ended by the watchdog of `toolspan-io`.
pub(crate) fn at_once(code: Code) -> ! {
    #[expect(clippy::disallowed_methods, reason = "the one place that exits")]
    std::process::exit(i32::from(code.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolspan::Phase;

    #[test]
    fn every_kind_has_the_code_of_the_contract() {
        let kinds = [
            (1, &[ErrorKind::Internal][..]),
            (2, &[ErrorKind::Usage, ErrorKind::Config]),
            (
                3,
                &[
                    ErrorKind::Connect,
                    ErrorKind::Startup,
                    ErrorKind::Closed,
                    ErrorKind::Protocol,
                    ErrorKind::ResponseTooLarge,
                    ErrorKind::Auth,
                    ErrorKind::Overloaded,
                ],
            ),
            (4, &[ErrorKind::ToolNotFound]),
            (5, &[ErrorKind::RemoteError]),
            (6, &[ErrorKind::InvalidArguments, ErrorKind::SchemaRejected]),
            (7, &[ErrorKind::Timeout]),
            (8, &[ErrorKind::PolicyDenied, ErrorKind::ApprovalRequired]),
            (130, &[ErrorKind::Cancelled]),
        ];
        for (code, kinds) in kinds {
            for kind in kinds {
                let error = Error::new(*kind, Phase::Call, "x");
                assert_eq!(Code::of(&error).number(), code, "{kind}");
            }
        }
    }

    #[test]
    fn the_first_failure_is_the_code_of_many() {
        assert_eq!(Code::DONE.or(Code::TIMEOUT).or(Code::USAGE), Code::TIMEOUT);
    }
}
