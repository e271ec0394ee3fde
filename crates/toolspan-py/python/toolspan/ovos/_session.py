"""Who owns the live host of a toolbox, from the first connection to the end?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from .._errors import ConfigError, ToolNotFound
from .._toolspan import connect

if TYPE_CHECKING:
    from .._toolspan import Host, Observation, Tool

    Config = str | Mapping[str, Any] | None


class Failure(NamedTuple):
    """Why a server has no tools, or not all of them."""

    server: str
    message: str
    hint: str | None

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f'server "{self.server}": {self.message}{hint}'


class Listing(NamedTuple):
    """What a discovery found."""

    tools: list[Tool]
    failures: list[Failure]
    #: What else is worth a word: odd keys of the config, tools that cannot be used.
    oddities: list[str]


class Session:
    """One host for the life of a toolbox: connected by whoever needs it first, then kept.

    Tools hold it rather than their toolbox, so that a toolbox that is dropped goes at once.
    """

    def __init__(self, config: Callable[[], Config]) -> None:
        self._make_config = config
        #: What was connected, whatever becomes of the toolbox's own config.
        self.config: Config = None
        self._process = os.getpid()
        self._host: Host | None = None
        #: The host whose servers are being started, for a close in the meantime.
        self._starting: Host | None = None
        self._connecting = Lock()
        self._closed = False

    def refuse_unusable(self) -> None:
        """Raises ``RuntimeError`` after the close, and in a forked copy of the process.

        It comes before any lock: in a copy, nobody would ever release one that was held.
        """
        if self._closed:
            raise RuntimeError("the toolbox is closed; make a new one")
        if self._process != os.getpid():
            raise RuntimeError(
                f"this process was forked from {self._process}, which holds the toolbox's servers;"
                " make the toolbox after the fork"
            )

    def discover(self) -> Listing:
        """Connects the first time; later, lists again on the connections there are."""
        self.refuse_unusable()
        with self._connecting:
            known = self._host
            host = known or self._connect()
        if known is not None:
            known.refresh()
        return _listing(host)

    def _connect(self) -> Host:
        """A host whose servers were started; one that cannot be used is closed again."""
        self.config = self._make_config()
        # Quiet: to be called inside a running event loop is what OVOS does.
        host = self._starting = connect(self.config, None, True, False)
        try:
            # A close in the meantime found no host to end.
            self.refuse_unusable()
            host.refresh()
            self._host = host
            self.refuse_unusable()
        except BaseException:
            self._host = None
            host.close()
            # Rather than what a close in the meantime made of the start.
            self.refuse_unusable()
            raise
        finally:
            self._starting = None
        return host

    @property
    def has_changed(self) -> bool:
        """Whether a server said, after the last listing, that its tools are others now.

        Never in a forked copy of the process, which could not list them.
        """
        host = self._host
        return host is not None and host.tools_changed and self._process == os.getpid()

    def find(self, name: str) -> Tool:
        """The tool that a name means, in any of its forms; ``ToolNotFound`` where there is none."""
        host = self._host
        # Over the bus a name may be anything.
        if host is None or not isinstance(name, str):
            raise ToolNotFound(f'there is no tool called "{name}"')
        return host.find(name)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Observation:
        """Calls a tool by its exposed name."""
        self.refuse_unusable()
        host = self._host
        if host is None:
            raise RuntimeError("the toolbox is not connected; discover its tools first")
        return host.call(name, arguments)

    def close(self) -> None:
        """Ends the servers and waits for that, within ``timeouts.close``. May come again."""
        self._closed = True
        # It may be both, at the moment when it was started.
        for host in {self._host, self._starting}:
            if host is not None:
                host.close()
        self._host = None


def _listing(host: Host) -> Listing:
    absent: set[str] = set()
    failures: list[Failure] = []
    oddities = host.warnings
    statuses = host.status()
    if not statuses:
        raise ConfigError("the config has no server", hint="add one to mcpServers")
    for status in statuses:
        server, error = status["toolbox"], status["error"]
        for broken in status["broken"]:
            reason = broken["reason"]
            oddities.append(f'server "{server}": its tool "{broken["name"]}" is left out: {reason}')
        if error is not None:
            failures.append(Failure(server, error["message"], error["hint"]))
            if status["state"] != "degraded" or not _has_answered(error):
                absent.add(server)
    tools = [tool for tool in host.tools if tool.toolbox not in absent]
    return Listing(tools, failures, oddities)


def _has_answered(error: Mapping[str, Any]) -> bool:
    """Whether a server did list its tools, though not all of them, or not well."""
    return bool(error["kind"] == "protocol" and error["phase"] == "discover")
