"""What does an error say to somebody who sees its text alone, as on the bus?"""

from __future__ import annotations

from ._plugin_manager import ValidationError

# Longest chain of causes that is followed.
_MOST_CAUSES = 20


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
    return _one_line(str(error)) or type(error).__name__


def add_reason(error: Exception) -> None:
    """Adds to an error's text why it came about, where the text alone does not say it."""
    if error.__cause__ is not None:
        add(error, reason_of(error.__cause__))


def add(error: Exception, more: str) -> None:
    """Adds to an error's text."""
    error.args = (f"{str(error).rstrip('.')}: {more}",)


def _one_line(text: str) -> str:
    return " ".join(text.split())
