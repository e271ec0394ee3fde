"""What is left of a host, and what is said, when its interpreter ends? One test an ending."""

from __future__ import annotations

import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kit.processes import Census, alive, descendants, marked, wait_gone
from kit.scripts import Script
from kit.stage import STRICT
from kit.wait import LIMIT

SCRIPT = Path(__file__).parent / "scripts" / "endings.py"

#: How often each ending is tried: what depends on the moment shows itself sooner or later.
TIMES = 20
#: Seconds from the word to end until the process is gone.
EXIT_LIMIT = 5.0

#: The endings where nothing went wrong: the exit code, and what the program prints.
QUIET = {
    "left_open": (0, ""),
    "closed": (0, ""),
    "with_block": (0, ""),
    "class_attribute": (0, ""),
    "system_exit": (3, ""),
    "system_exit_in_a_thread": (0, ""),
    "system_exit_in_a_callback": (5, ""),
    "forked": (0, ""),
    "daemon_thread_in_a_call": (0, ""),
    "many_daemon_threads_in_calls": (0, ""),
    "daemon_threads_that_never_stop_calling": (0, ""),
    "daemon_threads_that_never_stop_converting": (0, ""),
    "tasks_of_daemon_threads_that_never_stop_converting": (0, ""),
    "daemon_thread_that_is_joined_late": (0, "joined\n"),
    "thread_that_outlives_main": (0, "late\n"),
    "connecting": (0, ""),
    "tasks_left_to_asyncio": (0, ""),
    "futures_left_to_asyncio": (0, ""),
    "asyncio_connecting": (0, ""),
    "asyncio_in_a_daemon_thread": (0, ""),
    "tasks_of_a_daemon_thread": (0, ""),
    "tasks_of_daemon_threads_that_never_stop_calling": (0, ""),
    "progress_callback_that_never_returns": (0, ""),
    "progress_callback_that_computes_on": (0, ""),
    "progress_callback_that_calls_on": (0, ""),
    "own_tool_that_never_returns": (0, ""),
    "own_tool_that_computes_on": (0, ""),
    "own_tool_that_calls_on": (0, ""),
    "own_asynchronous_tool_that_never_returns": (0, ""),
    "own_asynchronous_tool_that_computes_on": (0, ""),
    "own_asynchronous_tools_that_hold_up_loops": (0, ""),
    "rule_that_never_returns": (0, ""),
    "asynchronous_rule_that_never_returns": (0, ""),
    "rule_that_calls_on": (0, ""),
    "own_tool_left_to_asyncio": (0, ""),
    "log_callback_that_never_returns": (0, ""),
    "log_callback_that_calls_on": (0, ""),
    "atexit_registered_first": (0, "closed\n"),
    "atexit_registered_last": (0, "late\n"),
    "closed_by_del_of_a_global": (0, ""),
    "closed_by_del_in_a_cycle": (0, ""),
    "closed_by_del_of_a_class_attribute": (0, ""),
    "closed_by_del_of_a_module": (0, ""),
    "called_by_del_of_a_module": (0, "closed\n"),
    "cycle_with_a_callback": (0, ""),
}


class Ending:
    """How a program ended."""

    def __init__(self, folder: Path, name: str, *options: str, number: int | None = None):
        folder.mkdir()
        mark = f"STAGE={folder / 'stage'}"
        arguments = (str(folder), name, *options)
        variables = {"STAGE": str(folder / "stage")}
        with Script(SCRIPT, *arguments, folder=folder, flags=STRICT, variables=variables) as script:
            script.expect("ready")
            processes = descendants(script.pid)
            assert processes or name == "closed", "there is no server"
            begun = time.monotonic()
            if number is None:
                script.tell()
            else:
                script.send(number)
            ended = script.wait(3 * EXIT_LIMIT)
            self.took = time.monotonic() - begun
        self.code, self.output, self.errors = ended.code, ended.stdout, ended.stderr
        suspects = {process.pid: process for process in [*processes, *marked(mark)]}
        #: What still ran when the program was gone; its watchdog ends after it.
        self.left = [each for each in suspects.values() if alive(each.pid) and not each.is_watchdog]
        # A stubborn one ends of no other cause, and on a busy machine it may take its time.
        for process in suspects:
            wait_gone(process, LIMIT)


def endings(folder: Path, name: str, *options: str, number: int | None = None) -> list[Ending]:
    """Runs a program many times, some at once, and looks for what is left of each."""

    def end(turn: int) -> Ending:
        return Ending(folder / str(turn), name, *options, number=number)

    with ThreadPoolExecutor(4) as threads:
        return list(threads.map(end, range(TIMES)))


@pytest.mark.parametrize("name", QUIET)
def test_an_ending_leaves_nothing_and_says_nothing(name: str, census: Census) -> None:
    code, output = QUIET[name]
    for ending in endings(census.folder, name):
        assert (ending.code, ending.output, ending.errors) == (code, output, "")
        assert ending.took < EXIT_LIMIT
        assert ending.left == []


@pytest.mark.parametrize("name", ["left_open", "with_block", "os_exit", "daemon_thread_in_a_call"])
def test_stubborn_servers_and_their_children_are_gone_too(name: str, census: Census) -> None:
    for ending in endings(census.folder, name, "stubborn", "grandchild"):
        assert ending.errors == ""
        assert ending.took < EXIT_LIMIT


@pytest.mark.parametrize("name", ["unhandled_exception", "unhandled_exception_in_a_with_block"])
def test_an_unhandled_exception_prints_its_traceback_alone(name: str, census: Census) -> None:
    for ending in endings(census.folder, name):
        assert (ending.code, ending.output) == (1, "")
        assert re.fullmatch(
            r"Traceback \(most recent call last\):\n(  .*\n)+RuntimeError: the end\n", ending.errors
        )
        assert ending.took < EXIT_LIMIT
        assert ending.left == []


def test_an_exception_in_a_callback_changes_nothing_of_the_ending(census: Census) -> None:
    for ending in endings(census.folder, "exception_in_a_callback"):
        assert (ending.code, ending.output) == (0, "")
        assert ending.errors.startswith("Exception ignored in: <function ")
        assert ending.errors.endswith("\nValueError: in a callback\n")
        assert ending.errors.count("Traceback") == 1
        assert ending.took < EXIT_LIMIT


@pytest.mark.parametrize("name", ["idle", "in_a_call"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_servers_of_a_killed_process_end_soon(
    name: str, number: signal.Signals, census: Census
) -> None:
    for ending in endings(census.folder, name, "stubborn", "grandchild", number=number):
        assert (ending.code, ending.output, ending.errors) == (-number, "", "")
        assert ending.took < EXIT_LIMIT


@pytest.mark.parametrize("name", ["idle", "in_a_call"])
def test_an_interrupt_that_nobody_catches_ends_the_process_as_usual(
    name: str, census: Census
) -> None:
    for ending in endings(census.folder, name, number=signal.SIGINT):
        assert (ending.code, ending.output) == (-signal.SIGINT, "")
        assert re.fullmatch(
            r"Traceback \(most recent call last\):\n(  .*\n)+KeyboardInterrupt\n", ending.errors
        )
        assert ending.took < EXIT_LIMIT
        assert ending.left == []


@pytest.mark.parametrize(
    ("name", "code", "output"),
    [
        ("os_exit", 7, ""),
        ("execute", 0, "another program\n"),
    ],
)
def test_an_ending_without_a_farewell_leaves_nothing(
    name: str, code: int, output: str, census: Census
) -> None:
    for ending in endings(census.folder, name):
        assert (ending.code, ending.output, ending.errors) == (code, output, "")
        assert ending.took < EXIT_LIMIT
