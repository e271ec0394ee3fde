"""What does a synchronous call through our host cost?"""

import echo
import rounds
import toolspan

CONFIG = {"mcpServers": {"echo": {"command": echo.COMMAND, "args": echo.COMMAND_ARGUMENTS}}}

with toolspan.connect(CONFIG) as host:
    rounds.run(lambda: host.call("echo__echo", echo.ARGUMENTS).text)
