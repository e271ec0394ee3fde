"""How does a server's tool become one that OVOS can list and call?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ._arguments import arguments_of, given_by
from ._output import AdapterToolOutput, output_of
from ._plugin_manager import AgentTool, ToolArguments

if TYPE_CHECKING:
    from .._toolspan import Tool
    from ._session import Session


class Made(NamedTuple):
    """A tool, and what was made of it."""

    tool: Tool
    agent_tool: AgentTool


class Tools:
    """The tools of one session, each made once and kept while its definition stays the same."""

    def __init__(self, session: Session) -> None:
        self._session = session
        #: By the name that the session calls it by.
        self._made: dict[str, Made] = {}

    def of(self, tools: Iterable[Tool], own_name: Callable[[Tool], str]) -> list[AgentTool]:
        """The tools of a listing, in its order."""
        made: dict[str, Made] = {}
        for tool in tools:
            name = own_name(tool)
            made[tool.name] = self._kept(name, tool) or Made(tool, self._make(name, tool))
        self._made = made
        return [it.agent_tool for it in made.values()]

    def named(self, name: str) -> AgentTool | None:
        """The tool that the session calls by this name."""
        made = self._made.get(name)
        return made.agent_tool if made is not None else None

    def _kept(self, name: str, tool: Tool) -> Made | None:
        known = self._made.get(tool.name)
        if known is None or known.agent_tool.name != name:
            return None
        return known if _says(known.tool) == _says(tool) else None

    def _make(self, name: str, tool: Tool) -> AgentTool:
        return AgentTool(
            name=name,
            description=tool.description,
            argument_schema=arguments_of(tool),
            output_schema=AdapterToolOutput,
            # The session and not the toolbox: that one goes when its user drops it.
            tool_call=partial(_call, self._session, tool.name),
        )


def _says(tool: Tool) -> tuple[object, ...]:
    """What is made into a tool of OVOS."""
    return tool.original_name, tool.description, tool.input_schema


def _call(session: Session, name: str, arguments: ToolArguments) -> AdapterToolOutput:
    return output_of(session.call(name, given_by(arguments)))
