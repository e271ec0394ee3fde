"""What becomes of a host that nobody closed?"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import toolspan
from kit.processes import marked, wait_gone
from kit.stage import LIMIT, Stage
from kit.wait import until

#: Seconds until the servers of a host that was dropped are gone: nobody waits for them.
GONE = 5.0


@contextmanager
def one_resource_warning() -> Iterator[None]:
    with pytest.warns(ResourceWarning, match="^unclosed <toolspan.Host stage: 5 tools>") as heard:
        yield
        gc.collect()
    assert len(heard) == 1, [str(each.message) for each in heard]


def test_a_dropped_host_warns_and_its_servers_end(stage: Stage) -> None:
    host = toolspan.connect(stage.config("grandchild"))
    stage.until("grandchild")
    servers = marked(stage.mark)
    assert len(servers) == 2
    with one_resource_warning():
        del host
    for server in servers:
        wait_gone(server.pid, GONE)


def test_a_closed_host_is_dropped_in_silence(stage: Stage) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with toolspan.connect(stage.config()) as host:
            pass
        del host
        host = toolspan.connect(stage.config())
        options = host.with_options(timeout=5)
        options.close()
        del host, options
        gc.collect()


def test_a_host_lives_as_long_as_one_with_other_options(stage: Stage) -> None:
    host = toolspan.connect(stage.config())
    options = host.with_options(timeout=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del host
        gc.collect()
    assert options.call("stage__echo", text="a").text == "a"
    with one_resource_warning():
        del options


def test_a_host_dropped_during_its_call_answers_first(stage: Stage) -> None:
    """The call itself holds the host; with the call it goes."""
    answers: list[str] = []

    def call(host: toolspan.Host) -> None:
        answers.append(host.call("stage__hold").text)

    hosts = [toolspan.connect(stage.config())]
    releasing = hosts[0].with_options(timeout=LIMIT)
    thread = threading.Thread(target=call, args=[hosts[0]])
    thread.start()
    hosts.clear()
    stage.until("call", tool="hold")
    gc.collect()
    releasing.call("stage__release")
    thread.join(LIMIT)
    assert answers == ["released"]
    releasing.close()


def test_a_host_dropped_during_an_asynchronous_call_answers_first(stage: Stage) -> None:
    async def main() -> None:
        host = await toolspan.aconnect(stage.config())
        future = host.acall("stage__work", seconds=0.2)
        await asyncio.to_thread(stage.until, "call", tool="work")
        del host
        gc.collect()
        assert (await future).text == "worked"
        del future

    with one_resource_warning():
        asyncio.run(main())
    stage.assert_empty(GONE)


def test_a_dropped_call_of_a_dropped_host_ends_with_it(stage: Stage) -> None:
    """Nothing waits for the answer, which never comes: the host may not live for its sake."""

    async def main() -> None:
        host = await toolspan.aconnect(stage.config())
        future = host.acall("stage__hold")
        await asyncio.to_thread(stage.until, "call", tool="hold")
        future.cancel()
        del host, future

    with one_resource_warning():
        asyncio.run(main())
    stage.assert_empty(GONE)


class Agent:
    """Holds a host that holds it."""

    def __init__(self, stage: Stage) -> None:
        self.plain = toolspan.connect(stage.config(), on_log=self.hear)
        self.host = self.plain.with_options(on_progress=self.hear)

    def hear(self, what: Any) -> None:
        """Keeps nothing."""


def test_a_cycle_through_a_callback_is_collected(stage: Stage) -> None:
    agent = Agent(stage)
    assert agent.host.call("stage__echo", text="a", progress=1, log="b").text == "a"
    gone = weakref.ref(agent)
    with one_resource_warning():
        del agent
    assert gone() is None
    stage.assert_empty(GONE)


@pytest.mark.parametrize(
    "keep",
    [
        lambda host: host.tools,
        lambda host: host.find("stage__echo"),
        lambda host: host.call("stage__echo", text="kept"),
        lambda host: host.call("stage__echo", text="kept").content,
        lambda host: host.status(),
        lambda host: host.to_openai(),
        lambda host: error_of(host),
    ],
)
def test_what_a_host_gave_keeps_no_server_alive(
    keep: Callable[[toolspan.Host], Any], stage: Stage
) -> None:
    host = toolspan.connect(stage.config())
    kept = keep(host)
    with one_resource_warning():
        del host
    stage.assert_empty(GONE)
    assert kept


def error_of(host: toolspan.Host) -> toolspan.ToolspanError:
    with pytest.raises(toolspan.ToolNotFound) as raised:
        host.find("stage__none")
    return raised.value.with_traceback(None)


def test_a_kept_tool_can_still_be_read_and_check_arguments(stage: Stage) -> None:
    with toolspan.connect(stage.config()) as host:
        tool = host.find("stage__echo")
        seen = host.call(tool.name, text="kept")
    stage.assert_empty(0)
    assert tool.original_name == "echo"
    tool.validate(text="a")
    with pytest.raises(toolspan.InvalidArguments):
        tool.validate(text=1)
    assert seen.text == "kept"


def test_a_connect_that_fails_leaves_nothing(stage: Stage) -> None:
    config = stage.config()
    config["mcpServers"]["missing"] = {"command": "/no/such/program", "required": True}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(toolspan.StartupError):
            toolspan.connect(config)
        gc.collect()
    stage.assert_empty()


def test_hosts_made_and_dropped_in_a_loop_leave_nothing(stage: Stage) -> None:
    for _ in range(10):
        with pytest.warns(ResourceWarning):
            host = toolspan.connect(stage.config())
            assert host.call("stage__echo", text="a").text == "a"
            del host
            gc.collect()
    stage.assert_empty(GONE)


def test_hosts_that_were_closed_leave_no_descriptor_and_no_thread(stage: Stage) -> None:
    """But for those that all hosts share, which the first of them leaves."""

    async def call(host: toolspan.Host) -> None:
        await asyncio.gather(*(host.acall("stage__echo", progress=1) for _ in range(8)))
        cancelled = host.acall("stage__hold")
        await asyncio.sleep(0)
        cancelled.cancel()

    def use() -> None:
        with toolspan.connect(stage.config(), on_log=lambda message: None) as plain:
            host = plain.with_options(on_progress=lambda progress: None)
            assert host.call("stage__echo", text="a", progress=1, log="b").text == "a"
            asyncio.run(call(host))

    def left() -> tuple[int, int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    use()
    descriptors, threads = left()
    for _ in range(10):
        use()
    until(lambda: left()[0] <= descriptors, "the descriptors are closed")
    until(lambda: left()[1] <= threads, "the threads have ended")
