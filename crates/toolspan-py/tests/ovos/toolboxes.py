"""What do the tests of the OVOS toolboxes share, beside their fixtures?"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Protocol

from kit.scripts import Ended
from ovos_bus_client import Message
from ovos_utils.fakebus import FakeBus
from toolspan.ovos import MCPToolBox, ToolspanToolBox

#: Whether this is a plugin manager of the line from 3 on.
NEXT = int(version("ovos-plugin-manager").split(".")[0]) >= 3

#: Makes the entry of a server.
Entry = Callable[..., dict[str, Any]]

#: Runs a program to its end.
Run = Callable[..., Ended]

#: Either toolbox.
Box = MCPToolBox | ToolspanToolBox


class Make(Protocol):
    """Makes a toolbox that is closed after the test."""

    def __call__(self, config: Any = None, kind: type[Box] = MCPToolBox, **more: Any) -> Box: ...


def ask(bus: FakeBus, topic: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    """Sends a message over the bus and returns the data of the only answer to it.

    The fake bus runs handlers where a message is sent, so the answer is there afterwards.
    """
    answers: list[Message] = []
    bus.once(f"{topic}.response", answers.append)
    bus.emit(Message(topic, data or {}))
    (answer,) = answers
    found: dict[str, Any] = answer.data
    return found


def call_over(bus: FakeBus, toolbox_id: str, name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Calls a tool by the topic that each toolbox has for itself."""
    return ask(bus, f"ovos.persona.tools.{toolbox_id}.call", {"name": name, "kwargs": kwargs})
