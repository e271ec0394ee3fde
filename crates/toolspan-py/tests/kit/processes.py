"""Which processes are there, who started them, and which are left of a test?"""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

from .wait import until

#: Seconds that the processes of a test have to end by themselves: 5 s, the longest that a close may
#: take, and as much again for a slow machine.
LEFT_LIMIT = 10.0


@dataclass(frozen=True)
class Process:
    """A line of the process table."""

    pid: int
    #: 1, or that of a subreaper, when the parent is gone.
    parent: int
    #: The state as in proc(5): ``R``, ``S``, ``Z`` and so on.
    state: str
    #: The program and its arguments, joined by blanks; empty for a zombie.
    command: str

    @property
    def is_zombie(self) -> bool:
        """Whether it has ended and waits to be reaped."""
        return self.state in "ZX"

    @property
    def is_watchdog(self) -> bool:
        """Whether it is what ends the servers of a process that was killed.

        It lives as long as the process that it watches.
        """
        return "toolspan-watchdog" in self.command

    @staticmethod
    def read(pid: int) -> Process | None:
        """Reads one process; ``None`` when there is none."""
        try:
            status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return None
        # The name stands in brackets and may itself contain brackets and blanks.
        state, parent = status.rpartition(")")[2].split()[:2]
        words = command.replace(b"\0", b" ").decode(errors="replace").strip()
        return Process(pid, int(parent), state, words)


def processes() -> list[Process]:
    """All processes, zombies included."""
    found = [Process.read(int(name)) for name in os.listdir("/proc") if name.isdecimal()]
    return [process for process in found if process is not None]


def alive(pid: int) -> bool:
    """Whether a process exists and has not ended; a zombie is not alive."""
    process = Process.read(pid)
    return process is not None and not process.is_zombie


def descendants(pid: int) -> list[Process]:
    """The children of a process, their children and so on, zombies and watchdogs included.

    Those whose parent has ended belong to another process by now: find them by ``marked``.
    """
    everyone = processes()
    family = {pid}
    size = 0
    while len(family) > size:
        size = len(family)
        family.update(process.pid for process in everyone if process.parent in family)
    return [process for process in everyone if process.pid in family - {pid}]


def marked(assignment: str) -> list[Process]:
    """The processes started with ``NAME=value`` in their environment, this one left out.

    A zombie has no environment any more.
    """
    wanted = assignment.encode()
    found = []
    for process in processes():
        try:
            environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue
        if process.pid != os.getpid() and wanted in environment.split(b"\0"):
            found.append(process)
    return found


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Sends a signal to a process; nothing when it is gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def wait_gone(pid: int, limit: float = LEFT_LIMIT) -> None:
    """Waits until a process has ended, reaped or not, child or not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        readable, _, _ = select.select([descriptor], [], [], limit)
    finally:
        os.close(descriptor)
    assert readable, f"process {pid} still runs after {limit} s: {Process.read(pid)}"


class Census:
    """The processes of one test, however they came about.

    Their mark is the folder for temporary files: each test has one of its own, and the variable
    that names it is one of those that a server inherits. What was started with an environment
    without TMPDIR is found as a descendant alone.
    """

    def __init__(self, folder: Path) -> None:
        #: The test's folder for temporary files.
        self.folder = folder
        self._before = {process.pid for process in descendants(os.getpid())}

    @property
    def mark(self) -> str:
        """The assignment that all processes of the test have in their environment."""
        return f"TMPDIR={self.folder}"

    def left(self) -> list[Process]:
        """The processes that were not there before the test, zombies included."""
        new = [
            process
            for process in descendants(os.getpid())
            if process.pid not in self._before and not process.is_watchdog
        ]
        known = {process.pid for process in new}
        return new + [process for process in marked(self.mark) if process.pid not in known]

    def assert_nothing_left(self, limit: float = LEFT_LIMIT) -> None:
        """Waits until no process of the test is left; fails with a list of them, and ends them."""
        try:
            until(lambda: not self.left(), "no process is left", limit)
        except AssertionError:
            left = self.left()
            for process in left:
                kill(process.pid)
            if left:
                listed = "\n".join(f"  {process}" for process in left)
                raise AssertionError(f"left after {limit} s:\n{listed}") from None
