"""Which toolbox has the tools of one MCP server, or of a few?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._box import SessionToolBox
from ._config import keeps_names, server_config

if TYPE_CHECKING:
    from .._toolspan import Tool
    from ._session import Config


class MCPToolBox(SessionToolBox):
    """The tools of an MCP server.

    The config has the keys of one server:

    - ``transport``: ``"stdio"``, ``"http"`` (also ``"streamable-http"``) or ``"sse"``; may be left
      out beside ``command``
    - ``command``, ``args``, ``env``, ``cwd``: what is started, for stdio; ``env`` is added to the
      environment
    - ``url``, ``headers``: what is reached, for the others
    - ``timeout``: seconds for connecting, for listing and for each call, 30 unless given
    - any further key that a server has in a toolspan config, such as ``inherit_env``, ``tools``,
      ``timeouts`` or ``limits``

    Its tools are called as the server calls them. ``mcpServers`` in place of these keys has several
    servers; their tools are called ``<server>__<tool>``, and are also found as ``server.tool`` and
    by their own names where only one server has them.
    """

    toolbox_id = "ovos-mcp-toolbox"

    @staticmethod
    def _session_config(config: Any, toolbox_id: str) -> Config:
        return server_config(config, toolbox_id)

    def _own_name(self, tool: Tool) -> str:
        return tool.original_name if keeps_names(self._live().config) else tool.name
