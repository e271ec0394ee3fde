"""Which Python values go to a tool and come back, and how are the others refused?"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import json
import math
import random
import string
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import pytest
import toolspan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from kit.mirror import Mirror, mirror

#: Characters of a pointer that a message shows as they are.
SHOWN = set(string.ascii_letters + string.digits + "/~_")

#: Seconds that a refusal takes at most, on a busy machine with a debug build.
QUICK = 60.0


@pytest.fixture
def there() -> Iterator[Mirror]:
    with mirror() as mirrored:
        yield mirrored


def refused(there: Mirror, value: Any) -> toolspan.InvalidArguments:
    """The refusal of ``{"value": value}``, which is the same wherever arguments are given."""
    began = time.monotonic()
    with pytest.raises(toolspan.InvalidArguments) as caught:
        there.host.call("m__mirror", value=value)
    assert time.monotonic() - began < QUICK
    error = caught.value
    assert (error.kind, error.phase, error.outcome) == ("invalid_arguments", "validate", "not_sent")
    assert error.tool == "m__mirror"
    [violation] = error.violations
    assert violation["message"] in str(error)
    if set(violation["pointer"]) <= SHOWN:
        assert violation["pointer"][:200] in str(error)
    return error


class Place:
    """What is a path to ``os``, though no text."""

    def __fspath__(self) -> bytes:
        return b"/tmp"


def test_a_path_is_its_text(there: Mirror) -> None:
    assert there.through(Path("/a") / "b") == "/a/b"
    assert refused(there, Path).hint == "this is a class; send an object of it"
    assert refused(there, Place()).hint == "send text: os.fspath(value)"


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, types, order of keys and the sign of zero included."""
    return repr(one) == repr(other)


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    def __str__(self) -> str:
        return "not the text of it"


class Share(float):
    pass


class Point(NamedTuple):
    x: int
    y: int


class Ordered(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, **members: Any) -> None:
        self.members = members

    def __getitem__(self, key: str) -> Any:
        return self.members[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


class Endless(Ordered):
    """A mapping without an end."""

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            yield str(number)
            number += 1

    def __getitem__(self, key: str) -> Any:
        return None


class Model:
    """What dumps itself as a pydantic model does."""

    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self, *, mode: str) -> Any:
        assert mode == "json"
        if isinstance(self.dumped, BaseException):
            raise self.dumped
        return self.dumped() if callable(self.dumped) else self.dumped


@dataclasses.dataclass
class Record:
    x: int


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        (True, True),
        (0, 0),
        (2**64 - 1, 2**64 - 1),
        (-(2**63), -(2**63)),
        (-0.0, -0.0),
        (1.0, 1.0),
        (5e-324, 5e-324),
        ("", ""),
        ('\0\x1f"\\/é\u2028🦀', '\0\x1f"\\/é\u2028🦀'),
        ({"b": 1, "a": {}, "": []}, {"b": 1, "a": {}, "": []}),
        ((1, (2,)), [1, [2]]),
        (Point(1, 2), [1, 2]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Name("own"), "own"),
        ({Name("own"): 1, Colour.RED: 2}, {"own": 1, "red": 2}),
        (Share(0.5), 0.5),
        (collections.OrderedDict([("b", 1), ("a", 2)]), {"b": 1, "a": 2}),
        (collections.defaultdict(int, b=1), {"b": 1}),
        (collections.ChainMap({"a": 1}, {"b": 2}), {"b": 2, "a": 1}),
        (Ordered(z=1, a=Ordered()), {"z": 1, "a": {}}),
        (Model({"x": [Model(1)]}), {"x": [1]}),
        (Model("text"), "text"),
    ],
)
def test_a_value_comes_back_as_its_plain_equal(there: Mirror, given: Any, expected: Any) -> None:
    assert same(there.through(given), expected)


def test_the_order_of_an_ordered_dict_is_its_own(there: Mirror) -> None:
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert list(there.through(ordered)) == ["b", "a"]


@pytest.mark.parametrize(
    ("value", "pointer", "found"),
    [
        ([1, math.nan], "/value/1", "found nan"),
        ({"a": {"b/c~d": math.inf}}, "/value/a/b~1c~0d", "found inf"),
        (-math.inf, "/value", "found -inf"),
        (2**64, "/value", "an int of 65 bits"),
        (-(2**63) - 1, "/value", "an int of 64 bits"),
        (1 << 14_000, "/value", "an int of 14001 bits"),
        ("\ud800", "/value", "lone surrogate"),
        ({"\udfff": 1}, "/value", "lone surrogate"),
        ({"ok": {1: 2}}, "/value/ok", "type int as a key"),
        ({None: 2}, "/value", "type NoneType as a key"),
        (b"bytes", "/value", "type bytes"),
        (bytearray(b"bytes"), "/value", "type bytearray"),
        ([{1}], "/value/0", "type set"),
        (frozenset(), "/value", "type frozenset"),
        (object(), "/value", "type object"),
        (1j, "/value", "type complex"),
        (range(3), "/value", "type range"),
        (iter([1]), "/value", "type list_iterator"),
        (datetime.date(2000, 1, 1), "/value", "type datetime.date"),
        (Record(1), "/value", "Record"),
        (Record, "/value", "type type"),
        (Model, "/value", "type type"),
        (Model(Model(1)), "/value", "Model"),
        (Model(b"bytes"), "/value", "type bytes"),
        (MagicMock(), "/value", "MagicMock"),
        (print, "/value", "builtin_function_or_method"),
    ],
)
def test_what_is_no_json_is_refused_at_its_place(
    there: Mirror, value: Any, pointer: str, found: str
) -> None:
    error = refused(there, value)
    assert error.violations[0]["pointer"] == pointer
    assert found in error.violations[0]["message"]
    assert error.hint


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (b"", "base64.b64encode"),
        (set(), "sorted("),
        (Record(1), "dataclasses.asdict("),
        (Record, "a class"),
        (datetime.datetime(2000, 1, 1), ".isoformat()"),
        (range(1), "list("),
        (math.nan, "None"),
        ({1: 2}, "str(key)"),
    ],
)
def test_the_hint_says_what_to_write_instead(there: Mirror, value: Any, hint: str) -> None:
    error = refused(there, value)
    assert error.hint is not None and hint in error.hint


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_what_nests_64_deep_goes_and_one_more_is_refused(there: Mirror) -> None:
    # The arguments are one level; the server's message around them has three.
    there.host.find("m__mirror").validate(value=nested(63))
    assert there.through(nested(61)) == nested(61)
    for depth in (64, 65, 5_000):
        error = refused(there, nested(depth))
        assert error.violations[0]["pointer"] == "/value" + "/0" * 63
        assert "limits.json_depth" in str(error)


def test_the_depth_is_that_of_the_config() -> None:
    with mirror(limits={"json_depth": 6}) as shallow:
        assert shallow.through([[[]]]) == [[[]]]
        error = refused(shallow, nested(6))
        assert "at most 6 lists and dicts" in str(error)


def test_models_do_not_count_as_nesting(there: Mirror) -> None:
    value: Any = 1
    for _ in range(61):
        value = Model([value])
    assert json.dumps(there.through(value)) == "[" * 61 + "1" + "]" * 61


def in_a_list() -> Any:
    it: list[Any] = [1]
    it.append(it)
    return it, "/value/1"


def in_a_dict() -> Any:
    it: dict[str, Any] = {}
    it["x"] = it
    return it, "/value/x"


def in_a_tuple() -> Any:
    inner: list[Any] = []
    it = (0, inner)
    inner.append(it)
    return it, "/value/1/0"


def in_a_mapping() -> Any:
    it = Ordered()
    it.members["x"] = [it]
    return it, "/value/x/0"


def in_a_model() -> Any:
    it = Model(None)
    it.dumped = {"x": it}
    return it, "/value/x"


def in_a_wide_one() -> Any:
    it: dict[str, Any] = {}
    it["a"] = [[{"b": it}] * 1_000] * 1_000
    return it, "/value/a/0/0/b"


@pytest.mark.parametrize(
    "make",
    [in_a_list, in_a_dict, in_a_tuple, in_a_mapping, in_a_model, in_a_wide_one],
)
def test_what_is_inside_itself_is_found_where_it_comes_again(there: Mirror, make: Any) -> None:
    value, pointer = make()
    error = refused(there, value)
    assert error.violations[0]["pointer"] == pointer
    assert "inside itself" in str(error)


def test_the_same_object_may_come_twice_side_by_side(there: Mirror) -> None:
    shared = {"a": [1]}
    assert there.through([shared, shared]) == [shared, shared]


def test_a_list_of_a_million_numbers_is_taken(there: Mirror) -> None:
    numbers = list(range(1_000_000))
    there.host.find("m__mirror").validate(value=numbers)
    assert there.through(numbers[-100_000:]) == numbers[-100_000:]


def test_what_unfolds_without_end_ends_at_a_bound(there: Mirror) -> None:
    shared: Any = [1]
    for _ in range(60):
        shared = [shared, shared]
    error = refused(there, shared)
    assert "at most 1048576 values" in str(error)
    assert error.violations[0]["pointer"] == ""


def test_what_is_too_long_is_refused_before_room_is_made_for_it(there: Mirror) -> None:
    long = [None] * (1 << 20)
    there.host.find("m__mirror").validate(value=long[1:])
    wide: Any = long
    for _ in range(60):
        wide = [wide] * 100_000
    for value in (long, wide, dict.fromkeys(map(str, range(1 << 20)))):
        assert "at most 1048576 values" in str(refused(there, value))


def test_a_mapping_without_end_ends_at_a_bound() -> None:
    with mirror(limits={"arguments_bytes": 100_000}) as small:
        assert "limits.arguments_bytes" in str(refused(small, Endless()))


def test_more_than_the_limit_of_bytes_is_refused_before_it_is_written(there: Mirror) -> None:
    for value in ("x" * (16 << 20), ["x" * 1_000] * 20_000, {"x" * (16 << 20): 1}):
        error = refused(there, value)
        assert "limits.arguments_bytes" in str(error)
        assert error.violations[0]["pointer"] == ""


def test_the_limit_of_bytes_is_that_of_the_config() -> None:
    with mirror(limits={"arguments_bytes": 1_000}) as small:
        assert small.through("x" * 900) == "x" * 900
        with pytest.raises(toolspan.InvalidArguments, match="arguments_bytes"):
            small.through("x" * 1_000)


class Grows:
    """A model that changes what holds it while that is read."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def model_dump(self, *, mode: str) -> Any:
        if isinstance(self.holder, dict):
            self.holder[str(len(self.holder))] = self
        else:
            self.holder.append(self)
        return len(self.holder)


def test_what_changes_while_it_is_read_is_read_as_it_was(there: Mirror) -> None:
    members: dict[str, Any] = {}
    members["a"] = Grows(members)
    members["b"] = 0
    assert there.through(members) == {"a": 3, "b": 0}
    items: list[Any] = []
    items.append(Grows(items))
    assert there.through(items) == [2]


def test_what_a_value_raises_is_the_cause_of_the_refusal(there: Mirror) -> None:
    cause = RuntimeError("the text stays with its exception")
    error = refused(there, [Model(cause)])
    assert error.__cause__ is cause
    assert error.violations[0]["pointer"] == "/value/0"
    assert "RuntimeError" in str(error) and "the text" not in str(error)

    class Broken(Ordered):
        def __iter__(self) -> Iterator[str]:
            raise KeyError("gone")

    assert isinstance(refused(there, Broken()).__cause__, KeyError)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_goes_its_own_way(there: Mirror, raised: type[BaseException]) -> None:
    with pytest.raises(raised):
        there.host.call("m__mirror", value=Model(raised()))


def test_a_key_that_comes_twice_is_refused(there: Mirror) -> None:
    class Twice(Ordered):
        def __iter__(self) -> Iterator[str]:
            return iter(["a", "a"])

    error = refused(there, Twice(a=1))
    assert error.violations[0]["pointer"] == "/value/a"


class Odd(str):
    """A key whose equals are not those of its text."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def test_two_keys_of_one_text_are_refused(there: Mirror) -> None:
    refused(there, {Odd("a"): 1, Odd("a"): 2})


def test_arguments_are_those_of_the_mapping_and_those_by_keyword(there: Mirror) -> None:
    def content(*args: Any, **arguments: Any) -> Any:
        return there.host.call("m__mirror", *args, **arguments).extra

    assert content() == content(None) == content({}) == {}
    assert content({"a": 1}, b=2) == {"a": 1, "b": 2}
    assert content(Ordered(a=1)) == {"a": 1}
    names = {"self": 1, "name": 2, "args": 3, "timeout": 4, "with space": 5}
    assert content(**names) == content(names) == names


@pytest.mark.parametrize("args", [[], "text", 5, [("a", 1)], {1}, Model({})])
def test_arguments_that_are_no_mapping_are_a_type_error(there: Mirror, args: Any) -> None:
    with pytest.raises(TypeError, match="must be a mapping"):
        there.host.call("m__mirror", args)


def test_an_argument_that_is_given_twice_is_a_type_error(there: Mirror) -> None:
    with pytest.raises(TypeError, match='"a" is given twice'):
        there.host.call("m__mirror", {"a": 1}, a=1)


PLAIN = (
    some.none()
    | some.booleans()
    | some.integers(-(2**63), 2**64 - 1)
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text()
)
JSON = some.recursive(
    PLAIN, lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner), max_leaves=30
)
NOT_JSON = (
    some.sampled_from([math.nan, math.inf, -math.inf, "\ud800", "a\udfff", 2**64, -(2**63) - 1])
    | some.binary()
    | some.sets(some.integers())
    | some.dates()
    | some.decimals()
    | some.complex_numbers()
    | some.dictionaries(some.integers(), PLAIN, min_size=1)
    | some.dictionaries(some.just("\ud800"), PLAIN, min_size=1)
    | some.builds(object)
)
PROPERTY = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@PROPERTY
@given(value=JSON)
def test_whatever_is_json_comes_back_equal(there: Mirror, value: Any) -> None:
    assert same(there.through(value), value)


@PROPERTY
@given(value=JSON, other=NOT_JSON, seed=some.integers(0, 1_000))
def test_whatever_holds_something_else_is_refused_at_its_place(
    there: Mirror, value: Any, other: Any, seed: int
) -> None:
    holder, pointer = planted(value, other, random.Random(seed))
    error = refused(there, holder)
    assert error.violations[0]["pointer"] == "/value" + pointer


def planted(value: Any, other: Any, chance: random.Random) -> tuple[Any, str]:
    """The value with something else in it, at a place of chance, and the pointer to that place."""
    pointer = ""
    holder: Any = {"it": value}
    key: Any = "it"
    root = holder
    while True:
        pointer += "/" + str(key).replace("~", "~0").replace("/", "~1")
        inner = holder[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.3:
            holder[key] = other
            return root, pointer
        holder = inner
        key = chance.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
