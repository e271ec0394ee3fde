"""How does a test start a server: a real one, a plain one, one that misbehaves?

``cargo xtask setup`` installs the real servers and writes their launch lines to
``.tools/servers.json``; the misbehaving one is ``toolspan-faults``, which ``cargo build`` makes.
An *entry* is what stands in a config under the name of a server.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import IO, Any

from .processes import descendants, kill, marked
from .wait import until

#: The root of the workspace.
ROOT = Path(__file__).resolve().parents[4]

#: Where the servers lie that were written for these tests.
SERVERS = Path(__file__).resolve().parents[1] / "servers"

#: Seconds that a real server takes to listen, at most.
START_LIMIT = 60.0

#: How often a restart tries to get its port back: another process may hold it for a moment.
RESTARTS = 5

#: The variable by which the processes of a server over HTTP are found.
MARK = "TOOLSPAN_TEST_MARK"

#: The state ``LISTEN`` in the kernel's tables of sockets.
LISTEN = "0A"


def launch_line(name: str) -> dict[str, Any]:
    """The launch line of a real server, as ``cargo xtask setup`` wrote it."""
    path = ROOT / ".tools/servers.json"
    assert path.exists(), f"{path} is missing: run `cargo xtask setup`"
    listed: dict[str, dict[str, Any]] = json.loads(path.read_text())
    assert name in listed, f"no real server {name!r}, but {', '.join(listed)}"
    return listed[name]


def real(name: str, *arguments: str) -> dict[str, Any]:
    """The entry of a real server over stdio, with arguments of the test's own behind its own."""
    line = launch_line(name)
    return {"command": line["command"], "args": [*line["args"], *arguments]}


def plain(*options: str, **variables: str) -> dict[str, Any]:
    """The entry of ``servers/plain.py``; its options are described there."""
    # Neither site-packages nor the script's own folder: it starts in 30 ms.
    arguments = ["-I", "-S", str(SERVERS / "plain.py"), *options]
    entry: dict[str, Any] = {"command": sys.executable, "args": arguments}
    return entry | {"env": variables} if variables else entry


def target() -> Path:
    """Where cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def faults_program() -> str:
    """The misbehaving server."""
    program = target() / "debug/toolspan-faults"
    assert program.exists(), f"{program} is missing: run `cargo build -p toolspan-faults`"
    return str(program)


def faults(scenario: str, *options: str) -> dict[str, Any]:
    """The entry of a server that misbehaves over stdio: a name of ``toolspan-faults --list``."""
    return {"command": faults_program(), "args": [*options, "--fault", scenario]}


def closed_port() -> int:
    """A port of 127.0.0.1 at which nobody listens; it was free a moment ago."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


class Remote:
    """A server that listens on loopback. ``close`` ends it with all its descendants."""

    def __init__(self, name: str, line: dict[str, Any], folder: Path) -> None:
        self.name = name
        #: Where it listens; the same after a restart.
        self.port = 0
        self._line = line
        self._folder = folder
        #: All its processes have it, those too whose parent has ended.
        self._mark = uuid.uuid4().hex
        self._process: subprocess.Popen[bytes] | None = None
        # A file without a name needs no thread that drains it.
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._start()
        except AssertionError:
            self.close()
            raise

    @property
    def url(self) -> str:
        """Where it serves, such as ``http://127.0.0.1:40123/mcp``."""
        return f"http://127.0.0.1:{self.port}{self._line['path']}"

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in a config."""
        transport = "sse" if self._line["path"] == "/sse" else "http"
        return {"url": self.url, "transport": transport}

    @property
    def output(self) -> str:
        """What it wrote so far to both outputs."""
        length = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), length, 0).decode(errors="replace")

    def kill(self) -> None:
        """Ends it with its descendants at once, as a crash would, and reaps it."""
        process, self._process = self._process, None
        if process is None:
            return
        family = [descendant.pid for descendant in descendants(process.pid)]
        for pid in [*family, process.pid]:
            kill(pid)
        process.wait()
        for straggler in marked(f"{MARK}={self._mark}"):
            kill(straggler.pid)

    def restart(self) -> None:
        """Ends it and starts it anew at the same URL, without the sessions it had."""
        self.kill()
        for left in reversed(range(RESTARTS)):
            try:
                self._start()
                return
            except AssertionError:
                self.kill()
                if not left:
                    raise

    def close(self) -> None:
        """As ``kill``; afterwards it cannot be restarted. A second time nothing happens."""
        self.kill()
        self._output.close()

    def _start(self) -> None:
        filled = [str(word).replace("{port}", str(self.port)) for word in self._line["args"]]
        variables = self._line.get("env", {}).items()
        self._process = process = subprocess.Popen(
            [self._line["command"], *filled],
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "TMPDIR": str(self._folder),
                MARK: self._mark,
                **{key: str(text).replace("{port}", str(self.port)) for key, text in variables},
            },
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
        )

        def listens_or_ended() -> bool:
            found = listening_port(process.pid)
            self.port = found or self.port
            return found is not None or process.poll() is not None

        try:
            until(listens_or_ended, f"the server {self.name} listens", START_LIMIT)
            assert process.poll() is None, f"it ended with {process.poll()}"
        except AssertionError as error:
            words = self.output[-16384:]
            raise AssertionError(f"the server {self.name}: {error}; it wrote:\n{words}") from None


class RemoteFaults:
    """A server that misbehaves over HTTP. It ends with ``close``: that is the end of its input."""

    def __init__(self, scenario: str, *options: str) -> None:
        self._process = subprocess.Popen(
            [faults_program(), *options, "--fault", scenario],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout
        readable, _, _ = select.select([self._process.stdout], [], [], START_LIMIT)
        if not readable:
            self.close()
            raise AssertionError(f"{scenario} did not say where it listens")
        #: Where it serves.
        self.url: str = json.loads(self._process.stdout.readline())["url"]

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in a config."""
        return {"url": self.url, "transport": "sse" if self.url.endswith("/sse") else "http"}

    def close(self) -> None:
        """Ends it. A second time nothing happens."""
        self._process.kill()
        self._process.communicate()


def listening_port(pid: int) -> int | None:
    """The port of the first listening socket of a process; the kernel knows, so nobody races."""
    own = set()
    try:
        for descriptor in os.scandir(f"/proc/{pid}/fd"):
            try:
                own.add(os.readlink(descriptor.path))
            except OSError:
                continue
        tables = [Path(f"/proc/{pid}/net/{table}").read_text() for table in ("tcp", "tcp6")]
    except OSError:
        return None
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and f"socket:[{fields[9]}]" in own:
                return int(fields[1].rpartition(":")[2], 16)
    return None
