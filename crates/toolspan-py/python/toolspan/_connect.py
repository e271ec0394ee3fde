"""How is a host made from a config?"""

from __future__ import annotations

import sys

from . import _toolspan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
    from os import PathLike
    from types import TracebackType
    from typing import Any, TypeAlias

    from ._toolspan import Host, InterceptedCall, LogMessage, Question

    Said: TypeAlias = bool | str | None
    Policy: TypeAlias = Callable[[InterceptedCall], Awaitable[Said] | Said]
    Analyzer: TypeAlias = Callable[[InterceptedCall], Awaitable[str | None] | str | None]
    Approver: TypeAlias = Callable[[Question], Awaitable[Said] | Said]
    Interceptor: TypeAlias = Callable[[InterceptedCall], Any]


def connect(
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    *,
    on_log: Callable[[LogMessage], object] | None = None,
    policy: Mapping[str, Any] | Policy | None = None,
    approver: Approver | None = None,
    analyzers: Iterable[Analyzer] = (),
    interceptors: Iterable[Interceptor] = (),
    inject: Iterable[str] = (),
    secrets: Mapping[str, str] | None = None,
    allow_secrets: Mapping[str, Iterable[str]] | None = None,
    secrets_in_arguments: Iterable[str] = (),
) -> Host:
    """Connects the toolboxes of a config and waits until each is ready or has failed.

    ``config`` is the path of a config file, the config itself as a dict, or ``None``: then the file
    is looked up as the command line does. ``on_log`` is called, on a thread of its own, with each
    log message of a server. The environment is read now, for the config and for the servers.

    Four kinds of functions, plain or asynchronous, take part in the way of every call. ``policy``
    is either the ``policy`` of a config, which takes its place and keeps what that one denies, or a
    function that is given an ``InterceptedCall`` and refuses it by ``False`` or by a text that says
    why. Each of ``analyzers`` is given the same and names its risk: ``"low"``, ``"medium"``,
    ``"high"`` or ``"unknown"``. ``approver`` is given a ``Question`` where the policy wants a call
    confirmed, and says ``True``, ``"session"``, ``False``, or why not. ``interceptors``, the first
    one outermost, are given an ``InterceptedCall``: they let it go on by ``call.run()``, with other
    arguments by ``call.run({...})``, answer it by what they return, or raise ``PolicyDenied``.

    Its ``tools`` find what was registered before, by ``toolspan.tools.register_tool``. One that
    cannot be made is left out, with a warning.

    ``inject`` names what a model is asked for beside a tool's own arguments, in ``to_openai()`` and
    the other forms: its word on the risk of a call, ``"security_risk"``, and ``"summary"``. ``run``
    takes both out again. The risk is asked for in any case where the policy confirms calls, and
    never of a tool that counts as read-only.

    ``secrets`` has values by their names. No tool may have one before ``allow_secrets`` names it
    for its toolbox, ``"native"`` for tools of Python: those ask by ``CallContext.secret``. For the
    toolboxes in ``secrets_in_arguments`` they also take the place of ``{"$secret": "NAME"}`` in the
    arguments of calls. What was given out is hidden in all that comes back.

    The host is a context manager. One that is left open is closed at the interpreter's exit.

    Raises ``ConfigError`` where the config cannot be used, ``ApprovalRequired`` for a project's
    config that was found but not approved, the error of a required toolbox that failed, and
    ``ForkedProcess`` where the process was forked from one that had a host. Any other toolbox that
    failed is in ``host.status()``; that it failed, and what is odd in the config, is logged as
    warnings of the logger ``toolspan``.
    """
    rules = _rules_of(policy, approver, analyzers, interceptors, inject)
    rules.update(_secrets_of(secrets, allow_secrets, secrets_in_arguments))
    host = _toolspan.connect(config, on_log, rules=rules)
    _add_registered(host)
    return host


def aconnect(
    config: str | PathLike[str] | Mapping[str, Any] | None = None,
    *,
    on_log: Callable[[LogMessage], object] | None = None,
    policy: Mapping[str, Any] | Policy | None = None,
    approver: Approver | None = None,
    analyzers: Iterable[Analyzer] = (),
    interceptors: Iterable[Interceptor] = (),
    inject: Iterable[str] = (),
    secrets: Mapping[str, str] | None = None,
    allow_secrets: Mapping[str, Iterable[str]] | None = None,
    secrets_in_arguments: Iterable[str] = (),
) -> Connecting:
    """``connect`` for asynchronous code: ``await`` it, or use it with ``async with``.

    Nothing is begun before that. Cancelling it ends the servers that were started.
    """
    rules = _rules_of(policy, approver, analyzers, interceptors, inject)
    rules.update(_secrets_of(secrets, allow_secrets, secrets_in_arguments))
    return Connecting(config, on_log, rules)


def _rules_of(
    policy: Mapping[str, Any] | Policy | None,
    approver: Approver | None,
    analyzers: Iterable[Analyzer],
    interceptors: Iterable[Interceptor],
    inject: Iterable[str],
) -> dict[str, Any]:
    """What takes part in the way of every call, by its kind."""
    functions: dict[str, list[Any]] = {
        "interceptor": list(interceptors),
        "analyzer": list(analyzers),
        "policy": [policy] if callable(policy) else [],
        "approver": [] if approver is None else [approver],
    }
    rules: dict[str, Any] = {}
    fields = list(inject)
    for field in fields:
        if field not in ("security_risk", "summary"):
            raise ValueError(f"a model is asked for 'security_risk' and 'summary', not {field!r}")
    if fields:
        rules["inject"] = fields
    if policy is not None and not callable(policy):
        rules["config"] = policy
    if any(functions.values()):
        from ._rules import rule

        for kind, given in functions.items():
            rules[kind] = [rule(kind, function) for function in given]
    registry = sys.modules.get("toolspan.tools._registry")
    if registry is not None:
        rules["registered"] = registry._NAMES
    return rules


def _secrets_of(
    secrets: Mapping[str, str] | None,
    allowed: Mapping[str, Iterable[str]] | None,
    in_arguments: Iterable[str],
) -> dict[str, Any]:
    """The secrets of a program, and who may have them."""
    values = dict(secrets or {})
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"a secret is a text with a name: {name!r} is not")
    names: dict[str, list[str]] = {}
    for toolbox, given in (allowed or {}).items():
        if isinstance(given, str):
            raise TypeError(f"names of secrets are several texts: write [{given!r}]")
        names[toolbox] = list(given)
        for name in names[toolbox]:
            if name not in values:
                raise ValueError(f"there is no secret {name!r}, which {toolbox!r} may have")
    if isinstance(in_arguments, str):
        raise TypeError(f"toolboxes are several texts: write [{in_arguments!r}]")
    if not values:
        return {}
    boxes = list(in_arguments)
    return {"secrets": values, "allow_secrets": names, "secrets_in_arguments": boxes}


def _add_registered(host: Host) -> None:
    """Adds the tools that the config names and Python makes; one that fails costs itself alone."""
    specs = host._specs()
    if not specs:
        return
    from ._own import add_defined
    from .tools import ToolSpec

    for name, params in specs:
        try:
            add_defined(host, ToolSpec(name, params), None)
        except Exception as error:
            host._warn(f"tools: {name!r} cannot be made: {type(error).__name__}: {error}")
        except BaseException:
            host._quiet().close()
            raise


def _complete(connecting: Generator[Any, None, Host]) -> Generator[Any, None, Host]:
    """Waits for a host that is being connected, and adds the tools that Python makes."""
    host = yield from connecting
    _add_registered(host)
    return host


class Connecting:
    """A host that is being connected once somebody waits for it."""

    def __init__(
        self,
        config: str | PathLike[str] | Mapping[str, Any] | None,
        on_log: Callable[[LogMessage], object] | None,
        rules: dict[str, Any],
    ) -> None:
        self._config = config
        self._on_log = on_log
        self._rules = rules
        self._host: Host | None = None

    def __await__(self) -> Generator[Any, None, Host]:
        return _complete(_toolspan.aconnect(self._config, self._on_log, self._rules).__await__())

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
