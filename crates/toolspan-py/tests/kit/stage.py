"""How does a test see what its servers see, and let them answer when it wants?

Programs that run many times import it, so it imports little.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

SERVER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "servers", "stage.py")

#: Seconds that an event may take on a machine that is busy; a test that waits longer has failed.
LIMIT = 30.0

#: The flags of an interpreter whose warnings are errors and that tells of every fault it sees.
#: That a process with threads is forked is what some of the scripts are for.
STRICT = ("-X", "dev", "-W", "error", "-W", "ignore:This process:DeprecationWarning")


class Stage:
    """The named pipe that servers of ``servers/stage.py`` write to, and configs of such servers."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.path = os.path.join(folder, "stage")
        os.mkfifo(self.path)
        # Also opened for writing, so that it has no end when the last server goes.
        self._pipe = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        # Tests wait for events on several threads.
        self._lock = threading.Lock()
        self._rest = b""
        self._events: list[dict[str, Any]] = []

    def server(self, *options: str, **members: Any) -> dict[str, Any]:
        """What a config says about such a server."""
        return {
            "command": sys.executable,
            "args": ["-I", "-S", SERVER, *options],
            "env": {"STAGE": self.path},
            **members,
        }

    def config(self, *options: str, **members: Any) -> dict[str, Any]:
        """A config with one such server, called ``stage``."""
        return {"mcpServers": {"stage": self.server(*options, **members)}}

    def until(self, event: str, *, limit: float = LIMIT, **members: Any) -> dict[str, Any]:
        """Waits for an event, and takes it away; others stay to be waited for."""
        wanted = {"event": event, **members}
        deadline = time.monotonic() + limit
        while not (seen := self._take(wanted)):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"{wanted} did not come; there is {self._events}")
            select.select([self._pipe], [], [], left)
        return seen

    def so_far(self, event: str) -> list[dict[str, Any]]:
        """The events of a kind that have come and were not waited for."""
        with self._lock:
            self._read()
            return [seen for seen in self._events if seen["event"] == event]

    def _take(self, wanted: dict[str, Any]) -> dict[str, Any] | None:
        with self._lock:
            self._read()
            for place, seen in enumerate(self._events):
                if wanted.items() <= seen.items():
                    return self._events.pop(place)
        return None

    def _read(self) -> None:
        try:
            *lines, self._rest = (self._rest + os.read(self._pipe, 1 << 20)).split(b"\n")
        except BlockingIOError:
            return
        self._events += map(json.loads, lines)

    def assert_empty(self, limit: float = 5.0) -> None:
        """Fails when a server of this stage, or a process of one, still runs after so long."""
        from .processes import marked, wait_gone

        for process in marked(self.mark):
            wait_gone(process.pid, limit)

    @property
    def mark(self) -> str:
        """What all processes of this stage have in their environment."""
        return f"STAGE={self.path}"

    def close(self) -> None:
        os.close(self._pipe)
