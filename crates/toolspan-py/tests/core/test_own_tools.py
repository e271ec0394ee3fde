"""What does a function do that is a tool of a host?"""

from __future__ import annotations

import asyncio
import base64
import functools
import gc
import logging
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import toolspan
from kit.stage import LIMIT
from toolspan import CallContext

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


@pytest.fixture
def host() -> Iterator[toolspan.Host]:
    """A host without servers."""
    with toolspan.connect({"mcpServers": {}}) as host:
        yield host


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


def test_a_function_is_a_tool_and_stays_a_function(host: toolspan.Host) -> None:
    assert host.tool(add) is add and add(1, 1) == 2
    [tool] = host.tools
    assert (tool.name, tool.toolbox, tool.description) == ("add", "native", "Adds two numbers.")
    assert tool.signature == "(a: integer, b?: integer)"
    seen = host.call("add", a=1)
    assert (seen.text, seen.structured, seen.is_error) == ("3", 3, False)
    assert host.run({"name": "add", "arguments": '{"a": 4, "b": 4}'}).text == "8"
    assert [named["function"]["name"] for named in host.to_openai()] == ["add"]
    [listed] = host.to_mcp()
    assert (listed["name"], listed["inputSchema"]) == ("add", tool.input_schema)


def test_a_decorator_says_name_words_and_hints(host: toolspan.Host) -> None:
    @host.tool(name="sum", description="Sums up", annotations={"readOnlyHint": True})
    def own(a: int) -> int:
        """Not these words."""
        return a

    assert own(5) == 5
    [tool] = host.tools
    assert (tool.name, tool.description) == ("sum", "Sums up")
    assert tool.annotations == {"readOnlyHint": True}


def test_arguments_are_checked_by_the_engine_before_the_function_sees_them(
    host: toolspan.Host,
) -> None:
    seen: list[Any] = []

    @host.tool
    def look(a: int) -> None:
        seen.append(a)

    for wrong in ({"a": [1]}, {}, {"a": 1, "b": 2}):
        with pytest.raises(toolspan.InvalidArguments):
            host.call("look", wrong)
    assert seen == []


def test_what_is_no_tool_is_refused_with_its_name(host: toolspan.Host) -> None:
    class Odd: ...

    def of_odd(a: Odd) -> None: ...
    def of_many(*words: str) -> None: ...
    def of_more(**words: str) -> None: ...
    def late(a: int, context: CallContext) -> None: ...

    for function, word in {
        of_odd: "'a'.*Odd has no JSON form",
        of_many: r"\*words",
        of_more: r"\*\*words",
        late: "first parameter",
        print: r"\*args",
        Odd: "made of a function",
    }.items():
        with pytest.raises(TypeError, match=word):
            host.tool(function)
    with pytest.raises(TypeError, match="lambda"):
        host.tool(lambda: None)
    with pytest.raises(TypeError, match="blank"):
        host.tool(name=" ")(add)
    with pytest.raises(TypeError, match=r"write resources=\['notes'\]"):
        host.tool(resources="notes")(add)
    with pytest.raises(toolspan.UsageError, match="readonly"):
        host.tool(annotations={"readonly": True})(add)
    host.tool(add)
    with pytest.raises(toolspan.UsageError, match="another native tool has this name"):
        host.tool(add)
    assert [tool.name for tool in host.tools] == ["add"]


def test_a_removed_tool_can_be_called_no_more_and_its_name_is_free(host: toolspan.Host) -> None:
    host.tool(add)
    assert host.remove_tool("add") and not host.remove_tool("add")
    with pytest.raises(toolspan.ToolNotFound):
        host.call("add", a=1)
    host.tool(name="add")(lambda: "other")
    assert host.call("add").text == "other"


def test_a_tool_with_a_name_that_models_cannot_write_is_called_and_removed_by_either(
    host: toolspan.Host,
) -> None:
    for removed in ("größe", "gr__e"):

        @host.tool
        def größe(mass: int) -> int:
            return mass

        assert [(tool.name, tool.original_name) for tool in host.tools] == [("gr__e", "größe")]
        for name in ("größe", "gr__e"):
            assert host.call(name, mass=5).structured == 5
        assert host.remove_tool(removed) and not host.remove_tool(removed)
        assert host.tools == []


def test_an_exception_is_an_observation_and_its_traceback_goes_to_the_log_alone(
    host: toolspan.Host, caplog: pytest.LogCaptureFixture
) -> None:
    @host.tool
    def fail() -> None:
        raise LookupError("no such city")

    @host.tool
    async def fail_later() -> None:
        raise LookupError("no such city")

    @host.tool
    def leave() -> None:
        raise SystemExit(3)

    with caplog.at_level(logging.ERROR, "toolspan"):
        for name in ("fail", "fail_later"):
            seen = host.call(name)
            assert (seen.is_error, seen.text) == (True, "LookupError: no such city")
            assert "Traceback" not in repr(seen.to_dict())
        assert host.call("leave").text == "SystemExit: 3"
    assert [record.name for record in caplog.records] == ["toolspan"] * 3
    assert all(record.exc_info for record in caplog.records)


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_an_exception_that_cannot_say_what_it_is_is_told_by_its_class(host: toolspan.Host) -> None:
    @host.tool
    def fail() -> None:
        raise Mute

    @host.tool
    async def fail_later() -> None:
        raise Mute

    calls = host.with_options(timeout=LIMIT)
    for name in ("fail", "fail_later") * 2:
        seen = calls.call(name)
        assert (seen.is_error, seen.text) == (True, "Mute")


def test_a_log_that_fails_leaves_the_call_alone(host: toolspan.Host) -> None:
    def refuse(record: logging.LogRecord) -> bool:
        raise KeyError("no log today")

    @host.tool
    def fail() -> None:
        raise LookupError("no such city")

    log = logging.getLogger("toolspan")
    log.addFilter(refuse)
    try:
        assert host.call("fail").text == "LookupError: no such city"
    finally:
        log.removeFilter(refuse)


def test_a_function_that_wants_to_end_the_program_leaves_later_ones_alone(
    host: toolspan.Host,
) -> None:
    @host.tool
    async def end(by: str) -> None:
        raise {"key": KeyboardInterrupt, "exit": SystemExit}[by]

    @host.tool
    async def greet() -> str:
        return "hello"

    for by, name in {"key": "KeyboardInterrupt", "exit": "SystemExit"}.items():
        seen = host.call("end", by=by)
        assert (seen.is_error, seen.text) == (True, name)
        assert host.call("greet").text == "hello"


def test_a_loop_that_a_task_of_a_function_ends_is_replaced(
    host: toolspan.Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: ended.set())

    @host.tool
    async def leave() -> None:
        async def end() -> None:
            raise KeyboardInterrupt

        await asyncio.create_task(end())

    @host.tool
    async def greet() -> str:
        return "hello"

    with pytest.raises(toolspan.Cancelled):
        host.call("leave")
    assert ended.wait(LIMIT)
    assert host.call("greet").text == "hello"


@dataclass
class Place:
    name: str
    height: float


def test_each_value_becomes_the_observation_that_it_means(host: toolspan.Host) -> None:
    values: dict[str, Any] = {
        "none": None,
        "text": "said",
        "dict": {"a": [1]},
        "record": Place("Brocken", 1141.0),
        "image": PNG,
        "mixed": ["see:", PNG],
        "blob": b"\0\1",
        "odd": object(),
        "set": {3, 1},
        "nan": float("nan"),
        "blocks": [
            toolspan.TextContent("see:"),
            toolspan.ImageContent(PNG, "image/png"),
            toolspan.AudioContent(data="AAE=", mime_type="audio/wav"),
        ],
    }

    @host.tool
    def give(what: str) -> Any:
        return values[what]

    seen = {what: host.call("give", what=what) for what in values}
    assert (seen["none"].content, seen["none"].is_error) == ([], False)
    assert (seen["text"].text, seen["text"].structured) == ("said", None)
    assert seen["dict"].structured == {"a": [1]} and seen["dict"].text == '{"a":[1]}'
    assert seen["record"].structured == {"name": "Brocken", "height": 1141.0}
    [image] = seen["image"].content
    assert isinstance(image, toolspan.ImageContent)
    assert (image.to_bytes(), image.mime_type) == (PNG, "image/png")
    assert [block.type for block in seen["mixed"].content] == ["text", "image"]
    [blob] = seen["blob"].content
    assert isinstance(blob, toolspan.EmbeddedResource)
    assert blob.blob == base64.b64encode(b"\0\1").decode()
    assert seen["set"].structured == [1, 3]
    assert seen["odd"].is_error and "object is neither text nor JSON" in seen["odd"].text
    assert seen["nan"].is_error
    # The arguments are not to blame, and a model must not think so.
    assert seen["nan"].text.startswith("ValueError: the result cannot be written as JSON")
    assert [block.type for block in seen["blocks"].content] == ["text", "image", "audio"]
    assert seen["blocks"].content == values["blocks"]

    @host.tool
    def again() -> toolspan.Observation:
        return host.call("give", what="image")

    assert host.call("again").content == seen["image"].content


def test_a_plain_function_runs_on_a_thread_of_its_own_and_many_at_once(
    host: toolspan.Host,
) -> None:
    together = threading.Barrier(8, timeout=LIMIT)

    @host.tool
    def meet() -> int:
        together.wait()
        return threading.get_ident()

    with ThreadPoolExecutor(8) as threads:
        callers = list(threads.map(lambda _: threading.get_ident(), range(8)))
        ran_on = [seen.structured for seen in threads.map(lambda _: host.call("meet"), range(8))]
    assert len(set(ran_on)) == 8 and set(ran_on).isdisjoint([*callers, threading.get_ident()])


def test_calls_that_share_a_resource_run_one_after_the_other(host: toolspan.Host) -> None:
    inside = threading.Lock()

    @host.tool(resources=["the lock"])
    def alone() -> bool:
        entered = inside.acquire(blocking=False)
        if entered:
            inside.release()
        return entered

    with ThreadPoolExecutor(8) as threads:
        seen = [each.structured for each in threads.map(lambda _: host.call("alone"), range(64))]
    assert seen == [True] * 64


def test_an_asynchronous_function_runs_on_the_loop_that_waits_for_it(host: toolspan.Host) -> None:
    @host.tool
    async def where() -> list[int]:
        await asyncio.sleep(0)
        return [threading.get_ident(), id(asyncio.get_running_loop())]

    async def main() -> None:
        here = [threading.get_ident(), id(asyncio.get_running_loop())]
        assert (await host.acall("where")).structured == here
        together = await asyncio.gather(*(host.acall("where") for _ in range(50)))
        assert all(seen.structured == here for seen in together)

    asyncio.run(main())
    asyncio.run(main())
    other, _ = host.call("where").structured
    assert other != threading.get_ident()
    assert host.call("where").structured[0] == other


def test_a_tool_calls_its_host_again(host: toolspan.Host) -> None:
    @host.tool
    def count(down_from: int) -> int:
        if not down_from:
            return 0
        return 1 + int(host.call("count", down_from=down_from - 1).text)

    @host.tool
    async def count_awaited(down_from: int) -> int:
        if not down_from:
            return 0
        return 1 + int((await host.acall("count_awaited", down_from=down_from - 1)).text)

    assert host.call("count", down_from=20).structured == 20
    assert host.call("count_awaited", down_from=20).structured == 20
    assert asyncio.run(awaited(host, "count_awaited", down_from=20)).structured == 20


@pytest.mark.filterwarnings("ignore:a synchronous call of toolspan stops")
def test_an_asynchronous_function_that_calls_its_host_synchronously_gets_its_answer(
    host: toolspan.Host,
) -> None:
    @host.tool
    async def count(down_from: int) -> int:
        if not down_from:
            return 0
        return 1 + int(host.call("count", down_from=down_from - 1).text)

    calls = host.with_options(timeout=LIMIT)
    assert calls.call("count", down_from=5).structured == 5
    assert asyncio.run(awaited(calls, "count", down_from=5)).structured == 5
    with ThreadPoolExecutor(4) as threads:
        seen = threads.map(lambda _: calls.call("count", down_from=3).structured, range(8))
        assert list(seen) == [3] * 8


@pytest.mark.filterwarnings("ignore:a synchronous call of toolspan stops")
def test_loops_that_wait_for_one_another_have_a_bound(host: toolspan.Host) -> None:
    @host.tool
    async def again() -> str:
        seen = host.run({"name": "again", "arguments": {}})
        return seen.text

    seen = host.with_options(timeout=LIMIT).call("again")
    assert "hold up 64 loops" in seen.text
    assert host.call("again").text == seen.text


def through(function: Any) -> Any:
    """A decorator that knows nothing of asynchronous functions."""

    @functools.wraps(function)
    def within(*positional: Any, **named: Any) -> Any:
        return function(*positional, **named)

    return within


def test_a_decorated_function_is_run_as_its_decorator_wants(host: toolspan.Host) -> None:
    async def later(a: int) -> int:
        await asyncio.sleep(0)
        return a

    @functools.wraps(later)
    def waiting(a: int) -> int:
        return asyncio.run(later(a))

    @functools.wraps(add)
    async def asynchronous(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return add(a, b)

    kinds: dict[str, Any] = {
        "plain": through(add),
        "within": through(later),
        "partial": functools.partial(through(later), a=5),
        "waiting": waiting,
        "asynchronous": asynchronous,
        "lambda": lambda a: later(a),
    }
    for name, function in kinds.items():
        host.tool(name=name)(function)
        arguments = {"a": 5, "b": 0} if name in ("plain", "asynchronous") else {"a": 5}
        assert host.call(name, arguments).structured == 5, name
        assert asyncio.run(awaited(host, name, **arguments)).structured == 5, name


def test_a_timeout_cancels_an_asynchronous_function_within_a_plain_one(
    host: toolspan.Host,
) -> None:
    ended = threading.Event()

    @host.tool
    @through
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(toolspan.Timeout):
        host.with_options(timeout=0.1).call("hang")
    assert ended.wait(LIMIT)


async def awaited(host: toolspan.Host, name: str, **arguments: Any) -> toolspan.Observation:
    """Awaits one call on a loop of its own."""
    return await host.acall(name, **arguments)


def test_a_timeout_cancels_an_asynchronous_function(host: toolspan.Host) -> None:
    ended = threading.Event()

    @host.tool
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(toolspan.Timeout):
        host.with_options(timeout=0.1).call("hang")
    assert ended.wait(LIMIT)


def test_who_cancels_a_call_cancels_the_function(host: toolspan.Host) -> None:
    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()

        @host.tool
        async def hang() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        call = host.acall("hang")
        await asyncio.wait_for(begun.wait(), LIMIT)
        call.cancel()
        await asyncio.wait_for(ended.wait(), LIMIT)

    asyncio.run(main())


def test_a_plain_function_sees_that_nobody_waits_for_it_any_more(host: toolspan.Host) -> None:
    seen = threading.Event()

    @host.tool
    def work(context: CallContext) -> None:
        until = time.monotonic() + LIMIT
        while not context.cancelled and time.monotonic() < until:
            threading.Event().wait(0.005)
        seen.set()

    with pytest.raises(toolspan.Timeout):
        host.with_options(timeout=0.1).call("work")
    assert seen.wait(LIMIT)


def test_a_context_says_what_the_caller_gave(host: toolspan.Host) -> None:
    conversation = object()
    given: list[Any] = []

    @host.tool
    def look(context: CallContext, word: str) -> str:
        given.append((context.tool, context.meta, context.conversation))
        context.report(1, 2, "half")
        return word

    [tool] = host.tools
    assert tool.signature == "(word: string)"
    told: list[toolspan.Progress] = []
    calls = host.with_options(meta={"a": 1}, conversation=conversation, on_progress=told.append)
    assert calls.call("look", word="x").text == "x"
    assert given == [("look", {"a": 1}, conversation)]
    assert [(each.progress, each.total, each.message) for each in told] == [(1.0, 2.0, "half")]


def test_a_host_that_its_own_tools_hold_is_collected() -> None:
    def used() -> weakref.ref[toolspan.Host]:
        host = toolspan.connect({"mcpServers": {}})

        @host.tool
        def look() -> int:
            return len(host.tools)

        assert host.call("look").structured == 1
        host.close()
        return weakref.ref(host)

    gone = used()
    gc.collect()
    assert gone() is None


def test_a_closed_host_takes_no_tool_and_runs_none(host: toolspan.Host) -> None:
    host.tool(add)
    host.close()
    with pytest.raises(toolspan.ClosedError):
        host.call("add", a=1)
    with pytest.raises(toolspan.ClosedError):
        host.tool(name="other")(add)


def test_a_close_ends_calls_of_functions(host: toolspan.Host) -> None:
    begun = threading.Event()

    @host.tool
    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(host.call, "hang")
        assert begun.wait(LIMIT)
        host.close()
        with pytest.raises(toolspan.ClosedError):
            call.result(LIMIT)


SECRETS = {"KEY": "the-key-of-the-house", "OTHER": "another-key-of-it"}


def test_a_tool_has_the_secrets_that_it_may_have_and_nobody_sees_them() -> None:
    allowed = {"native": ["KEY"]}
    with toolspan.connect({"mcpServers": {}}, secrets=SECRETS, allow_secrets=allowed) as host:
        seen = []

        @host.tool
        def send(context: toolspan.CallContext, name: str) -> str:
            seen.append(context.secret(name))
            assert seen[-1] not in repr(context)
            return f"sent {seen[-1]} home"

        told = host.call("send", name="KEY").text
        assert seen == [SECRETS["KEY"]]
        assert told.startswith("sent ") and told.endswith(" home") and seen[0] not in told
        refused = host.call("send", name="OTHER")
        assert refused.is_error and "PolicyDenied" in refused.text, refused
        assert SECRETS["OTHER"] not in refused.text


def test_a_secret_takes_the_place_of_its_name_in_arguments_where_a_program_says_so() -> None:
    allowed = {"native": ["KEY"]}
    boxes = ["native"]
    with toolspan.connect(
        {"mcpServers": {}}, secrets=SECRETS, allow_secrets=allowed, secrets_in_arguments=boxes
    ) as host:
        seen = []

        @host.tool
        def send(key: str) -> str:
            seen.append(key)
            return key

        told = host.call("send", key={"$secret": "KEY"}).text
        assert seen == [SECRETS["KEY"]] and seen[0] not in told
        with pytest.raises(toolspan.PolicyDenied):
            host.call("send", key={"$secret": "OTHER"})
    with toolspan.connect({"mcpServers": {}}, secrets=SECRETS, allow_secrets=allowed) as host:
        host.tool(send)
        with pytest.raises(toolspan.InvalidArguments):
            host.call("send", key={"$secret": "KEY"})


def test_a_host_without_secrets_has_none_to_give() -> None:
    with toolspan.connect({"mcpServers": {}}) as host:

        @host.tool
        def ask(context: toolspan.CallContext) -> str:
            return context.secret("KEY")

        refused = host.call("ask")
        assert refused.is_error and "PolicyDenied" in refused.text, refused


@pytest.mark.parametrize(
    ("secrets", "allowed", "boxes", "kind", "said"),
    [
        ({"KEY": 1}, {}, [], TypeError, "a secret is a text"),
        (SECRETS, {"native": "KEY"}, [], TypeError, r"write \['KEY'\]"),
        (SECRETS, {"native": ["KYE"]}, [], ValueError, "no secret 'KYE'"),
        (SECRETS, {}, "native", TypeError, r"write \['native'\]"),
    ],
)
def test_secrets_that_are_given_wrongly_are_refused(
    secrets: Any, allowed: Any, boxes: Any, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        toolspan.connect(
            {"mcpServers": {}}, secrets=secrets, allow_secrets=allowed, secrets_in_arguments=boxes
        )
