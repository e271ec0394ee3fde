"""How do functions take part in the way of every call of a host?"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
from collections.abc import Callable
from typing import Any

from . import _result
from ._errors import PolicyDenied, ToolspanError
from ._run import OWN_LOOPS, THREADS, give_up, is_awaited, tell
from ._toolspan import _Verdict

#: The risks that an analyzer may name.
RISKS = ("unknown", "low", "medium", "high")


class Rule:
    """A function, plain or asynchronous, that is asked about calls."""

    #: What the function is, in words; and with its article.
    kind = "function"
    one = "a function"

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"{self.one} must be callable, not {function!r}")
        self._function = function
        inner = function if inspect.isroutine(function) else type(function).__call__
        self._is_async = inspect.iscoroutinefunction(inner)

    def begin(self, asked: Any, verdict: _Verdict) -> None:
        """Asks the function, without waiting for it."""
        try:
            if self._is_async:
                self._go_on(asked, None, verdict)
            else:
                THREADS.run(lambda: contextvars.Context().run(self._ask, asked, verdict))
        except RuntimeError as error:
            verdict.failed(f"{self.one} cannot be run: {error}")

    def _ask(self, asked: Any, verdict: _Verdict) -> None:
        try:
            said = self._function(asked)
            if is_awaited(said):
                self._go_on(asked, said, verdict)
            else:
                self.say(said, verdict)
        except BaseException as error:
            self._fail(error, verdict)

    def _go_on(self, asked: Any, begun: Any, verdict: _Verdict) -> None:
        """Asks on a loop; ``begun`` is what the function gave, if it was called."""

        def start() -> None:
            event_loop = asyncio.get_running_loop()
            task = event_loop.create_task(self._ask_async(asked, begun, verdict))

            def cancel() -> None:
                with contextlib.suppress(RuntimeError):
                    # A loop that is closed runs nothing any more.
                    event_loop.call_soon_threadsafe(task.cancel)

            verdict.on_cancel(cancel)

        try:
            OWN_LOOPS.get().call_soon_threadsafe(start, context=contextvars.Context())
        except RuntimeError:
            give_up(begun)
            raise

    async def _ask_async(self, asked: Any, begun: Any, verdict: _Verdict) -> None:
        try:
            said = self._function(asked) if begun is None else begun
            self.say(await said if is_awaited(said) else said, verdict)
        except asyncio.CancelledError:
            verdict.failed(f"{self.one} was cancelled")
            raise
        except BaseException as error:
            # Not even the end of a program ends this loop, which runs what belongs to others, too.
            self._fail(error, verdict)

    def say(self, value: Any, verdict: _Verdict) -> None:
        """Says what the function gave."""
        raise NotImplementedError

    def _fail(self, error: BaseException, verdict: _Verdict) -> None:
        if isinstance(error, PolicyDenied):
            verdict.refused(error.message)
            return
        if isinstance(error, ToolspanError):
            verdict.failed(f"{self.one} failed: {error}")
            return
        if not verdict.is_over:
            tell("%s failed", self.one, error=error)
        verdict.failed(f"{self.one} failed: {_result.told(error)}")


class Interceptor(Rule):
    """Sees each call, and lets it go on, changes, answers or refuses it."""

    kind = "interceptor"
    one = "an interceptor"

    def say(self, value: Any, verdict: _Verdict) -> None:
        if value is None:
            verdict.words()
        else:
            verdict.observed(_result.observation(value))


class Policy(Rule):
    """Refuses calls: gives ``False`` or why, and ``None`` or ``True`` for the others."""

    kind = "policy"
    one = "a policy"

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
    one = "an analyzer"

    def say(self, value: Any, verdict: _Verdict) -> None:
        if value is not None and value not in RISKS:
            raise TypeError(f"an analyzer gives None or one of {', '.join(RISKS)}, not {value!r}")
        verdict.words(value)


class Approver(Rule):
    """Answers whether a call may run."""

    kind = "approver"
    one = "an approver"

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
