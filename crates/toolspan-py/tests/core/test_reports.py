"""What is a callback given of a call's progress and of a server's log?"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import toolspan

#: Seconds that a report may take to come.
LIMIT = 30.0


def test_progress_says_how_far_a_call_has_come(plain: Callable[..., dict[str, Any]]) -> None:
    reports: queue.Queue[toolspan.Progress] = queue.Queue()
    with toolspan.connect({"mcpServers": {"p": plain()}}) as host:
        host.with_options(on_progress=reports.put).call("p__progress", steps=1)
        report = reports.get(timeout=LIMIT)
    assert (report.progress, report.total, report.message) == (1.0, 1.0, "step 1")
    assert repr(report) == "Progress(progress=1.0, total=1.0, message='step 1')"


def test_a_log_message_says_whose_it_is_and_shows_shortly(
    plain: Callable[..., dict[str, Any]],
) -> None:
    logged: queue.Queue[toolspan.LogMessage] = queue.Queue()
    text = "\x1b[31m" + "x" * 1_000
    with toolspan.connect({"mcpServers": {"p": plain()}}, on_log=logged.put) as host:
        host.call("p__log", text=text, level="warning")
        message = logged.get(timeout=LIMIT)
    assert (message.toolbox, message.level, message.text) == ("p", "warning", text)
    assert repr(message).startswith("LogMessage(toolbox='p', level='warning', text='\\x1b[31mxxx")
    assert repr(message).endswith("…')") and len(repr(message)) < 150
