"""Do the personas of the pages, their program for OVOS and the example work?"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import distribution
from typing import Any

import pytest
from kit.pages import PACKAGE_PAGE, personas, programs, put_published
from kit.processes import Census
from kit.scripts import Ended
from kit.servers import ROOT, Remote, target
from toolboxes import NEXT, Box, Make

#: Starts a real server over HTTP.
Start = Callable[[str], Remote]

#: The addresses of the page, and the server that answers in place of each.
ADDRESSES = {
    "http://localhost:8080/mcp": "fastmcp-http",
    "http://localhost:8080/sse": "fastmcp-sse",
}

#: For each persona of the pages, in order: the tools to call, their arguments, what they answer.
CALLS: list[list[tuple[str, dict[str, Any], str]]] = [
    [("get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo")],
    # The server says the token back; what is a credential of the config is shown to nobody.
    [("header", {"name": "authorization"}, "[redacted]")],
    [("nap", {"label": "awake", "seconds": 0.0}, "awake")],
    [
        ("time__get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
        ("home__nap", {"label": "awake", "seconds": 0.0}, "awake"),
    ],
    [
        ("time__get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo"),
        ("everything__get-sum", {"a": 2, "b": 40}, "42"),
    ],
    [("get_current_time", {"timezone": "Asia/Tokyo"}, "Asia/Tokyo")],
]


def plugin(name: str) -> type[Box]:
    """The class that the package registers under a name; an older package may have the same one."""
    (point,) = distribution("toolspan").entry_points.select(group="opm.agents.toolbox", name=name)
    found: type[Box] = point.load()
    return found


def with_servers(persona: dict[str, Any], census: Census, remote: Start) -> dict[str, Any]:
    """The persona, with the address of a running server for each address of the page."""
    text = json.dumps(persona).replace("/home/ovos", str(census.folder))
    for address, name in ADDRESSES.items():
        if address in text:
            text = text.replace(address, remote(name).url)
    made: dict[str, Any] = json.loads(text)
    return made


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_persona_of_the_pages_gives_tools_that_answer(
    number: int, census: Census, remote: Start, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in put_published(census.folder).items():
        monkeypatch.setenv(name, value)
    persona = with_servers(personas()[number], census, remote)
    (name,) = persona["toolboxes"]
    assert set(persona) == {"toolboxes", name}

    box = make(persona[name], kind=plugin(name))

    assert box.toolbox_id == name
    for tool, arguments, answer in CALLS[number]:
        seen = box.call_tool(tool, arguments)
        assert not seen.is_error and answer in seen.content


def test_each_persona_of_the_pages_is_called() -> None:
    assert len(CALLS) == len(personas())


@pytest.mark.parametrize("number", range(2))
def test_a_program_of_the_page_prints_what_it_shows(
    number: int, run_script: Callable[..., Ended], census: Census
) -> None:
    program = programs(PACKAGE_PAGE, ovos=True)[number]
    ended = run_script(program.text, variables=put_published(census.folder))
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout == program.printed
    assert census.left() == []


if not NEXT:
    # The loops of ovos-agentic-loop 0.1.0 need a plugin manager before 3.
    def test_the_example_lets_an_agent_use_a_tool(
        run_script: Callable[..., Ended], census: Census
    ) -> None:
        program = target() / "debug/toolspan"
        assert program.exists(), f"{program} is missing: run `cargo build`"
        ended = run_script(ROOT / "examples/ovos_toolbox.py", str(program))
        assert (ended.code, ended.stderr) == (0, "")
        # OVOS logs to the same output.
        printed = [line for line in ended.stdout.splitlines() if " - OVOS - " not in line]
        assert printed == [
            """Observation: content='{"sum":42.0}' is_error=False""",
            "answer: It is 42.",
        ]
        assert census.left() == []
