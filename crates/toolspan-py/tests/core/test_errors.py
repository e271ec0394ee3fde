"""Which exceptions are raised, what do they say, and do they survive a copy?"""

from __future__ import annotations

import copy
import math
import pickle
import re
from typing import Any

import pytest
import toolspan
from kit.mirror import mirror
from toolspan import _errors

#: The names of all exceptions.
ALL = [name for name in toolspan.__all__ if hasattr(getattr(toolspan, name), "with_traceback")]

#: Everything that an error can say.
SAYS: dict[str, Any] = {
    "toolbox": "box",
    "tool": "box__tool",
    "phase": "call",
    "outcome": "unknown",
    "hint": "try again",
    "violations": [{"pointer": "/a", "message": "expected an integer, found null"}],
    "suggestions": ["box__tools"],
    "code": -32000,
    "http_status": 429,
    "retry_after": 1.5,
    "stderr": "last words",
}


def class_of(name: str) -> type[toolspan.ToolspanError]:
    found: type[toolspan.ToolspanError] = getattr(toolspan, name)
    assert issubclass(found, toolspan.ToolspanError)
    return found


@pytest.mark.parametrize("name", ALL)
def test_an_error_keeps_all_that_it_says_in_a_pickle_and_in_a_copy(name: str) -> None:
    error = class_of(name)("it failed", **SAYS)
    copies = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(6)]
    for other in [*copies, copy.copy(error), copy.deepcopy(error)]:
        assert type(other) is type(error)
        assert str(other) == str(error) == "it failed (try again); its last words: last words"
        assert (other.kind, other.message, other.args) == (error.kind, "it failed", ("it failed",))
        assert {key: getattr(other, key) for key in SAYS} == SAYS
        assert other.to_dict() == error.to_dict()


@pytest.mark.parametrize("name", ALL)
def test_an_error_says_nothing_where_nothing_is_known(name: str) -> None:
    error = class_of(name)()
    assert str(error) == ""
    assert {key for key in SAYS if getattr(error, key)} == {"phase", "outcome"}


def test_each_kind_has_a_class_whose_name_is_the_kind() -> None:
    assert len(_errors.BY_KIND) == 18
    for kind, found in _errors.BY_KIND.items():
        in_words = re.sub("([A-Z])", r"_\1", found.__name__).lower().strip("_")
        assert in_words.removesuffix("_error") == kind.removesuffix("_error")
        assert found.kind == kind
    assert {f"{found.__module__}.{found.__name__}" for found in _errors.BY_KIND.values()} == {
        f"toolspan.{name}" for name in ALL if name not in ("ToolspanError", "ForkedProcess")
    }


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("InvalidArguments", ValueError),
        ("Timeout", TimeoutError),
        ("ConnectError", ConnectionError),
        ("ToolNotFound", LookupError),
        ("ForkedProcess", toolspan.UsageError),
    ],
)
def test_an_error_is_also_what_code_without_this_package_catches(
    name: str, base: type[Exception]
) -> None:
    assert issubclass(class_of(name), base)
    assert issubclass(class_of(name), toolspan.ToolspanError)


def test_a_list_of_problems_has_its_hint_on_a_line_of_its_own() -> None:
    error = toolspan.InvalidArguments("2 problems:\n- a\n- b", hint="see the schema")
    assert str(error) == "2 problems:\n- a\n- b\nsee the schema"


def test_the_last_words_of_a_server_are_bounded_and_safe_to_show() -> None:
    written = "first\nsecond\n\n\x1b[31mthird\x1b[0m\r\n" + "x" * 1_000 + "\n \n"
    error = toolspan.StartupError("it ended", stderr=written)
    assert str(error) == f"it ended; its last words: second | third | {'x' * 300}…"
    assert str(toolspan.StartupError("it ended", stderr="\n \n")) == "it ended"


def test_what_is_raised_says_what_the_server_said() -> None:
    with mirror() as there, pytest.raises(toolspan.ToolNotFound) as caught:
        there.host.call("m__miror")
    error = caught.value
    assert isinstance(error, LookupError)
    assert error.suggestions == ["m__mirror"]
    assert (error.kind, error.outcome) == ("tool_not_found", "not_sent")
    assert pickle.loads(pickle.dumps(error)).__dict__ == error.__dict__


def test_invalid_arguments_name_the_place_what_was_expected_and_what_came() -> None:
    takes = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}}
    with mirror({"name": "sum", "inputSchema": takes}) as there:
        with pytest.raises(ValueError) as caught:
            there.host.call("m__sum", n=[1, "two"])
    error = caught.value
    assert isinstance(error, toolspan.InvalidArguments)
    assert (error.toolbox, error.tool) == ("m", "m__sum")
    assert error.violations == [
        {"pointer": "/n/1", "message": 'expected an integer, found the string "two"'}
    ]
    assert '/n/1: expected an integer, found the string "two"' in str(error)


def test_however_much_is_wrong_the_list_of_it_is_bounded() -> None:
    takes = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}}
    with mirror({"name": "sum", "inputSchema": takes}) as there:
        with pytest.raises(toolspan.InvalidArguments) as caught:
            there.host.call("m__sum", n=["x" * 1_000] * 1_000)
    assert len(caught.value.violations) == 100
    assert len(str(caught.value)) < 20_000
    assert "and 980 more" in str(caught.value)


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"mcpServers": {"a": {"command": {1}}}}, "/mcpServers/a/command"),
        ({"limits": {"tools": math.nan}}, "/limits/tools"),
        ({"mcpServers": {5: {}}}, "/mcpServers"),
    ],
)
def test_a_config_that_is_no_json_is_a_fault_of_the_config(config: Any, pointer: str) -> None:
    with pytest.raises(toolspan.ConfigError, match=f"the config .*{pointer}: expected") as caught:
        toolspan.connect(config)
    assert (caught.value.kind, caught.value.phase) == ("config", "config")
    assert caught.value.violations[0]["pointer"] == pointer


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "says"),
    [
        ("refuse", {"text": "not today"}, toolspan.RemoteError, {"code": -32000}),
        ("exit", {"code": 3}, toolspan.ClosedError, {"stderr": "plain: told to exit\n"}),
        ("nap", {"seconds": 60}, toolspan.Timeout, {"outcome": "unknown"}),
    ],
)
def test_what_became_of_a_call_is_in_its_attributes(
    plain: Any, tool: str, arguments: dict[str, Any], kind: type, says: dict[str, Any]
) -> None:
    with toolspan.connect({"mcpServers": {"p": plain()}}) as host:
        with pytest.raises(kind) as caught:
            # Only the nap waits so long.
            limit = 1 if tool == "nap" else 60
            host.with_options(timeout=limit).call(f"p__{tool}", arguments)
    error = caught.value
    assert isinstance(error, toolspan.ToolspanError)
    assert (error.toolbox, error.tool) == ("p", f"p__{tool}")
    found = {key: getattr(error, key) for key in says}
    assert {key: str(value).strip() for key, value in found.items()} == {
        key: str(value).strip() for key, value in says.items()
    }
    assert error.message in str(error)
