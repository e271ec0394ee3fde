"""How can an interpreter end while a host is there? A function each; the command line names one.

``endings.py FOLDER ENDING [OPTION...]``: the options are those of the stage server.
"""

import atexit
import collections.abc
import gc
import os
import signal
import sys
import threading
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from kit.stage import LIMIT, Stage

FOLDER, ENDING, *OPTIONS = sys.argv[1:]
if "asyncio" in ENDING or "tasks" in ENDING:
    import asyncio
if "asynchronous" in ENDING:
    import logging

    # In the development mode a loop tells of what takes long, as all does on a busy machine.
    logging.getLogger("asyncio").addFilter(lambda record: not record.msg.startswith("Executing"))
STAGE = Stage(FOLDER)
#: What an ending keeps until the interpreter is taken apart.
KEPT = []


def say_after():
    """Registered before the import of the package, so it runs when all hosts are closed."""
    if ENDING == "daemon_thread_that_is_joined_late":
        KEPT[-1].join()
        print("joined", flush=True)
    if ENDING == "atexit_registered_first":
        try:
            KEPT[0].call("stage__echo", text="late")
        except toolspan.ClosedError:
            print("closed", flush=True)


atexit.register(say_after)

import toolspan  # noqa: E402


def ready():
    """Says that the state is reached, and waits for the word to go on."""
    print("ready", flush=True)
    sys.stdin.readline()


def config():
    # Less than a stubborn server lives: its close takes all the time it is given.
    return STAGE.config(*OPTIONS, timeouts={"close": 2})


def connect(**options):
    """A host that stays open until the end of the interpreter."""
    host = toolspan.connect(config(), **options)
    assert host.call("stage__echo", text="a").text == "a"
    KEPT.append(host)
    return host


def in_a_thread(work, *arguments, daemon=True):
    thread = threading.Thread(target=work, args=arguments, daemon=daemon)
    thread.start()
    return thread


def call_held(host):
    """Catches nothing: a daemon that dies with the interpreter does so in silence."""
    host.call("stage__hold")


def left_open():
    connect()
    ready()


def closed():
    host = connect()
    host.close()
    host.close()
    ready()


def with_block():
    with connect():
        ready()


def system_exit():
    connect()
    ready()
    sys.exit(3)


def system_exit_in_a_thread():
    connect()
    in_a_thread(sys.exit, 4).join()
    ready()


def unhandled_exception():
    connect()
    ready()
    raise RuntimeError("the end")


def unhandled_exception_in_a_with_block():
    with connect():
        ready()
        raise RuntimeError("the end")


def exception_in_a_callback():
    def fail(progress):
        raise ValueError("in a callback")

    host = connect().with_options(on_progress=fail)
    assert host.call("stage__echo", text="a", progress=1).text == "a"
    ready()


def system_exit_in_a_callback():
    def leave(progress):
        sys.exit(5)

    host = connect().with_options(on_progress=leave)
    ready()
    host.call("stage__hold", progress=1)


def idle():
    """For the signals that end a process."""
    connect()
    print("ready", flush=True)
    signal.pause()


def in_a_call():
    host = connect()
    in_a_thread(say_when_called)
    host.call("stage__hold")


def say_when_called():
    STAGE.until("call", tool="hold")
    print("ready", flush=True)


def os_exit():
    connect()
    ready()
    os._exit(7)


def execute():
    connect()
    ready()
    os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])


def forked():
    host = connect()
    ready()
    child = os.fork()
    if child == 0:
        return
    _, status = os.waitpid(child, 0)
    assert host.call("stage__echo", text="b").text == "b"
    sys.exit(os.waitstatus_to_exitcode(status))


def daemon_thread_in_a_call():
    in_a_thread(call_held, connect())
    STAGE.until("call", tool="hold")
    ready()


def many_daemon_threads_in_calls():
    host = connect()
    for _ in range(16):
        in_a_thread(call_held, host)
    for _ in range(16):
        STAGE.until("call", tool="hold")
    ready()


def daemon_threads_that_never_stop_calling():
    host = connect()
    begun = [threading.Event() for _ in range(4)]

    def call_on(event):
        while True:
            try:
                host.call("stage__echo", text="c")
            except toolspan.ClosedError:
                continue
            finally:
                event.set()

    def call_till_it_fails(event):
        while True:
            host.call("stage__echo", text="d")
            event.set()

    for number, event in enumerate(begun):
        in_a_thread(call_on if number % 2 else call_till_it_fails, event)
    for event in begun:
        assert event.wait(LIMIT)
    ready()


class Members(collections.abc.Mapping):
    """Computes for each member: code of the program that runs inside the package."""

    def __init__(self, **members):
        self.members = members

    def __getitem__(self, name):
        for _ in range(1000):
            value = self.members[name]
        return value

    def __iter__(self):
        yield from self.members

    def __len__(self):
        return len(self.members)


class Model:
    """As those of pydantic."""

    def model_dump(self, mode):
        return Members(text="e")["text"]


def daemon_threads_that_never_stop_converting():
    host = connect()
    echo = host.find("stage__echo")
    conversions = [
        lambda: host.call("stage__echo", Members(text="e")),
        lambda: echo.validate(Members(text="e")),
        lambda: echo.validate(text=Model()),
        lambda: echo.validate(Members(text=1)),
        lambda: host.with_options(headers=Members(a="e"), meta=Members(a="e")),
        lambda: toolspan.connect(Members(mcpServers=1)),
        lambda: (repr(host), host.status()),
    ]
    turning = threading.Barrier(len(conversions) + 1)

    def turn(convert):
        turning.wait(LIMIT)
        while True:
            try:
                convert()
            except toolspan.ToolspanError:
                continue

    for convert in conversions:
        in_a_thread(turn, convert)
    turning.wait(LIMIT)
    ready()


def daemon_thread_that_is_joined_late():
    """What was registered before the import is run after the end of all hosts."""
    KEPT.append(in_a_thread(call_held, connect()))
    STAGE.until("call", tool="hold")
    ready()


def thread_that_outlives_main():
    host = connect()

    def call_late():
        threading.main_thread().join(LIMIT)
        print(host.call("stage__echo", text="late").text, flush=True)

    in_a_thread(call_late, daemon=False)
    ready()


def connecting():
    in_a_thread(toolspan.connect, STAGE.config("silent"))
    STAGE.until("begin")
    ready()


def tolerate_a_busy_loop():
    """Debug mode reports what keeps a loop busy, which the wait for the word does."""
    asyncio.get_running_loop().slow_callback_duration = LIMIT


def tasks_left_to_asyncio():
    async def main():
        tolerate_a_busy_loop()
        host = await toolspan.aconnect(config())
        KEPT.append(host)
        KEPT.extend(asyncio.ensure_future(wait_for(host)) for _ in range(4))
        await until_called(4)
        ready()

    async def wait_for(host):
        await host.acall("stage__hold")

    asyncio.run(main())


def futures_left_to_asyncio():
    async def main():
        tolerate_a_busy_loop()
        host = await toolspan.aconnect(config())
        KEPT.append(host)
        KEPT.extend(host.acall("stage__hold") for _ in range(4))
        await until_called(4)

    asyncio.run(main())
    KEPT[0].call("stage__release")
    ready()


def asyncio_connecting():
    async def main():
        tolerate_a_busy_loop()
        KEPT.append(toolspan.aconnect(STAGE.config("silent")).__await__())
        KEPT.append(KEPT[0].send(None))
        await asyncio.to_thread(STAGE.until, "begin")
        ready()

    asyncio.run(main())


def asyncio_in_a_daemon_thread():
    host = connect()

    async def main():
        tolerate_a_busy_loop()
        await host.acall("stage__hold")

    in_a_thread(lambda: asyncio.run(main()))
    STAGE.until("call", tool="hold")
    ready()


def tasks_of_a_daemon_thread():
    """The loop alone holds them, as it does those that wait for a timer."""
    host = connect()

    async def hold():
        await host.acall("stage__hold")

    async def main():
        tolerate_a_busy_loop()
        for _ in range(4):
            asyncio.ensure_future(hold())  # noqa: RUF006, the loop alone is to hold it
        await asyncio.Event().wait()

    run_in_daemon_threads(main)
    for _ in range(4):
        STAGE.until("call", tool="hold")
    ready()


def tasks_of_daemon_threads_that_never_stop_calling():
    host = connect()
    turning = threading.Barrier(9)

    async def turn():
        await host.acall("stage__echo", text="a")
        await asyncio.to_thread(turning.wait, LIMIT)
        while True:
            await host.acall("stage__echo", text="a")

    async def main():
        tolerate_a_busy_loop()
        await asyncio.gather(*(turn() for _ in range(4)))

    run_in_daemon_threads(main, main)
    turning.wait(LIMIT)
    ready()


def tasks_of_daemon_threads_that_never_stop_converting():
    host = connect()
    turning = threading.Barrier(3)

    async def turn():
        while True:
            await host.acall("stage__echo", Members(text="e"))
            try:
                await host.acall("stage__echo", Members(text={1, 2}))
            except toolspan.InvalidArguments:
                continue

    async def main():
        tolerate_a_busy_loop()
        await host.acall("stage__echo", Members(text="e"))
        await asyncio.to_thread(turning.wait, LIMIT)
        await asyncio.gather(*(turn() for _ in range(4)))

    run_in_daemon_threads(main, main)
    turning.wait(LIMIT)
    ready()


def run_in_daemon_threads(*mains):
    for main in mains:
        in_a_thread(lambda main=main: asyncio.run(main()))


async def until_called(times):
    for _ in range(times):
        await asyncio.to_thread(STAGE.until, "call", tool="hold")


def progress_callback_that_never_returns():
    inside = threading.Event()

    def stay(progress):
        inside.set()
        threading.Event().wait()

    host = connect().with_options(on_progress=stay)
    in_a_thread(lambda: host.call("stage__hold", progress=1))
    assert inside.wait(LIMIT)
    ready()


def progress_callback_that_computes_on():
    """Busy with Python code until the interpreter is gone, inside a call."""
    inside = threading.Event()

    def work(progress):
        inside.set()
        while True:
            sum(range(100))

    host = connect().with_options(on_progress=work)
    in_a_thread(lambda: host.call("stage__hold", progress=1))
    assert inside.wait(LIMIT)
    ready()


def progress_callback_that_calls_on():
    """The same with calls, which are refused once the host is closed."""
    inside = threading.Event()

    def work(progress):
        inside.set()
        while True:
            try:
                plain.call("stage__echo", text="c")
            except toolspan.ToolspanError:
                continue

    plain = connect()
    in_a_thread(lambda: plain.with_options(on_progress=work).call("stage__hold", progress=1))
    assert inside.wait(LIMIT)
    ready()


def call_own(work, name):
    """Leaves a tool of Python in the middle of its work, with a daemon thread that waits for it."""
    host = connect()
    begun = threading.Event()
    host.tool(name=name)(work(begun))
    in_a_thread(lambda: host.call(name))
    assert begun.wait(LIMIT)
    ready()


def own_tool_that_never_returns():
    def work(begun):
        def hang():
            begun.set()
            threading.Event().wait()

        return hang

    call_own(work, "hang")


def own_tool_that_computes_on():
    def work(begun):
        def compute():
            begun.set()
            while True:
                sum(range(1000))

        return compute

    call_own(work, "compute")


def own_tool_that_calls_on():
    def work(begun):
        def call_on():
            begun.set()
            while True:
                KEPT[0].call("stage__echo", text="a")

        return call_on

    call_own(work, "call_on")


def own_asynchronous_tool_that_never_returns():
    import asyncio

    def work(begun):
        async def hang():
            begun.set()
            await asyncio.Event().wait()

        return hang

    call_own(work, "hang")


def own_asynchronous_tool_that_computes_on():
    def work(begun):
        async def compute():
            begun.set()
            while True:
                sum(range(1000))

        return compute

    call_own(work, "compute")


def own_asynchronous_tools_that_hold_up_loops():
    import asyncio
    import warnings

    # What they do is what a warning is for.
    warnings.simplefilter("ignore", RuntimeWarning)

    def work(begun):
        async def again(left: int = 4):
            if left:
                KEPT[0].call("again", left=left - 1)
            begun.set()
            await asyncio.Event().wait()

        return again

    call_own(work, "again")


def call_past(**rules):
    """Leaves rules that were asked about a call, with a daemon thread that waits for them."""
    host = toolspan.connect(config(), **rules)
    KEPT.append(host)
    in_a_thread(lambda: host.call("stage__echo", text="a"))


def rule_that_never_returns():
    asked = threading.Event()

    def hang(call):
        asked.set()
        threading.Event().wait()

    call_past(policy=hang)
    assert asked.wait(LIMIT)
    ready()


def asynchronous_rule_that_never_returns():
    import asyncio

    asked = threading.Event()

    async def hang(call):
        asked.set()
        await asyncio.Event().wait()

    call_past(interceptors=[hang])
    assert asked.wait(LIMIT)
    ready()


def rule_that_calls_on():
    asked = threading.Event()

    def call_on(question):
        asked.set()
        while True:
            KEPT[0].call("stage__echo", text="a")

    call_past(policy={"confirm": "always", "allow": ["native__*"]}, approver=call_on)
    assert asked.wait(LIMIT)
    ready()


def own_tool_left_to_asyncio():
    host = connect()

    async def main():
        tolerate_a_busy_loop()
        begun = asyncio.Event()

        @host.tool
        async def hang():
            begun.set()
            await asyncio.Event().wait()

        async def wait_for():
            await host.acall("hang")

        KEPT.append(asyncio.ensure_future(wait_for()))
        await asyncio.wait_for(begun.wait(), LIMIT)
        ready()

    asyncio.run(main())


def log_callback_that_never_returns():
    inside = threading.Event()

    def stay(message):
        inside.set()
        threading.Event().wait()

    host = connect(on_log=stay)
    host.call("stage__echo", log="a")
    assert inside.wait(LIMIT)
    ready()


def log_callback_that_calls_on():
    """Busy with Python code and with calls until the interpreter is gone."""
    inside = threading.Event()

    def work(message):
        while True:
            try:
                host.call("stage__echo", text="c")
            except toolspan.ToolspanError:
                continue
            finally:
                inside.set()

    host = connect(on_log=work)
    host.call("stage__echo", log="a")
    assert inside.wait(LIMIT)
    ready()


def atexit_registered_first():
    connect()
    ready()


def atexit_registered_last():
    host = connect()
    atexit.register(lambda: print(host.call("stage__echo", text="late").text, flush=True))
    ready()


class Closes:
    """What many classes do that own something."""

    def __init__(self, host):
        self.host = host

    def __del__(self):
        self.host.close()


def closed_by_del_of_a_global():
    KEPT[:] = [Closes(connect())]
    ready()


def closed_by_del_in_a_cycle():
    closes = Closes(connect())
    closes.itself = closes
    KEPT.clear()
    gc.disable()
    ready()


def closed_by_del_of_a_class_attribute():
    Closes.kept = Closes(connect())
    KEPT.clear()
    ready()


def closed_by_del_of_a_module():
    module = types.ModuleType("another")
    module.kept = Closes(connect())
    sys.modules["another"] = module
    KEPT.clear()
    ready()


def called_by_del_of_a_module():
    module = types.ModuleType("another")
    module.kept = Calls(connect())
    sys.modules["another"] = module
    KEPT.clear()
    ready()


class Calls:
    """What comes so late finds no module any more, only what it holds."""

    def __init__(self, host):
        self.host = host
        self.closed = toolspan.ClosedError
        self.write = os.write

    def __del__(self):
        try:
            self.host.call("stage__echo", text="late")
        except self.closed:
            self.write(1, b"closed\n")


def class_attribute():
    Closes.kept = connect()
    KEPT.clear()
    ready()


def cycle_with_a_callback():
    class Agent:
        def __init__(self):
            self.host = connect(on_log=self.heard).with_options(on_progress=self.heard)

        def heard(self, what):
            pass

    Agent.kept = Agent()
    KEPT.clear()
    assert Agent.kept.host.call("stage__echo", text="a", progress=1, log="b").text == "a"
    ready()


globals()[ENDING]()
