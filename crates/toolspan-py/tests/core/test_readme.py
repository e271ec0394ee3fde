"""Do the programs of the pages run, and print what the pages show?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from kit.pages import PACKAGE_PAGE, Block, blocks, config, pages, personas, programs, put_published
from kit.processes import Census
from kit.scripts import Ended
from kit.servers import ROOT

PROGRAMS = [block for page in pages() for block in programs(page, ovos=False)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.place)
def test_a_program_of_the_pages_prints_what_they_show(
    program: Block, run_script: Callable[..., Ended], census: Census
) -> None:
    ended = run_script(program.text, flags=["-W", "error"], variables=put_published(census.folder))
    assert (ended.code, ended.stderr) == (0, "")
    # What tells the time cannot be shown on a page.
    assert ended.stdout and ended.stdout == (program.printed or ended.stdout)
    assert census.left() == []


def test_every_program_of_the_pages_is_run() -> None:
    # The test above runs those that are no OVOS programs; tests/ovos runs the others.
    counts = {
        page: (len(programs(page, ovos=False)), len(programs(page, ovos=True))) for page in pages()
    }
    assert {page: count for page, count in counts.items() if any(count)} == {
        "README.md": (2, 0),
        "crates/toolspan-py/README.md": (9, 2),
        "docs/src/guide/model-apis.md": (1, 0),
        "docs/src/guide/python.md": (2, 0),
        "docs/src/reference/errors.md": (1, 0),
    }
    # However a fence is written, it opens or closes a block that was counted.
    for page in counts:
        found = blocks(page)
        shown = sum(block.printed is not None for block in found)
        assert (ROOT / page).read_text("utf-8").count("```") == 2 * (len(found) + shown), page


def test_every_block_of_the_package_page_is_looked_at() -> None:
    found = blocks(PACKAGE_PAGE)
    assert {block.language for block in found} == {"sh", "json", "python"}
    # Five are on this page, one is in the book.
    assert len(personas()) == 6 and list(config()["mcpServers"]) == ["time", "everything"]
    for block in found:
        assert block.language != "json" or json.loads(block.text), block.place


def test_the_programs_of_the_pages_are_typed(census: Census) -> None:
    names = []
    for number, program in enumerate(PROGRAMS):
        names.append(f"program_{number}.py")
        (census.folder / names[-1]).write_text(f"# {program.place}\n{program.text}")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *names],
        cwd=census.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
