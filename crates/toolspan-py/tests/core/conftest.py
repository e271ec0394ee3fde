"""What do the tests of the core have at hand?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import toolspan
from kit.processes import Census
from kit.scripts import Ended
from kit.stage import STRICT, Stage

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture
def stage(census: Census) -> Iterator[Stage]:
    """Where servers tell what reaches them."""
    stage = Stage(census.folder)
    yield stage
    stage.close()


@pytest.fixture
def host(stage: Stage) -> Iterator[toolspan.Host]:
    """A host with one server, ``stage``."""
    with toolspan.connect(stage.config()) as host:
        yield host


#: Runs a program of ``scripts/`` and returns what it printed.
RunWell = Callable[..., str]


@pytest.fixture
def run_well(run_script: Callable[..., Ended], census: Census) -> RunWell:
    """``run_well("forks.py", "after_use")`` runs a program on a stage of its own.

    It must end well, say nothing on stderr, and leave no process.
    """

    def run(script: str, *arguments: str) -> str:
        ended = run_script(SCRIPTS / script, str(census.folder), *arguments, flags=STRICT)
        assert (ended.code, ended.stderr) == (0, ""), ended.stdout
        assert census.left() == []
        return ended.stdout

    return run
