"""OVOS toolboxes: the tools of MCP servers for the agents of OpenVoiceOS.

OVOS finds them by their entry points, ``ovos-mcp-toolbox`` and ``toolspan``.

>>> from toolspan.ovos import MCPToolBox
>>> box = MCPToolBox(config={"command": "uvx", "args": ["mcp-server-time"]})  # doctest: +SKIP
>>> box.call_tool("get_current_time", {"timezone": "UTC"}).content  # doctest: +SKIP
"""

from ._mcp import MCPToolBox
from ._output import AdapterToolOutput
from ._whole_config import ToolspanToolBox

__all__ = ["AdapterToolOutput", "MCPToolBox", "ToolspanToolBox"]
