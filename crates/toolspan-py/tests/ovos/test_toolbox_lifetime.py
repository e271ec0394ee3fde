"""How does a toolbox end: closed, dropped, half-made, forked, or with its process?"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from collections.abc import Callable
from queue import Queue
from threading import Thread
from typing import Any

import pytest
from kit.processes import Census, alive, wait_gone
from kit.wait import Events
from toolboxes import Entry, Make, Run
from toolspan.ovos import MCPToolBox


def test_close_ends_the_child_and_may_come_again(plain: Entry, make: Make) -> None:
    box = make(plain())
    pid = int(box.call_tool("pid", {}).content)
    box.close()
    assert not alive(pid)
    box.close()
    box.__del__()
    box.close()


def test_a_closed_toolbox_says_so_and_starts_nothing(
    plain: Entry,
    make: Make,
    events: Events,
    one_warning: Callable[[], str],
    warned: Callable[[], list[str]],
) -> None:
    box = make(plain("--events", str(events.path)))
    tool = box.tools["echo"]
    box.close()
    assert warned() == []
    for name in "echo", "unknown":
        with pytest.raises(RuntimeError, match="closed"):
            box.call_tool(name, {"text": "hello"})
    with pytest.raises(RuntimeError, match="closed"):
        tool.tool_call(tool.argument_schema.model_validate({"text": "hello"}))
    assert warned() == []
    assert box.discover_tools() == []
    assert "the toolbox is closed" in one_warning()
    box.refresh_tools()
    assert box.tools == {}
    assert "the toolbox is closed" in one_warning()
    assert len([line for line in events.lines() if line.startswith("started")]) == 1


def test_close_is_bounded_for_a_server_that_does_not_want_to_end(faults: Entry, make: Make) -> None:
    box = make({**faults("ignore_eof_and_term"), "timeouts": {"close": 1}})
    assert "echo" in box.tools
    began = time.monotonic()
    box.close()
    assert time.monotonic() - began < 10


def test_a_toolbox_that_is_dropped_ends_its_child_without_a_collection(
    plain: Entry, census: Census
) -> None:
    gc.disable()
    try:
        box: MCPToolBox | None = MCPToolBox(config=plain())
        assert box is not None
        pid = int(box.call_tool("pid", {}).content)
        tool = box.tools["echo"]
        box = None
        wait_gone(pid)
        with pytest.raises(RuntimeError, match="closed"):
            tool.tool_call(tool.argument_schema.model_validate({"text": "hello"}))
    finally:
        gc.enable()
    assert census.left() == []


def test_a_toolbox_whose_constructor_failed_half_way_can_be_dropped() -> None:
    class Fails(MCPToolBox):
        def __init__(self) -> None:
            raise KeyError("before anything was there")

    with pytest.raises(KeyError):
        Fails()
    box = object.__new__(MCPToolBox)
    box.close()
    with pytest.raises(RuntimeError, match="was not made"):
        box.call_tool("echo", {})
    del box
    gc.collect()


class Starting:
    """A toolbox that another thread makes, while its server does not come up."""

    def __init__(self, config: dict[str, Any]) -> None:
        made: Queue[MCPToolBox] = Queue()
        self.found: list[list[Any]] = []

        class Known(MCPToolBox):
            def discover_tools(box) -> list[Any]:
                made.put(box)
                self.found.append(super().discover_tools())
                return self.found[-1]

        self.thread = Thread(target=lambda: Known(config=config), daemon=True)
        self.thread.start()
        self.box = made.get(timeout=60)


def test_a_close_while_a_server_is_being_started_ends_it_at_once(
    plain: Entry, events: Events, one_warning: Callable[[], str]
) -> None:
    silent = plain("--silent", "initialize", "--events", str(events.path))
    starting = Starting({**silent, "timeout": 3600, "timeouts": {"close": 5}})
    events.wait("initialize")
    (started,) = [line for line in events.lines() if line.startswith("started")]
    began = time.monotonic()
    starting.box.close()
    assert time.monotonic() - began < 10
    assert not alive(int(started.split()[1]))
    starting.thread.join(60)
    assert starting.found == [[]]
    assert "the toolbox is closed" in one_warning()


def test_a_close_while_a_server_is_not_up_yet_leaves_nothing(
    plain: Entry, census: Census, events: Events
) -> None:
    gate = census.folder / "gate"
    os.mkfifo(gate)
    entry = plain("--events", str(events.path))
    wait_first = 'cat "$0" && exec "$@"'
    waits = ["-c", wait_first, str(gate), entry["command"], *entry["args"]]
    config = {"command": "sh", "args": waits, "timeout": 3600, "timeouts": {"close": 1}}
    starting = Starting(config)
    with gate.open("wb"):
        starting.box.close()
        census.assert_nothing_left()
    starting.thread.join(60)
    assert starting.found == [[]]
    assert events.lines() == []


#: Imports without what OPM's own imports warn of, then a toolbox in `box`.
BEGIN = """
import json, os, signal, sys, threading, warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from toolspan.ovos import MCPToolBox

config = json.loads(sys.argv[1])
box = MCPToolBox(config=config)
pid = int(box.call_tool("pid", {}).content)
print(pid, flush=True)
"""

ENDINGS = {
    "the end of the program": ("", 0),
    "an exit in a thread": (
        "thread = threading.Thread(target=sys.exit); thread.start(); thread.join()",
        0,
    ),
    "an exit with a code": ("sys.exit(3)", 3),
    "an exception": ("raise SystemError('on purpose')", 1),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    "an exit without any clean-up": ("os._exit(4)", 4),
    "a call in flight in a daemon thread": (
        "import contextlib\n"
        "def call():\n"
        "    with contextlib.suppress(RuntimeError):\n"
        "        box.call_tool('nap', {'seconds': 3600})\n"
        "threading.Thread(target=call, daemon=True).start()",
        0,
    ),
    "a cycle that holds the toolbox": ("box.itself = box", 0),
    "a toolbox in a module that outlives others": ("sys.modules['json'].box = box", 0),
    "a fork that drops it": (
        "child = os.fork()\nif not child:\n    del box\n    os._exit(0)\nos.waitpid(child, 0)\n"
        "print(box.call_tool('echo', {'text': 'still there'}).content)",
        0,
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_child_is_left_and_nothing_is_printed_after(
    ending: str, plain: Entry, run_script: Run, census: Census
) -> None:
    code, expected = ENDINGS[ending]
    ended = run_script(BEGIN + code, json.dumps(plain()))
    assert ended.code == expected, ended.stderr
    if "on purpose" in code:
        assert ended.stderr.count("Traceback") == 1
        assert ended.stderr.endswith("SystemError: on purpose\n")
    else:
        assert ended.stderr == ""
    wait_gone(int(ended.stdout.split()[0]))
    census.assert_nothing_left()


FORKS = """
import time
# The child has a change of the list before it that it must leave alone.
box.call_tool("grow", {"name": "later"})
began = time.monotonic()
child = os.fork()
if child:
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
    print(box.call_tool("pid", {}).content == str(pid))
    box.close()
else:
    try:
        box.call_tool("echo", {"text": "hello"})
    except RuntimeError as error:
        print(error)
    tool = box.tools["echo"]
    try:
        tool.tool_call(tool.argument_schema.model_validate({"text": "hello"}))
    except RuntimeError as error:
        print("forked" in str(error))
    print(box.discover_tools())
    box.close()
    print(time.monotonic() - began < 5, flush=True)
    os._exit(7)
"""


def test_a_forked_process_is_told_so_at_once_and_the_parent_goes_on(
    plain: Entry, run_script: Run
) -> None:
    ended = run_script(BEGIN + FORKS, json.dumps(plain("--list-changed")), limit=30)
    _pid, said, direct, warning, tools, quick, code, same = ended.stdout.splitlines()
    assert said.startswith("this process was forked from ")
    assert "make the toolbox after the fork" in said
    assert direct == "True"
    assert "MCPToolBox 'ovos-mcp-toolbox' has no tools: this process was forked from" in warning
    assert (tools, quick, code, same) == ("[]", "True", "7", "True")
    assert ended.code == 0


def test_ctrl_c_ends_a_call_and_the_toolbox_goes_on(
    plain: Entry, start_script: Callable[..., Any], events: Events
) -> None:
    script = start_script(BEGIN + INTERRUPTED, json.dumps(plain("--events", str(events.path))))
    script.line()
    events.wait("napping long")
    script.send(signal.SIGINT)
    assert script.line() == "interrupted"
    assert script.line() == "hello"
    events.wait("cancelled long")
    ended = script.wait()
    assert (ended.code, ended.stderr) == (0, "")


INTERRUPTED = """
try:
    box.call_tool("nap", {"seconds": 3600, "label": "long"})
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(box.call_tool("echo", {"text": "hello"}).content, flush=True)
"""
