"""What does a server look like that answers what it is told to?

It speaks MCP over standard input and output with nothing but the standard library. Its tool
``mirror`` answers its arguments as the whole result of the call, whatever they are. Each word of
the command line is a further tool, as the JSON that ``tools/list`` shows; it answers the same.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The longest line that is read, in characters: more ends the server.
LONGEST_LINE = 64 << 20


def main() -> None:
    mirror = {"name": "mirror", "inputSchema": {"type": "object"}}
    tools = [mirror, *map(json.loads, sys.argv[1:])]
    while line := sys.stdin.readline(LONGEST_LINE):
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": result(message, tools)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def result(message: dict[str, Any], tools: list[dict[str, Any]]) -> Any:
    """The answer to a request."""
    parameters = message.get("params") or {}
    if message["method"] == "initialize":
        return {
            "protocolVersion": parameters["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "mirror", "version": "1.0"},
        }
    if message["method"] == "tools/list":
        return {"tools": tools}
    return parameters.get("arguments", {}) if message["method"] == "tools/call" else {}


if __name__ == "__main__":
    main()
