"""Which blocks of code do the pages have, and how does a reader's folder look who follows them?"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .servers import ROOT, real

#: The page of the package itself.
PACKAGE_PAGE = "crates/toolspan-py/README.md"

#: What the pages start servers with, and the installed server that each of it stands for.
PUBLISHED = {
    "uvx": {"mcp-server-time": "time"},
    "npx": {"-y @modelcontextprotocol/server-everything": "everything"},
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    #: The page's path from the root, and the number of the line with the fence.
    place: str
    language: str
    text: str
    #: What a program prints: the ``text`` block right below it, where there is one.
    printed: str | None = None

    @property
    def needs_ovos(self) -> bool:
        """Whether it is a program for an environment with OVOS in it, and so pydantic."""
        return "toolspan.ovos" in self.text or "toolspan.tools" in self.text


def pages() -> list[str]:
    """The pages that speak of Python: the root's, the package's, the book's."""
    book = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/src").rglob("*.md"))
    return ["README.md", PACKAGE_PAGE, *book]


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page, in order; a ``text`` right below a program belongs to it."""
    found: list[Block] = []
    begun: Block | None = None
    end = 0
    for number, line in enumerate((ROOT / page).read_text("utf-8").splitlines(), start=1):
        if begun is None:
            if line.startswith("```"):
                begun = Block(f"{page}:{number}", line[3:], "")
                is_printed = begun.language == "text" and end == number - 2
        elif line != "```":
            begun = replace(begun, text=f"{begun.text}{line}\n")
        elif is_printed and found[-1].language == "python":
            found[-1] = replace(found[-1], printed=begun.text)
            begun, end = None, number
        else:
            found.append(begun)
            begun, end = None, number
    assert begun is None, f"{begun.place} has no end"
    return found


def programs(page: str, *, ovos: bool) -> list[Block]:
    """The programs of a page: those for OVOS, or the others."""
    python = [block for block in blocks(page) if block.language == "python"]
    return [block for block in python if block.needs_ovos == ovos]


def personas() -> list[dict[str, Any]]:
    """The personas of all pages: those of the package's first."""
    found = [block for page in pages() for block in blocks(page) if block.language == "json"]
    return [json.loads(block.text) for block in found if '"toolboxes"' in block.text]


def config() -> dict[str, Any]:
    """The config that the package's page tells its reader to save."""
    found = [block for block in blocks(PACKAGE_PAGE) if block.language == "json"]
    (given,) = [json.loads(block.text) for block in found if '"toolboxes"' not in block.text]
    made: dict[str, Any] = given
    return made


def put_published(folder: Path) -> Mapping[str, str]:
    """Puts what a reader has into a folder; gives the variables that a program needs there.

    That is the config, and ``uvx`` and ``npx``, which start the installed servers in place of the
    published ones and know no others.
    """
    (folder / "toolspan.json").write_text(json.dumps(config()))
    programs = folder / "bin"
    programs.mkdir()
    for program, known in PUBLISHED.items():
        cases = []
        for arguments, name in known.items():
            entry = real(name)
            line = shlex.join([entry["command"], *entry["args"]])
            cases.append(f"{shlex.quote(arguments)}) exec {line} ;;\n")
        known_lines = "".join(cases)
        path = programs / program
        path.write_text(f'#!/bin/sh\ncase "$*" in\n{known_lines}esac\necho "no $*" >&2\nexit 1\n')
        path.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}"}
