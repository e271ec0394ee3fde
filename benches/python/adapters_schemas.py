"""What do the pydantic models cost that ovos-tool-adapters makes of recorded tools?

They know the names and kinds of the first level alone; no form of a model API is made. Tools with a
list of types in a schema have none: it cannot be read.
"""

from __future__ import annotations

import warnings
from typing import Any

import recorded
from ovos_tool_adapters._schema import _schema_to_pydantic  # type: ignore[import-untyped]

TOOLS = recorded.tools()


def model(tool: dict[str, Any]) -> object:
    """The model of a tool; None where there is none."""
    try:
        made: object = _schema_to_pydantic(tool["name"], tool["inputSchema"])
    except TypeError:
        return None
    return made


def work() -> object:
    """All models."""
    return [model(tool) for tool in TOOLS]


# It warns of fields that are called as something of the base class is.
warnings.simplefilter("ignore")
recorded.run(work, lambda: None)
