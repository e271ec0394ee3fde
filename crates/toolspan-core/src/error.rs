//! The one error of a tool call: what kind, where, how far it came and what to do next.

use std::time::Duration;

use crate::guard::Redactor;
use crate::guard::outcome::{Outcome, Phase};
use crate::schema::Violation;

/// What went wrong, as a closed set. The names are the same in Rust, Python, JSON and the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A fault of this library or a panic in a tool.
    Internal,
    /// The caller used the library or the command in a way that cannot work.
    Usage,
    /// The configuration cannot be read or means nothing that works.
    Config,
    /// No connection could be made.
    Connect,
    /// The server's process could not be started, or ended before it was ready.
    Startup,
    /// The server or the connection is gone.
    Closed,
    /// What came back breaks the protocol.
    Protocol,
    /// What came back is larger than `limits.message_bytes`.
    ResponseTooLarge,
    /// The server refused the credentials, or there are none.
    Auth,
    /// Too many calls at once: this one was not sent, or the server turned it away.
    Overloaded,
    /// No tool has this name, or several have it.
    ToolNotFound,
    /// The server answered the request with an error of the protocol.
    RemoteError,
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// The tool's schema cannot be used, so its arguments cannot be checked.
    SchemaRejected,
    /// A time limit passed.
    Timeout,
    /// A rule of the policy refuses the call.
    PolicyDenied,
    /// The call, or the config of a project, needs an approval that nobody gave.
    ApprovalRequired,
    /// The caller cancelled the call.
    Cancelled,
}

impl ErrorKind {
    /// The kind's name in JSON, Python and documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Usage => "usage",
            Self::Config => "config",
            Self::Connect => "connect",
            Self::Startup => "startup",
            Self::Closed => "closed",
            Self::Protocol => "protocol",
            Self::ResponseTooLarge => "response_too_large",
            Self::Auth => "auth",
            Self::Overloaded => "overloaded",
            Self::ToolNotFound => "tool_not_found",
            Self::RemoteError => "remote_error",
            Self::InvalidArguments => "invalid_arguments",
            Self::SchemaRejected => "schema_rejected",
            Self::Timeout => "timeout",
            Self::PolicyDenied => "policy_denied",
            Self::ApprovalRequired => "approval_required",
            Self::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The result of whatever can fail on the way of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its place: toolbox, tool, phase, outcome, and a hint where there is one.
///
/// `Display` writes the message alone, without the place: doors add what they show.
/// A clone copies its texts, so that one dead server can tell all its waiting calls why.
#[derive(Clone)]
pub struct Error(Box<Parts>);

#[derive(Clone)]
struct Parts {
    kind: ErrorKind,
    message: String,
    toolbox: Option<String>,
    tool: Option<String>,
    phase: Phase,
    outcome: Outcome,
    hint: Option<String>,
    violations: Vec<Violation>,
    suggestions: Vec<String>,
    code: Option<i64>,
    stderr: Option<String>,
    http_status: Option<u16>,
    retry_after: Option<Duration>,
}

impl Error {
    /// An error of a kind that happened in a phase; `not_sent` until said otherwise.
    ///
    /// `message` is a plain sentence without a final period: what happened, to what.
    pub fn new(kind: ErrorKind, phase: Phase, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            message: message.into(),
            toolbox: None,
            tool: None,
            phase,
            outcome: Outcome::NotSent,
            hint: None,
            violations: Vec::new(),
            suggestions: Vec::new(),
            code: None,
            stderr: None,
            http_status: None,
            retry_after: None,
        }))
    }

    /// Says which toolbox it was, if nothing deeper said so already.
    #[must_use]
    pub fn in_toolbox(mut self, toolbox: &str) -> Self {
        self.0.toolbox.get_or_insert_with(|| toolbox.to_owned());
        self
    }

    /// Says which tool it was, by its exposed name, if nothing deeper said so already.
    #[must_use]
    pub fn in_tool(mut self, tool: &str) -> Self {
        self.0.tool.get_or_insert_with(|| tool.to_owned());
        self
    }

    /// Says whether the tool may have run.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.0.outcome = outcome;
        self
    }

    /// Says what kind it is.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Says in which phase it happened.
    #[must_use]
    pub fn with_phase(mut self, phase: Phase) -> Self {
        self.0.phase = phase;
        self
    }

    /// Adds the next step for a person.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds what in the arguments broke the schema.
    #[must_use]
    pub fn with_violations(mut self, violations: Vec<Violation>) -> Self {
        self.0.violations = violations;
        self
    }

    /// Adds names that may have been meant, best first.
    #[must_use]
    pub fn with_suggestions(mut self, suggestions: Vec<String>) -> Self {
        self.0.suggestions = suggestions;
        self
    }

    /// Adds the code that the server's own error carried (JSON-RPC 2.0, section 5.1).
    #[must_use]
    pub fn with_code(mut self, code: i64) -> Self {
        self.0.code = Some(code);
        self
    }

    /// Adds the last lines of the server's standard error.
    #[must_use]
    pub fn with_stderr(mut self, stderr: impl Into<String>) -> Self {
        let stderr = stderr.into();
        self.0.stderr = (!stderr.is_empty()).then_some(stderr);
        self
    }

    /// Adds the status of the HTTP response (RFC 9110, section 15). The message names it too.
    #[must_use]
    pub fn with_http_status(mut self, status: u16) -> Self {
        self.0.http_status = Some(status);
        self
    }

    /// Adds how long the server asks to wait before the next try (RFC 9110, section 10.2.3).
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Frees all its texts of registered secrets.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        if !redactor.is_empty() {
            let parts = &mut *self.0;
            let mut texts = vec![&mut parts.message];
            texts.extend([&mut parts.hint, &mut parts.stderr].into_iter().flatten());
            texts.extend(&mut parts.suggestions);
            for violation in &mut parts.violations {
                texts.extend([
                    &mut violation.pointer,
                    &mut violation.expected,
                    &mut violation.found,
                ]);
            }
            for text in texts {
                *text = redactor.redact(text).into_owned();
            }
        }
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The plain sentence, without place or hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The toolbox's key as the config writes it.
    pub fn toolbox(&self) -> Option<&str> {
        self.0.toolbox.as_deref()
    }

    /// The tool's exposed name.
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref()
    }

    /// Where in the data flow it happened.
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// Whether the tool may have run.
    pub fn outcome(&self) -> Outcome {
        self.0.outcome
    }

    /// The next step for a person.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// What in the arguments broke the schema; empty for other kinds.
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Names that may have been meant, best first; at most three.
    pub fn suggestions(&self) -> &[String] {
        &self.0.suggestions
    }

    /// The code of the server's own error.
    pub fn code(&self) -> Option<i64> {
        self.0.code
    }

    /// The last lines of the server's standard error, as it wrote them.
    pub fn stderr(&self) -> Option<&str> {
        self.0.stderr.as_deref()
    }

    /// The status of the HTTP response, where one came.
    pub fn http_status(&self) -> Option<u16> {
        self.0.http_status
    }

    /// How long the server asks to wait before the next try, where it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The JSON object that every door gives: `kind`, `message`, `toolbox`, `tool`, `phase`,
    /// `outcome`, `hint`; what is not known is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "kind": self.0.kind.as_str(),
            "message": self.0.message,
            "toolbox": self.0.toolbox,
            "tool": self.0.tool,
            "phase": self.0.phase.as_str(),
            "outcome": self.0.outcome.as_str(),
            "hint": self.0.hint,
        })
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("toolbox", &self.0.toolbox)
            .field("tool", &self.0.tool)
            .field("phase", &self.0.phase)
            .field("outcome", &self.0.outcome)
            .field("hint", &self.0.hint)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_http_said_is_kept_beside_the_json_that_every_door_gives() {
        let plain = Error::new(
            ErrorKind::Overloaded,
            Phase::Call,
            "the server answered HTTP 429",
        );
        assert_eq!((plain.http_status(), plain.retry_after()), (None, None));
        let wait = Duration::from_secs(7);
        let told = plain.clone().with_http_status(429).with_retry_after(wait);
        assert_eq!(
            (told.http_status(), told.retry_after()),
            (Some(429), Some(wait))
        );
        assert_eq!(told.to_json(), plain.to_json());
    }
}
