"""What is a caller told of a tool, and how are arguments checked without a call?"""

from __future__ import annotations

import gc
import json
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import toolspan
from kit import servers
from kit.mirror import Mirror, entry, mirror
from kit.processes import Census

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "unit": {"enum": ["C", "F"], "default": "C"},
        "days": {"$ref": "#/$defs/Days"},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"Days": {"type": "array", "items": {"type": "integer", "minimum": 0}}},
    "x-own": [1, 2.5],
}
OUTPUT = {"type": "object", "properties": {"degrees": {"type": "number"}}}
WEATHER = {
    "name": "get weather!",
    "title": "Weather",
    "description": "Says how warm it is",
    "inputSchema": SCHEMA,
    "outputSchema": OUTPUT,
    "annotations": {"title": "Other title", "readOnlyHint": True},
    "_meta": {"x": 1},
}
BARE = {"name": "bare", "inputSchema": {}}
REJECTED = {"name": "rejected", "inputSchema": {"type": "object", "properties": {"x": {"type": 5}}}}


@pytest.fixture
def there() -> Iterator[Mirror]:
    with mirror(WEATHER, BARE, REJECTED) as mirrored:
        yield mirrored


@pytest.fixture
def weather(there: Mirror) -> toolspan.Tool:
    return there.host.find("m__get_weather_")


def test_a_tool_says_what_its_server_says(weather: toolspan.Tool) -> None:
    assert weather.name == "m__get_weather_"
    assert weather.toolbox == "m"
    assert weather.original_name == "get weather!"
    assert weather.title == "Weather"
    assert weather.description == "Says how warm it is"
    assert json.dumps(weather.input_schema) == json.dumps(SCHEMA)
    assert weather.output_schema == OUTPUT
    assert weather.annotations == {"title": "Other title", "readOnlyHint": True}
    assert weather.signature == '(city: string, unit?: "C" | "F", days?: integer[])'
    assert repr(weather) == '<Tool m__get_weather_ of "m">'


def test_where_the_server_says_nothing_there_is_something_to_work_with(there: Mirror) -> None:
    bare = there.host.find("m__bare")
    assert (bare.title, bare.description, bare.annotations) == ("bare", "", {})
    assert (bare.input_schema, bare.output_schema, bare.signature) == ({}, None, "()")


def test_a_tool_cannot_be_changed(weather: toolspan.Tool) -> None:
    with pytest.raises(AttributeError):
        weather.name = "other"  # type: ignore[misc]
    weather.input_schema.clear()
    weather.annotations.clear()
    assert weather.input_schema == SCHEMA and weather.annotations


def test_a_tool_as_a_dict_is_what_the_command_line_prints(there: Mirror, census: Census) -> None:
    config = census.folder / "toolspan.json"
    config.write_text(json.dumps({"mcpServers": {"m": entry(WEATHER, BARE, REJECTED)}}))
    program = servers.target() / "debug/toolspan"
    printed = subprocess.run(
        [program, "--json", "--config", config, "tools"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    listed = json.loads(printed.stdout)
    assert [tool["name"] for tool in listed][:3] == ["m__mirror", "m__get_weather_", "m__bare"]
    assert json.dumps(listed) == json.dumps([tool.to_dict() for tool in there.host.tools])


@pytest.mark.parametrize(
    "arguments",
    [{"city": "Ulm"}, {"city": "", "unit": "F", "days": [0, 2**63]}, {"city": "x", "days": ()}],
)
def test_arguments_that_match_the_schema_pass(
    weather: toolspan.Tool, arguments: dict[str, Any]
) -> None:
    rest = {name: value for name, value in arguments.items() if name != "city"}
    weather.validate(arguments)
    weather.validate(**arguments)
    weather.validate({"city": arguments["city"]}, **rest)


@pytest.mark.parametrize(
    ("arguments", "pointer", "expected"),
    [
        ({}, "", "required property `city`"),
        ({"city": 5}, "/city", "a string"),
        ({"city": "x", "unit": "K"}, "/unit", 'one of "C", "F"'),
        ({"city": "x", "days": [1, -1]}, "/days/1", "at least 0"),
        ({"city": "x", "town": 1}, "/town", "found"),
        ({"city": {1}}, "/city", "a JSON value"),
    ],
)
def test_arguments_that_do_not_are_refused_as_a_call_refuses_them(
    there: Mirror, weather: toolspan.Tool, arguments: dict[str, Any], pointer: str, expected: str
) -> None:
    with pytest.raises(ValueError) as checked:
        weather.validate(arguments)
    with pytest.raises(ValueError) as called:
        there.host.call("m__get_weather_", arguments)
    error = checked.value
    assert isinstance(error, toolspan.InvalidArguments)
    assert (error.toolbox, error.tool) == ("m", "m__get_weather_")
    assert error.violations[0]["pointer"] == pointer
    assert expected in error.violations[0]["message"]
    assert str(error) == str(called.value)
    assert error.violations == called.value.violations  # type: ignore[attr-defined]


def test_a_schema_that_cannot_be_used_rejects_the_check(there: Mirror) -> None:
    broken = there.host.find("m__rejected")
    for _ in range(2):
        with pytest.raises(toolspan.SchemaRejected) as caught:
            broken.validate(x=1)
        assert caught.value.tool == "m__rejected"


def test_arguments_are_given_as_in_a_call(weather: toolspan.Tool) -> None:
    with pytest.raises(TypeError):
        weather.validate([])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        weather.validate({"city": "x"}, city="y")


def test_the_limits_of_the_config_hold_for_a_check() -> None:
    with mirror(limits={"arguments_bytes": 100}) as small:
        tool = small.host.find("m__mirror")
        tool.validate(x="x" * 80)
        for length in (93, 1_000):
            with pytest.raises(toolspan.InvalidArguments, match="arguments_bytes"):
                tool.validate(x="x" * length)


def test_many_threads_may_check_at_once(weather: toolspan.Tool) -> None:
    start = threading.Barrier(16, timeout=30)
    failures: list[BaseException] = []

    def check() -> None:
        try:
            start.wait()
            for day in range(50):
                weather.validate(city="x", days=[day])
                with pytest.raises(toolspan.InvalidArguments):
                    weather.validate(city="x", days=[-1])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=check) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_a_tool_that_is_kept_keeps_no_server(census: Census) -> None:
    host = toolspan.connect({"mcpServers": {"m": entry(WEATHER)}})
    tool = host.find("m__get_weather_")
    host.close()
    del host
    gc.collect()
    census.assert_nothing_left()
    assert tool.input_schema == SCHEMA
    tool.validate(city="x")
