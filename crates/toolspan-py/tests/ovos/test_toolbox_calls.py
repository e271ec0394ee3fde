"""Do calls reach real servers, over every transport, and come back as OVOS expects them?"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, cast

import pytest
from kit import mirror
from kit.servers import Remote
from servers.plain import BLOCKS, PIXEL
from toolboxes import Entry, Make, Run
from toolspan.ovos import AdapterToolOutput


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "expected"),
    [
        ("everything", "echo", {"message": "hello"}, "Echo: hello"),
        ("fastmcp", "pet", {"animal": {"kind": "dog", "bark": 3}}, "dog 3"),
        ("time", "get_current_time", {"timezone": "UTC"}, "UTC"),
        ("memory", "read_graph", {}, "entities"),
    ],
)
def test_a_real_server_over_stdio_is_listed_and_called(
    name: str, tool: str, arguments: dict[str, Any], expected: str, launch: Entry, make: Make
) -> None:
    box = make({"transport": "stdio", **launch(name)})
    output = box.call_tool(tool, arguments)
    assert isinstance(output, AdapterToolOutput)
    assert not output.is_error
    assert expected in output.content
    assert output.raw[0]["type"] == "text"


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "expected"),
    [
        ("fastmcp-http", "pet", {"animal": {"kind": "cat", "meow": 0.5}}, "cat 0.5"),
        ("fastmcp-sse", "pet", {"animal": {"kind": "cat", "meow": 0.5}}, "cat 0.5"),
        ("mcp-sdk-http", "echo", {"text": "hello"}, "hello"),
        ("mcp-sdk-http-json", "echo", {"text": "hello"}, "hello"),
        ("mcp-sdk-http-stateless", "echo", {"text": "hello"}, "hello"),
        ("everything-http", "echo", {"message": "hello"}, "Echo: hello"),
        ("everything-sse", "echo", {"message": "hello"}, "Echo: hello"),
    ],
)
def test_a_real_server_that_listens_is_listed_and_called(
    name: str,
    tool: str,
    arguments: dict[str, Any],
    expected: str,
    remote: Callable[[str], Remote],
    make: Make,
) -> None:
    box = make(remote(name).entry)
    assert box.call_tool(tool, arguments).content == expected


def test_streamable_http_is_another_word_for_http(
    remote: Callable[[str], Remote], make: Make
) -> None:
    server = remote("mcp-sdk-http")
    box = make({"transport": "streamable-http", "url": server.url})
    assert box.call_tool("echo", {"text": "hello"}).content == "hello"


def test_headers_are_sent_with_each_call(remote: Callable[[str], Remote], make: Make) -> None:
    server = remote("mcp-sdk-http")
    box = make({"transport": "http", "url": server.url, "headers": {"X-Room": "kitchen"}})
    assert box.call_tool("header", {"name": "x-room"}).content == "kitchen"


def test_variables_and_folder_of_a_server_are_those_of_the_config(
    plain: Entry, make: Make, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("there")
    config = plain(ROOM="kitchen")
    box = make({"transport": "stdio", **config, "cwd": str(folder)})
    assert box.call_tool("variable", {"name": "ROOM"}).content == "kitchen"
    assert box.call_tool("variable", {"name": "PATH"}).content != "missing"


def test_an_output_has_every_block_as_the_server_sent_it(plain: Entry, make: Make) -> None:
    output = make(plain()).call_tool("blocks", {})
    assert output.raw == BLOCKS
    assert output.content == "words"
    assert output.structured is None
    assert base64.b64decode(output.raw[1]["data"]) == base64.b64decode(PIXEL)


def test_a_block_that_is_no_object_is_kept_in_one(make: Make) -> None:
    blocks = [{"type": "text", "text": "words"}, "bare", 5, None, ["a"], {}]
    output = make(mirror.entry()).call_tool("mirror", {"content": blocks})
    assert output.raw == [
        {"type": "text", "text": "words"},
        {"type": "raw", "value": "bare"},
        {"type": "raw", "value": 5},
        {"type": "raw", "value": None},
        {"type": "raw", "value": ["a"]},
        {},
    ]


def test_a_failure_that_a_tool_reports_is_an_output(plain: Entry, make: Make) -> None:
    output = make(plain()).call_tool("fail", {"text": "out of milk"})
    assert (output.content, output.is_error) == ("out of milk", True)
    assert output.raw == [{"type": "text", "text": "out of milk"}]


def test_the_text_for_a_model_is_bounded_and_the_blocks_are_not(plain: Entry, make: Make) -> None:
    box = make({**plain(), "limits": {"output_chars": 500}})
    words = "many words " * 1000
    output = box.call_tool("echo", {"text": words})
    # The head, the tail, and between them a line that says what is missing.
    assert len(output.content) < 600
    assert output.content.startswith("many words") and output.content.endswith("words ")
    assert output.raw == [{"type": "text", "text": words}]
    # What agent loops put into a prompt is `str(output)`.
    assert len(str(output)) < 700


def test_each_server_may_have_a_bound_of_its_own(plain: Entry, make: Make) -> None:
    servers = {"own": {**plain(), "limits": {"output_chars": 100}}, "other": plain()}
    box = make({"mcpServers": servers, "limits": {"output_chars": 500}})
    for name, most in ("own", 100), ("other", 500):
        content = box.call_tool(f"{name}__echo", {"text": "x" * 1000}).content
        assert " of 1000 characters left out" in content
        assert most - 2 <= len(content) <= most


def test_an_unknown_tool_is_a_value_error_with_the_nearest_names(plain: Entry, make: Make) -> None:
    box = make(plain())
    with pytest.raises(
        ValueError, match="Unknown tool 'ecko' for ToolBox 'ovos-mcp-toolbox'.*echo"
    ):
        box.call_tool("ecko", {})
    assert box.get_tool("ecko") is None


def test_arguments_may_be_a_model_of_the_tool(plain: Entry, make: Make) -> None:
    box = make(plain())
    tool = box.get_tool("echo")
    assert tool is not None
    arguments = tool.argument_schema.model_validate({"text": "hello"})
    assert box.call_tool("echo", arguments).content == "hello"
    output = tool.tool_call(arguments)
    assert isinstance(output, AdapterToolOutput) and output.content == "hello"
    for name in "count", "ovos-mcp-toolbox.count":
        with pytest.raises(ValueError, match=r"type echo_args, but expected count_args\.$"):
            box.call_tool(name, arguments)
    with pytest.raises(RuntimeError, match="unexpected type"):
        box.call_tool("echo", cast("dict[str, Any]", ["hello"]))


def test_bad_arguments_name_place_expectation_and_tool_and_are_not_sent(
    plain: Entry, make: Make, events: Any
) -> None:
    box = make(plain("--events", str(events.path)))
    before = len(events.lines())
    with pytest.raises(ValueError) as raised:
        box.call_tool("add", {"a": 1, "b": 2, "options": {"unit": "mile", "tags": [1]}})
    said = str(raised.value)
    assert said.startswith("Tool input validation failed for 'add' in ToolBox 'ovos-mcp-toolbox': ")
    for part in "/options/unit", "/options/tags/0", "expected a string, found the number 1":
        assert part in said
    assert len(events.lines()) == before


def test_a_refusal_of_the_protocol_is_a_runtime_error_with_its_words(
    plain: Entry, make: Make
) -> None:
    with pytest.raises(RuntimeError, match="Tool execution failed for 'refuse'.*not today"):
        make(plain()).call_tool("refuse", {"text": "not today"})


def test_calls_work_inside_a_running_loop_without_a_word_about_it(
    plain: Entry, run_script: Run
) -> None:
    ended = run_script(IN_A_LOOP, *plain()["args"], flags=["-W", "error"])
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == "hello"


IN_A_LOOP = """
import asyncio, sys, warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from toolspan.ovos import MCPToolBox

async def main():
    box = MCPToolBox(config={"command": sys.executable, "args": sys.argv[1:]})
    box.refresh_tools()
    print(box.call_tool("echo", {"text": "hello"}).content)
    box.close()

asyncio.run(main())
"""
