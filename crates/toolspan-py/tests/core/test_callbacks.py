"""What may a callback do, and what can it break?"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import toolspan
from kit.stage import LIMIT, Stage


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[BaseException | None]:
    """The exceptions that Python was told of as raised where nobody can catch them."""
    heard: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: heard.append(error.exc_value))
    return heard


class Heard:
    """What a callback was given, and an event for each."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.all: list[Any] = []
        self.threads: set[int] = set()
        self.then = then
        self._more = threading.Condition()

    def __call__(self, what: Any) -> None:
        with self._more:
            self.all.append(what)
            self.threads.add(threading.get_ident())
            self._more.notify_all()
        self.then()

    def wait(self, count: int = 1) -> list[Any]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.all) >= count, LIMIT), self.all
            return self.all


def fail() -> None:
    raise ValueError("in a callback")


def test_progress_of_a_call_is_told_on_its_own_thread(host: toolspan.Host) -> None:
    hear = Heard()
    host.with_options(on_progress=hear).call("stage__echo", progress=3, every=0.01)
    assert hear.threads == {threading.get_ident()}
    assert [progress.progress for progress in hear.all][-1] == 3.0
    assert {progress.total for progress in hear.all} == {3.0}


def test_no_progress_is_told_after_the_result(host: toolspan.Host) -> None:
    hear = Heard()
    calls = host.with_options(on_progress=hear)
    for _ in range(50):
        calls.call("stage__echo", progress=20)
        told = len(hear.all)
        host.call("stage__echo", text="in between")
        assert len(hear.all) == told
    assert [progress.progress for progress in hear.all].count(20.0) == 50


def test_progress_comes_while_the_call_waits(host: toolspan.Host, stage: Stage) -> None:
    """The call ends only because the callback was called before its end."""
    calls = host.with_options(on_progress=lambda progress: host.call("stage__release"))
    assert calls.call("stage__hold", progress=1).text == "released"


def test_an_exception_of_a_progress_callback_is_reported_and_the_call_goes_on(
    host: toolspan.Host, unraisable: list[BaseException | None]
) -> None:
    calls = host.with_options(on_progress=Heard(fail))
    assert calls.call("stage__echo", text="a", progress=1).text == "a"
    assert [str(error) for error in unraisable] == ["in a callback"]


def test_an_exception_of_a_progress_callback_in_a_loop_is_reported_and_the_call_goes_on(
    host: toolspan.Host, unraisable: list[BaseException | None]
) -> None:
    async def main() -> None:
        calls = host.with_options(on_progress=Heard(fail))
        assert (await calls.acall("stage__echo", text="a", progress=1)).text == "a"

    asyncio.run(main())
    assert [str(error) for error in unraisable] == ["in a callback"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_end_in_a_progress_callback_ends_the_call(
    kind: type[BaseException], host: toolspan.Host, stage: Stage
) -> None:
    def end() -> None:
        raise kind("from a callback")

    with pytest.raises(kind, match="from a callback"):
        host.with_options(on_progress=Heard(end)).call("stage__hold", progress=1)
    stage.until("cancelled", tool="hold")
    assert host.call("stage__echo", text="on").text == "on"


def test_calls_in_a_progress_callback_nest(host: toolspan.Host) -> None:
    depth = 0

    def deeper(progress: toolspan.Progress) -> None:
        nonlocal depth
        if depth < 5:
            depth += 1
            assert nesting.call("stage__echo", text="in", progress=1).text == "in"

    nesting = host.with_options(on_progress=deeper)
    assert nesting.call("stage__echo", text="out", progress=1).text == "out"
    assert depth == 5


def test_a_progress_callback_may_close_the_host(stage: Stage) -> None:
    host = toolspan.connect(stage.config())
    with pytest.raises(toolspan.ClosedError):
        host.with_options(on_progress=Heard(host.close)).call("stage__hold", progress=1)
    assert host.closed


def test_log_messages_are_told_on_another_thread(stage: Stage) -> None:
    hear = Heard()
    with toolspan.connect(stage.config(), on_log=hear) as host:
        host.call("stage__echo", log="first")
        host.call("stage__echo", log="second")
        messages = hear.wait(2)
    assert [(each.toolbox, each.level, each.text) for each in messages] == [
        ("stage", "info", "first"),
        ("stage", "info", "second"),
    ]
    assert threading.get_ident() not in hear.threads
    assert len(hear.threads) == 1


def test_an_exception_of_a_log_callback_is_reported_and_the_next_message_is_told(
    stage: Stage, unraisable: list[BaseException | None]
) -> None:
    hear = Heard(fail)
    with toolspan.connect(stage.config(), on_log=hear) as host:
        assert host.call("stage__echo", text="a", log="first").text == "a"
        host.call("stage__echo", log="second")
        hear.wait(2)
    assert [str(error) for error in unraisable] == ["in a callback"] * 2


def test_a_log_callback_may_call_the_host(stage: Stage) -> None:
    answers = Heard()

    def call() -> None:
        answers(host.call("stage__echo", text="from a callback").text)

    with toolspan.connect(stage.config(), on_log=Heard(call)) as host:
        host.call("stage__echo", log="a")
        assert answers.wait() == ["from a callback"]


def test_a_log_callback_may_close_the_host(stage: Stage) -> None:
    host = toolspan.connect(stage.config(), on_log=Heard(lambda: close()))
    closed = threading.Event()

    def close() -> None:
        host.close()
        closed.set()

    try:
        host.call("stage__echo", log="a")
    except toolspan.ClosedError:
        # The answer may come later than the close.
        pass
    assert closed.wait(LIMIT)
    assert host.closed


def test_a_log_callback_that_does_not_return_holds_up_nothing_else(stage: Stage) -> None:
    let_go = threading.Event()
    stuck = Heard(lambda: let_go.wait(2 * LIMIT))
    hear = Heard()
    try:
        with toolspan.connect(stage.config(), on_log=stuck) as host:
            host.call("stage__echo", log="a")
            stuck.wait()
            assert host.call("stage__echo", text="on", log="b").text == "on"
            with toolspan.connect(stage.config()) as other:
                reports = other.with_options(on_progress=hear)
                assert reports.call("stage__echo", text="on", progress=1).text == "on"
                assert asyncio.run(called(reports)) == "on"
        assert len(hear.all) == 2
    finally:
        let_go.set()


def test_a_log_callback_that_does_not_return_holds_up_no_other_host(stage: Stage) -> None:
    """Neither the log messages of another host."""
    let_go = threading.Event()
    stuck = Heard(lambda: let_go.wait(2 * LIMIT))
    hear = Heard()
    try:
        with toolspan.connect(stage.config(), on_log=stuck) as host:
            host.call("stage__echo", log="a")
            stuck.wait()
            with toolspan.connect(stage.config(), on_log=hear) as other:
                other.call("stage__echo", log="b")
                assert hear.wait()[0].text == "b"
    finally:
        let_go.set()


async def called(host: toolspan.Host) -> str:
    return (await host.acall("stage__echo", text="on", progress=1)).text


def test_a_progress_callback_that_does_not_return_holds_up_its_own_call_alone(
    host: toolspan.Host, stage: Stage
) -> None:
    let_go = threading.Event()
    stuck = Heard(lambda: let_go.wait(2 * LIMIT))
    calls = host.with_options(on_progress=stuck)
    answers: list[str] = []

    def call() -> None:
        answers.append(calls.call("stage__hold", progress=1).text)

    thread = threading.Thread(target=call)
    thread.start()
    try:
        stuck.wait()
        assert host.call("stage__echo", text="on").text == "on"
        assert asyncio.run(called(host)) == "on"
        host.call("stage__release")
        assert answers == []
    finally:
        let_go.set()
    thread.join(LIMIT)
    assert answers == ["released"]


def test_a_flood_of_log_messages_is_bounded_and_stops_nothing(stage: Stage) -> None:
    """What a slow callback does not get is dropped, not kept for ever."""
    let_go = threading.Event()
    stuck = Heard(lambda: let_go.wait(2 * LIMIT))
    try:
        with toolspan.connect(stage.config(), on_log=stuck) as host:
            for number in range(2_000):
                host.call("stage__echo", log=str(number))
            assert stuck.wait()[0].text == "0"
            assert host.call("stage__echo", text="on").text == "on"
    finally:
        let_go.set()


@pytest.mark.parametrize("wrong", [3, "print", []])
def test_a_callback_that_cannot_be_called_is_refused_at_once(
    wrong: Any, host: toolspan.Host, stage: Stage
) -> None:
    with pytest.raises(TypeError):
        host.with_options(on_progress=wrong)
    with pytest.raises(TypeError):
        toolspan.connect(stage.config(), on_log=wrong)
