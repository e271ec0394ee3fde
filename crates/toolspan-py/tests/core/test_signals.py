"""Does a waiting thread hear a signal, at once and with nothing broken by it?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

#: Milliseconds until an interrupt arrives. A wait looks for signals every 50.
PROMISED = 200.0
#: What a machine that runs other tests may add to a single one of them, for it lets no thread run.
BUSY = 2000.0


@pytest.mark.parametrize(
    ("what", "times"),
    [
        ("call", 20),
        ("call_without_callback", 20),
        ("connect", 5),
        ("refresh", 5),
        ("close", 3),
        ("with_block", 3),
        ("thread", 1),
        ("main_thread_in_a_call", 1),
    ],
)
def test_an_interrupt_arrives_at_once(what: str, times: int, run_well: Callable[..., str]) -> None:
    """That the server is told and the host is usable afterwards, the program sees to."""
    seen = sorted(map(float, run_well("interrupts.py", what).splitlines()))
    assert len(seen) == times
    middle = seen[len(seen) // 2]
    late = [arrival for arrival in seen if arrival > PROMISED]
    assert middle < PROMISED or len(seen) == 1
    assert len(late) <= max(1, len(seen) // 10), late
    assert seen[-1] < PROMISED + BUSY


@pytest.mark.parametrize("what", ["handler_that_calls", "handler_that_raises", "ignored"])
def test_a_handler_may_do_what_it_likes(what: str, run_well: Callable[..., str]) -> None:
    run_well("interrupts.py", what)
