"""What does an error say to somebody who sees its text alone, as on the bus?"""

from __future__ import annotations

from .._errors import ToolspanError
from ._plugin_manager import ValidationError

# Longest chain of causes that is followed.
_MOST_CAUSES = 20

# How much of a server's standard error is shown.
_LAST_LINES = 3
_LAST_CHARACTERS = 300


def reason_of(error: BaseException) -> str:
    """The text of what is at the bottom of an error, in one line."""
    for _ in range(_MOST_CAUSES):
        if error.__cause__ is None:
            break
        error = error.__cause__
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False)
        return "; ".join(
            _one_line(": ".join([*(str(step) for step in fault["loc"]), fault["msg"]]))
            for fault in faults
        )
    said = _one_line(str(error)) or type(error).__name__
    words = _last_words(error)
    return f"{said}; its last words: {words}" if words else said


def add_reason(error: Exception) -> None:
    """Adds to an error's text why it came about, where the text alone does not say it."""
    if error.__cause__ is not None:
        add(error, reason_of(error.__cause__))


def add(error: Exception, more: str) -> None:
    """Adds to an error's text."""
    error.args = (f"{str(error).rstrip('.')}: {more}",)


def _last_words(error: BaseException) -> str:
    """The end of what a server wrote to its standard error; empty where that is not known."""
    written = error.stderr if isinstance(error, ToolspanError) else None
    lines = [_one_line(line) for line in (written or "").splitlines() if line.strip()]
    return " | ".join(lines[-_LAST_LINES:])[-_LAST_CHARACTERS:]


def _one_line(text: str) -> str:
    return " ".join(text.split())
