"""Does OVOS find the toolboxes, and can it use them as it uses any other?"""

from __future__ import annotations

import inspect
import json
from importlib.metadata import entry_points

from ovos_plugin_manager.persona import find_toolbox_plugins
from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from ovos_utils.fakebus import FakeBus
from servers.plain import NESTED
from toolboxes import NEXT, Entry, Make, Run, ask, call_over
from toolspan.ovos import AdapterToolOutput, MCPToolBox, ToolspanToolBox


def test_the_package_names_its_toolboxes_in_the_group_of_ovos() -> None:
    ours = {
        point.name: point.load()
        for point in entry_points(group="opm.agents.toolbox")
        if point.dist is not None and point.dist.name == "toolspan"
    }
    assert ours == {"ovos-mcp-toolbox": MCPToolBox, "toolspan": ToolspanToolBox}


def test_the_plugin_manager_finds_the_toolboxes() -> None:
    found = find_toolbox_plugins()
    assert found["toolspan"] is ToolspanToolBox
    # Beside the package whose place ours takes, either of the two may have the name.
    assert found["ovos-mcp-toolbox"] is MCPToolBox or not NEXT
    for name, plugin in found.items():
        assert issubclass(plugin, ToolBox), name


def test_a_toolbox_that_was_found_is_made_bound_listed_and_called(plain: Entry, make: Make) -> None:
    box = make({"transport": "stdio", **plain()})
    bus = FakeBus()
    box.bind(bus)

    listed = ask(bus, "ovos.persona.tools.discover")
    assert listed["toolbox_id"] == "ovos-mcp-toolbox"
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert tools["add"]["argument_schema"] == NESTED
    assert tools["add"]["description"] == "Adds two numbers"
    assert set(tools["add"]["output_schema"]["properties"]) >= {"content", "is_error", "raw"}
    json.dumps(listed)

    answer = call_over(bus, "ovos-mcp-toolbox", "add", {"a": 2, "b": 40})
    assert answer["toolbox_id"] == "ovos-mcp-toolbox"
    assert answer["result"] == {
        "content": '{"sum": 42}',
        "is_error": False,
        "raw": [{"type": "text", "text": '{"sum": 42}'}],
        "structured": {"sum": 42},
    }


def test_an_answer_that_is_no_result_says_on_the_bus_what_went_wrong(
    plain: Entry, make: Make
) -> None:
    bus = FakeBus()
    make(plain(), bus=bus)
    said = call_over(bus, "ovos-mcp-toolbox", "add", {"a": "two", "b": 40})["error"]
    assert said.startswith("ValueError: Tool input validation failed for 'add' in ToolBox")
    assert "/a" in said and 'expected a number, found the string "two"' in said

    said = call_over(bus, "ovos-mcp-toolbox", "refuse", {"text": "not today"})["error"]
    assert said.startswith("RuntimeError: Tool execution failed for 'refuse' in ToolBox")
    assert "not today" in said

    said = call_over(bus, "ovos-mcp-toolbox", "ecko", {})["error"]
    assert said.startswith("ValueError: Unknown tool 'ecko' for ToolBox 'ovos-mcp-toolbox'")
    assert "echo" in said.removeprefix("ValueError: Unknown tool 'ecko'")

    topic = "ovos.persona.tools.ovos-mcp-toolbox.call"
    for data, expected in {
        "no name": ({}, "ValueError: Unknown tool ''"),
        "a name of null": ({"name": None, "kwargs": {}}, "ValueError: Unknown tool 'None'"),
        "arguments of null": ({"name": "count", "kwargs": None}, "RuntimeError: Tool 'count'"),
    }.values():
        assert ask(bus, topic, data)["error"].startswith(expected)


def test_all_forms_of_the_constructor_make_a_toolbox(plain: Entry, make: Make) -> None:
    bus = FakeBus()
    assert list(inspect.signature(MCPToolBox).parameters) == ["config", "bus", "toolbox_id"]
    named = make(plain(), bus=bus, toolbox_id="kitchen")
    assert (named.toolbox_id, named.bus) == ("kitchen", bus)
    assert call_over(bus, "kitchen", "echo", {"text": "soup"})["result"]["content"] == "soup"
    plainly = make(plain())
    assert (plainly.toolbox_id, plainly.bus) == ("ovos-mcp-toolbox", None)
    assert plainly.config == plain()


#: Replaces the constructor of the plugin manager's class by the other form that there might be.
OTHER_FORM = """
import json, sys
from ovos_plugin_manager.templates import agent_tools

def __init__(self, config=None, bus=None, toolbox_id=None):
    self.config = config or {}
    self.bus = None
    if toolbox_id is not None:
        self.toolbox_id = toolbox_id
    assert self.toolbox_id
    self.tools = {}
    try:
        self.tools = {tool.name: tool for tool in self.discover_tools()}
    except Exception as error:
        print("discovery failed:", error)
    if bus:
        self.bind(bus)

agent_tools.ToolBox.__init__ = __init__
from toolspan.ovos import MCPToolBox

config = json.loads(sys.argv[1])
for more in {}, {"toolbox_id": "kitchen"}:
    box = MCPToolBox(config=config, **more)
    print(box.toolbox_id, box.call_tool("echo", {"text": "soup"}).content)
    box.close()
"""


def test_a_plugin_manager_with_the_other_form_of_the_constructor_makes_a_toolbox(
    plain: Entry, run_script: Run
) -> None:
    ended = run_script(OTHER_FORM, json.dumps(plain()))
    assert ended.stdout.splitlines() == ["ovos-mcp-toolbox soup", "kitchen soup"], ended.stderr
    assert ended.code == 0


def test_what_is_listed_are_tools_of_the_plugin_manager(plain: Entry, make: Make) -> None:
    box = make(plain())
    for name, tool in box.tools.items():
        assert isinstance(tool, AgentTool)
        assert tool.name == name
        assert issubclass(tool.argument_schema, ToolArguments)
        assert tool.argument_schema.__name__ == f"{name}_args"
        assert issubclass(tool.output_schema, ToolOutput)
        assert tool.output_schema is AdapterToolOutput
    (echo,) = [tool for tool in box.openai_tools if tool["function"]["name"] == "echo"]
    assert echo["function"]["parameters"]["required"] == ["text"]
    assert ToolBox.normalize_tools([box]) == box.openai_tools
