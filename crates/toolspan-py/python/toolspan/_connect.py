"""How is a host made from a config?"""

from __future__ import annotations

from . import _toolspan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from os import PathLike
    from types import TracebackType
    from typing import Any

    from ._toolspan import Host, LogMessage


def connect(
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    *,
    on_log: Callable[[LogMessage], object] | None = None,
) -> Host:
    """Connects the toolboxes of a config and waits until each is ready or has failed.

    ``config`` is the path of a config file, the config itself as a dict, or ``None``: then the file
    is looked up as the command line does. ``on_log`` is called, on a thread of its own, with each
    log message of a server. The environment is read now, for the config and for the servers.

    The host is a context manager. One that is left open is closed at the interpreter's exit.

    Raises ``ConfigError`` where the config cannot be used, ``ApprovalRequired`` for a project's
    config that was found but not approved, the error of a required toolbox that failed, and
    ``ForkedProcess`` where the process was forked from one that had a host. Any other toolbox that
    failed is in ``host.status()``; that it failed, and what is odd in the config, is logged as
    warnings of the logger ``toolspan``.
    """
    return _toolspan.connect(config, on_log)


def aconnect(
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    *,
    on_log: Callable[[LogMessage], object] | None = None,
) -> Connecting:
    """``connect`` for asynchronous code: ``await`` it, or use it with ``async with``.

    Nothing is begun before that. Cancelling it ends the servers that were started.
    """
    return Connecting(config, on_log)


class Connecting:
    """A host that is being connected once somebody waits for it."""

    def __init__(
        self,
        config: str | PathLike[str] | Mapping[str, Any] | None,
        on_log: Callable[[LogMessage], object] | None,
    ) -> None:
        self._config = config
        self._on_log = on_log
        self._host: Host | None = None

    def __await__(self) -> Generator[Any, None, Host]:
        return _toolspan.aconnect(self._config, self._on_log).__await__()

    async def __aenter__(self) -> Host:
        self._host = await self
        return self._host

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._host is not None:
            await self._host.aclose()
