"""What does a synchronous call through our host cost?"""

import rounds
import toolspan

CONFIG = {"mcpServers": {"echo": {"command": rounds.COMMAND, "args": rounds.COMMAND_ARGUMENTS}}}

with toolspan.connect(CONFIG) as host:
    rounds.run(lambda: host.call("echo__echo", rounds.ARGUMENTS).text)
