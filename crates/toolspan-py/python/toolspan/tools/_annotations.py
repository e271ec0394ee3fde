"""What does a tool's author say of its effects?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToolAnnotations:
    """Hints about a tool's effects, with the defaults of MCP. They prove nothing."""

    #: A name for people.
    title: str | None = None
    #: The tool changes nothing.
    readOnlyHint: bool = False
    #: The tool may delete or overwrite; means something only when it is not read-only.
    destructiveHint: bool = True
    #: A second call with the same arguments changes nothing more.
    idempotentHint: bool = False
    #: The tool reaches beyond a closed domain, such as the web.
    openWorldHint: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The hints as MCP writes them."""
        named = {} if self.title is None else {"title": self.title}
        return {
            **named,
            "readOnlyHint": self.readOnlyHint,
            "destructiveHint": self.destructiveHint,
            "idempotentHint": self.idempotentHint,
            "openWorldHint": self.openWorldHint,
        }
