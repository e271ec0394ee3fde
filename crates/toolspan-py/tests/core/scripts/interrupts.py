"""Is a waiting call interrupted at once, told to the server, and the host usable afterwards?

``interrupts.py FOLDER WHAT`` prints, a line each, after how many milliseconds an interrupt arrived.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import toolspan
from kit.stage import LIMIT, Stage

STAGE = Stage(sys.argv[1])
#: When the last interrupt was sent.
SENT = [0.0]


def send(number=signal.SIGINT):
    SENT[0] = time.monotonic()
    os.kill(os.getpid(), number)


def signalled_after(number, event, **members):
    """Sends a signal to this process once a server has told this."""

    def watch():
        STAGE.until(event, **members)
        send(number)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def interrupted(thread, work, *arguments, **named):
    """Does something that is interrupted; prints how long that took to arrive."""
    try:
        work(*arguments, **named)
    except KeyboardInterrupt:
        print((time.monotonic() - SENT[0]) * 1000, flush=True)
    else:
        raise AssertionError("was not interrupted")
    finally:
        thread.join(LIMIT)


def assert_usable(host):
    assert host.call("stage__echo", text="still there").text == "still there"


def call():
    """At twenty moments of a call: after so many of the reports it makes every few milliseconds."""
    with toolspan.connect(STAGE.config()) as host:
        reports = host.with_options(on_progress=lambda progress: None)
        for step in range(1, 21):
            # Reports of the call before may still come.
            text = f"call {step}"
            thread = signalled_after(signal.SIGINT, "progress", step=step, text=text)
            interrupted(thread, reports.call, "stage__hold", text=text, progress=20, every=0.007)
            STAGE.until("cancelled", tool="hold")
            assert_usable(host)


def call_without_callback():
    with toolspan.connect(STAGE.config()) as host:
        for _ in range(20):
            thread = signalled_after(signal.SIGINT, "call", tool="hold")
            interrupted(thread, host.call, "stage__hold")
            STAGE.until("cancelled", tool="hold")
            assert_usable(host)


def connect():
    """One of two servers never gets ready; nothing of either is left."""
    for _ in range(5):
        servers = {"quick": STAGE.server(), "silent": STAGE.server("silent")}

        def watch():
            STAGE.until("begin")
            STAGE.until("begin")
            send()

        thread = threading.Thread(target=watch)
        thread.start()
        interrupted(thread, toolspan.connect, {"mcpServers": servers})
        STAGE.assert_empty()


def refresh():
    """The list goes on without the caller; what was known stays usable."""
    for _ in range(5):
        with toolspan.connect(STAGE.config("hold-lists")) as host:
            STAGE.until("list")
            interrupted(signalled_after(signal.SIGINT, "list"), host.refresh)
            assert_usable(host)


def close():
    """A server that outlives all but a kill is gone all the same."""
    for _ in range(3):
        host = toolspan.connect(STAGE.config("stubborn", timeouts={"close": 2}))
        thread = signalled_after(signal.SIGINT, "end")
        interrupted(thread, host.close)
        host.close()
        assert host.closed
        STAGE.assert_empty()


def with_block():
    """Interrupted in the close at the end of a block."""

    def block():
        with toolspan.connect(STAGE.config("stubborn", timeouts={"close": 2})):
            pass

    for _ in range(3):
        interrupted(signalled_after(signal.SIGINT, "end"), block)
        STAGE.assert_empty()


def handler_that_calls():
    """A handler may use the host while a call waits, and the call goes on."""
    with toolspan.connect(STAGE.config()) as host:
        heard = []

        def handle(number, frame):
            heard.append(host.call("stage__echo", text="from a handler").text)
            host.call("stage__release")

        signal.signal(signal.SIGUSR1, handle)

        for _ in range(20):
            thread = signalled_after(signal.SIGUSR1, "call", tool="hold")
            assert host.call("stage__hold").text == "released"
            thread.join(LIMIT)
        assert heard == ["from a handler"] * 20


def handler_that_raises():
    class Alarm(Exception):
        pass

    def handle(number, frame):
        raise Alarm

    signal.signal(signal.SIGUSR1, handle)
    with toolspan.connect(STAGE.config()) as host:
        for _ in range(5):
            thread = signalled_after(signal.SIGUSR1, "call", tool="hold")
            try:
                host.call("stage__hold")
            except Alarm:
                STAGE.until("cancelled", tool="hold")
            else:
                raise AssertionError("the alarm was not heard")
            thread.join(LIMIT)
            assert_usable(host)


def thread():
    """A signal goes to the main thread; the call of another thread is not disturbed."""
    with toolspan.connect(STAGE.config()) as host:
        answers = []

        def work():
            answers.append(host.call("stage__hold").text)

        other = threading.Thread(target=work)
        other.start()
        STAGE.until("call", tool="hold")
        try:
            send()
            signal.pause()
        except KeyboardInterrupt:
            print((time.monotonic() - SENT[0]) * 1000, flush=True)
        host.call("stage__release")
        other.join(LIMIT)
        assert answers == ["released"]
        assert STAGE.so_far("cancelled") == []


def main_thread_in_a_call():
    """Both wait; the main thread alone is interrupted."""
    with toolspan.connect(STAGE.config()) as host:
        answers = []
        other = threading.Thread(target=lambda: answers.append(host.call("stage__hold").text))
        other.start()
        STAGE.until("call", tool="hold")
        interrupted(signalled_after(signal.SIGINT, "call", tool="hold"), host.call, "stage__hold")
        STAGE.until("cancelled", tool="hold")
        host.call("stage__release")
        other.join(LIMIT)
        assert answers == ["released"]


def ignored():
    """A handler that does nothing ends no call."""
    signal.signal(signal.SIGINT, lambda number, frame: None)
    with toolspan.connect(STAGE.config()) as host:

        def watch():
            STAGE.until("call", tool="hold")
            for _ in range(10):
                send()
            host.call("stage__release")

        thread = threading.Thread(target=watch)
        thread.start()
        assert host.call("stage__hold").text == "released"
        thread.join(LIMIT)


globals()[sys.argv[2]]()
