"""Can many threads use one host at the same time?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import toolspan
from kit.stage import LIMIT, Stage


def at_once(count: int, work: Callable[[int], None], limit: float = LIMIT) -> float:
    """Lets so many threads begin together; the seconds until the last one is done."""
    start = threading.Barrier(count + 1, timeout=LIMIT)

    def begin(number: int) -> None:
        start.wait()
        work(number)

    with ThreadPoolExecutor(count) as threads:
        futures = [threads.submit(begin, number) for number in range(count)]
        start.wait()
        begun = time.monotonic()
        for future in futures:
            future.result(limit)
        return time.monotonic() - begun


def test_no_answer_of_many_threads_is_lost_or_given_to_another(host: toolspan.Host) -> None:
    def work(number: int) -> None:
        for call in range(200):
            text = f"{number} {call}"
            assert host.call("stage__echo", text=text).text == text

    at_once(64, work, limit=3 * LIMIT)


def test_the_threads_of_a_slow_tool_wait_together(host: toolspan.Host) -> None:
    """Compared with what one call takes, and what it takes as many threads to be begun."""

    def slow(number: int) -> None:
        assert host.call("stage__work", seconds=0.1).text == "worked"

    def quick(number: int) -> None:
        host.call("stage__echo", text="")

    slow(0)
    one = at_once(1, slow)
    assert one >= 0.1
    starting = max(at_once(32, quick) for _ in range(3))
    assert min(at_once(32, slow) for _ in range(3)) <= 2 * one + starting


def test_other_threads_run_on_while_one_waits(host: toolspan.Host, stage: Stage) -> None:
    """The waiting call ends only because another thread did a lot of Python in the meantime."""
    counted = []

    def count() -> None:
        stage.until("call", tool="hold")
        counted.append(sum(1 for _ in range(1_000_000)))
        host.call("stage__release")

    thread = threading.Thread(target=count)
    thread.start()
    assert host.with_options(timeout=LIMIT).call("stage__hold").text == "released"
    thread.join(LIMIT)
    assert counted == [1_000_000]


def test_other_threads_run_on_while_one_connects_refreshes_or_closes(stage: Stage) -> None:
    """A second thread notes each event of the server while the first waits for its answer."""
    noted = []

    def note() -> None:
        for event in ("begin", "list", "list", "end"):
            noted.append(stage.until(event)["event"])

    thread = threading.Thread(target=note)
    thread.start()
    host = toolspan.connect(stage.config())
    host.refresh()
    host.close()
    thread.join(LIMIT)
    assert noted == ["begin", "list", "list", "end"]


def test_a_call_in_each_thread_ends_when_another_closes_the_host(stage: Stage) -> None:
    host = toolspan.connect(stage.config())
    errors = []

    def wait(number: int) -> None:
        if number == 0:
            for _ in range(15):
                stage.until("call", tool="hold")
            host.close()
            return
        try:
            host.call("stage__hold")
        except toolspan.ToolspanError as error:
            errors.append(error.kind)

    at_once(16, wait)
    assert errors == ["closed"] * 15


def test_threads_may_close_the_same_host_at_once(stage: Stage) -> None:
    host = toolspan.connect(stage.config())
    at_once(8, lambda number: host.close())
    assert host.closed
    stage.assert_empty(0)


def test_threads_may_connect_at_once(stage: Stage) -> None:
    def use(number: int) -> None:
        with toolspan.connect(stage.config()) as host:
            assert host.call("stage__echo", text=str(number)).text == str(number)

    at_once(8, use)


def test_options_of_one_thread_are_not_those_of_another(host: toolspan.Host) -> None:
    def work(number: int) -> None:
        seen = []
        mine = host.with_options(on_progress=lambda progress: seen.append(progress.total))
        for _ in range(10):
            mine.call("stage__echo", progress=number + 1)
        assert seen.count(float(number + 1)) == len(seen) > 0

    at_once(8, work)


def test_an_error_of_one_thread_is_its_own(host: toolspan.Host) -> None:
    def work(number: int) -> None:
        for _ in range(20):
            if number % 2:
                assert host.call("stage__echo", text="fine").text == "fine"
                continue
            try:
                host.call(f"stage__missing_{number}")
            except toolspan.ToolNotFound as error:
                assert f"missing_{number}" in str(error)
            else:
                raise AssertionError("there is no such tool")

    at_once(8, work)


def test_all_threads_are_told_when_the_server_dies(host: toolspan.Host, stage: Stage) -> None:
    outcomes = []

    def work(number: int) -> None:
        if number == 0:
            for _ in range(7):
                stage.until("call", tool="hold")
        try:
            host.call("stage__die" if number == 0 else "stage__hold")
        except toolspan.ToolspanError as error:
            outcomes.append((error.kind, error.outcome))

    at_once(8, work)
    assert outcomes == [("closed", "unknown")] * 8
    assert host.call("stage__echo", text="again").text == "again"


def test_the_properties_of_a_host_can_be_read_while_it_changes(host: toolspan.Host) -> None:
    def work(number: int) -> None:
        for _ in range(20):
            if number == 0:
                host.refresh()
            assert len(host.tools) == 5
            assert host.status()[0]["state"] == "ready"
            assert not host.closed

    at_once(8, work)
