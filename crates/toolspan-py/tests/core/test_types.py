"""Do the types that the package states hold, for itself and for a program that uses it?

Those of the toolboxes for OVOS are checked where OVOS is.
"""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest
import toolspan
from kit.processes import Census
from toolspan import _toolspan

#: Where the package lies that is imported here: the installed one, or that of the sources.
PACKAGE = Path(toolspan.__file__).parent
TESTS = Path(__file__).parents[1]

#: Models are checked where pydantic is, with the toolboxes for OVOS.
CONFIG = """
[mypy]
[mypy-toolspan.tools._schema]
ignore_errors = True
"""

#: Seconds that a check of types may take on a busy machine. The first one reads all of typeshed.
LIMIT = 110


def checked(module: str, *words: str | Path, folder: Path, sources: Path = PACKAGE.parent) -> str:
    """What a checker says; fails where it finds a fault. It writes into ``folder`` alone."""
    # A checker finds what is installed by itself, and wants it not to be said.
    path = {} if "site-packages" in sources.parts else {"MYPYPATH": str(sources)}
    ended = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env=os.environ | path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def strictly(*words: str | Path, folder: Path, sources: Path = PACKAGE.parent) -> str:
    """What ``mypy --strict`` says."""
    config = folder / "mypy.ini"
    config.write_text(CONFIG)
    options: list[str | Path] = ["--config-file", config, "--cache-dir", folder / "cache"]
    return checked("mypy", *options, "--strict", *words, folder=folder, sources=sources)


def test_the_stub_and_the_module_are_equal(census: Census) -> None:
    said = checked("mypy.stubtest", "toolspan._toolspan", folder=census.folder)
    assert "no issues found in 1 module" in said


def declared(node: ast.AST, path: str = "") -> Iterator[tuple[str, str | None]]:
    """What a stub says of all that is there at runtime, by the name of each."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            continue
        if "type_check_only" not in map(ast.unparse, child.decorator_list):
            name = f"{path}{child.name}"
            yield name, ast.get_docstring(child)
            yield from declared(child, f"{name}.")


def flowing(text: str | None) -> list[str]:
    """Its paragraphs, each in one line: where a line ends depends on its indent."""
    return [" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n")]


def test_the_stub_and_the_module_say_the_same_of_everything() -> None:
    stub = ast.parse((PACKAGE / "_toolspan.pyi").read_text())
    said = {name: flowing(text) for name, text in declared(stub) if not name.endswith("__")}
    shown = {name: flowing(attrgetter(name)(_toolspan).__doc__) for name in said}
    assert said == shown
    assert {"Host", "Host.call", "Tool.name", "connect"} <= said.keys()
    assert [""] not in said.values()


def test_a_program_that_uses_all_of_it_is_typed(census: Census) -> None:
    said = strictly(TESTS / "typed/user_script.py", folder=census.folder)
    assert "no issues found in 1 source file" in said


def test_a_program_that_uses_it_wrongly_is_told_so(census: Census) -> None:
    script = census.folder / "misuse.py"
    script.write_text(MISUSE)
    with pytest.raises(AssertionError) as caught:
        strictly(script, folder=census.folder)
    told = {line.split(":")[1] for line in str(caught.value).splitlines() if "error:" in line}
    expected = {
        str(number) for number, line in enumerate(MISUSE.splitlines(), 1) if "# wrong" in line
    }
    assert told == expected


MISUSE = """
import toolspan

host = toolspan.connect(5)  # wrong
host.call(5)  # wrong
host.call("a", [1])  # wrong
host.call(name="a")  # wrong
host.with_options(10)  # wrong
host.with_options(retries=1)  # wrong
host.tools = []  # wrong
host.call("a").text = ""  # wrong
host.call("a").content[0].text  # wrong
host.acall("a").text  # wrong
toolspan.TextContent.type = "other"  # wrong


class Own(toolspan.Tool):  # wrong
    pass


async def awaited() -> None:
    with toolspan.aconnect():  # wrong
        pass
    await host.call("a")  # wrong
"""


def test_the_package_itself_is_typed(census: Census) -> None:
    # Those that need pydantic or OVOS are checked where these are.
    modules = [f"toolspan.{path.stem}" for path in PACKAGE.glob("_[a-z]*.py*")]
    named = [word for name in ["toolspan", *modules] for word in ("-m", name)]
    said = strictly(*named, folder=census.folder, sources=TESTS.parent / "python")
    assert {"toolspan._toolspan", "toolspan._own"} <= set(modules)
    assert f"no issues found in {len(modules) + 1} source files" in said


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_toolspan.pyi").exists()


def test_everything_that_is_exported_is_there_once() -> None:
    assert toolspan.__all__ == sorted(set(toolspan.__all__))
    for name in toolspan.__all__:
        assert getattr(toolspan, name) is not None
    exported = {name for name in _toolspan.__all__ if not name.startswith("_")}
    assert exported <= set(toolspan.__all__)


def test_whatever_is_public_has_words_that_explain_it() -> None:
    mute = []
    for thing in map(toolspan.__dict__.__getitem__, toolspan.__all__):
        if callable(thing):
            members = vars(thing).items() if isinstance(thing, type) else ()
            public = [(name, member) for name, member in members if not name.startswith("_")]
            for name, member in [("", thing), *public]:
                # The words of a constant are those of its type.
                if not isinstance(member, str) and not inspect.getdoc(member):
                    mute.append(f"{thing.__name__}.{name}")
    assert not mute


def test_the_script_uses_all_that_is_public() -> None:
    source = ast.parse((TESTS / "typed/user_script.py").read_text())
    used: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            used.update(alias.name for alias in node.names)
    public = set(toolspan.__all__)
    for name in ("Host", "Tool", "Observation", "Progress", "LogMessage"):
        public |= {member for member in vars(getattr(toolspan, name)) if not member.startswith("_")}
    assert public <= used, public - used
