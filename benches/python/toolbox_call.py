"""What does a call through our OVOS toolbox cost, the wrapper of OPM included?"""

import echo
import rounds
from toolspan.ovos import MCPToolBox

CONFIG = {"transport": "stdio", "command": echo.COMMAND, "args": echo.COMMAND_ARGUMENTS}

toolbox = MCPToolBox(config=CONFIG)


def call() -> str:
    """The text of one answer."""
    text: str = toolbox.call_tool("echo", echo.ARGUMENTS).content
    return text


rounds.run(call)
toolbox.close()
