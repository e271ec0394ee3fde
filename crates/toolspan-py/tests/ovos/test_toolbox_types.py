"""Do the types of the toolboxes hold, for themselves and for a program that uses them?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import toolspan
from kit.processes import Census
from kit.servers import ROOT

#: Has the checker; OVOS is found where these tests run.
CHECKER = ROOT / ".tools/python-core/bin/python"

#: Seconds that a check may take on a busy machine. The first one reads all of typeshed and of OVOS.
LIMIT = 115

#: OVOS says no types to others, but has most of them.
CONFIG = """
[mypy]
strict = True
python_version = 3.10
[mypy-ovos_plugin_manager.*,ovos_utils.*,ovos_bus_client.*]
follow_untyped_imports = True
follow_imports = silent
"""

PROGRAM = """
from typing_extensions import assert_type

from toolspan.ovos import AdapterToolOutput, MCPToolBox, ToolspanToolBox
from toolspan.tools import Action, Observation, ToolDefinition, ToolExecutor, resolve_tool

box = MCPToolBox(config={"command": "uvx", "args": ["mcp-server-time"]}, toolbox_id="time")
output = box.call_tool("get_current_time", {"timezone": "UTC"})
assert_type(output, AdapterToolOutput)
assert_type(output.content, str)
assert_type(output.is_error, bool)
assert_type(ToolspanToolBox().toolbox_id, str)
tool = box.get_tool("get_current_time")
if tool is not None:
    assert_type(tool.name, str)


class Greet(Action):
    name: str


class Greeter(ToolExecutor[Greet, Observation]):
    def __call__(self, action: Greet, conversation: object = None) -> Observation:
        return Observation.from_text(action.name)


class GreetTool(ToolDefinition[Greet, Observation]):
    @classmethod
    def create(cls, conv_state: object = None, greeting: str = "") -> list["GreetTool"]:
        made = cls(description=greeting, action_type=Greet, executor=Greeter())
        return [made]


assert_type(GreetTool.create()[0].name, str)
assert_type(resolve_tool("greet")[0].description, str)
"""


def test_the_toolboxes_and_a_program_that_uses_them_are_typed(census: Census) -> None:
    config = census.folder / "mypy.ini"
    config.write_text(CONFIG)
    (census.folder / "program.py").write_text(PROGRAM)
    package = Path(toolspan.__file__).parent
    # A checker finds what is installed by itself, and wants it not to be said.
    installed = "site-packages" in package.parts
    path = {} if installed else {"MYPYPATH": str(package.parent)}
    said = subprocess.run(
        [
            *(str(CHECKER), "-m", "mypy", "--config-file", str(config)),
            *("--cache-dir", str(census.folder / "cache")),
            *("--python-executable", sys.executable),
            *("-p", "toolspan.ovos", "-p", "toolspan.tools", "-m", "program"),
        ],
        cwd=census.folder,
        env=os.environ | path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    packages = [package / "ovos", package / "tools"]
    files = 1 + sum(len(list(each.glob("*.py"))) for each in packages)
    assert f"no issues found in {files} source files" in said.stdout
