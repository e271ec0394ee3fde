"""How is a program of Python run, spoken to, and ended in time?"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .processes import kill

#: Seconds that a script has from start to end, unless the test says so.
SCRIPT_LIMIT = 60.0

#: Seconds that are given to what a script left behind to close its standard output.
DRAIN_LIMIT = 1.0

#: Seconds that a script has to write where it stood when its time was over.
DUMP_LIMIT = 5.0


@dataclass(frozen=True)
class Ended:
    """How a script ended."""

    #: The exit code; -N where signal N ended it.
    code: int
    stdout: str
    stderr: str
    #: From the start to the end of the process.
    seconds: float


class Script:
    """A running script. It is killed with the block that it was started in.

    Times are exact: its end and its output are waited for, not asked for.
    """

    def __init__(
        self,
        source: Path | str,
        *arguments: str,
        folder: Path,
        flags: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Starts it in ``folder``. ``source`` is the path of a file, or the code as text.

        ``flags`` are the interpreter's, ``variables`` come on top of this process' environment.
        """
        self._began = time.monotonic()
        # The file has no name, so that a full pipe stops nobody, and nothing is left of it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        code = [str(source)] if isinstance(source, Path) else ["-c", source]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-X", "faulthandler", *flags, *code, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(variables or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._ended_at: float | None = None
        self._unread = b""
        self._at_end = False

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None:
        kill(self.process.pid)
        self.process.communicate()
        self._errors.close()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self.process.pid

    def line(self, limit: float = SCRIPT_LIMIT) -> str:
        """The next line that it prints. Fails at the end of its output, and after the limit."""
        end = time.monotonic() + limit
        while b"\n" not in self._unread:
            assert self._read(end - time.monotonic()), f"no line within {limit} s\n{self._said()}"
            assert not self._at_end, f"no further line\n{self._said()}"
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def expect(self, line: str, limit: float = SCRIPT_LIMIT) -> None:
        """Waits for its next line, which is this one."""
        assert (found := self.line(limit)) == line, f"{found!r}\n{self._said()}"

    def tell(self, line: str = "") -> None:
        """Writes a line to its standard input."""
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, number: int) -> None:
        """Sends it a signal."""
        self.process.send_signal(number)

    def wait(self, limit: float = SCRIPT_LIMIT) -> Ended:
        """Waits until it has ended. After the limit it says where it stood, and the test fails."""
        end = time.monotonic() + limit
        ended = os.pidfd_open(self.pid)
        try:
            while not self._wait_for(ended, end - time.monotonic()):
                if time.monotonic() >= end:
                    self.send(signal.SIGABRT)
                    select.select([ended], [], [], DUMP_LIMIT)
                    raise AssertionError(f"still runs after {limit} s\n{self._said()}")
        finally:
            os.close(ended)
        took = time.monotonic() - self._began
        drained = time.monotonic() + DRAIN_LIMIT
        while not self._at_end and self._read(drained - time.monotonic()):
            pass
        stdout = self._unread.decode(errors="replace")
        return Ended(self.process.wait(), stdout, self.errors(), took)

    def errors(self) -> str:
        """What it wrote so far to standard error."""
        length = os.fstat(self._errors.fileno()).st_size
        return os.pread(self._errors.fileno(), length, 0).decode(errors="replace")

    def _wait_for(self, ended: int, limit: float) -> bool:
        """Waits for the end of the process, or else reads some output. Whether it has ended."""
        assert self.process.stdout
        watched = [ended] if self._at_end else [ended, self.process.stdout.fileno()]
        readable, _, _ = select.select(watched, [], [], max(0.0, limit))
        if ended in readable:
            return True
        if readable:
            self._read(0.0)
        return False

    def _read(self, limit: float) -> bool:
        """Reads some output; False where there was none in time."""
        assert self.process.stdout
        descriptor = self.process.stdout.fileno()
        readable, _, _ = select.select([descriptor], [], [], max(0.0, limit))
        if readable:
            read = os.read(descriptor, 1 << 16)
            self._unread += read
            self._at_end = not read
        return bool(readable)

    def _said(self) -> str:
        output = self._unread.decode(errors="replace")
        return f"--- standard output\n{output}\n--- standard error\n{self.errors()}"


class RunScript(Protocol):
    """Runs a script to its end: the fixture ``run_script``."""

    def __call__(
        self,
        source: Path | str,
        *arguments: str,
        flags: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        limit: float = SCRIPT_LIMIT,
    ) -> Ended: ...


class StartScript(Protocol):
    """Starts a script and returns at once: the fixture ``start_script``."""

    def __call__(
        self,
        source: Path | str,
        *arguments: str,
        flags: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> Script: ...
