"""How do functions take part in the way of every call of a host?"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Callable
from typing import Any

from . import _result
from ._errors import PolicyDenied, ToolspanError
from ._run import OWN_LOOP, THREADS
from ._toolspan import _Verdict

#: The risks that an analyzer may name.
RISKS = ("unknown", "low", "medium", "high")


class Rule:
    """A function, plain or asynchronous, that is asked about calls."""

    #: What the function is, in words.
    kind = "function"

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"a {self.kind} must be callable, not {function!r}")
        self._function = function
        inner = function if inspect.isroutine(function) else type(function).__call__
        self._is_async = inspect.iscoroutinefunction(inner)

    def begin(self, asked: Any, verdict: _Verdict) -> None:
        """Asks the function, without waiting for it."""
        if self._is_async:
            event_loop = OWN_LOOP.get()
            event_loop.call_soon_threadsafe(
                lambda: event_loop.create_task(self._ask_async(asked, verdict)),
                context=contextvars.Context(),
            )
        else:
            THREADS.run(lambda: contextvars.Context().run(self._ask, asked, verdict))

    def _ask(self, asked: Any, verdict: _Verdict) -> None:
        try:
            self.say(self._function(asked), verdict)
        except BaseException as error:
            self._fail(error, verdict)

    async def _ask_async(self, asked: Any, verdict: _Verdict) -> None:
        try:
            self.say(await self._function(asked), verdict)
        except BaseException as error:
            self._fail(error, verdict)
            if not isinstance(error, Exception):
                raise

    def say(self, value: Any, verdict: _Verdict) -> None:
        """Says what the function gave."""
        raise NotImplementedError

    def _fail(self, error: BaseException, verdict: _Verdict) -> None:
        if isinstance(error, PolicyDenied):
            verdict.refused(error.message)
            return
        if isinstance(error, ToolspanError):
            verdict.failed(f"a {self.kind} failed: {error}")
            return
        import logging

        logging.getLogger("toolspan").error("a %s failed", self.kind, exc_info=error)
        verdict.failed(f"a {self.kind} failed: {type(error).__name__}: {error}")


class Interceptor(Rule):
    """Sees each call, and lets it go on, changes, answers or refuses it."""

    kind = "interceptor"

    def say(self, value: Any, verdict: _Verdict) -> None:
        if value is None:
            verdict.words()
        else:
            verdict.observed(_result.observation(value))


class Policy(Rule):
    """Refuses calls: gives ``False`` or why, and ``None`` or ``True`` for the others."""

    kind = "policy"

    def say(self, value: Any, verdict: _Verdict) -> None:
        if value is None or value is True:
            verdict.words()
        elif value is False:
            verdict.words("the policy of the program refuses the call")
        elif isinstance(value, str):
            verdict.words(value)
        else:
            raise TypeError(f"a policy gives None, a bool or a str, not {value!r}")


class Analyzer(Rule):
    """Judges the risk of calls."""

    kind = "analyzer"

    def say(self, value: Any, verdict: _Verdict) -> None:
        if value is not None and value not in RISKS:
            raise TypeError(f"an analyzer gives None or one of {', '.join(RISKS)}, not {value!r}")
        verdict.words(value)


class Approver(Rule):
    """Answers whether a call may run."""

    kind = "approver"

    def say(self, value: Any, verdict: _Verdict) -> None:
        if value is True or value == "once":
            verdict.words("once")
        elif value == "session":
            verdict.words("session")
        elif value is None or value is False:
            verdict.words()
        elif isinstance(value, str):
            verdict.words(value)
        else:
            raise TypeError(f"an approver gives a bool or a str, not {value!r}")


KINDS: dict[str, type[Rule]] = {
    rule.kind: rule for rule in (Interceptor, Policy, Analyzer, Approver)
}


def rule(kind: str, function: Callable[..., Any]) -> Rule:
    """A function as a rule of its kind."""
    return KINDS[kind](function)
