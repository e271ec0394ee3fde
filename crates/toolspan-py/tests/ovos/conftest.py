"""Which fixtures do the tests of the OVOS toolboxes have, and which of them run where?"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kit.processes import Census

# What OVOS itself warns of while it is imported is no fault of a test.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from toolboxes import NEXT, Box, Make
    from toolspan.ovos import MCPToolBox

#: The loops of ovos-agentic-loop 0.1.0 need a plugin manager before 3. Where that one is, they are
#: there too, and without them the tests fail.
collect_ignore = ["test_toolbox_in_a_loop.py" if NEXT else "test_toolbox_on_shared_topic.py"]


@pytest.fixture
def make(census: Census) -> Iterator[Make]:
    """``make({"command": ...})``: a toolbox as the plugin manager makes it."""
    made: list[Box] = []

    def make(config: Any = None, kind: type[Box] = MCPToolBox, **more: Any) -> Box:
        box = kind(config=config, **more)
        made.append(box)
        return box

    yield make
    for box in made:
        box.close()


@pytest.fixture
def warned(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """``warned()``: what OVOS logged as a warning, or worse, since it was last asked."""
    said: list[str] = []
    ordinary = logging.getLogRecordFactory()

    def watch(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = ordinary(*args, **kwargs)
        if record.levelno >= logging.WARNING and record.name.startswith("OVOS"):
            said.append(record.getMessage())
        return record

    def take() -> list[str]:
        taken = said.copy()
        said.clear()
        return taken

    monkeypatch.setattr(logging, "_logRecordFactory", watch)
    return take


@pytest.fixture
def one_warning(warned: Callable[[], list[str]]) -> Callable[[], str]:
    """``one_warning()``: the warning since the last look; fails where there are more, or none."""

    def take() -> str:
        (said,) = warned()
        return said

    return take
