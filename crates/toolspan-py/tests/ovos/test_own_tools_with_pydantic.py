"""What do models of pydantic mean for a tool that is written in Python?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any

import pytest
import toolspan
from pydantic import BaseModel, ConfigDict, Field, field_validator


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
