"""What does a toolbox do with a config, or a server, that cannot be used?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit import mirror
from kit.processes import Census, kill, wait_gone
from kit.servers import Remote, closed_port
from toolboxes import Entry, Make, Run
from toolspan.ovos import MCPToolBox, ToolspanToolBox
from toolspan.ovos._config import server_config

#: A config, and what its only warning says beside the names of the toolbox and the server.
BAD: dict[str, tuple[Any, list[str]]] = {
    "no object": ("uvx mcp-server-time", ["the config is text, not an object"]),
    "a list": (["uvx"], ["the config is a list, not an object"]),
    "nothing": (None, ["command", "url", "is set"]),
    "an empty object": ({}, ["command", "url", "is set"]),
    "unknown transport": (
        {"transport": "pigeon", "command": "uvx"},
        ['unknown transport "pigeon"', '"stdio", "http" and "sse"'],
    ),
    "transport of the wrong type": ({"transport": 5, "command": "uvx"}, ["transport"]),
    "stdio without a command": ({"transport": "stdio"}, ["command"]),
    "http without a url": ({"transport": "http"}, ["url"]),
    "sse without a url": ({"transport": "sse"}, ["url"]),
    "stdio with a url alone": (
        {"transport": "stdio", "url": "http://localhost/mcp"},
        ["a server with a URL"],
    ),
    "command of the wrong type": ({"command": ["uvx", "x"]}, ["command"]),
    "args of the wrong type": ({"command": "uvx", "args": "mcp-server-time"}, ["args"]),
    "an argument of the wrong type": ({"command": "uvx", "args": [1]}, ["args"]),
    "env of the wrong type": ({"command": "uvx", "env": ["A=b"]}, ["env"]),
    "url of the wrong type": ({"transport": "http", "url": 80}, ["url"]),
    "no url": ({"transport": "http", "url": "not a url"}, ["url"]),
    "headers of the wrong type": (
        {"transport": "http", "url": "http://localhost/mcp", "headers": "Authorization"},
        ["headers"],
    ),
    "timeout of the wrong type": ({"command": "uvx", "timeout": [30]}, ["timeout"]),
    "timeout that is no number": ({"command": "uvx", "timeout": "soon"}, ["timeout"]),
    "negative timeout": ({"command": "uvx", "timeout": -1}, [".timeout: ", "-1"]),
    "no time at all": ({"command": "uvx", "timeout": "0"}, [".timeout: ", "0.001 to 86400"]),
    "time without end": ({"command": "uvx", "timeout": float("inf")}, ["/timeout: ", "inf"]),
    "timeouts of the wrong type": ({"command": "uvx", "timeouts": 3}, ["timeouts"]),
    "a program that is not there": (
        {"command": "/no/such/program"},
        ["/no/such/program", "was not found"],
    ),
    "no server": ({"mcpServers": {}}, ["the config has no server"]),
    "servers of the wrong type": ({"mcpServers": "uvx"}, ["mcpServers"]),
    "a variable that is not set": (
        {"command": "uvx", "args": ["${TOOLSPAN_NO_SUCH_VARIABLE}"]},
        ["TOOLSPAN_NO_SUCH_VARIABLE"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_config_that_cannot_be_used_is_no_tools_and_one_warning(
    case: str, make: Make, one_warning: Callable[[], str]
) -> None:
    config, parts = BAD[case]
    box = make(config)
    assert box.tools == {}
    said = one_warning()
    assert said.startswith("MCPToolBox 'ovos-mcp-toolbox' ")
    for part in parts:
        assert part in said
    assert "\n" not in said

    # Asked again, it says it again, once.
    assert box.discover_tools() == []
    assert one_warning() == said


@pytest.mark.parametrize(
    ("config", "server"),
    [
        ({"command": "/no/such/program"}, "kitchen"),
        ({"transport": "pigeon", "command": "uvx"}, "kitchen"),
        ({"mcpServers": {"stove": {"command": "/no/such/program"}}}, "stove"),
    ],
)
def test_the_warning_names_toolbox_and_server(
    config: dict[str, Any], server: str, make: Make, one_warning: Callable[[], str]
) -> None:
    make(config, toolbox_id="kitchen")
    said = one_warning()
    assert said.startswith("MCPToolBox 'kitchen' ")
    assert f'"{server}"' in said


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_server_that_is_down_is_no_tools_and_one_warning_and_found_later(
    transport: str, make: Make, one_warning: Callable[[], str], remote: Callable[[str], Remote]
) -> None:
    server = remote(f"everything-{transport}")
    url = server.url
    server.kill()
    box = make({"transport": transport, "url": url, "timeout": 20})
    assert box.tools == {}
    said = one_warning()
    assert said.startswith("MCPToolBox 'ovos-mcp-toolbox' ") and 'server "ovos-mcp-toolbox"' in said
    server.restart()
    box.refresh_tools()
    assert "echo" in box.tools
    assert box.call_tool("echo", {"message": "hello"}).content == "Echo: hello"


def test_a_server_that_goes_away_takes_its_tools_along_until_it_is_back(
    make: Make,
    warned: Callable[[], list[str]],
    one_warning: Callable[[], str],
    remote: Callable[[str], Remote],
) -> None:
    server = remote("everything-http")
    box = make({"transport": "http", "url": server.url, "timeout": 20})
    assert "echo" in box.tools
    server.kill()
    with pytest.raises(RuntimeError, match="Tool execution failed for 'echo'"):
        box.call_tool("echo", {"message": "hello"})
    assert warned() == []
    assert box.discover_tools() == []
    assert 'server "ovos-mcp-toolbox"' in one_warning()
    server.restart()
    assert box.call_tool("echo", {"message": "hello"}).content == "Echo: hello"


@pytest.mark.parametrize("others", [0, 1])
def test_a_change_that_cannot_be_listed_is_one_warning_and_leaves_the_tools_of_before(
    others: int,
    plain: Entry,
    make: Make,
    census: Census,
    one_warning: Callable[[], str],
    warned: Callable[[], list[str]],
) -> None:
    program = census.folder / "python"
    program.symlink_to(sys.executable)
    servers = {"home": {**plain("--list-changed"), "command": str(program)}}
    box = make({"mcpServers": servers | {f"other_{number}": plain() for number in range(others)}})
    names = list(box.tools)
    pid = int(box.call_tool("home.pid", {}).content)
    box.call_tool("home.grow", {"name": "later"})
    program.unlink()
    kill(pid)
    wait_gone(pid)
    assert list(box.tools) == names
    said = one_warning()
    assert "keeps its tools" in said and 'server "home"' in said
    assert list(box.tools) == names
    assert warned() == []
    # A discovery goes by what is there.
    box.refresh_tools()
    assert {name.split("__")[0] for name in box.tools} == {f"other_{it}" for it in range(others)}
    assert 'server "home"' in one_warning()


def test_a_tool_that_cannot_be_used_is_left_out_and_told_once(
    faults: Entry, make: Make, one_warning: Callable[[], str], warned: Callable[[], list[str]]
) -> None:
    box = make(faults("bad_tool_in_list"))
    assert len(box.tools) == 2
    assert "is left out" in one_warning()
    box.refresh_tools()
    assert warned() == []


def test_a_tool_that_is_listed_twice_is_there_once_and_told(
    make: Make, one_warning: Callable[[], str]
) -> None:
    tool = {"name": "lamp", "inputSchema": {"type": "object"}}
    box = make(mirror.entry(tool, tool))
    assert list(box.tools) == ["mirror", "lamp"]
    assert 'its tool "lamp" is left out: its name' in one_warning()


def test_a_list_that_is_cut_by_a_limit_is_there_as_far_as_it_goes(
    plain: Entry, make: Make, one_warning: Callable[[], str]
) -> None:
    box = make({**plain(), "limits": {"tools": 2}})
    assert list(box.tools) == ["echo", "add"]
    said = one_warning()
    assert "lacks tools" in said and "limits.tools" in said


def test_a_program_that_ends_at_once_is_told_with_its_last_words(
    plain: Entry, make: Make, one_warning: Callable[[], str]
) -> None:
    box = make(plain("--exit", "3"))
    assert box.tools == {}
    assert "exit status 3" in (said := one_warning())
    assert "its last words: plain: this server does not want to start" in said
    with pytest.raises(ValueError, match="Unknown tool 'echo'.*exit status 3"):
        box.call_tool("echo", {"text": "hello"})


def test_a_server_that_says_nothing_is_given_up_after_the_timeout(
    plain: Entry, make: Make, one_warning: Callable[[], str]
) -> None:
    box = make({**plain("--silent", "initialize"), "timeout": 0.5})
    assert box.tools == {}
    assert "500ms" in one_warning()


def test_one_server_of_several_that_fails_costs_its_own_tools_alone(
    plain: Entry, make: Make, one_warning: Callable[[], str]
) -> None:
    servers = {
        "good": plain(),
        "gone": {"command": "/no/such/program"},
        "odd": {"command": 5},
    }
    box = make({"mcpServers": servers})
    said = one_warning()
    assert 'server "gone"' in said and 'server "odd"' in said and '"good"' not in said
    assert {tool.split("__")[0] for tool in box.tools} == {"good"}
    assert box.call_tool("good__echo", {"text": "hello"}).content == "hello"


def test_what_is_wrong_with_a_config_and_its_servers_is_one_warning(
    make: Make, one_warning: Callable[[], str]
) -> None:
    box = make({"mcpServers": {name: {"command": f"/no/{name}", "odd": 1} for name in ("a", "b")}})
    said = one_warning()
    for part in "has no tools", 'server "a"', 'server "b"', "mcpServers.a.odd", "mcpServers.b.odd":
        assert part in said
    box.refresh_tools()
    assert "has no tools" in (said := one_warning()) and "odd" not in said


def test_what_becomes_of_a_config_after_the_connection_changes_nothing(
    plain: Entry, make: Make, warned: Callable[[], list[str]]
) -> None:
    config = plain("--odd-names")
    box = make(config)
    names = list(box.tools)
    for servers in 5, {"home": None}, {"one": {}, "two": {}}:
        config["mcpServers"] = servers
        box.refresh_tools()
        assert list(box.tools) == names
    assert warned() == []


def test_what_the_reader_of_configs_warns_of_is_logged_once(
    plain: Entry, make: Make, one_warning: Callable[[], str], warned: Callable[[], list[str]]
) -> None:
    box = make({**plain(), "timeoutt": 3})
    assert "timeoutt" in one_warning()
    box.refresh_tools()
    assert warned() == []
    assert box.call_tool("echo", {"text": "hello"}).content == "hello"


def test_nothing_is_logged_past_the_log_of_ovos(plain: Entry, run_script: Run) -> None:
    code = (
        "import json, sys, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "from toolspan.ovos import MCPToolBox\n"
        "MCPToolBox(config=json.loads(sys.argv[1])).close()\n"
    )
    ended = run_script(code, json.dumps({**plain(), "timeoutt": 3}))
    assert ended.stderr == ""
    assert ended.stdout.count("timeoutt") == len(ended.stdout.splitlines()) == 1


def test_keys_of_the_other_transport_and_nulls_are_no_mistake(
    plain: Entry, make: Make, warned: Callable[[], list[str]]
) -> None:
    entry = plain()
    box = make(
        {"transport": "stdio", **entry, "url": "http://localhost/mcp", "env": None, "cwd": None}
    )
    assert box.call_tool("echo", {"text": "hello"}).content == "hello"
    assert warned() == []


def test_a_timeout_that_is_written_as_text_counts(
    plain: Entry, make: Make, warned: Callable[[], list[str]]
) -> None:
    box = make({**plain(), "timeout": "30"})
    assert "echo" in box.tools
    assert warned() == []


def test_a_timeout_is_for_connecting_for_listing_and_for_calls() -> None:
    server = {"command": "uvx"}
    for config in {**server, "timeout": "90"}, {"mcpServers": {"time": server}, "timeout": 90}:
        (entry,) = server_config(config, "time")["mcpServers"].values()
        assert entry["timeouts"] == dict.fromkeys(("connect", "list", "idle", "total"), 90)


def test_a_call_that_takes_longer_than_the_timeout_is_given_up(plain: Entry, make: Make) -> None:
    box = make({**plain(), "timeout": 0.3, "timeouts": {"connect": 30, "list": 30}})
    with pytest.raises(RuntimeError, match="Tool execution failed for 'nap'.*300ms"):
        box.call_tool("nap", {"seconds": 3600})


def test_a_long_timeout_is_in_seconds(
    plain: Entry, make: Make, warned: Callable[[], list[str]]
) -> None:
    make({**plain(), "timeout": 7200})
    assert warned() == []


def test_the_toolbox_of_a_config_reads_a_file_or_the_config_itself(
    plain: Entry, make: Make, census: Census
) -> None:
    config = {"mcpServers": {"one": plain(), "two": plain()}, "limits": {"output_chars": 300}}
    path = census.folder / "toolspan.json"
    path.write_text(json.dumps(config))
    for given in config, {"config_file": str(path)}:
        box = make(given, ToolspanToolBox)
        assert box.toolbox_id == "toolspan"
        assert {name.split("__")[0] for name in box.tools} == {"one", "two"}
        assert len(box.call_tool("one__echo", {"text": "x" * 1000}).content) < 400


def test_the_toolbox_of_a_config_looks_a_file_up_where_it_has_none(
    plain: Entry, make: Make, census: Census, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = census.folder / "elsewhere.json"
    path.write_text(json.dumps({"mcpServers": {"found": plain()}}))
    monkeypatch.setenv("TOOLSPAN_CONFIG", str(path))
    for box in make(None, ToolspanToolBox), make({}, ToolspanToolBox):
        assert "found__echo" in box.tools


def test_the_toolbox_of_a_config_says_what_is_wrong_with_it(
    make: Make, one_warning: Callable[[], str], census: Census, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(census.folder)
    monkeypatch.delenv("TOOLSPAN_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(census.folder))
    broken = census.folder / "broken.json"
    broken.write_text("{")
    cases: list[tuple[Any, str]] = [
        (None, "toolspan.json"),
        ({"config_file": str(census.folder / "none.json")}, "none.json"),
        ({"config_file": str(broken)}, "broken.json"),
        ({"config_file": 5}, '"config_file" is a number'),
        ({"config_file": "a.json", "mcpServers": {}}, 'stands beside "mcpServers"'),
        ("toolspan.json", "the config is text"),
        ({"mcpServers": 3}, "mcpServers"),
    ]
    for config, part in cases:
        assert make(config, ToolspanToolBox).tools == {}
        said = one_warning()
        assert said.startswith("ToolspanToolBox 'toolspan' ")
        assert part in said, said


def test_a_project_s_config_that_nobody_approved_starts_nothing(
    plain: Entry,
    make: Make,
    one_warning: Callable[[], str],
    census: Census,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(census.folder)
    monkeypatch.delenv("TOOLSPAN_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(census.folder / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(census.folder / "state"))
    events = census.folder / "events"
    Path("toolspan.json").write_text(
        json.dumps({"mcpServers": {"foreign": plain("--events", str(events))}})
    )
    assert make(None, ToolspanToolBox).tools == {}
    assert "toolspan trust" in one_warning()
    assert not events.exists()


def test_a_port_where_nobody_listens_is_told_at_once(
    make: Make, one_warning: Callable[[], str]
) -> None:
    url = f"http://127.0.0.1:{closed_port()}/mcp"
    make({"transport": "http", "url": url}, MCPToolBox)
    assert url.removeprefix("http://").removesuffix("/mcp") in one_warning()
