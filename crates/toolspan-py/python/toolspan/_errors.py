"""Which exceptions are raised, and what does each one say?"""

from __future__ import annotations

from ._toolspan import _last_words

# `typing` alone would take a third of the time of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ToolspanError(Exception):
    """The root of all exceptions of this package.

    ``str(error)`` is the message and, where there are such, the hint and the last words of the
    server's process. An error can be pickled and copied, and keeps all that it says.
    """

    #: The kind in snake_case, the same in Rust, JSON and the shell.
    kind: str = "internal"
    #: What went wrong, in plain words.
    message: str
    #: The toolbox it happened in, as the config writes its key.
    toolbox: str | None
    #: The tool it is about.
    tool: str | None
    #: The step that failed: ``config``, ``connect``, ``handshake``, ``discover``, ``resolve``,
    #: ``validate``, ``send``, ``call``, ``observe`` or ``close``.
    phase: str
    #: What became of the request: ``not_sent``, ``unknown`` or ``answered``.
    outcome: str
    #: What to do next.
    hint: str | None
    #: What does not fit, for ``InvalidArguments``: ``{"pointer", "message"}`` each. The pointer is
    #: a JSON pointer into the arguments, the message says what was expected and what came.
    violations: list[dict[str, str]]
    #: The nearest names that there are, for ``ToolNotFound``.
    suggestions: list[str]
    #: The code of a JSON-RPC error.
    code: int | None
    #: The status of an HTTP answer.
    http_status: int | None
    #: Seconds after which the server wants to be asked again.
    retry_after: float | None
    #: The last lines that a server's process wrote to its standard error.
    stderr: str | None

    def __init__(
        self,
        message: str = "",
        *,
        toolbox: str | None = None,
        tool: str | None = None,
        phase: str = "config",
        outcome: str = "not_sent",
        hint: str | None = None,
        violations: list[dict[str, str]] | None = None,
        suggestions: list[str] | None = None,
        code: int | None = None,
        http_status: int | None = None,
        retry_after: float | None = None,
        stderr: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.toolbox = toolbox
        self.tool = tool
        self.phase = phase
        self.outcome = outcome
        self.hint = hint
        self.violations = violations or []
        self.suggestions = suggestions or []
        self.code = code
        self.http_status = http_status
        self.retry_after = retry_after
        self.stderr = stderr

    def __str__(self) -> str:
        said = self.message
        if self.hint:
            # A list of problems keeps its lines; a plain sentence stays one, as logs want it.
            said += f"\n{self.hint}" if "\n" in self.message else f" ({self.hint})"
        words = _last_words(self.stderr) if self.stderr else ""
        return f"{said}; its last words: {words}" if words else said

    def to_dict(self) -> dict[str, Any]:
        """The members that the command line prints as JSON."""
        return {
            "kind": self.kind,
            "message": self.message,
            "toolbox": self.toolbox,
            "tool": self.tool,
            "phase": self.phase,
            "outcome": self.outcome,
            "hint": self.hint,
        }


class InternalError(ToolspanError):
    """A fault of this library, or a panic in a tool."""

    kind = "internal"


class UsageError(ToolspanError):
    """The library was used in a way that cannot work."""

    kind = "usage"


class ForkedProcess(UsageError):
    """The process was forked from the one that the host belongs to, or that had one before."""


class ConfigError(ToolspanError):
    """The config cannot be read, or means nothing that works."""

    kind = "config"


class ConnectError(ToolspanError, ConnectionError):
    """No connection could be made."""

    kind = "connect"


class StartupError(ToolspanError):
    """A server's process could not be started, or ended before it was ready."""

    kind = "startup"


class ClosedError(ToolspanError):
    """The server, the connection or the host is gone."""

    kind = "closed"


class ProtocolError(ToolspanError):
    """What came back breaks the protocol."""

    kind = "protocol"


class ResponseTooLarge(ToolspanError):
    """What came back is larger than ``limits.message_bytes``."""

    kind = "response_too_large"


class AuthError(ToolspanError):
    """The server refused the credentials, or there are none."""

    kind = "auth"


class Overloaded(ToolspanError):
    """Too many calls at once: this one was not sent, or the server turned it away."""

    kind = "overloaded"


class ToolNotFound(ToolspanError, LookupError):
    """No tool has this name, or several have it."""

    kind = "tool_not_found"


class RemoteError(ToolspanError):
    """The server answered the request with an error of the protocol."""

    kind = "remote_error"


class InvalidArguments(ToolspanError, ValueError):
    """The arguments do not match the tool's schema."""

    kind = "invalid_arguments"


class SchemaRejected(ToolspanError):
    """The tool's schema cannot be used, so its arguments cannot be checked."""

    kind = "schema_rejected"


class Timeout(ToolspanError, TimeoutError):
    """A time limit passed."""

    kind = "timeout"


class PolicyDenied(ToolspanError):
    """A rule of the policy refuses the call."""

    kind = "policy_denied"


class ApprovalRequired(ToolspanError):
    """The call, or the config of a project, needs an approval that nobody gave."""

    kind = "approval_required"


class Cancelled(ToolspanError):
    """The call was cancelled."""

    kind = "cancelled"


#: The class of each kind. Rust raises by it.
BY_KIND: dict[str, type[ToolspanError]] = {
    error.kind: error
    for error in (
        InternalError,
        UsageError,
        ConfigError,
        ConnectError,
        StartupError,
        ClosedError,
        ProtocolError,
        ResponseTooLarge,
        AuthError,
        Overloaded,
        ToolNotFound,
        RemoteError,
        InvalidArguments,
        SchemaRejected,
        Timeout,
        PolicyDenied,
        ApprovalRequired,
        Cancelled,
    )
}

for _error in (ToolspanError, ForkedProcess, *BY_KIND.values()):
    # Where users find it, and where a pickle looks for it.
    _error.__module__ = "toolspan"
