"""Which server does a contestant call, and with what?"""

import sys

import rounds

ARGUMENTS = {"text": rounds.TEXT}
"""The arguments of each call."""

# The request that our client writes for such a call, and the server's command and arguments.
REQUEST, COMMAND, *COMMAND_ARGUMENTS = sys.argv[1:]
