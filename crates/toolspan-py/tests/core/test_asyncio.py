"""Does the asynchronous door keep the rules of the loop it is used from?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import pytest
import toolspan
from kit.stage import LIMIT, Stage

MODEL_CALL = {"id": "1", "function": {"name": "stage__echo", "arguments": '{"text": "a"}'}}


def run_loop(main: Coroutine[Any, Any, Any]) -> Any:
    """As ``asyncio.run``, with a limit."""
    return asyncio.run(asyncio.wait_for(main, LIMIT))


async def told(stage: Stage, event: str, **members: Any) -> None:
    """Waits for an event without holding up the loop."""
    await asyncio.to_thread(stage.until, event, **members)


@pytest.fixture
def complaints(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What no caller was told, which must be nothing."""
    found: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", found.append)
    monkeypatch.setattr("threading.excepthook", found.append)
    yield found
    assert found == []


def test_a_call_gives_a_future_of_the_running_loop(host: toolspan.Host) -> None:
    async def main() -> None:
        future = host.acall("stage__echo", text="a")
        assert isinstance(future, asyncio.Future)
        assert future.get_loop() is asyncio.get_running_loop()
        assert "builtins" not in repr(future) and "<toolspan: ends the call>" in repr(future)
        assert (await future).text == "a"
        assert (await host.acall("stage__echo", {"text": "b"})).text == "b"

    run_loop(main())


def test_calls_run_at_the_same_time(host: toolspan.Host, stage: Stage) -> None:
    """All are held by the server before one of them is answered."""

    async def main() -> None:
        calls = asyncio.gather(*(host.acall("stage__hold") for _ in range(64)))
        for _ in range(64):
            await told(stage, "call", tool="hold")
        await host.acall("stage__release")
        assert [seen.text for seen in await calls] == ["released"] * 64

    run_loop(main())


def test_each_of_many_calls_gets_its_own_answer(host: toolspan.Host) -> None:
    async def main() -> None:
        texts = [str(number) for number in range(64)]
        calls = (host.acall("stage__echo", text=text) for text in texts)
        assert [seen.text for seen in await asyncio.gather(*calls)] == texts

    run_loop(main())


def test_many_calls_wait_for_their_turn(host: toolspan.Host) -> None:
    """As many as may be in flight, and half as many again that are queued."""

    async def main() -> None:
        calls = (host.acall("stage__echo", text=str(number)) for number in range(384))
        seen = await asyncio.gather(*calls)
        assert [each.text for each in seen] == [str(number) for number in range(384)]

    run_loop(main())


def test_an_error_is_raised_where_it_is_awaited(host: toolspan.Host) -> None:
    async def main() -> None:
        with pytest.raises(toolspan.ToolNotFound) as raised:
            await host.acall("stage__eho")
        assert raised.value.suggestions[0] == "stage__echo"
        with pytest.raises(toolspan.InvalidArguments):
            await host.acall("stage__echo", text=1)

    run_loop(main())


def test_a_cancelled_call_is_cancelled_at_the_server(host: toolspan.Host, stage: Stage) -> None:
    async def main() -> None:
        future = host.acall("stage__hold")
        await told(stage, "call", tool="hold")
        assert future.cancel()
        with pytest.raises(asyncio.CancelledError):
            await future
        assert future.cancelled() and not future.cancel()
        await told(stage, "cancelled", tool="hold")
        assert (await host.acall("stage__echo", text="on")).text == "on"

    run_loop(main())


def test_the_call_of_a_cancelled_task_is_cancelled(host: toolspan.Host, stage: Stage) -> None:
    async def main() -> None:
        async def work() -> None:
            await host.acall("stage__hold")

        task = asyncio.create_task(work())
        await told(stage, "call", tool="hold")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await told(stage, "cancelled", tool="hold")

    run_loop(main())


def test_a_call_may_be_cancelled_before_it_began(
    host: toolspan.Host, complaints: list[Any]
) -> None:
    async def main() -> None:
        for _ in range(50):
            host.acall("stage__hold").cancel()
        for _ in range(50):
            assert (await host.acall("stage__echo", text="on")).text == "on"

    run_loop(main())


def test_the_limit_of_wait_for_cancels(host: toolspan.Host, stage: Stage) -> None:
    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(host.acall("stage__hold"), 0.05)
        await told(stage, "cancelled", tool="hold")

    run_loop(main())


def test_the_limit_of_the_options_cancels(host: toolspan.Host, stage: Stage) -> None:
    async def main() -> None:
        with pytest.raises(toolspan.Timeout):
            await host.with_options(timeout=0.05).acall("stage__hold")
        await told(stage, "cancelled", tool="hold")

    run_loop(main())


def test_a_call_nobody_waits_for_goes_on(host: toolspan.Host, stage: Stage) -> None:
    """A future that is dropped is not cancelled, as with any other task of a loop."""

    async def main() -> None:
        host.acall("stage__hold")
        await told(stage, "call", tool="hold")
        await host.acall("stage__release")
        assert stage.so_far("cancelled") == []

    run_loop(main())


def test_loops_of_two_threads_use_one_host(host: toolspan.Host, stage: Stage) -> None:
    async def hold() -> str:
        return (await host.acall("stage__hold")).text

    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(run_loop(hold())))
    thread.start()

    async def main() -> None:
        mine = host.acall("stage__hold")
        for _ in range(2):
            await told(stage, "call", tool="hold")
        await host.acall("stage__release")
        assert (await mine).text == "released"

    run_loop(main())
    thread.join(LIMIT)
    assert seen == ["released"]


def test_one_loop_after_the_other_uses_one_host(host: toolspan.Host) -> None:
    async def main() -> str:
        return (await host.acall("stage__echo", text="a")).text

    assert [run_loop(main()) for _ in range(3)] == ["a"] * 3


@pytest.mark.parametrize(
    "door",
    [
        lambda host: host.acall("stage__echo", text="a"),
        lambda host: host.arun(MODEL_CALL),
        lambda host: host.afind("stage__echo"),
        lambda host: host.arefresh(),
        lambda host: host.aclose(),
        lambda host: toolspan.aconnect({"mcpServers": {}}).__await__(),
    ],
)
def test_without_a_running_loop_it_says_so(
    door: Callable[[toolspan.Host], Awaitable[Any]], host: toolspan.Host
) -> None:
    with pytest.raises(RuntimeError, match="no event loop runs on this thread"):
        door(host)
    assert not host.closed


def test_a_loop_may_be_closed_before_the_answer_comes(
    host: toolspan.Host, stage: Stage, complaints: list[Any]
) -> None:
    futures: list[asyncio.Future[toolspan.Observation]] = []

    async def main() -> None:
        futures.extend(host.acall("stage__hold", progress=1) for _ in range(8))
        for _ in range(8):
            await told(stage, "call", tool="hold")

    run_loop(main())
    host.call("stage__release")
    assert host.call("stage__echo", text="on").text == "on"
    assert not any(future.done() for future in futures)


def test_a_loop_may_be_closed_in_the_middle_of_progress(
    host: toolspan.Host, stage: Stage, complaints: list[Any]
) -> None:
    heard: list[Any] = []
    calls = host.with_options(on_progress=heard.append)

    async def main() -> None:
        calls.acall("stage__echo", progress=50, every=0.002)
        await told(stage, "progress", step=5)

    run_loop(main())
    stage.until("progress", step=50)
    assert host.call("stage__echo", text="on").text == "on"


def test_a_host_is_connected_and_closed_by_a_block(stage: Stage) -> None:
    async def main() -> None:
        async with toolspan.aconnect(stage.config()) as host:
            assert (await host.acall("stage__echo", text="a")).text == "a"
            assert not host.closed
        assert host.closed
        with pytest.raises(toolspan.ClosedError):
            await host.acall("stage__echo", text="a")

    run_loop(main())
    stage.assert_empty(0)


def test_a_host_that_was_awaited_is_closed_by_a_block(stage: Stage) -> None:
    async def main() -> None:
        host = await toolspan.aconnect(stage.config())
        async with host as same:
            assert same is host
        assert host.closed

    run_loop(main())
    stage.assert_empty(0)


def test_a_block_that_fails_closes_and_raises_its_error(stage: Stage) -> None:
    async def main() -> None:
        async with toolspan.aconnect(stage.config()):
            raise KeyError("of the block")

    with pytest.raises(KeyError, match="of the block"):
        run_loop(main())
    stage.assert_empty(0)


def test_a_host_is_closed_once_and_again(stage: Stage) -> None:
    async def main() -> None:
        host = await toolspan.aconnect(stage.config())
        await asyncio.gather(*(host.aclose() for _ in range(4)))
        await host.aclose()
        host.close()
        assert host.closed

    run_loop(main())
    stage.assert_empty(0)


def test_a_connect_that_is_cancelled_leaves_nothing(stage: Stage) -> None:
    async def main() -> None:
        task = asyncio.ensure_future(connected())
        await told(stage, "begin")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def connected() -> toolspan.Host:
        return await toolspan.aconnect(stage.config("silent"))

    run_loop(main())
    stage.assert_empty()


def test_a_config_that_cannot_be_used_is_an_error_of_the_await() -> None:
    async def main() -> None:
        connecting = toolspan.aconnect({"mcpServers": 3})
        with pytest.raises(toolspan.ConfigError):
            await connecting

    run_loop(main())


def test_every_waiting_method_has_an_asynchronous_door(host: toolspan.Host, stage: Stage) -> None:
    async def main() -> None:
        stage.until("list")
        assert (await host.arun(MODEL_CALL)).text == "a"
        assert (await host.arun({"nonsense": 1})).is_error
        assert (await host.afind("stage.echo")).name == "stage__echo"
        with pytest.raises(toolspan.ToolNotFound):
            await host.afind("stage__none")
        await host.arefresh()
        await told(stage, "list")

    run_loop(main())


def test_a_synchronous_call_inside_a_loop_works_and_warns_once(
    run_well: Callable[..., str],
) -> None:
    run_well("inside_a_loop.py")


@pytest.mark.parametrize("way", ["closed", "closed_by_a_with_block"])
def test_a_synchronous_close_inside_a_loop_closes_also_where_its_warning_is_an_error(
    way: str, run_well: Callable[..., str]
) -> None:
    run_well("inside_a_loop.py", way)


def test_a_synchronous_call_of_a_worker_thread_warns_of_nothing(
    host: toolspan.Host, recwarn: pytest.WarningsRecorder
) -> None:
    async def main() -> None:
        def call() -> str:
            return host.call("stage__echo", text="a").text

        assert await asyncio.to_thread(call) == "a"
        assert await asyncio.get_running_loop().run_in_executor(None, call) == "a"

    run_loop(main())
    assert not recwarn.list


def test_progress_is_told_on_the_thread_of_the_loop_before_the_result(host: toolspan.Host) -> None:
    async def main() -> None:
        heard: list[tuple[float, int, bool]] = []
        done = False

        def hear(progress: toolspan.Progress) -> None:
            assert asyncio.get_running_loop()
            heard.append((progress.progress, threading.get_ident(), done))

        calls = host.with_options(on_progress=hear)
        for _ in range(20):
            done = False
            await calls.acall("stage__echo", progress=20)
            done = True
            await host.acall("stage__echo", text="in between")
        here = threading.get_ident()
        assert heard
        assert {(thread, late) for _, thread, late in heard} == {(here, False)}
        steps = [step for step, _, _ in heard]
        assert steps.count(20.0) == 20, "the last report of a call is always told"

    run_loop(main())


def test_no_progress_is_told_of_a_cancelled_call(host: toolspan.Host, stage: Stage) -> None:
    async def main() -> None:
        heard: list[float] = []
        cancelled = False

        def hear(progress: toolspan.Progress) -> None:
            assert not cancelled
            heard.append(progress.progress)

        calls = host.with_options(on_progress=hear)
        future = calls.acall("stage__hold", progress=50, every=0.002)
        await told(stage, "progress", step=5)
        future.cancel()
        cancelled = True
        await told(stage, "cancelled", tool="hold")
        await host.acall("stage__echo", text="in between")

    run_loop(main())


def test_an_interrupt_of_asyncio_cancels_the_call(run_well: Callable[..., str]) -> None:
    run_well("inside_a_loop.py", "interrupted")
