"""Do the ten faults of ovos-tool-adapters 0.1.2 stay away?"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from kit.processes import Census, alive, kill, wait_gone
from kit.servers import Remote, launch_line
from kit.wait import Events
from ovos_utils.fakebus import FakeBus
from servers.plain import NESTED
from toolboxes import Box, Entry, Make, Run, ask

#: Limits of a single call.
IMPATIENT = {"timeouts": {"total": 0.3, "idle": 0.3}}


def pid_of(box: Box) -> int:
    """The process of a plain server."""
    return int(box.call_tool("pid", {}).content)


def test_fault_01_streamable_http_connects_to_the_server_that_failed(
    remote: Callable[[str], Remote], make: Make, warned: Callable[[], list[str]]
) -> None:
    box = make({"transport": "http", "url": remote("mcp-sdk-http").url})
    assert warned() == []
    assert box.call_tool("echo", {"text": "hello"}).content == "hello"


def test_fault_02_close_is_quiet_and_may_come_twice(plain: Entry, run_script: Run) -> None:
    ended = run_script(CLOSES, json.dumps(plain()), flags=["-W", "error", "-X", "dev"])
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ["listed", "closed", "closed", "deleted"]


#: Warnings of OPM's own imports are left aside; whatever comes later fails.
CLOSES = """
import json, sys, warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from toolspan.ovos import MCPToolBox

box = MCPToolBox(config=json.loads(sys.argv[1]))
assert box.tools
print("listed")
for _ in range(2):
    box.close()
    print("closed")
box.__del__()
del box
print("deleted")
"""


def test_fault_03_each_refresh_stays_on_the_same_child_and_its_state(
    plain: Entry, make: Make, events: Events
) -> None:
    box = make(plain("--events", str(events.path)))
    bus = FakeBus()
    box.bind(bus)
    pid = pid_of(box)
    assert box.call_tool("count", {}).content == "1"
    kept = dict(box.tools)

    box.refresh_tools()
    assert ask(bus, "ovos.persona.tools.discover")["tools"]
    assert box.get_tool("unknown") is None
    box.discover_tools()

    assert box.call_tool("count", {}).content == "2"
    assert pid_of(box) == pid
    assert [line for line in events.lines() if "started" in line] == [f"started {pid}"]
    # What was made of a tool is kept, too.
    assert {name: id(tool) for name, tool in box.tools.items()} == {
        name: id(tool) for name, tool in kept.items()
    }


def test_fault_04_a_call_that_times_out_is_cancelled_at_the_server(
    plain: Entry, make: Make, events: Events
) -> None:
    box = make({**plain("--events", str(events.path)), **IMPATIENT})
    with pytest.raises(RuntimeError, match="Tool execution failed for 'nap'.*300ms"):
        box.call_tool("nap", {"seconds": 3600, "label": "long"})
    events.wait("cancelled long")
    # The session goes on.
    assert box.call_tool("count", {}).content == "1"


def test_fault_04_a_call_that_times_out_is_cancelled_over_http_too(
    make: Make, events: Events, census: Census
) -> None:
    variables = {"TOOLSPAN_CANCELLED_FILE": str(events.path)}
    line = {**launch_line("mcp-sdk-http"), "env": variables}
    with closing(Remote("mcp-sdk-http", line, census.folder)) as server:
        box = make({**server.entry, **IMPATIENT})
        with pytest.raises(RuntimeError, match="Tool execution failed for 'slow'.*300ms"):
            box.call_tool("slow", {"label": "long"})
        events.wait("cancelled long")
        assert box.call_tool("count", {"to": 1}).content == "1"


def test_fault_05_a_child_that_died_is_started_again_at_once(plain: Entry, make: Make) -> None:
    box = make({**plain(), "timeout": 60})
    first = pid_of(box)
    kill(first)
    wait_gone(first)
    began = time.monotonic()
    second = pid_of(box)
    assert time.monotonic() - began < 20
    assert second != first and alive(second)


def test_fault_05_a_call_to_a_child_that_dies_ends_with_it(plain: Entry, make: Make) -> None:
    box = make({**plain(), "timeout": 60})
    began = time.monotonic()
    with pytest.raises(
        RuntimeError, match="Tool execution failed for 'exit'.*exited.*told to exit"
    ):
        box.call_tool("exit", {"code": 3})
    assert box.call_tool("count", {}).content == "1"
    assert time.monotonic() - began < 20


def test_fault_06_a_null_that_was_given_is_sent(plain: Entry, make: Make) -> None:
    box = make(plain())
    assert box.call_tool("null", {"value": None}).content == "null"
    assert box.call_tool("null", {"value": "text"}).content == '"text"'
    assert box.call_tool("null", {}).content == "missing"
    tool = box.get_tool("null")
    assert tool is not None
    arguments = tool.argument_schema.model_validate({"value": None})
    assert box.call_tool("null", arguments).content == "null"


def test_fault_07_nested_schemas_reach_the_model_whole(plain: Entry, make: Make) -> None:
    box = make(plain())
    (listed,) = [tool for tool in box.tool_json_list if tool["name"] == "add"]
    assert listed["argument_schema"] == NESTED
    with pytest.raises(ValueError, match="/options/scale"):
        box.call_tool("add", {"a": 1, "b": 2, "options": {"scale": -1}})
    assert box.call_tool("add", {"a": 1, "b": 2, "options": {"scale": 10}}).structured == {
        "sum": 30
    }


def test_fault_08_every_page_of_the_list_is_read(plain: Entry, make: Make, events: Events) -> None:
    box = make(plain("--page", "3", "--more", "20", "--events", str(events.path)))
    assert [name for name in box.tools if name.startswith("more_")] == [
        f"more_{number}" for number in range(20)
    ]
    assert events.count("tools/list") == (len(box.tools) + 2) // 3
    assert box.call_tool("more_19", {}).content == "more_19"


def test_fault_09_a_changed_list_is_listed_again_at_the_next_look(
    plain: Entry, make: Make, events: Events
) -> None:
    box = make(plain("--list-changed", "--events", str(events.path)))
    pid = pid_of(box)
    listed = events.count("tools/list")
    assert "later" not in box.tools
    box.call_tool("grow", {"name": "later"})
    # The notice came before the answer to the call.
    assert "later" in box.tools
    assert box.call_tool("later", {}).content == "later"
    assert pid_of(box) == pid
    assert events.count("tools/list") == listed + 1


def test_fault_10_odd_names_of_tools_and_arguments_work(plain: Entry, make: Make) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        box = make(plain("--odd-names"))
        given: dict[str, Any] = dict.fromkeys(["model_config", "schema", "_x", "self", "args"], "x")
        assert json.loads(box.call_tool("reserved", given).content) == given
        odd = {"class": "y", "with space": "z"}
        assert json.loads(box.call_tool("class", odd).content) == odd
        more = {"from": "a", "a-b": "b", "1st": "c"}
        assert json.loads(box.call_tool("with space", more).content) == more
        assert json.loads(box.call_tool("get.weather", {"city": "Faro"}).content) == {
            "city": "Faro"
        }
        tools = box.tools
        assert tools["get.weather"].argument_schema.__name__ == "get.weather_args"
