"""What do the toolboxes have in common: listing, calling and ending on one live session?"""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from .._errors import ToolspanError
from ._plugin_manager import AgentTool, ToolArguments, ToolBox, warn
from ._reason import add, add_reason, reason_of
from ._session import Session
from ._tools import Tools

if TYPE_CHECKING:
    from ovos_bus_client.client.client import MessageBusClient
    from ovos_utils.fakebus import FakeBus

    from .._toolspan import Tool
    from ._output import AdapterToolOutput
    from ._session import Config, Listing


class SessionToolBox(ToolBox):
    """A toolbox whose tools live on one session, from its first discovery to its close.

    A server that cannot be used costs its own tools and one warning, at each discovery; the next
    discovery tries again.
    """

    #: The name that OVOS knows the toolbox by, unless the constructor is given another one.
    toolbox_id: str = "toolspan"

    # For a `__del__` after an `__init__` that failed half-way.
    _session: Session | None = None

    def __init__(
        self,
        config: dict[str, Any] | None = None,
        bus: MessageBusClient | FakeBus | None = None,
        toolbox_id: str | None = None,
    ) -> None:
        """Connects and lists; what is wrong with the config or a server is a warning.

        ``bus`` is bound to as by ``bind``. ``toolbox_id`` tells several toolboxes of a kind apart.
        """
        self.toolbox_id = toolbox_id or type(self).toolbox_id
        self.config = {} if config is None else config
        self._session = Session(partial(self._session_config, self.config, self.toolbox_id))
        self._tools: dict[str, AgentTool] = {}
        self._made = Tools(self._session)
        self._relisting = Lock()
        #: Why the last discovery found no tools, or not all; empty where it found all.
        self._absence = ""
        #: What the last discovery logged, and the next one need not log again.
        self._warned: set[str] = set()
        super().__init__(toolbox_id=self.toolbox_id, config=config, bus=bus)

    @staticmethod
    def _session_config(config: Any, toolbox_id: str) -> Config:
        """What to connect; ``ConfigError`` where the config means nothing."""
        raise NotImplementedError

    def _own_name(self, tool: Tool) -> str:
        """What the toolbox calls a tool."""
        return tool.name

    @property
    def tools(self) -> dict[str, AgentTool]:
        """The tools of the last discovery, by name.

        When a server has said that its tools are others now, they are listed again first. A
        listing that fails changes nothing.
        """
        session = self._session
        if session is not None and session.has_changed and self._relisting.acquire(blocking=False):
            # Whoever looks meanwhile, this thread included, finds the tools of before.
            try:
                self._list_again(session)
            finally:
                self._relisting.release()
        return self._tools

    @tools.setter
    def tools(self, tools: dict[str, AgentTool]) -> None:
        self._tools = tools

    def discover_tools(self) -> list[AgentTool]:
        """The tools there are now; connects the first time, later asks the live servers again."""
        try:
            listing = self._live().discover()
        except Exception as error:
            self._absence = _blame(error)
            warn(f"{self._title()} has no tools: {self._absence}")
            return []
        self._absence = _texts(listing)
        self._warn(listing)
        return self._made.of(listing.tools, self._own_name)

    def get_tool(self, name: str) -> AgentTool | None:
        """The tool that a name means; lists again where no tool has it."""
        tools = self.tools
        if name in tools:
            return tools[name]
        # Without any tools there is nothing to find before a server is there.
        return (self._find(name) if tools else None) or super().get_tool(name) or self._find(name)

    def call_tool(
        self, name: str, tool_kwargs: ToolArguments | dict[str, Any]
    ) -> AdapterToolOutput:
        """Calls a tool and waits for its answer.

        ``ValueError`` for an unknown tool and for arguments that do not match its schema,
        ``RuntimeError`` for all else that is no answer; the text says why.
        """
        self._live().refuse_unusable()
        try:
            output = super().call_tool(name, tool_kwargs)
        except (ValueError, RuntimeError) as error:
            if error.__cause__ is not None:
                add_reason(error)
            elif name not in self._tools and self._find(name) is None:
                add(error, self._why_unknown(name))
            raise
        return cast("AdapterToolOutput", output)

    @staticmethod
    def validate_input(tool: AgentTool, tool_kwargs: dict[str, Any]) -> ToolArguments:
        """The arguments as a model; the ``ValueError`` says what does not match the schema."""
        try:
            arguments: ToolArguments = ToolBox.validate_input(tool, tool_kwargs)
        except ValueError as error:
            add_reason(error)
            raise
        return arguments

    def close(self) -> None:
        """Ends the servers and waits for that, within ``timeouts.close``; a second close is fine.

        Later calls raise ``RuntimeError``.
        """
        if self._session is not None:
            self._session.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:
            # Nobody could be told; at the exit of the interpreter, what is needed may be gone.
            return

    def _live(self) -> Session:
        if self._session is None:
            raise RuntimeError("the toolbox was not made: its constructor did not come to its end")
        return self._session

    def _list_again(self, session: Session) -> None:
        """Takes over what servers list now, unless that is less because one of them failed."""
        try:
            listing = session.discover()
        except Exception as error:
            warn(f"{self._title()} keeps its tools: {_blame(error)}")
            return
        if (absence := _texts(listing)) not in ("", self._absence):
            warn(f"{self._title()} keeps its tools: {absence}")
            return
        tools = self._made.of(listing.tools, self._own_name)
        self._tools = {tool.name: tool for tool in tools}

    def _find(self, name: str) -> AgentTool | None:
        """The tool that any other form of its name means, such as ``server.tool``."""
        try:
            found = self._live().find(name)
        except (RuntimeError, ToolspanError):
            return None
        return self._made.named(found.name)

    def _why_unknown(self, name: str) -> str:
        """What to do about a name that no tool has: the nearest names, or why there are none."""
        if not self._tools:
            return self._absence or "it has no tools"
        try:
            return f'there is a tool "{self._live().find(name).name}"'
        except (RuntimeError, ToolspanError) as error:
            return str(error)

    def _warn(self, listing: Listing) -> None:
        """Logs what is wrong in one warning: with servers at each discovery, all else once."""
        odd = [
            oddity
            for oddity in listing.oddities
            if oddity not in self._warned
            # Why an entry cannot be used is among the failures, too.
            and not any(failure.message in oddity for failure in listing.failures)
        ]
        self._warned = set(listing.oddities)
        if self._absence:
            what = "lacks tools" if listing.tools else "has no tools"
            warn(f"{self._title()} {what}: {'; '.join([self._absence, *odd])}")
        elif odd:
            warn(f"{self._title()}: {'; '.join(odd)}")

    def _title(self) -> str:
        return f"{type(self).__name__} '{self.toolbox_id}'"


def _blame(error: Exception) -> str:
    """What an error says, with the server it is about."""
    server = getattr(error, "toolbox", None)
    return f'server "{server}": {reason_of(error)}' if server else reason_of(error)


def _texts(listing: Listing) -> str:
    """Why a listing lacks tools."""
    return "; ".join(map(str, listing.failures))
