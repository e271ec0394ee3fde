"""What does a forked process find? A function each; the second argument names one."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import toolspan
from kit.processes import descendants, marked
from kit.stage import LIMIT, Stage

STAGE = Stage(sys.argv[1])
FORKS = 50
#: Seconds of work that a refusal may take.
WORK = 0.01


def in_a_child(work, *arguments):
    """Runs something in a fork, which ends at once after it; its exit code says how that went."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(*arguments)
            code = 0
        except BaseException as error:
            os.write(2, f"in the child: {error!r}\n".encode())
        finally:
            os._exit(code)
    return child


def wait(child):
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code == 0, code


def refused_methods(host):
    yield lambda: host.call("stage__echo", text="a")
    yield lambda: host.call("stage__no_such_tool")
    yield lambda: host.run({"id": "1", "function": {"name": "stage__echo", "arguments": "{}"}})
    yield lambda: host.find("stage__echo")
    yield host.refresh
    yield host.status
    yield lambda: host.with_options(timeout=5).call("stage__echo", text="a")
    yield lambda: toolspan.connect(STAGE.config())


def assert_refused(host):
    """Nothing that asks a server or the runtime works, and what is known stays to be read."""
    for method in refused_methods(host):
        begun = time.thread_time()
        try:
            method()
        except toolspan.ForkedProcess as error:
            assert isinstance(error, toolspan.UsageError)
        else:
            raise AssertionError("was not refused")
        assert time.thread_time() - begun < WORK
    assert len(host.tools) == 5


def assert_refused_asynchronously(host):
    import asyncio

    async def main():
        # Debug mode reports what keeps a loop busy, which a busy machine does, too.
        asyncio.get_running_loop().slow_callback_duration = LIMIT
        doors = [
            lambda: host.acall("stage__echo", text="a"),
            lambda: host.arun({"id": "1", "function": {"name": "stage__echo", "arguments": "{}"}}),
            lambda: host.afind("stage__echo"),
            host.arefresh,
            lambda: toolspan.aconnect(STAGE.config()),
        ]
        for door in doors:
            try:
                await door()
            except toolspan.ForkedProcess:
                continue
            raise AssertionError("was not refused")
        await host.aclose()

    asyncio.run(main())


def call(host):
    assert host.call("stage__echo", text="parent").text == "parent"


def tools_in_flight():
    """Functions that are tools run on in the parent, and nowhere else."""
    import asyncio

    with toolspan.connect(STAGE.config()) as host:
        begun, release = threading.Semaphore(0), threading.Event()

        @host.tool
        def hold() -> str:
            begun.release()
            return str(release.wait(LIMIT))

        @host.tool
        async def hold_too() -> str:
            begun.release()
            return str(await asyncio.to_thread(release.wait, LIMIT))

        seen = []
        names = ["hold", "hold_too"]
        calls = [
            threading.Thread(target=lambda name=name: seen.append(host.call(name).text))
            for name in names
        ]
        for thread in calls:
            thread.start()
        assert all(begun.acquire(timeout=LIMIT) for _ in names)

        def refused():
            for method in (
                lambda: host.call("hold"),
                lambda: host.tool(refused),
                lambda: host.remove_tool("hold"),
                lambda: host.search("hold"),
                lambda: host.run_batch([{"name": "hold", "arguments": {}}]),
            ):
                try:
                    method()
                except toolspan.ForkedProcess:
                    continue
                raise AssertionError("was not refused")

        for _ in range(5):
            wait(in_a_child(refused))
        release.set()
        for thread in calls:
            thread.join(LIMIT)
        assert seen == ["True", "True"], seen


def forked_in_a_tool():
    """The copy ends by itself; the original goes on."""
    with toolspan.connect(STAGE.config()) as host:

        @host.tool
        def fork() -> str:
            def refused():
                try:
                    host.call("fork")
                except toolspan.ForkedProcess:
                    return
                raise AssertionError("was not refused")

            wait(in_a_child(refused))
            return "forked"

        for _ in range(5):
            assert host.call("fork").text == "forked"
        call(host)


def before_use():
    """The package is imported and not used: the child has it for itself."""

    def use():
        with toolspan.connect(STAGE.config()) as host:
            call(host)
        assert all(child.is_watchdog for child in descendants(os.getpid()))

    for _ in range(3):
        wait(in_a_child(use))
    with toolspan.connect(STAGE.config()) as host:
        call(host)


def after_use():
    with toolspan.connect(STAGE.config()) as host:
        for _ in range(FORKS):
            child = in_a_child(assert_refused, host)
            call(host)
            wait(child)


def by_a_hook_of_the_child():
    """One that was registered before the first host is run before those of this package."""
    kept, done = [], []

    def call_early():
        assert_refused(*kept)
        done.append("refused")

    def check():
        assert done == ["refused"], done

    os.register_at_fork(after_in_child=call_early)
    with toolspan.connect(STAGE.config()) as host:
        kept.append(host)
        call(host)
        wait(in_a_child(check))
        call(host)


def after_use_asynchronously():
    with toolspan.connect(STAGE.config()) as host:
        for _ in range(5):
            wait(in_a_child(assert_refused_asynchronously, host))
            call(host)


def after_close():
    """The runtime is there even when no host is."""
    with toolspan.connect(STAGE.config()) as host:
        call(host)

    def use():
        try:
            toolspan.connect(STAGE.config())
        except toolspan.ForkedProcess as error:
            assert error.phase == "connect" and "before" in error.message
            return
        raise AssertionError("was not refused")

    wait(in_a_child(use))


def child_closes():
    """Whatever a child does to its copy of a host, the servers of the parent live on."""

    def close(host):
        host.close()
        host.__exit__(None, None, None)
        with host:
            pass

    def forget(kept):
        kept.clear()
        gc.collect()

    host = toolspan.connect(STAGE.config())
    kept = [host]
    wait(in_a_child(close, host))
    call(host)
    kept = [toolspan.connect(STAGE.config())]
    wait(in_a_child(forget, kept))
    call(kept[0])
    for each in (host, kept[0]):
        each.close()


def forked_in_a_callback():
    """The call goes on in the parent and ends in the child, which was never in it."""
    with toolspan.connect(STAGE.config()) as host:
        children = []
        forked = threading.Event()

        def fork(progress):
            children.append(os.fork())
            forked.set()

        def release():
            if forked.wait(LIMIT):
                host.call("stage__release")

        releasing = threading.Thread(target=release)
        releasing.start()
        try:
            seen = host.with_options(on_progress=fork).call("stage__hold", progress=1)
        except toolspan.ForkedProcess:
            os._exit(0 if children == [0] else 1)
        assert seen.text == "released"
        releasing.join(LIMIT)
        wait(*children)
        call(host)


def forked_in_the_last_callback():
    """The answer may be there before the child is: then both have it."""
    with toolspan.connect(STAGE.config()) as host:
        for _ in range(5):
            children = []
            fork = host.with_options(on_progress=lambda _, seen=children: seen.append(os.fork()))
            try:
                text = fork.call("stage__echo", text="a", progress=1).text
            except toolspan.ForkedProcess:
                text = "a"
            if children == [0]:
                os._exit(0 if text == "a" else 1)
            assert text == "a"
            wait(*children)
            call(host)


def forked_in_a_handler():
    """A handler of a signal that comes during a call."""
    children = []
    signal.signal(signal.SIGUSR1, lambda number, frame: children.append(os.fork()))
    with toolspan.connect(STAGE.config()) as host:

        def watch():
            STAGE.until("call", tool="hold")
            os.kill(os.getpid(), signal.SIGUSR1)
            assert forked.wait(LIMIT)
            host.call("stage__release")

        forked = threading.Event()
        children_seen = threading.Thread(target=watch)
        children_seen.start()
        reporting = host.with_options(on_progress=lambda progress: children and forked.set())
        try:
            seen = reporting.call("stage__hold", progress=1000, every=0.02)
        except toolspan.ForkedProcess:
            os._exit(0 if children == [0] else 1)
        assert seen.text == "released"
        children_seen.join(LIMIT)
        wait(*children)
        call(host)


def child_lives_on():
    """A close does not wait for a child, though that has copies of all pipes."""
    until_told, tell = os.pipe()
    host = toolspan.connect(STAGE.config("grandchild"))
    call(host)
    child = in_a_child(os.read, until_told, 1)
    host.close()
    assert [process.pid for process in marked(STAGE.mark) if process.pid != child] == []
    os.write(tell, b"x")
    wait(child)


def child_ends(how):
    """The child runs to the end of this program, with its farewell."""
    host = toolspan.connect(STAGE.config())
    for _ in range(5):
        child = os.fork()
        if child == 0:
            how()
            return
        wait(child)
        call(host)
    host.close()


def child_ends_normally():
    child_ends(lambda: None)


def child_exits():
    child_ends(lambda: sys.exit(0))


def child_ends_by_an_exception():
    """Its traceback is all that is said."""
    host = toolspan.connect(STAGE.config())
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        raise RuntimeError("the end of the child")
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 1
    call(host)
    host.close()


def work_of_a_process(number):
    """In a process of a pool made before the package was used."""
    with toolspan.connect(STAGE.config()) as host:
        return host.call("stage__echo", text=str(number)).text


def refused_in_a_process(host, answers):
    try:
        call(host)
    except toolspan.ForkedProcess as error:
        answers.put(error.kind)


def pool_before_use():
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map(work_of_a_process, range(4)) == ["0", "1", "2", "3"]


def process_after_use():
    context = multiprocessing.get_context("fork")
    with toolspan.connect(STAGE.config()) as host:
        answers = context.SimpleQueue()
        for _ in range(3):
            process = context.Process(target=refused_in_a_process, args=(host, answers))
            process.start()
            assert answers.get() == "usage"
            process.join(LIMIT)
            assert process.exitcode == 0
            call(host)


def while_threads_call():
    """Whatever lock another thread holds at the fork, the child waits for none."""
    stop = threading.Event()
    failed = []

    def call_on(host):
        while not stop.is_set():
            try:
                call(host)
            except BaseException as error:
                failed.append(error)
                return

    with toolspan.connect(STAGE.config()) as host:
        threads = [threading.Thread(target=call_on, args=[host]) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(FORKS):
                wait(in_a_child(assert_refused, host))
        finally:
            stop.set()
            for thread in threads:
                thread.join(LIMIT)
        assert failed == []


def while_threads_connect():
    stop = threading.Event()
    failed = []

    def connect_on():
        while not stop.is_set():
            try:
                with toolspan.connect(STAGE.config()) as host:
                    call(host)
            except BaseException as error:
                failed.append(error)
                return

    with toolspan.connect(STAGE.config()) as host:
        threads = [threading.Thread(target=connect_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                wait(in_a_child(assert_refused, host))
        finally:
            stop.set()
            for thread in threads:
                thread.join(LIMIT)
        assert failed == []


def parent_is_killed():
    """Prints the child, which lives on, and waits to be killed."""
    host = toolspan.connect(STAGE.config("stubborn", "grandchild"))
    call(host)
    child = os.fork()
    if child == 0:
        os.close(1)
        os.close(2)
        sys.stdin.readline()
        os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)


globals()[sys.argv[2]]()
