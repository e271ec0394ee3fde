"""What does the work of a tool?"""

from __future__ import annotations

import inspect
import weakref
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

ActionT = TypeVar("ActionT")
ObservationT = TypeVar("ObservationT")


class ToolExecutor(ABC, Generic[ActionT, ObservationT]):
    """Does the work of a tool.

    ``__call__`` may be asynchronous, and may do without ``conversation``.
    """

    @abstractmethod
    def __call__(self, action: ActionT, conversation: Any = None) -> Any:
        """Does the work for one action; ``conversation`` is what ``with_options`` was given."""

    def close(self) -> None:
        """Frees what it holds. Called once, when the host closes or loses the tool."""

    def interrupt(self) -> None:
        """Stops what is under way. Called from any thread, any number of times."""


#: How classes of executors take the conversation: by its place, by this name, or not at all.
_TAKEN: weakref.WeakKeyDictionary[type[Any], str | None] = weakref.WeakKeyDictionary()


def beside_action(executor: Any, conversation: Any) -> tuple[list[Any], dict[str, Any]]:
    """What an executor is called with beside the action."""
    kind = type(executor)
    if kind not in _TAKEN:
        _TAKEN[kind] = _taken_by(kind)
    name = _TAKEN[kind]
    if name is None:
        return [], {}
    return ([], {name: conversation}) if name else ([conversation], {})


def _taken_by(kind: type[Any]) -> str | None:
    parameters = list(inspect.signature(kind.__call__).parameters.values())
    # The first one is the executor itself.
    places = [
        it for it in parameters[1:] if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)
    ]
    if len(places) > 1 or any(it.kind is it.VAR_POSITIONAL for it in parameters):
        return ""
    return next((it.name for it in parameters if it.name == "conversation"), None)
