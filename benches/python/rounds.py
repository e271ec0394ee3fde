"""How does a contestant in Python take its turns?

The table writes one line for each round: how many calls. The contestant makes them and answers with
one line: the median call's microseconds. The first line of a contestant says that it is ready. The
end of its input is the end of it.
"""

from __future__ import annotations

import os
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

TEXT = "hello"
"""What each call says, and is answered with."""

# The table is told of nothing else: what a library prints goes where errors go, and none reads.
_asked = os.fdopen(os.dup(0), "r", encoding="ascii")
_answers = os.fdopen(os.dup(1), "w", encoding="ascii")
os.dup2(2, 1)
os.close(0)
os.open(os.devnull, os.O_RDONLY)


def asked() -> Iterator[int]:
    """Says that the contestant is ready; gives the calls of each round until there is none."""
    _answer("ready")
    for line in _asked:
        yield int(line)


def answer(times: list[int]) -> None:
    """Ends a round whose calls took these nanoseconds."""
    _answer(str(sorted(times)[len(times) // 2] / 1e3) if times else "0")


def check(reply: str, wanted: str) -> None:
    """Ends the contestant where a call was not answered as it should be."""
    if reply != wanted:
        raise SystemExit(f"a call was answered with {reply!r}")


def run(call: Callable[[], str], wanted: str = TEXT) -> None:
    """Takes all turns with a synchronous call that gives the text of its answer."""
    for calls in asked():
        times = []
        for _ in range(calls):
            began = perf_counter_ns()
            reply = call()
            times.append(perf_counter_ns() - began)
            check(reply, wanted)
        answer(times)


async def run_async(call: Callable[[], Awaitable[str]], wanted: str = TEXT) -> None:
    """The same with an asynchronous call; the running loop stands still between rounds."""
    for calls in asked():
        times = []
        for _ in range(calls):
            began = perf_counter_ns()
            reply = await call()
            times.append(perf_counter_ns() - began)
            check(reply, wanted)
        answer(times)


def _answer(line: str) -> None:
    _answers.write(line + "\n")
    _answers.flush()
