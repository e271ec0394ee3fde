"""What does the work of a tool?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

ActionT = TypeVar("ActionT")
ObservationT = TypeVar("ObservationT")


class ToolExecutor(ABC, Generic[ActionT, ObservationT]):
    """Does the work of a tool. ``__call__`` may be asynchronous."""

    @abstractmethod
    def __call__(self, action: ActionT, conversation: Any = None) -> Any:
        """Does the work for one action; ``conversation`` is what ``with_options`` was given."""

    def close(self) -> None:
        """Frees what it holds. Called once, when the host closes or loses the tool."""

    def interrupt(self) -> None:
        """Stops what is under way. Called from any thread, any number of times."""
