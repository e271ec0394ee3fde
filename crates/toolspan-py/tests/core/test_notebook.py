"""Does it work in a notebook, whose kernel runs a loop all the time?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kit.processes import Census
from kit.scripts import Ended

SCRIPT = Path(__file__).parent / "scripts" / "notebook.py"


@pytest.fixture
def run_cells(run_script: Callable[..., Ended], census: Census) -> Callable[[str], None]:
    """Runs one function of the script; the files of Jupyter lie in the folder of the test."""
    folder = str(census.folder)
    variables = dict.fromkeys(["IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"], folder)

    def run(what: str) -> None:
        ended = run_script(SCRIPT, folder, what, variables=variables)
        assert ended.code == 0, ended.stderr

    return run


def test_cells_call_synchronously_and_asynchronously(run_cells: Callable[[str], None]) -> None:
    run_cells("cells")


def test_an_interrupted_cell_leaves_the_next_one_working(run_cells: Callable[[str], None]) -> None:
    run_cells("interrupted")


@pytest.mark.parametrize("what", ["shut_down", "restarted"])
def test_a_kernel_that_ends_leaves_nothing(
    what: str, run_cells: Callable[[str], None], census: Census
) -> None:
    run_cells(what)
    assert census.left() == []
