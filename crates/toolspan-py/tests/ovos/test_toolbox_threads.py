"""Can many threads use one toolbox at once?"""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

from kit.wait import Events
from toolboxes import Box, Entry, Make

THREADS = 64
CALLS = 200

#: Seconds for all of them, far more than it takes.
LIMIT = 100.0


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Does the work in threads that begin together; fails with the first fault, or at the limit."""
    begin = Barrier(count)
    faults: list[BaseException] = []

    def run(number: int) -> None:
        try:
            begin.wait(LIMIT)
            work(number)
        except BaseException as fault:
            faults.append(fault)

    threads = [Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    if faults:
        raise faults[0]
    assert not any(thread.is_alive() for thread in threads)


def test_64_threads_with_200_calls_each_get_their_own_answers(plain: Entry, make: Make) -> None:
    box = make(plain())

    def work(number: int) -> None:
        for call in range(CALLS):
            text = f"{number}/{call}"
            assert box.call_tool("echo", {"text": text}).content == text

    in_threads(THREADS, work)


def test_calls_and_discoveries_at_once_stay_on_one_child(
    plain: Entry, make: Make, events: Events
) -> None:
    box = make(plain("--list-changed", "--events", str(events.path)))

    def work(number: int) -> None:
        for call in range(5):
            if number % 4 == 0:
                box.refresh_tools()
            elif number % 4 == 1:
                box.call_tool("grow", {"name": f"later_{number}_{call}"})
            else:
                assert box.call_tool("echo", {"text": str(number)}).content == str(number)
            assert "echo" in box.tools

    in_threads(16, work)
    box.refresh_tools()
    later = [name for name in box.tools if name.startswith("later_")]
    assert len(later) == 4 * 5
    assert len([line for line in events.lines() if line.startswith("started")]) == 1


def test_a_call_that_waits_holds_up_nobody(plain: Entry, make: Make, events: Events) -> None:
    box = make(plain("--events", str(events.path)))
    waiting = Thread(target=_nap, args=(box,), daemon=True)
    waiting.start()
    events.wait("napping long")
    assert box.call_tool("echo", {"text": "hello"}).content == "hello"
    box.refresh_tools()
    box.close()
    waiting.join(LIMIT)
    assert not waiting.is_alive()


def _nap(box: Box) -> None:
    try:
        box.call_tool("nap", {"seconds": 3600, "label": "long"})
    except RuntimeError:
        return
    raise AssertionError("it came to an answer")
