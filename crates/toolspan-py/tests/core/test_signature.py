"""What is a model told of a function's parameters, and what does the function get?"""

from __future__ import annotations

import datetime
import enum
import functools
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import pytest
import toolspan


@pytest.fixture
def host() -> Iterator[toolspan.Host]:
    """A host without servers."""
    with toolspan.connect({"mcpServers": {}}) as host:
        yield host


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Odd(enum.Enum):
    FIRST = (1,)
    SECOND = (2,)


@dataclass
class Tree:
    """A tree of names."""

    name: str
    children: list[Tree] = field(default_factory=list)
    size: Annotated[int, "How large it is"] = 1


class Point(NamedTuple):
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    deep: bool


Word = NewType("Word", str)

#: A type, a value in JSON, what the function gets, and a value that is refused.
CASES: list[tuple[Any, Any, Any, Any]] = [
    (str, "a", "a", 1),
    (bool, True, True, "true!"),
    (float, 1, 1.0, "one"),
    (None, None, None, 1),
    (bytes, "AAE=", b"\0\1", 5),
    (list[int], [1], [1], ["a"]),
    (Sequence[int], [1], [1], {}),
    (dict[str, int], {"a": 1}, {"a": 1}, {"a": "b"}),
    (Mapping[str, Color], {"a": "red"}, {"a": Color.RED}, {"a": "green"}),
    (tuple[int, str], [1, "a"], (1, "a"), [1]),
    (tuple[int, ...], [1, 2], (1, 2), ["a"]),
    (set[int], [1, 2], {1, 2}, [1, 1]),
    (frozenset[str], ["a"], frozenset("a"), {"a": 1}),
    (int | None, None, None, "a"),
    (int | str, "a", "a", []),
    (datetime.date | int, "2026-01-02", datetime.date(2026, 1, 2), []),
    (str | datetime.date, "2026-01-02", "2026-01-02", []),
    (Tree | Point, {"x": 1}, Point(1), {"z": 1}),
    (Literal["a", 1], 1, 1, "b"),
    (Literal[Color.RED], "red", Color.RED, "blue"),
    (Color, "blue", Color.BLUE, "green"),
    (Odd, "FIRST", Odd.FIRST, "THIRD"),
    (Tree, {"name": "a", "children": [{"name": "b"}]}, Tree("a", [Tree("b")]), {"children": []}),
    (Point, {"x": 1}, Point(1), {"x": 1, "z": 1}),
    (Options, {"deep": True}, {"deep": True}, {"depth": 1}),
    (Word, "a", "a", 1),
    (datetime.datetime, "2026-01-02T03:04:05Z", None, 5),
    (uuid.UUID, "12345678-1234-5678-1234-567812345678", None, 5),
    (Path, "a/b", Path("a/b"), 5),
    (Decimal, "1.5", Decimal("1.5"), True),
    (Annotated[int, "So many"], 1, 1, "a"),
    (Any, {"a": [1]}, {"a": [1]}, None),
]


@pytest.mark.parametrize("hint, given, gets, wrong", CASES, ids=[str(case[0]) for case in CASES])
def test_a_value_of_each_type_is_made_of_json_and_others_are_refused(
    host: toolspan.Host, hint: Any, given: Any, gets: Any, wrong: Any
) -> None:
    got: list[Any] = []

    def take(value: Any) -> None:
        got.append(value)

    take.__annotations__["value"] = hint
    host.tool(take)
    seen = host.call("take", value=given)
    assert not seen.is_error, seen.text
    if gets is None and given is not None:
        assert type(got[0]) is hint
    else:
        assert got == [gets] and type(got[0]) is type(gets)
    if wrong is not None:
        with pytest.raises(toolspan.InvalidArguments):
            host.call("take", value=wrong)


def schema_of(host: toolspan.Host) -> dict[str, Any]:
    """The schema of the tool that was added last."""
    return host.tools[-1].input_schema


def test_types_that_hold_themselves_are_named(host: toolspan.Host) -> None:
    @host.tool
    def take(tree: Tree, other: Tree) -> None: ...

    schema = schema_of(host)
    assert schema["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    tree = schema["$defs"]["Tree"]
    assert tree["description"] == "A tree of names."
    assert tree["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert tree["properties"]["size"] == {
        "type": "integer",
        "description": "How large it is",
        "default": 1,
    }
    assert (tree["required"], tree["additionalProperties"]) == (["name"], False)


def test_a_local_name_comes_before_one_of_the_module(host: toolspan.Host) -> None:
    @dataclass
    class Color:
        shade: int

    @host.tool
    def take(value: list[Color], context: bool = False) -> int:
        return value[0].shade

    assert host.call("take", value=[{"shade": 5}]).structured == 5


def test_names_that_are_local_to_a_function_are_found(host: toolspan.Host) -> None:
    @dataclass
    class Local:
        a: int

    @host.tool
    def take(value: Local) -> int:
        return value.a

    assert host.call("take", value={"a": 5}).structured == 5


def test_a_name_that_cannot_be_found_is_told(host: toolspan.Host) -> None:
    def take(value: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="names 'Missing', which cannot be found"):
        host.tool(take)


def test_defaults_and_kinds_of_parameters_are_kept(host: toolspan.Host) -> None:
    @host.tool
    def take(
        a: int, /, b: Color = Color.RED, *, c: str = "x", d: int | None = None, e: Any = print
    ) -> str:
        return f"{a} {b} {c} {d} {e is print}"

    schema = schema_of(host)
    assert schema["required"] == ["a"]
    assert {name: each.get("default", "-") for name, each in schema["properties"].items()} == {
        "a": "-",
        "b": "red",
        "c": "x",
        "d": None,
        "e": "-",
    }
    assert host.call("take", a=1, c="y").text == "1 Color.RED y None True"
    assert host.call("take", a=1, d=None).text == "1 Color.RED x None True"


@dataclass
class Parcel:
    """What is sent
    by post.

    Attributes:
        to (str): Where it goes.
        weight: In grams.
    """

    to: str
    weight: int = 5
    stamps: int = field(default=0, init=False)
    express: InitVar[bool] = False

    def __post_init__(self, express: bool) -> None:
        self.stamps = 9 if express else 1


def test_a_dataclass_is_described_by_its_docstring_and_made_by_its_constructor(
    host: toolspan.Host,
) -> None:
    @host.tool
    def send(parcel: Parcel) -> Parcel:
        return parcel

    [tool] = host.tools
    taken = tool.input_schema["$defs"]["Parcel"]
    assert taken["description"] == "What is sent\nby post."
    assert taken["properties"] == {
        "to": {"type": "string", "description": "Where it goes."},
        "weight": {"type": "integer", "description": "In grams.", "default": 5},
        "express": {"type": "boolean", "default": False},
    }
    seen = host.call("send", parcel={"to": "Ada", "express": True})
    assert seen.structured == {"to": "Ada", "weight": 5, "stamps": 9}
    assert seen.schema_violation is None
    with pytest.raises(toolspan.InvalidArguments):
        host.call("send", parcel={"to": "Ada", "stamps": 1})


def test_what_cannot_be_described_is_refused_with_what_to_do(host: toolspan.Host) -> None:
    @dataclass
    class Odd:
        a: int

        def __init__(self, b: int) -> None:
            self.a = b

    class Counter:
        def more(self, by: int) -> int:
            return by

        def each(self) -> Iterator[int]:
            yield 1

    async def later() -> AsyncIterator[int]:
        yield 1

    def odd(value: Odd) -> None: ...

    for function, words in {
        odd: "is made with 'b', which is none of its fields",
        Counter.more: r"method without its object.*host.tool\(Counter\(\).more\)",
        Counter().each: r"each\(\) yields",
        later: r"later\(\) yields",
    }.items():
        with pytest.raises(TypeError, match=words):
            host.tool(function)
    with pytest.raises(TypeError, match="method without its object"):

        class Tools:
            @host.tool
            def look(self, where: str) -> str:
                return where

    assert host.tools == []

    @host.tool
    def own(self: int) -> int:
        return self

    assert host.call("own", {"self": 1}).structured == 1


DOCSTRINGS = {
    "google": """Moves it.

    Takes its time.

    Args:
        to (str): Where
            it goes.
        fast: Whether to hurry.

    Returns:
        to: not a parameter here.
    """,
    "numpy": """Moves it.

    Takes its time.

    Parameters
    ----------
    to : str
        Where
        it goes.
    fast : bool, optional
        Whether to hurry.

    Returns
    -------
    str
    """,
    "sphinx": """Moves it.

    Takes its time.

    :param str to: Where
        it goes.
    :param fast: Whether to hurry.
    :returns: nothing
    """,
}


#: Docstrings as they are met, what they say of the function, and of its parameters.
MET: list[tuple[str, str, dict[str, str | None]]] = [
    ("", "", {}),
    ("Moves it.\n    Args:\n      to: Where\n    Returns: nothing", "Moves it.", {"to": "Where"}),
    (
        "Moves it.\n\n    Args:\n        to: Where\n\n    It may take long: be patient.",
        "Moves it.\n\nIt may take long: be patient.",
        {"to": "Where"},
    ),
    (
        """Moves it at 10:30.

        Args:
            to (dict[str, tuple(int)], optional): One of
                - here: not there
                - there

                or elsewhere.
            fast (Callable[[int], str]): Whether to hurry
            *more: not told
        Raises:
            ValueError: plain: never
        """,
        "Moves it at 10:30.",
        {"to": "One of - here: not there - there or elsewhere.", "fast": "Whether to hurry"},
    ),
    (
        "Moves it.\n\n    Args:\n        - to: Where\n        - `fast` (bool): Whether\n",
        "Moves it.",
        {"to": "Where", "fast": "Whether"},
    ),
    (
        """Moves it.

        Parameters
        ----------
        to, plain : {'a', 'b'}
            Both.

            Always.
        fast

        Examples
        --------
        >>> fast : no
        """,
        "Moves it.",
        {"to": "Both. Always.", "plain": "Both. Always."},
    ),
    (
        """Moves it.
        :param to: Where: there
          or here
        :type to: str
        :param bool | None fast: Whether
        :raises ValueError: never
        """,
        "Moves it.",
        {"to": "Where: there or here", "fast": "Whether"},
    ),
]


@pytest.mark.parametrize(("text", "description", "words"), MET)
def test_a_docstring_is_read_as_it_is_met(
    host: toolspan.Host, text: str, description: str, words: dict[str, str]
) -> None:
    def move(to: str, fast: bool = False, plain: int = 0) -> None: ...

    move.__doc__ = text
    host.tool(move)
    [tool] = host.tools
    said = {name: each.get("description") for name, each in schema_of(host)["properties"].items()}
    assert tool.description == description
    assert said == {"to": None, "fast": None, "plain": None, **words}


@pytest.mark.parametrize("style", DOCSTRINGS)
def test_a_docstring_tells_of_the_function_and_its_parameters(
    host: toolspan.Host, style: str
) -> None:
    def move(to: str, fast: bool = False, plain: int = 0) -> None: ...

    move.__doc__ = DOCSTRINGS[style]
    host.tool(move)
    [tool] = host.tools
    assert tool.description == "Moves it.\n\nTakes its time."
    said = {name: each.get("description") for name, each in schema_of(host)["properties"].items()}
    assert said == {"to": "Where it goes.", "fast": "Whether to hurry.", "plain": None}


def test_methods_partials_and_objects_are_functions_too(host: toolspan.Host) -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        @classmethod
        def named(cls, by: int) -> str:
            return cls.__name__ * by

        @staticmethod
        def doubled(by: int) -> int:
            return by * 2

        def more(self, by: int) -> int:
            self.count += by
            return self.count

        async def __call__(self, by: int) -> int:
            return self.more(by)

    counter = Counter()
    host.tool(counter.more)
    host.tool(name="called")(counter)
    host.tool(name="five")(functools.partial(counter.more, 5))
    assert host.call("more", by=1).structured == 1
    assert host.call("called", by=1).structured == 2
    assert host.call("five").structured == 7
    host.tool(counter.named)
    host.tool(Counter.doubled)
    host.tool(name="given")(functools.partial(counter.more, by=3))
    assert host.call("named", by=2).text == "CounterCounter"
    assert host.call("doubled", by=2).structured == 4
    assert host.tools[-1].signature == "(by?: integer)"
    assert host.call("given").structured == 10
    assert host.call("given", by=0).structured == 10


def test_what_it_returns_is_described_where_it_is_an_object(host: toolspan.Host) -> None:
    @host.tool
    def tree() -> Tree:
        return Tree("a")

    @host.tool
    def number() -> int:
        return 1

    first, second = host.tools
    assert first.output_schema is not None and second.output_schema is None
    assert host.call("tree").schema_violation is None


def test_a_value_that_is_none_of_its_type_is_told_as_an_observation(host: toolspan.Host) -> None:
    @host.tool
    def take(path: bytes) -> None: ...

    seen = host.call("take", path="no base64!")
    assert seen.is_error and seen.text.startswith("ValueError: path: ")
