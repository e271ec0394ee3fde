"""What does a toolbox return for a call?"""

from __future__ import annotations

from typing import Any

from .._toolspan import Observation
from ._plugin_manager import Field, ToolOutput


class AdapterToolOutput(ToolOutput):
    """What a tool answered."""

    # Without `repr`: agent loops put `str(output)` into their prompts, and `content` says it all.

    content: str = Field(
        default="",
        description="The answer as text.",
    )
    is_error: bool = Field(
        default=False,
        description="True if the tool says that it failed.",
    )
    raw: list[dict[str, Any]] = Field(
        default_factory=list,
        description="Every content block as the server sent it.",
        repr=False,
    )
    structured: Any = Field(
        default=None,
        description="The structured result, where the server gave one.",
        repr=False,
    )


def output_of(observation: Observation) -> AdapterToolOutput:
    """The output that stands for an observation."""
    return AdapterToolOutput(
        content=observation.to_llm_text(),
        is_error=observation.is_error,
        raw=[_block(block) for block in observation.raw],
        structured=observation.structured,
    )


def _block(block: Any) -> dict[str, Any]:
    """A block as it came; the field takes objects alone, a server might send anything."""
    return block if isinstance(block, dict) else {"type": "raw", "value": block}
