"""What does a tool do that is written as classes, with models of pydantic?"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import toolspan
from pydantic import Field
from toolspan import tools
from toolspan.tools import (
    Action,
    Observation,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
    ToolSpec,
)


class CountAction(Action):
    """How much to add."""

    by: int = 1


class CountObservation(Observation):
    count: int = 0

    @property
    def to_llm_content(self) -> list[Any]:
        return [f"The count is {self.count}."]

    @property
    def visualize(self) -> Any:
        return Text(f"count: {self.count}\x1b[2J")


class Text:
    """As rich has it."""

    def __init__(self, plain: str) -> None:
        self.plain = plain


class CountExecutor(ToolExecutor[CountAction, CountObservation]):
    def __init__(self, start: int = 0) -> None:
        self.count = start
        self.heard: list[str] = []

    def __call__(self, action: CountAction, conversation: Any = None) -> CountObservation:
        assert isinstance(action, CountAction)
        self.heard.append(f"call of {conversation}")
        self.count += action.by
        return CountObservation(count=self.count)

    def close(self) -> None:
        self.heard.append("close")


class CounterTool(ToolDefinition[CountAction, CountObservation]):
    @classmethod
    def create(cls, conv_state: Any = None, start: int = 0) -> Sequence[CounterTool]:
        return [counter(CountExecutor(start), cls)]


def counter(executor: ToolExecutor[Any, Any] | None, of: Any = CounterTool, **more: Any) -> Any:
    """A tool that counts."""
    return of(
        description="Counts",
        action_type=CountAction,
        observation_type=CountObservation,
        executor=executor,
        **more,
    )


@pytest.fixture
def host() -> Iterator[toolspan.Host]:
    """A host without servers."""
    with toolspan.connect({"mcpServers": {}}) as host:
        yield host


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """No name is registered after a test."""
    yield
    for name in tools.list_registered_tools():
        tools.unregister_tool(name)


def test_a_host_runs_a_tool_of_classes(host: toolspan.Host) -> None:
    executor = CountExecutor()
    hints = ToolAnnotations(title="Counter", readOnlyHint=False, destructiveHint=False)
    tool = counter(executor, annotations=hints)
    assert host.add_tool(tool) == ["counter"]
    [known] = host.tools
    assert (known.name, known.title, known.description) == ("counter", "Counter", "Counts")
    assert known.annotations == hints.to_dict()
    assert known.input_schema["properties"]["by"]["default"] == 1
    assert "kind" not in known.input_schema["properties"]

    seen = host.with_options(conversation="today").call("counter", by=2)
    assert seen.structured == {"count": 2} and seen.text == '{"count":2}'
    assert seen.schema_violation is None
    [given] = seen.to_llm_content()
    assert isinstance(given, toolspan.TextContent) and given.text == "The count is 2."
    assert seen.visualize() == "count: 2"
    with pytest.raises(toolspan.InvalidArguments):
        host.call("counter", more=2)
    assert host.remove_tool("counter")
    host.close()
    assert executor.heard == ["call of today", "close"]


def test_a_close_of_the_host_closes_each_executor_once(host: toolspan.Host) -> None:
    executors = [CountExecutor(), CountExecutor()]
    for number, executor in enumerate(executors):
        host.add_tool(counter(executor, name=f"counter_{number}"))
    host.close()
    host.close()
    assert [executor.heard for executor in executors] == [["close"], ["close"]]


def test_an_executor_is_closed_when_the_interpreter_ends(run_script: Callable[..., Any]) -> None:
    code = """
import toolspan
from toolspan.tools import *

class A(Action):
    pass

class E(ToolExecutor):
    def __call__(self, action, conversation=None):
        return Observation.from_text("a")
    def close(self):
        print("closed", flush=True)

host = toolspan.connect({"mcpServers": {}})
host.add_tool(ToolDefinition(name="a", description="", action_type=A, executor=E()))
assert host.call("a").text == "a"
"""
    ended = run_script(code)
    assert (ended.code, ended.stdout, ended.stderr) == (0, "closed\n", "")


def test_what_a_tool_declares_for_an_action_is_what_its_call_has_for_itself(
    host: toolspan.Host,
) -> None:
    limit = 20.0
    alone, together = threading.Lock(), threading.Barrier(2, timeout=limit)

    class Files(ToolExecutor[CountAction, Observation]):
        def __call__(self, action: CountAction, conversation: Any = None) -> Observation:
            if action.by == 0:
                entered = alone.acquire(blocking=False)
                if entered:
                    alone.release()
                return Observation.from_text(str(entered))
            together.wait()
            return Observation.from_text("met")

    class FilesTool(ToolDefinition[CountAction, Observation]):
        def declared_resources(self, action: CountAction) -> list[str] | None:
            if action.by < 0:
                raise RuntimeError("it cannot be told")
            return [f"file:{action.by}"]

    host.add_tool(
        FilesTool(description="Files", action_type=CountAction, executor=Files(), name="files")
    )

    def texts(numbers: list[int]) -> list[str]:
        with ThreadPoolExecutor(8) as threads:
            return list(threads.map(lambda by: host.call("files", by=by).text, numbers))

    assert texts([1, 2]) == ["met", "met"]
    assert texts([0] * 64) == ["True"] * 64
    threads = ThreadPoolExecutor(2)
    with threads:
        # Where it cannot be told they run one after the other: the barrier is broken by its limit.
        together = threading.Barrier(2, timeout=0.2)
        failed = list(threads.map(lambda _: host.call("files", by=-1).is_error, range(2)))
    assert failed == [True, True]


def test_an_asynchronous_executor_runs_too(host: toolspan.Host) -> None:
    class Later(CountExecutor):
        async def __call__(  # type: ignore[override]
            self, action: CountAction, conversation: Any = None
        ) -> CountObservation:
            return super().__call__(action, conversation)

    host.add_tool(counter(Later()))
    assert host.call("counter", by=3).structured == {"count": 3}


def test_an_executor_takes_the_conversation_as_it_likes(host: toolspan.Host) -> None:
    class Alone(ToolExecutor[CountAction, Observation]):
        def __call__(self, action: CountAction) -> Observation:  # type: ignore[override]
            return Observation.from_text(f"alone {action.by}")

    class ByKeyword(ToolExecutor[CountAction, Observation]):
        async def __call__(  # type: ignore[override]
            self, action: CountAction, *, conversation: Any = None
        ) -> Observation:
            return Observation.from_text(f"by keyword {conversation}")

    class ByPlace(ByKeyword):
        def __call__(self, action: CountAction, state: Any, *more: int) -> Observation:  # type: ignore[override]
            return Observation.from_text(f"by place {state}")

    class All(ToolExecutor[CountAction, Observation]):
        def __call__(self, *all: Any) -> Observation:
            return Observation.from_text(f"all {all[1]}")

    said: dict[type[Any], str] = {
        Alone: "alone 2",
        ByKeyword: "by keyword today",
        ByPlace: "by place today",
        All: "all today",
    }
    for executor, text in said.items():
        name = executor.__name__
        host.add_tool(
            ToolDefinition(name=name, description="", action_type=CountAction, executor=executor())
        )
        assert host.with_options(conversation="today").call(name, by=2).text == text


def test_what_is_no_spec_is_refused_with_what_to_give(host: toolspan.Host) -> None:
    for wrong in (5, lambda: 1, CountAction, None):
        with pytest.raises(TypeError, match="give a ToolDefinition, a ToolSpec"):
            host.add_tool(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs a name"):
        host.add_tool({"params": {}})
    with pytest.raises(TypeError, match="name of a tool is a text"):
        ToolSpec(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a dict"):
        ToolSpec("a", [1])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "tool"),
    {
        "TerminalTool": "terminal",
        "XMLHttpRequest": "xml_http_request",
        "MyMCPTool": "my_mcp",
        "HTTP2Tool": "http2",
        "BrowserToolSet": "browser_tool_set",
        "Tool": "tool",
        "getURLTool": "get_url",
        "V2Tool": "v2",
    }.items(),
)
def test_a_tool_is_named_after_its_class(name: str, tool: str) -> None:
    assert type(name, (ToolDefinition,), {}).name == tool


def test_a_name_that_a_class_says_wins() -> None:
    class OddTool(ToolDefinition[CountAction, CountObservation]):
        name = "even"

    assert OddTool.name == "even"
    assert counter(None, OddTool, name="own").name == "own"
    with pytest.raises(ValueError, match="needs a name"):
        counter(None, ToolDefinition)
    with pytest.raises(ValueError, match="blank"):
        counter(None, name=" ")


def test_a_tool_never_changes_and_equals_its_like() -> None:
    executor = CountExecutor()
    tool = counter(executor)
    assert tool == counter(executor) != counter(CountExecutor())
    with pytest.raises(AttributeError, match="never changes"):
        tool.description = "Other"
    other = tool.set_executor(CountExecutor(5))
    assert other is not tool and tool.executor is executor
    with pytest.raises(AttributeError):
        ToolAnnotations().title = "a"  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        CountAction(by=1).by = 2


def test_a_tool_without_an_executor_says_so(host: toolspan.Host) -> None:
    tool = counter(None)
    for run in (tool.as_executable, lambda: tool(CountAction()), lambda: host.add_tool(tool)):
        with pytest.raises(NotImplementedError, match="'counter' has no executor"):
            run()
    with pytest.raises(ValueError, match="has no executor"):
        tools.register_tool("counter", tool)


class Gives(ToolExecutor[Any, Any]):
    def __init__(self, what: Any) -> None:
        self.what = what

    def __call__(self, action: Any, conversation: Any = None) -> Any:
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def test_a_result_is_an_observation_of_the_promised_type() -> None:
    given = counter(Gives({"count": 3}))(CountAction())
    assert given == CountObservation(count=3)
    with pytest.raises(TypeError, match="gave a str"):
        counter(Gives("text"))(CountAction())
    with pytest.raises(ValueError, match="by"):
        counter(Gives(CountAction()))(CountAction())
    free = ToolDefinition(
        name="free", description="", action_type=CountAction, executor=Gives(None)
    )
    assert free.set_executor(Gives({"content": ["a"]}))(CountAction()).text == "a"
    seen = CountObservation(count=1)
    assert free.set_executor(Gives(seen))(CountAction()) is seen
    for wrong in ("a", 1, None):
        with pytest.raises(TypeError):
            free.set_executor(Gives(wrong))(CountAction())
    with pytest.raises(KeyError):
        free.set_executor(Gives(KeyError("a")))(CountAction())


def test_an_observation_of_another_class_keeps_what_it_says(host: toolspan.Host) -> None:
    failed = Observation.from_text("no such file", is_error=True)
    seen = counter(Gives(failed))(CountAction())
    assert isinstance(seen, CountObservation)
    assert (seen.text, seen.is_error, seen.count) == ("no such file", True, 0)
    host.add_tool(counter(Gives(failed)))
    told = host.call("counter")
    assert (told.text, told.is_error) == ("no such file", True)


class WayAction(Action):
    start: str = Field(alias="from")


class WayObservation(Observation):
    end: str = Field("", alias="to")

    @property
    def to_llm_content(self) -> list[Any]:
        return [
            toolspan.TextContent(text=f"to {self.end}"),
            toolspan.ImageContent(PNG, "image/png"),
        ]


PNG = b"\x89PNG\r\n\x1a\n"


def test_an_observation_is_given_in_blocks_and_under_the_names_of_its_schema(
    host: toolspan.Host,
) -> None:
    seen = WayObservation(to="Rome", content=[toolspan.TextContent("all ways")])
    tool = ToolDefinition(
        name="go",
        description="",
        action_type=WayAction,
        observation_type=WayObservation,
        executor=Gives(seen),
    )
    host.add_tool(tool)
    told = host.call("go", {"from": "here"})
    assert (told.structured, told.schema_violation) == ({"to": "Rome"}, None)
    assert told.text == "all ways"
    assert [block.type for block in told.to_llm_content()] == ["text", "image"]
    assert told.to_llm_text() == "to Rome"


def test_an_observation_of_text_shows_its_failure_to_a_model(host: toolspan.Host) -> None:
    failed = Observation.from_text("no such file", is_error=True)
    assert (failed.text, failed.is_error) == ("no such file", True)
    assert failed.to_llm_content == ["[The tool reported an error]", "no such file"]
    tool = ToolDefinition(
        name="fail", description="", action_type=CountAction, executor=Gives(failed)
    )
    host.add_tool(tool)
    seen = host.call("fail")
    assert (seen.text, seen.is_error, seen.structured) == ("no such file", True, None)


def test_a_spec_is_resolved_by_instance_class_or_function() -> None:
    instance = counter(CountExecutor())
    tools.register_tool("fixed", instance)
    tools.register_tool("counter", CounterTool)
    states: list[Any] = []

    def make(conv_state: Any, count: int) -> list[Any]:
        states.append(conv_state)
        return [counter(CountExecutor(), name=f"c{each}") for each in range(count)]

    tools.register_tool("several", make)
    assert tools.list_registered_tools() == ["fixed", "counter", "several"]
    assert tools.resolve_tool(ToolSpec("fixed"))[0] is instance
    with pytest.raises(ValueError, match="takes no params"):
        tools.resolve_tool(ToolSpec("fixed", {"a": 1}))
    [made] = tools.resolve_tool({"name": "counter", "params": {"start": 5}})
    assert made(CountAction()).count == 6
    several = tools.resolve_tool(ToolSpec("several", {"count": 2}), "state")
    assert [each.name for each in several] == ["c0", "c1"] and states == ["state"]
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(tools.resolve_tool, ["counter"] * 64)
        assert {id(each.executor) for [each] in found} != {id(made.executor)}


def test_aliases_and_names_of_classes_mean_registered_tools() -> None:
    class TerminalTool(CounterTool):
        pass

    tools.register_tool("terminal", TerminalTool)
    for name in ("terminal", "execute_bash", "TerminalTool", "BashTool"):
        [tool] = tools.resolve_tool(name)
        assert tool.name == "terminal"
    with pytest.raises(toolspan.ToolNotFound) as caught:
        tools.resolve_tool("terminl")
    assert caught.value.suggestions == ["terminal"]


def test_what_makes_no_tool_is_refused() -> None:
    class Abstract(ToolDefinition[CountAction, CountObservation]):
        pass

    for wrong in (Abstract, int, 5):
        with pytest.raises(TypeError):
            tools.register_tool("wrong", wrong)  # type: ignore[arg-type]
    tools.register_tool("odd", lambda **params: "nothing")
    with pytest.raises(TypeError, match="gave no tools"):
        tools.resolve_tool("odd")
    for name in (" ", "odd"):
        with pytest.raises(toolspan.UsageError):
            tools.register_tool(name, CounterTool)
    tools.register_tool("odd", CounterTool, replace=True)
    assert tools.resolve_tool("odd")[0].name == "counter"
    with pytest.raises(ValueError, match="blank"):
        ToolSpec(" ")
    assert ToolSpec("a", None).params == {}  # type: ignore[arg-type]
    assert ToolSpec.from_dict(ToolSpec("a", {"b": 1}).to_dict()) == ToolSpec("a", {"b": 1})


def test_tools_that_cannot_be_used_are_registered_and_not_usable() -> None:
    class Never(CounterTool):
        @classmethod
        def is_usable(cls) -> bool:
            return False

    class Fails(CounterTool):
        @classmethod
        def is_usable(cls) -> bool:
            raise OSError("no such program")

    for name, tool in {"never": Never, "fails": Fails, "counter": CounterTool}.items():
        tools.register_tool(name, tool)
    assert tools.list_registered_tools() == ["never", "fails", "counter"]
    assert tools.list_usable_tools() == ["counter"]
    assert not tools.is_tool_usable("unknown")


def test_a_host_takes_the_tools_of_a_spec_or_none_of_them(host: toolspan.Host) -> None:
    def make(conv_state: Any, names: list[str]) -> list[Any]:
        return [counter(CountExecutor(), name=name) for name in names]

    tools.register_tool("several", make)
    spec = ToolSpec("several", {"names": ["a", "b"]})
    assert host.add_tool(spec, conv_state=None) == ["a", "b"]
    with pytest.raises(toolspan.UsageError):
        host.add_tool(ToolSpec("several", {"names": ["c", "a"]}))
    assert [tool.name for tool in host.tools] == ["a", "b"]


def test_pydantic_is_imported_with_the_first_model_alone() -> None:
    code = """
import sys
from toolspan.tools import ToolSpec, ToolDefinition, register_tool
print("pydantic" in sys.modules)
from toolspan.tools import Action
print("pydantic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout == "False\nTrue\n", done.stderr


COUNTERS = {
    "tools": [
        {"name": "counter", "params": {"start": 5}},
        {"name": "no_such_tool"},
        {"name": "CounterTool", "params": {"strat": 5}},
        {"name": "broken"},
    ]
}


def broken(**params: Any) -> Any:
    raise RuntimeError("no such counter")


def assert_counters(host: toolspan.Host) -> None:
    assert [tool.name for tool in host.tools] == ["counter"]
    assert host.call("counter", by=2).text == '{"count":7}'
    told = "\n".join(host.warnings)
    assert "'CounterTool' cannot be made: TypeError" in told and "'strat'" in told, told
    assert "it takes (start=0)" in told, told
    assert "'broken' cannot be made: RuntimeError: no such counter" in told, told
    (native,) = (status for status in host.status() if status["toolbox"] == "native")
    assert [each["name"] for each in native["broken"]] == ["no_such_tool"]


def test_a_config_names_tools_that_python_registered() -> None:
    tools.register_tool("counter", CounterTool)
    tools.register_tool("broken", broken)
    with toolspan.connect(COUNTERS) as host:
        assert_counters(host)


async def connected() -> None:
    async with toolspan.aconnect(COUNTERS) as host:
        assert_counters(host._quiet())


def test_a_config_names_them_for_asynchronous_programs_too() -> None:
    tools.register_tool("counter", CounterTool)
    tools.register_tool("broken", broken)
    asyncio.run(connected())


def test_a_factory_that_ends_the_program_ends_the_host_with_it() -> None:
    def leave(**params: Any) -> Any:
        raise SystemExit(3)

    tools.register_tool("leave", leave)
    with pytest.raises(SystemExit):
        toolspan.connect({"tools": [{"name": "leave"}]})
