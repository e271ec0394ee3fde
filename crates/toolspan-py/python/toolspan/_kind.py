"""What is a type of Python in JSON?"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any


class Unusable(TypeError):
    """A type has no JSON Schema."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type as it is in JSON."""

    schema: dict[str, Any]
    #: Whether a JSON value is one of it, as far as that tells the members of a union apart.
    accepts: Callable[[Any], bool] = lambda value: True
    #: Makes the value from JSON; ``None`` where it is the JSON itself.
    build: Callable[[Any], Any] | None = None
    #: Whether the schema is that of an object with known members.
    is_object: bool = False

    def make(self, value: Any) -> Any:
        """The value that JSON stands for."""
        return value if self.build is None else self.build(value)

    def written(self, value: Any) -> Any:
        """A default as JSON; ``None`` where it is none that could be written."""
        from ._result import plain

        try:
            written = plain(value)
            json.dumps(written, allow_nan=False)
        except (TypeError, ValueError):
            return None
        return written


class Definitions:
    """The types that a schema names by reference, since they may hold themselves."""

    def __init__(self, *, output: bool = False) -> None:
        #: Whether what is described is written, not read.
        self.output = output
        self.named: dict[str, dict[str, Any]] = {}
        self.kinds: dict[Any, Kind] = {}
        self.depth = 0

    def free(self, name: str) -> str:
        """The name, or the first one like it that is not taken."""
        found, count = name, 1
        while found in self.named:
            count += 1
            found = f"{name}_{count}"
        return found

    def closed(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema with all that it names."""
        reference = schema.get("$ref")
        if len(schema) == 1 and isinstance(reference, str) and reference.startswith("#/$defs/"):
            # A reference at the root would say nothing to who looks for its properties.
            name = reference.removeprefix("#/$defs/")
            schema = self.named[name]
            if f'"{reference}"' not in json.dumps(list(self.named.values())):
                del self.named[name]
        return {**schema, "$defs": self.named} if self.named else schema
