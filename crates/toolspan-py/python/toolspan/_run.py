"""On which thread does a function run that is a tool, and how does it end?

One that is asynchronous runs on the loop that waits for its call, and where none waits, on a loop
that has a thread of its own; every other one runs on a thread that may wait. Where that gives
something to be awaited, such as one that is asynchronous within a decorator that is not, the loop
takes over.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from . import _result
from ._toolspan import CallContext, _Held, _Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tools import ToolDefinition

#: Threads that run functions at the same time, at most.
MOST_THREADS = 1_024
#: Seconds that a thread waits for its next function.
IDLE = 10.0
#: Loops that run functions, at most: one, and one for each that is held up.
MOST_LOOPS = 64
#: Seconds that the end of the interpreter waits for the threads of all loops.
PATIENCE = 0.5

#: The call within which code runs.
CURRENT: contextvars.ContextVar[CallContext | None] = contextvars.ContextVar(
    "toolspan_call", default=None
)


class Threads:
    """Threads that run one job after the other."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._count = 0

    def run(self, job: Callable[[], None]) -> None:
        """Gives a job to a thread that waits for one, or to a new one.

        Raises ``RuntimeError`` where there can be no more threads.
        """
        with self._lock:
            if self._idle:
                self._idle -= 1
                self._jobs.put(job)
                return
            if self._count >= MOST_THREADS:
                raise RuntimeError(f"{MOST_THREADS} tools of Python run at the same time already")
            self._count += 1
        thread = threading.Thread(target=self._work, args=(job,), name="toolspan-tool", daemon=True)
        try:
            thread.start()
        except BaseException:
            with self._lock:
                self._count -= 1
            raise

    def _work(self, first: Callable[[], None]) -> None:
        job: Callable[[], None] | None = first
        while job is not None:
            try:
                job()
            except BaseException as error:
                # A thread that is gone must not count for ever. At the end of the interpreter all
                # of them leave by `SystemExit`.
                if not isinstance(error, Exception):
                    with self._lock:
                        self._count -= 1
                    raise
                tell("a thread of tools failed")
            # What the job holds is let go before the wait for the next one.
            job = None
            job = self._next()

    def _next(self) -> Callable[[], None] | None:
        with self._lock:
            self._idle += 1
        try:
            return self._jobs.get(timeout=IDLE)
        except queue.Empty:
            pass
        with self._lock:
            try:
                # Given between the end of the wait and the lock.
                return self._jobs.get_nowait()
            except queue.Empty:
                self._idle -= 1
                self._count -= 1
                return None


THREADS = Threads()


class OwnLoop:
    """A loop with a thread of its own."""

    def __init__(self) -> None:
        self._held = _Held()
        self._ended = asyncio.Event()
        begun = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(begun)), name="toolspan-loop", daemon=True
        )
        self._thread.start()
        begun.wait()

    async def _run(self, begun: threading.Event) -> None:
        self.event_loop = asyncio.get_running_loop()
        self._held.begin()
        begun.set()
        await self._ended.wait()

    @property
    def is_alive(self) -> bool:
        """Whether it runs. A ``KeyboardInterrupt`` that a task lets through ends it."""
        return self._thread.is_alive() and not self.event_loop.is_closed()

    @property
    def is_held(self) -> bool:
        """Whether a function on it calls synchronously, and so stops it."""
        return self._held.is_held

    def end(self) -> None:
        """Cancels what runs on it and ends it."""
        with contextlib.suppress(RuntimeError):
            # A loop that is closed runs nothing any more.
            self.event_loop.call_soon_threadsafe(self._ended.set)

    def join(self, seconds: float) -> None:
        """Waits for its end, but not longer than that."""
        self._thread.join(seconds)


class OwnLoops:
    """Loops for functions that no loop waits for: one, as long as nothing holds it up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loops: list[OwnLoop] = []

    def get(self) -> asyncio.AbstractEventLoop:
        """A loop that runs.

        Raises ``RuntimeError`` where there can be no more.
        """
        with self._lock:
            self._loops = [loop for loop in self._loops if loop.is_alive]
            free = next((loop for loop in self._loops if not loop.is_held), None)
            if free is None:
                if len(self._loops) >= MOST_LOOPS:
                    raise RuntimeError(f"synchronous calls hold up {MOST_LOOPS} loops already")
                free = OwnLoop()
                self._loops.append(free)
            return free.event_loop

    def end(self) -> None:
        """Ends them all."""
        for loop in self._loops:
            loop.end()
        until = time.monotonic() + PATIENCE
        for loop in self._loops:
            loop.join(max(0.0, until - time.monotonic()))


OWN_LOOPS = OwnLoops()
#: The tools that hold something, and so are closed at the end of the interpreter.
CLOSED_AT_EXIT: dict[int, Callable[[], object]] = {}


class Runner:
    """A function as the host runs it."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        is_async: bool,
        prepare: Callable[[_Job], tuple[list[Any], dict[str, Any]]],
    ) -> None:
        self.name = name
        self.is_async = is_async
        self._function = function
        self._prepare = prepare

    def begin(self, job: _Job) -> None:
        """Runs a job, without waiting for it. Called on a thread that runs nothing of a program."""
        if not self.is_async:
            THREADS.run(lambda: contextvars.Context().run(self._run, job))
            return
        self._go_on(job, None)

    def _go_on(self, job: _Job, begun: Any) -> None:
        """Runs a job on its loop; ``begun`` is what its function gave, if it was called."""
        event_loop = job.event_loop
        try:
            if event_loop is None:
                event_loop = OWN_LOOPS.get()
            event_loop.call_soon_threadsafe(self._start, job, begun, context=contextvars.Context())
        except RuntimeError as error:
            # A loop of the program was closed, or there can be no more of the package.
            give_up(begun)
            job.fail(f"no event loop runs the function: {error}")

    def _start(self, job: _Job, begun: Any) -> None:
        """Begins a job, on the thread of its loop."""
        CURRENT.set(job.context)
        if job.context.cancelled:
            give_up(begun)
            return
        event_loop = asyncio.get_running_loop()
        task = event_loop.create_task(self._run_async(job, begun), name=self.name)

        def cancel() -> None:
            with contextlib.suppress(RuntimeError):
                # A loop that is closed runs nothing any more.
                event_loop.call_soon_threadsafe(task.cancel)

        job.on_cancel(cancel)
        if job.context.cancelled:
            cancel()

    def _run(self, job: _Job) -> None:
        CURRENT.set(job.context)
        try:
            positional, named = self._prepare(job)
            given = self._function(*positional, **named)
            if is_awaited(given):
                self._go_on(job, given)
                return
            job.end(_result.observation(given))
        except BaseException as error:
            self._fail(job, error)

    async def _run_async(self, job: _Job, begun: Any) -> None:
        try:
            if begun is None:
                positional, named = self._prepare(job)
                begun = self._function(*positional, **named)
            given = await begun if is_awaited(begun) else begun
            job.end(_result.observation(given))
        except asyncio.CancelledError:
            job.fail("the tool was cancelled")
            raise
        except (Exception, SystemExit) as error:
            self._fail(job, error)
        except BaseException as error:
            self._fail(job, error)
            if job.event_loop is not None:
                raise
            # A loop of the package runs what belongs to others, too.

    def _fail(self, job: _Job, error: BaseException) -> None:
        if not job.context.cancelled:
            self.tell(error)
        try:
            job.end(_result.failure(error))
        except SystemExit:
            # So is told that the interpreter ends, which needs no words.
            job.fail("the interpreter ends")

    def tell(self, error: BaseException) -> None:
        """Tells the log of a failure."""
        tell("the tool %s failed", self.name, error=error)


def tell(message: str, *words: object, error: BaseException | bool = True) -> None:
    """Tells the log of an exception: of the one that is handled, or another one.

    What the log itself raises, such as by a filter of the program, changes nothing for a call.
    """
    import logging

    with contextlib.suppress(Exception):
        logging.getLogger("toolspan").error(message, *words, exc_info=error)


def is_awaited(value: Any) -> bool:
    """Whether a value is none yet: it is to be awaited."""
    return hasattr(type(value), "__await__")


def give_up(begun: Any) -> None:
    """Ends a coroutine that nobody will await."""
    close = getattr(begun, "close", None)
    if close is not None:
        close()


class DefinedRunner(Runner):
    """The executor of a tool that is a class."""

    def __init__(self, tool: ToolDefinition[Any, Any]) -> None:
        executor = tool.as_executable().executor
        call = type(executor).__call__

        def prepare(job: _Job) -> tuple[list[Any], dict[str, Any]]:
            return [tool.action_from_arguments(job.arguments), job.context.conversation], {}

        super().__init__(tool.name, tool, inspect.iscoroutinefunction(call), prepare)
        self._tool = tool
        self._executor = executor
        self._is_closed = False
        CLOSED_AT_EXIT[id(self)] = self._close

    def declare(
        self, arguments: dict[str, Any], answer: Callable[[list[str] | None], None]
    ) -> None:
        """Says what a call must have for itself, on a thread that may wait. Where that cannot be
        told, calls run one after the other.
        """

        def work() -> None:
            try:
                action = self._tool.action_from_arguments(arguments)
            except ValueError:
                # The call itself says so.
                answer(None)
                return
            try:
                keys = self._tool.declared_resources(action)
                if isinstance(keys, str):
                    raise TypeError("declared_resources gives several names, not one text")
                answer(None if keys is None else list(keys))
            except Exception as error:
                self.tell(error)
                answer(None)

        THREADS.run(work)

    def close(self, done: Callable[[], None]) -> None:
        """Closes the executor, on a thread that may wait."""

        def work() -> None:
            try:
                self._close()
            finally:
                done()

        THREADS.run(work)

    def _close(self) -> None:
        CLOSED_AT_EXIT.pop(id(self), None)
        if self._is_closed or self._executor is None:
            return
        self._is_closed = True
        try:
            self._executor.close()
        except Exception as error:
            self.tell(error)

    def interrupt(self) -> None:
        """Interrupts the executor, on a thread that may wait."""
        THREADS.run(self._interrupt)

    def _interrupt(self) -> None:
        try:
            if self._executor is not None:
                self._executor.interrupt()
        except Exception as error:
            self.tell(error)


def end() -> None:
    """Ends what runs, before the interpreter does."""
    OWN_LOOPS.end()
    for close in list(CLOSED_AT_EXIT.values()):
        close()
