"""How does a test wait for a fact that no event announces?

There is no event for "no such process" or "that file has a further line". This file is the only one
that looks again and again; everything else waits for an event.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

#: Seconds until a wait is given up: far more than it takes, also on a slow machine.
LIMIT = 20.0

#: Seconds between two looks.
PAUSE = 0.005


def until(condition: Callable[[], object], what: str, limit: float = LIMIT) -> None:
    """Looks until the condition holds; fails with ``what`` where it does not within the limit.

    It is looked at once more after the time is over, so that a slow machine cannot fail a condition
    that holds.
    """
    end = time.monotonic() + limit
    never = threading.Event()
    while True:
        over = time.monotonic() >= end
        if condition():
            return
        if over:
            raise AssertionError(f"not within {limit} s: {what}")
        never.wait(PAUSE)


class Events:
    """The file to which a server writes what happens: see ``servers/plain.py``."""

    def __init__(self, path: Path) -> None:
        #: Give it to the server as ``--events``.
        self.path = path

    def lines(self) -> list[str]:
        """What has happened so far."""
        return self.path.read_text().splitlines() if self.path.exists() else []

    def count(self, line: str) -> int:
        """How often this has happened so far."""
        return self.lines().count(line)

    def wait(self, line: str, times: int = 1, limit: float = LIMIT) -> None:
        """Waits until this line is there so often."""
        try:
            until(lambda: self.count(line) >= times, f'"{line}" {times} times', limit)
        except AssertionError as error:
            raise AssertionError(f"{error}; there is {self.lines()}") from None
