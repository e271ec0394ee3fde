"""What does a call through the toolbox of ovos-tool-adapters cost?"""

import echo
import rounds
from ovos_tool_adapters.mcp import MCPToolBox  # type: ignore[import-untyped]

CONFIG = {"transport": "stdio", "command": echo.COMMAND, "args": echo.COMMAND_ARGUMENTS}

toolbox = MCPToolBox(config=CONFIG)


def call() -> str:
    """The text of one answer."""
    text: str = toolbox.call_tool("echo", echo.ARGUMENTS).content
    return text


rounds.run(call)
toolbox.close()
