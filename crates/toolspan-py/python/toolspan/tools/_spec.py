"""How is a tool asked for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ToolSpec:
    """A tool that is asked for by a registered name, an alias of one, or the name of its class.

    Raises ``ValueError`` for a blank name, ``TypeError`` for a name that is no text and for params
    that are no mapping.
    """

    name: str
    #: What it is made with; ``None`` is the same as nothing.
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"the name of a tool is a text, not {self.name!r}")
        if not self.name.strip():
            raise ValueError("the name of the tool is blank")
        if not isinstance(self.params, (Mapping, type(None))):
            raise TypeError(f"the params of {self.name!r} must be a dict, not {self.params!r}")
        object.__setattr__(self, "params", dict(self.params or {}))

    def to_dict(self) -> dict[str, Any]:
        """The spec as a config writes it."""
        return {"name": self.name, "params": dict(self.params)}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> ToolSpec:
        """A spec from its form in a config. Further members are ignored."""
        if "name" not in written:
            raise ValueError(f"a spec needs a name, and this one has none: {dict(written)!r}")
        return cls(written["name"], written.get("params") or {})
