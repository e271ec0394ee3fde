"""How does a test let a server answer exactly what it wants, and see what a call sends?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import toolspan

from .servers import SERVERS


def entry(*tools: dict[str, Any]) -> dict[str, Any]:
    """The entry of ``servers/mirror.py`` with these tools beside its own."""
    listed = [json.dumps(tool) for tool in tools]
    return {"command": sys.executable, "args": ["-I", "-S", str(SERVERS / "mirror.py"), *listed]}


class Mirror:
    """A host of one such server, whose toolbox is ``m``."""

    def __init__(self, host: toolspan.Host) -> None:
        self.host = host

    def answer(self, *blocks: Any, **members: Any) -> toolspan.Observation:
        """What a caller is given of a result with these content blocks and further members."""
        return self.host.call("m__mirror", {"content": list(blocks), **members})

    def through(self, value: Any) -> Any:
        """What comes back of a value that goes to the server and back."""
        return self.answer(structuredContent={"it": value}).structured["it"]


@contextmanager
def mirror(*tools: dict[str, Any], **config: Any) -> Iterator[Mirror]:
    """A connected mirror with these tools beside its own, and with further keys of the config."""
    with toolspan.connect({"mcpServers": {"m": entry(*tools)}, **config}) as host:
        yield Mirror(host)
