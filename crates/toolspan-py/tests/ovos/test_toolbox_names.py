"""What are tools called in a toolbox, and by which names are they found?"""

from __future__ import annotations

import pytest
from kit.wait import Events
from toolboxes import Entry, Make
from toolspan.ovos import ToolspanToolBox


def test_one_server_keeps_its_names_whatever_they_are(plain: Entry, make: Make) -> None:
    entry = plain("--odd-names")
    for config in entry, {"mcpServers": {"home": entry}}:
        names = list(make(config).tools)
        assert names[:3] == ["echo", "add", "nap"]
        assert names[-4:] == ["get.weather", "class", "with space", "reserved"]


def test_a_prefix_that_is_asked_for_is_there(plain: Entry, make: Make) -> None:
    box = make({**plain(), "prefix": "home"})
    assert "home__echo" in box.tools
    assert box.call_tool("home__echo", {"text": "hello"}).content == "hello"


def test_several_servers_have_names_that_show_the_server(plain: Entry, make: Make) -> None:
    config = {"mcpServers": {"one": plain(), "two": plain("--more", "1")}}
    for box in make(config), make(config, ToolspanToolBox):
        assert next(iter(box.tools)) == "one__echo"
        assert "two__more_0" in box.tools
        assert box.tools["one__echo"].argument_schema.__name__ == "echo_args"


@pytest.mark.parametrize("name", ["two__more_0", "two.more_0", "more_0"])
def test_other_forms_of_a_name_find_the_tool(name: str, plain: Entry, make: Make) -> None:
    box = make({"mcpServers": {"one": plain(), "two": plain("--more", "1")}})
    tool = box.get_tool(name)
    assert tool is not None and tool.name == "two__more_0"
    assert box.call_tool(name, {}).content == "more_0"


def test_a_name_that_two_servers_have_is_unknown_and_both_are_named(
    plain: Entry, make: Make
) -> None:
    box = make({"mcpServers": {"one": plain(), "two": plain()}})
    with pytest.raises(ValueError, match="Unknown tool 'echo'.*one__echo.*two__echo"):
        box.call_tool("echo", {"text": "hello"})


def test_a_server_s_name_before_a_dot_works_with_one_server_too(
    plain: Entry, make: Make, events: Events
) -> None:
    box = make(plain("--odd-names", "--events", str(events.path)))
    assert box.call_tool("ovos-mcp-toolbox.echo", {"text": "hello"}).content == "hello"
    # What a model API makes of an odd name.
    assert box.call_tool("get_weather", {"city": "Faro"}).is_error is False
    # What is known by another name is not looked for at the server.
    assert events.count("tools/list") == 1


def test_only_the_tools_that_the_config_includes_are_there(plain: Entry, make: Make) -> None:
    box = make({**plain(), "tools": {"include": ["e*", "add"], "exclude": ["exit"]}})
    assert list(box.tools) == ["echo", "add"]
    with pytest.raises(ValueError, match="Unknown tool 'pid'"):
        box.call_tool("pid", {})


def test_a_tool_that_is_another_one_now_is_made_anew(plain: Entry, make: Make) -> None:
    box = make(plain())
    assert "value" in box.tools["null"].argument_schema.model_json_schema()["properties"]
    box.call_tool("grow", {"name": "null"})
    box.refresh_tools()
    assert box.tools["null"].description == "Was added later"
    assert box.tools["null"].argument_schema.model_json_schema()["properties"] == {}
    with pytest.raises(ValueError, match="/value"):
        box.call_tool("null", {"value": None})


def test_an_unknown_name_lists_again_and_finds_what_came_later(plain: Entry, make: Make) -> None:
    box = make(plain())
    box.call_tool("grow", {"name": "later"})
    assert "later" not in box.tools
    assert box.call_tool("later", {}).content == "later"
