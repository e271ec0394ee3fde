"""What does a forked process find, and what can it break?"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.processes import Census, alive, descendants, kill, wait_gone
from kit.scripts import Script
from kit.stage import STRICT
from kit.wait import LIMIT

SCRIPT = Path(__file__).parent / "scripts" / "forks.py"


@pytest.mark.parametrize("what", ["before_use", "pool_before_use"])
def test_a_fork_before_use_works(what: str, run_well: Callable[..., str]) -> None:
    run_well("forks.py", what)


@pytest.mark.parametrize(
    "what",
    [
        "after_use",
        "by_a_hook_of_the_child",
        "after_use_asynchronously",
        "after_close",
        "process_after_use",
        "while_threads_call",
        "while_threads_connect",
        "forked_in_a_callback",
        "forked_in_the_last_callback",
        "forked_in_a_handler",
        "tools_in_flight",
        "forked_in_a_tool",
    ],
)
def test_a_fork_after_use_is_refused_at_once(what: str, run_well: Callable[..., str]) -> None:
    run_well("forks.py", what)


@pytest.mark.parametrize(
    "what",
    [
        "child_closes",
        "child_lives_on",
        "child_ends_normally",
        "child_exits",
        "child_ends_by_an_exception",
    ],
)
def test_a_child_and_the_servers_of_its_parent_are_nothing_to_each_other(
    what: str, run_well: Callable[..., str]
) -> None:
    run_well("forks.py", what)


def test_the_servers_of_a_killed_parent_end_though_its_child_lives(
    start_script: Callable[..., Script], census: Census
) -> None:
    script = start_script(SCRIPT, str(census.folder), "parent_is_killed", flags=STRICT)
    child = int(script.line())
    servers = [process for process in descendants(script.pid) if process.pid != child]
    assert len([server for server in servers if not server.is_watchdog]) == 2
    script.send(signal.SIGKILL)
    try:
        assert script.wait().code == -signal.SIGKILL
        for server in servers:
            wait_gone(server.pid, LIMIT)
        assert alive(child)
    finally:
        kill(child)
