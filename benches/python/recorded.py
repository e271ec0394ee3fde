"""Which recorded tools does a contestant make ready, and how long does that take?

The table tells the folder with the lists, and how many tools there are in them.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import perf_counter_ns

import rounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def tools() -> list[dict[str, Any]]:
    """The tools of all servers, as these answered `tools/list`."""
    folder, count = sys.argv[1:]
    lists = [json.loads(path.read_text("utf-8")) for path in sorted(Path(folder).glob("*.json"))]
    found = [tool for answer in lists for tool in answer["tools"]]
    if len(found) != int(count):
        raise SystemExit(f"{len(found)} tools instead of {count}")
    return found


def run(work: Callable[[], object], forget: Callable[[], object]) -> None:
    """Takes all turns; what a turn left over is forgotten before the next one."""
    for calls in rounds.asked():
        times = []
        for _ in range(calls):
            forget()
            gc.collect()
            began = perf_counter_ns()
            made = work()
            times.append(perf_counter_ns() - began)
            del made
        rounds.answer(times)
