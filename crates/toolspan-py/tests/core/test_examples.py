"""Do the Python examples at the root do what they show?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kit.processes import Census
from kit.scripts import Ended
from kit.servers import ROOT, target

#: What each of them prints.
PRINTED = {
    "python_call": """\
demo__echo(text: string)
demo__add(a: number, b: number)
demo__now()
demo__countdown(from?: integer)
demo__picture()
demo__fail()
text: {"sum":42.0}
sum: 42.0
invalid_arguments, not_sent: the arguments do not match the tool's schema: \
/a: expected a number, found the string "two" (it takes (a: number, b: number))
""",
    "python_async": """\
sum: 2.0
sum: 4.0
sum: 6.0
cancelled: True
echo: still here
""",
    "own_tool": """\
find_lines(text: string, pattern: string, most?: integer)
['buy milk', 'buy bread']
the arguments do not match the tool's schema: /most: expected an integer, found the string "few"
""",
}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_shows(
    name: str, run_script: Callable[..., Ended], census: Census
) -> None:
    program = target() / "debug/toolspan"
    assert program.exists(), f"{program} is missing: run `cargo build`"
    ended = run_script(ROOT / f"examples/{name}.py", str(program), flags=["-W", "error"])
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout == PRINTED[name]
    assert census.left() == []


def test_every_example_is_run_here_or_with_ovos() -> None:
    examples = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert examples == {*PRINTED, "ovos_toolbox"}
    for path in (ROOT / "examples").glob("*.py"):
        first = path.read_text("utf-8").splitlines()[0]
        assert first.startswith('"""') and first.endswith("?"), f"{path} says no question"
