"""What do models of pydantic mean for a tool that is written in Python?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
import toolspan
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    create_model,
    field_validator,
    model_validator,
)


@pytest.fixture
def host() -> Iterator[toolspan.Host]:
    """A host without servers."""
    with toolspan.connect({"mcpServers": {}}) as host:
        yield host


class Guest(BaseModel):
    """Somebody who comes."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, description="As it is written")
    born: date
    friends: list[Guest] = []

    @field_validator("name")
    @classmethod
    def is_no_digit(cls, name: str) -> str:
        if name.isdigit():
            raise ValueError("a name is no number")
        return name


def test_a_model_is_described_and_made_by_pydantic(host: toolspan.Host) -> None:
    @host.tool
    def invite(guest: Guest, others: list[Guest] | None = None) -> Guest:
        assert isinstance(guest, Guest) and all(isinstance(it, Guest) for it in others or ())
        return guest

    [tool] = host.tools
    guest = tool.input_schema["$defs"]["Guest"]
    assert guest["properties"]["name"]["description"] == "As it is written"
    assert tool.input_schema["properties"]["guest"] == {"$ref": "#/$defs/Guest"}
    given = {"name": "Ada", "born": "1815-12-10", "friends": []}
    seen = host.call("invite", guest={**given, "friends": [given]}, others=[given])
    assert seen.structured == {**given, "friends": [given]} and seen.schema_violation is None
    for wrong in ({**given, "name": ""}, {**given, "age": 1}, {"name": "Ada"}):
        with pytest.raises(toolspan.InvalidArguments):
            host.call("invite", guest=wrong)
    seen = host.call("invite", guest={**given, "name": "5"})
    assert seen.is_error and "name: " in seen.text and "a name is no number" in seen.text


def test_a_model_that_is_taken_at_several_places_is_described_once(host: toolspan.Host) -> None:
    @host.tool
    def invite(first: list[Guest], second: dict[str, Guest], third: Guest | None = None) -> None:
        return

    assert list(host.tools[0].input_schema["$defs"]) == ["Guest"]

    other = create_model("Guest", age=(int, 0))
    held = create_model("Held", guests=(list[other], []))  # type: ignore[valid-type]

    def take(first: list[Guest], second: list[held]) -> None: ...  # type: ignore[valid-type]

    take.__annotations__ = {"first": list[Guest], "second": list[held]}
    host.tool(take)
    schema = host.tools[1].input_schema
    assert len(schema["$defs"]) == 3
    host.tools[1].validate(first=[], second=[{"guests": [{"age": 5}]}])
    with pytest.raises(toolspan.InvalidArguments):
        host.tools[1].validate(first=[{"age": 5}], second=[])


class Way(BaseModel):
    start: str = Field(alias="from")
    end: str = Field("here", serialization_alias="to")


@dataclass
class Ways:
    ways: list[Way]


def test_a_model_has_the_names_of_its_aliases(host: toolspan.Host) -> None:
    @host.tool
    def go(way: Way) -> Way:
        return way

    @host.tool
    def all_ways(way: Way) -> Ways:
        return Ways([way])

    given = {"from": "there", "end": "here"}
    wanted = {"from": "there", "to": "here"}
    for name, structured in {"go": wanted, "all_ways": {"ways": [wanted]}}.items():
        seen = host.call(name, way=given)
        assert (seen.structured, seen.schema_violation) == (structured, None)


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: Annotated[float, Field(gt=0)]


class Square(BaseModel):
    kind: Literal["square"]
    side: int

    @model_validator(mode="after")
    def is_even(self) -> Square:
        if self.side % 2:
            raise ValueError("a side must be even")
        return self


Shape = Annotated[Circle | Square, Field(discriminator="kind")]


def test_a_member_of_a_union_is_told_by_its_mark(host: toolspan.Host) -> None:
    @host.tool
    def draw(shapes: list[Shape]) -> str:
        return " ".join(type(shape).__name__ for shape in shapes)

    square = {"kind": "square", "side": 2}
    seen = host.call("draw", shapes=[square, {"kind": "circle", "radius": 1}])
    assert seen.text == "Square Circle"
    for wrong in ({"kind": "line"}, {"kind": "circle", "radius": 0}, {"kind": "circle"}):
        with pytest.raises(toolspan.InvalidArguments):
            host.call("draw", shapes=[wrong])
    seen = host.call("draw", shapes=[{**square, "side": 3}])
    assert seen.is_error and "a side must be even" in seen.text


def test_fields_bound_and_describe_parameters(host: toolspan.Host) -> None:
    @host.tool
    def take(
        count: Annotated[int, Field(ge=1, le=5, description="So many")],
        word: str = Field("a", pattern="^a", description="Begins well"),
    ) -> str:
        return word * count

    schema: dict[str, Any] = host.tools[0].input_schema
    assert schema["required"] == ["count"]
    assert schema["properties"]["count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
        "description": "So many",
    }
    assert host.call("take", count=2).text == "aa"
    for wrong in ({"count": 6}, {"count": 1, "word": "b"}):
        with pytest.raises(toolspan.InvalidArguments):
            host.call("take", wrong)
