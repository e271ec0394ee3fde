"""Which server does every contestant in Python call?

One tool, `echo`, written with the standard library alone, so that a call costs what its client
costs. It agrees to whatever revision of the protocol it is asked for with `initialize`; a newer way
to begin is answered as an unknown method, and clients go back to `initialize`.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOL = {
    "name": "echo",
    "description": "Says a text again.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}
METHOD_NOT_FOUND = -32601


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Answers a request; None where there is no such method."""
    if method == "tools/call":
        text = params["arguments"]["text"]
        return {"content": [{"type": "text", "text": text}], "isError": False}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }
    if method == "ping":
        return {}
    return None


def reply_to(line: bytes) -> bytes | None:
    """The line that answers a line; None for a notification."""
    message = json.loads(line)
    if "id" not in message:
        return None
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    result = result_of(message["method"], message.get("params") or {})
    if result is None:
        reply["error"] = {"code": METHOD_NOT_FOUND, "message": "no such method"}
    else:
        reply["result"] = result
    return json.dumps(reply).encode() + b"\n"


def main() -> None:
    """Serves until the end of standard input."""
    try:
        # Our client gives each server a session of its own, others do not. Linux schedules
        # sessions against one another: with one for each, the rows compare clients alone.
        os.setsid()
    except PermissionError:
        pass  # It leads a session already.
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        reply = reply_to(line)
        if reply is not None:
            output.write(reply)
            output.flush()


main()
