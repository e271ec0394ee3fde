"""Which fixtures do the tests of the Python package have?

Each test runs in a folder for temporary files of its own, and after each test no process of it is
left: see ``census``. What fixtures hand out is documented in ``kit``.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kit import servers
from kit.processes import Census
from kit.scripts import SCRIPT_LIMIT, Ended, RunScript, Script, StartScript
from kit.servers import Remote, RemoteFaults
from kit.wait import Events


def pytest_configure(config: pytest.Config) -> None:
    """Lets each run be like any other, whoever starts it, and keeps it out of the sources."""
    # A shell ignores interrupts for what it runs in the background, and so would every script.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Property tests try the same values.
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import configuration, settings

        configuration.set_hypothesis_home_dir(servers.target() / "tmp/hypothesis")
        settings.register_profile("same", database=None, deadline=None, derandomize=True)
        settings.load_profile("same")


@pytest.fixture(autouse=True)
def census() -> Iterator[Census]:
    """Fails the test where a process of it is left at its end, within 10 s.

    It is set up first and so looks last. The folder for temporary files, ``census.folder``, is
    removed at the end.
    """
    folder = Path(tempfile.mkdtemp(prefix="toolspan-test-", dir=TEMPORARY))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        counted = Census(folder)
        yield counted
        try:
            counted.assert_nothing_left()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def launch() -> Callable[..., dict[str, Any]]:
    """``launch("time", *arguments)``: the entry of a real server over stdio."""
    return servers.real


@pytest.fixture
def plain() -> Callable[..., dict[str, Any]]:
    """``plain("--page", "3", NAME="value")``: the entry of ``servers/plain.py``."""
    return servers.plain


@pytest.fixture
def faults() -> Callable[..., dict[str, Any]]:
    """``faults("late_reply", *options)``: the entry of a server that misbehaves over stdio."""
    return servers.faults


@pytest.fixture
def remote(census: Census) -> Iterator[Callable[[str], Remote]]:
    """``remote("fastmcp-http")``: a real server over HTTP that listens, ended after the test."""
    with ExitStack() as stack:

        def start(name: str) -> Remote:
            server = Remote(name, servers.launch_line(name), census.folder)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def remote_faults(census: Census) -> Iterator[Callable[..., RemoteFaults]]:
    """``remote_faults("--http", "body_endless")``: a server that misbehaves over HTTP, listening.

    The first word is ``--http`` or ``--sse``, the second a name of ``toolspan-faults --list``,
    then come options.
    """
    with ExitStack() as stack:

        def start(transport: str, scenario: str, *options: str) -> RemoteFaults:
            server = RemoteFaults(scenario, transport, *options)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def events(census: Census) -> Events:
    """A file for ``plain("--events", str(events.path))``, and the waits for what is in it."""
    return Events(census.folder / "events")


@pytest.fixture
def start_script(census: Census) -> Iterator[StartScript]:
    """``start_script(path_or_code, *arguments, ...)``: a running script, killed after the test."""
    with ExitStack() as stack:

        def start(
            source: Path | str,
            *arguments: str,
            flags: Sequence[str] = (),
            variables: Mapping[str, str] | None = None,
        ) -> Script:
            script = Script(
                source, *arguments, folder=census.folder, flags=flags, variables=variables
            )
            return stack.enter_context(script)

        yield start


@pytest.fixture
def run_script(start_script: StartScript) -> RunScript:
    """``run_script(path_or_code, *arguments, ...)``: runs a script and says how it ended."""

    def run(
        source: Path | str,
        *arguments: str,
        flags: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        limit: float = SCRIPT_LIMIT,
    ) -> Ended:
        return start_script(source, *arguments, flags=flags, variables=variables).wait(limit)

    return run


#: Where the folders of the tests are made, whatever a test makes of the variable.
TEMPORARY = os.environ.get("TMPDIR", "/tmp")
