"""Does a toolbox answer on the topic of all toolboxes, which OPM has from version 3 on?"""

from __future__ import annotations

from ovos_utils.fakebus import FakeBus
from toolboxes import Entry, Make, ask


def test_the_topic_that_all_toolboxes_share_reaches_the_one_that_is_named(
    plain: Entry, make: Make
) -> None:
    bus = FakeBus()
    box = make(plain(), bus=bus, toolbox_id="one")
    make(plain(), bus=bus, toolbox_id="two")
    pids = {
        name: ask(
            bus, "ovos.persona.tools.call", {"toolbox_id": name, "name": "pid", "kwargs": {}}
        )["result"]["content"]
        for name in ("one", "two")
    }
    assert pids["one"] != pids["two"]
    assert box.call_tool("pid", {}).content == pids["one"]
    box.unbind()
    assert box.bus is None
