"""On which thread does a function run that is a tool, and how does it end?

One that is asynchronous runs on the loop that waits for its call, and where none waits, on a loop
that has a thread of its own; every other one runs on a thread that may wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import queue
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from . import _result
from ._toolspan import CallContext, _Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tools import ToolDefinition

#: Threads that run functions at the same time, at most.
MOST_THREADS = 1_024
#: Seconds that a thread waits for its next function.
IDLE = 10.0
#: Seconds that the end of the interpreter waits for the loop's own thread.
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
            job()
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
    """A loop for functions that no loop waits for. Its thread is started by the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """The loop, which runs."""
        with self._lock:
            if self._loop is None:
                begun = threading.Event()
                self._thread = threading.Thread(
                    target=lambda: asyncio.run(self._run(begun)), name="toolspan-loop", daemon=True
                )
                self._thread.start()
                begun.wait()
            assert self._loop is not None
            return self._loop

    async def _run(self, begun: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        begun.set()
        await self._ended.wait()

    def end(self) -> None:
        """Cancels what runs on it and ends it."""
        if self._loop is None or self._ended is None or self._thread is None:
            return
        try:
            self._loop.call_soon_threadsafe(self._ended.set)
        except RuntimeError:
            return
        self._thread.join(PATIENCE)


OWN_LOOP = OwnLoop()
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
        event_loop = job.event_loop
        if event_loop is None:
            event_loop = OWN_LOOP.get()
        try:
            event_loop.call_soon_threadsafe(self._start, job, context=contextvars.Context())
        except RuntimeError:
            job.fail("the event loop that waited for the call was closed")

    def _start(self, job: _Job) -> None:
        """Begins a job, on the thread of its loop."""
        CURRENT.set(job.context)
        if job.context.cancelled:
            return
        event_loop = asyncio.get_running_loop()
        task = event_loop.create_task(self._run_async(job), name=self.name)

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
            made = _result.observation(self._function(*positional, **named))
        except BaseException as error:
            made = self._failed(job, error)
        job.end(made)

    async def _run_async(self, job: _Job) -> None:
        try:
            positional, named = self._prepare(job)
            running: Coroutine[Any, Any, Any] = self._function(*positional, **named)
            made = _result.observation(await running)
        except asyncio.CancelledError:
            job.fail("the tool was cancelled")
            raise
        except (Exception, SystemExit) as error:
            made = self._failed(job, error)
        except BaseException as error:
            job.end(self._failed(job, error))
            raise
        job.end(made)

    def _failed(self, job: _Job, error: BaseException) -> Any:
        if not job.context.cancelled:
            self.tell(error)
        return _result.failure(error)

    def tell(self, error: BaseException) -> None:
        """Tells the log of a failure."""
        import logging

        logging.getLogger("toolspan").error("the tool %s failed", self.name, exc_info=error)


class DefinedRunner(Runner):
    """The executor of a tool that is a class."""

    def __init__(self, tool: ToolDefinition[Any, Any]) -> None:
        executor = tool.as_executable().executor
        call = type(executor).__call__

        def prepare(job: _Job) -> tuple[list[Any], dict[str, Any]]:
            return [tool.action_from_arguments(job.arguments), job.context.conversation], {}

        super().__init__(tool.name, tool, inspect.iscoroutinefunction(call), prepare)
        #: What each call must have for itself; ``None``: they run one after the other.
        self.keys: list[str] | None = None
        self._executor = executor
        self._is_closed = False
        CLOSED_AT_EXIT[id(self)] = self._close

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
    OWN_LOOP.end()
    for close in list(CLOSED_AT_EXIT.values()):
        close()
