"""Do the tests' own tools find what they are for?"""

from __future__ import annotations

import signal

import pytest
from kit.processes import Census, alive, wait_gone
from kit.scripts import RunScript, StartScript
from kit.wait import Events, until

#: Starts a process in a session of its own and ends, so that it has no parent left. It waits for a
#: signal.
ABANDONS = """
import subprocess, sys
waiting = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
child = subprocess.Popen(waiting, start_new_session=True, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
"""


def test_a_process_without_a_parent_is_found_and_ended(
    run_script: RunScript, census: Census
) -> None:
    ended = run_script(ABANDONS)
    pid = int(ended.stdout)
    assert [process.pid for process in census.left()] == [pid]
    with pytest.raises(AssertionError, match=f"left after 0.1 s:\n.*{pid}"):
        census.assert_nothing_left(0.1)
    wait_gone(pid)
    assert not alive(pid)


def test_a_script_that_does_not_end_says_where_it_stood(start_script: StartScript) -> None:
    script = start_script("def stuck():\n    input()\nprint('ready', flush=True)\nstuck()")
    script.expect("ready")
    with pytest.raises(AssertionError, match="still runs after 0.1 s(.|\n)*in stuck"):
        script.wait(0.1)


def test_a_script_is_heard_while_it_runs_and_to_its_end(start_script: StartScript) -> None:
    code = "import sys; print(input(), flush=True); print('x' * 200_000); sys.exit(3)"
    script = start_script(code)
    script.tell("words")
    script.expect("words")
    ended = script.wait()
    assert (ended.code, ended.stdout.strip(), ended.stderr) == (3, "x" * 200_000, "")


def test_a_signal_is_the_exit_code(start_script: StartScript) -> None:
    script = start_script("import signal; print('ready', flush=True); signal.pause()")
    script.expect("ready")
    script.send(signal.SIGTERM)
    assert script.wait().code == -signal.SIGTERM


def test_a_wait_that_is_in_vain_says_for_what(events: Events) -> None:
    with pytest.raises(AssertionError, match="not within 0 s: the end of days"):
        until(lambda: False, "the end of days", 0)
    events.path.write_text("started 1\n")
    with pytest.raises(AssertionError, match=r'"ended" 1 times; there is \[.started 1.\]'):
        events.wait("ended", limit=0)
