"""Does a synchronous call work inside a running loop, and say once that there is another door?"""

import asyncio
import os
import signal
import sys
import threading
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import toolspan
from kit.stage import LIMIT, Stage

STAGE = Stage(sys.argv[1])


def call(host):
    assert host.call("stage__echo", text="a").text == "a"


async def warned_once(host):
    """From a coroutine, a callback of the loop and a callback of progress."""
    # Debug mode reports what keeps a loop busy, which a synchronous call does.
    asyncio.get_running_loop().slow_callback_duration = LIMIT
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        call(host)
        call(host)
        called = asyncio.get_running_loop().create_future()

        def callback():
            call(host)
            called.set_result(None)

        asyncio.get_running_loop().call_soon(callback)
        await called
        nested = host.with_options(on_progress=lambda progress: call(host))
        await nested.acall("stage__echo", progress=1)
        nested.call("stage__echo", progress=1)
        host.refresh()
        host.find("stage__echo")
        with toolspan.connect(STAGE.config()) as another:
            call(another)
    (warning,) = heard
    assert warning.category is RuntimeWarning
    assert "acall" in str(warning.message)
    assert warning.filename == __file__, warning.filename


def default():
    with toolspan.connect(STAGE.config()) as host:
        asyncio.run(warned_once(host))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            asyncio.run(again(host))
            thread = threading.Thread(target=lambda: asyncio.run(again(host)))
            thread.start()
            thread.join(LIMIT)
        assert heard == []
        # The warning is an error in this process, and so it would be raised here.
        asyncio.run(again(host))


async def again(host):
    asyncio.get_running_loop().slow_callback_duration = LIMIT
    call(host)


def closed():
    host = toolspan.connect(STAGE.config())

    async def main():
        host.close()

    expect_warning_and_end(main, host)


def closed_by_a_with_block():
    host = toolspan.connect(STAGE.config())

    async def main():
        with host:
            pass

    expect_warning_and_end(main, host)


def expect_warning_and_end(main, host):
    """The warning is an error in this process; it comes when the servers are gone."""
    try:
        # Debug mode would report the time that the close holds up the loop.
        asyncio.run(main(), debug=False)
    except RuntimeWarning as warning:
        assert "aclose" in str(warning)
    else:
        raise AssertionError("was not warned")
    assert host.closed
    STAGE.until("end")


def interrupted():
    def watch():
        STAGE.until("call", tool="hold")
        os.kill(os.getpid(), signal.SIGINT)

    async def main(host):
        thread.start()
        # The reports wake the loop: asyncio may miss a signal that comes as it begins to wait.
        reporting = host.with_options(on_progress=lambda progress: None)
        await reporting.acall("stage__hold", progress=1000, every=0.02)

    with toolspan.connect(STAGE.config()) as host:
        for _ in range(5):
            thread = threading.Thread(target=watch)
            try:
                asyncio.run(main(host))
            except KeyboardInterrupt:
                STAGE.until("cancelled", tool="hold")
            else:
                raise AssertionError("was not interrupted")
            thread.join(LIMIT)
            call(host)


globals()[sys.argv[2] if len(sys.argv) > 2 else "default"]()
