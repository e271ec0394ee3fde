"""What can be done with the class that stands for the arguments of a tool?"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from ovos_plugin_manager.templates.agent_tools import ToolArguments, ToolBox
from pydantic import ValidationError
from servers.plain import NESTED
from toolboxes import Entry, Make

#: Names that are taken in Python, in pydantic or in the class itself.
TAKEN: dict[str, Any] = {
    "self": 1,
    "cls": 2,
    "model_config": {"extra": "forbid"},
    "model_fields": [3],
    "schema": None,
    "json": "text",
    "copy": True,
    "_x": 4.5,
    "__dict__": {},
    "__pydantic_extra__": "mine",
    "_definition": "mine too",
    "class": "with space",
    "a-b": [],
    "": "empty",
    "ñ": "ü",
}


@pytest.fixture
def of(plain: Entry, make: Make) -> Any:
    """``of("add")``: the class for the arguments of a tool."""
    box = make(plain("--odd-names"))
    return lambda name: box.tools[name].argument_schema


def test_the_schema_is_the_server_s_and_each_caller_has_a_copy(of: Any) -> None:
    add = of("add")
    schema = add.model_json_schema()
    assert schema == NESTED
    assert list(schema["properties"]) == list(NESTED["properties"])
    schema["properties"].clear()
    assert add.model_json_schema() == NESTED
    assert add.model_json_schema(by_alias=False, mode="serialization") == NESTED


def test_it_is_a_class_of_the_plugin_manager_named_after_the_tool(of: Any) -> None:
    add = of("add")
    assert issubclass(add, ToolArguments)
    assert add.__name__ == "add_args"
    assert add.__doc__ == "Adds two numbers"
    assert of("with space").__name__ == "with space_args"


def test_any_names_are_kept_and_come_back(of: Any) -> None:
    anything = of("any")
    arguments = anything(**TAKEN)
    assert arguments.model_dump() == TAKEN
    assert json.loads(arguments.model_dump_json()) == TAKEN
    assert anything.model_validate(TAKEN) == arguments
    assert anything.model_validate_json(json.dumps(TAKEN)) == arguments
    assert anything.model_validate(arguments) == arguments


def test_values_can_be_read_as_attributes(of: Any) -> None:
    arguments = of("add")(a=1, b=2.5, options={"unit": "km"})
    assert (arguments.a, arguments.b, arguments.options) == (1, 2.5, {"unit": "km"})
    with pytest.raises(AttributeError):
        _ = arguments.missing
    assert repr(of("echo")(text="hello")) == "echo_args(text='hello')"


def test_a_null_stays_and_what_was_left_out_stays_out(of: Any) -> None:
    null = of("null")
    assert null(value=None).model_dump() == {"value": None}
    assert null().model_dump() == {}
    assert null(value=None) != null()


def test_equality_and_copies_go_by_the_values(of: Any) -> None:
    echo = of("echo")
    arguments = echo(text="hello")
    assert arguments == echo(text="hello") != echo(text="bye")
    for same in copy.copy(arguments), copy.deepcopy(arguments), arguments.model_copy():
        assert same == arguments and same is not arguments


def test_what_does_not_fit_is_a_value_error_with_place_expectation_and_hint(of: Any) -> None:
    add = of("add")
    for construct in (
        lambda: add(a="1", b=2),
        lambda: add.model_validate({"a": "1", "b": 2}),
        lambda: add.model_validate_json('{"a": "1", "b": 2}'),
    ):
        with pytest.raises(ValueError) as raised:
            construct()
        assert '/a: expected a number, found the string "1"' in str(raised.value)
        assert "it takes (a: number" in str(raised.value)
    with pytest.raises(ValueError, match="required.*b"):
        add(a=1)
    with pytest.raises(ValueError, match="c"):
        add(a=1, b=2, c=3)


def test_what_does_not_fit_is_told_as_pydantic_tells_it(of: Any) -> None:
    with pytest.raises(ValidationError) as raised:
        of("echo")(text=3)
    (fault,) = raised.value.errors()
    assert fault["type"] == "invalid_arguments"
    assert "/text" in fault["msg"]
    # Inputs may hold secrets, and the text goes to the bus.
    with pytest.raises(ValidationError) as raised:
        of("echo")(text="fine", password="hunter2")
    assert "input_value" not in str(raised.value)


def test_a_list_is_no_object_of_arguments(of: Any) -> None:
    with pytest.raises(ValueError, match="dictionary"):
        of("echo").model_validate(["text"])


def test_values_that_are_no_json_are_told_so(of: Any) -> None:
    with pytest.raises(ValueError, match="text"):
        of("echo")(text=object())


def test_the_plugin_manager_s_own_check_says_why(of: Any, plain: Entry, make: Make) -> None:
    box = make(plain())
    tool = box.tools["echo"]
    assert box.validate_input(tool, {"text": "hello"}).model_dump() == {"text": "hello"}
    with pytest.raises(ValueError, match="Invalid input for 'echo': .*/text"):
        box.validate_input(tool, {"text": 3})
    with pytest.raises(ValueError, match="Invalid input for 'echo'$"):
        ToolBox.validate_input(tool, {"text": 3})
