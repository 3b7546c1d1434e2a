"""A bounded pool of daemon threads for sync tools.

A thread cannot be killed. One whose call was abandoned is replaced, up to a cap; beyond the cap new
calls are refused until some come back. The threads are daemons, so process exit never waits.

Each owner has a share of the pool: half of the threads, and half of those that may hang in
abandoned calls. Further calls wait in a queue of their owner, so that the calls of others go on.
"""

import contextlib
import contextvars
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pegboard.errors import Overloaded

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future


NOT_STARTED = "the call was not started"
"""The argument of a `CancelledError` of a call that had no thread yet."""


class _Job:
    __slots__ = ("abandoned", "call", "context", "future", "has_begun", "loop", "owner", "running")

    def __init__(self, call: Callable[[], Any], loop: "AbstractEventLoop", owner: str) -> None:
        self.call = call
        self.owner = owner
        self.context = contextvars.copy_context()
        self.loop = loop
        self.future: Future[Any] = loop.create_future()
        self.running = self.has_begun = False
        self.abandoned = False


class ThreadPool:
    """Runs sync calls for async callers.

    Attributes:
        size: Threads that may work at once.
        most_abandoned: Abandoned threads that are replaced before new calls are refused.
        share: Threads that one owner may hold at once.
    """

    def __init__(self, *, size: int = 0, most_abandoned: int = 64) -> None:
        self.size = size or min(32, 2 * (os.cpu_count() or 1) + 16)
        self.most_abandoned = most_abandoned
        self.share = max(1, self.size // 2)
        self.renew()

    def renew(self) -> None:
        """Start without threads: a forked process has the counts, but not the threads."""
        self._queue: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._pending = 0
        self._abandoned = 0
        # by owner, and only of owners that have something here
        self._held: dict[str, int] = {}
        self._hanging: dict[str, int] = {}
        self._waiting: dict[str, OrderedDict[_Job, None]] = {}

    @property
    def waiting(self) -> int:
        """The number of calls that wait because their owner uses its whole share."""
        with self._lock:
            return sum(len(jobs) for jobs in self._waiting.values())

    @property
    def abandoned(self) -> int:
        """The number of threads that still run an abandoned call."""
        return self._abandoned

    async def run(self, call: Callable[[], Any], *, owner: str) -> Any:
        """Run a blocking call in a thread, with the context variables of this task.

        Cancelling abandons the thread; the call goes on, and its result is dropped. A call that
        still waited for a thread never runs: its `CancelledError` has the argument `NOT_STARTED`.

        Args:
            call: The blocking function.
            owner: The owner of the share, the name of a tool or source; empty has no share.

        Raises:
            Overloaded: Too many threads hang in abandoned calls.
        """
        from asyncio import CancelledError, get_running_loop

        job = _Job(call, get_running_loop(), owner)
        self._admit(job)
        try:
            return await job.future
        except CancelledError as error:
            if not self._abandon(job):
                error.args = (NOT_STARTED,)
            raise

    def _admit(self, job: _Job) -> None:
        owner = job.owner
        with self._lock:
            if self._abandoned:
                self._refuse_hanging(owner)
            held = self._held.get(owner, 0)
            if held >= self.share:
                self._waiting.setdefault(owner, OrderedDict())[job] = None
                return
            self._pending += 1
            try:
                self._grow()
            except RuntimeError as error:
                if self._threads == 0:
                    self._pending -= 1
                    message = "The machine starts no more threads."
                    raise Overloaded(message, retry_after=1.0) from error
            if owner:
                self._held[owner] = held + 1
        self._queue.put(job)

    def _refuse_hanging(self, owner: str) -> None:
        whose, hanging = "", self._abandoned
        if hanging < self.most_abandoned:
            whose, hanging = f" of '{owner}'", self._hanging.get(owner, 0)
            if hanging < max(1, self.most_abandoned // 2):
                return
        raise Overloaded(
            f"{hanging} threads hang in calls{whose} that were given up; "
            "no more are started until some return.",
            retry_after=1.0,
        )

    def _grow(self) -> None:
        """One more thread, when a call would otherwise wait and the cap allows it."""
        if self._pending > self._idle and self._threads < self.size + self._abandoned:
            threading.Thread(target=self._work, name="pegboard-tool", daemon=True).start()
            self._threads += 1
            self._idle += 1

    def _abandon(self, job: _Job) -> bool:
        """Give a job up; whether it has begun to run."""
        owner = job.owner
        with self._lock:
            job.abandoned = True
            if job.running:
                self._abandoned += 1
                if owner:
                    self._hanging[owner] = self._hanging.get(owner, 0) + 1
                    self._release(owner)
                with contextlib.suppress(RuntimeError):  # no more threads: the others go on
                    self._grow()
            elif owner in self._waiting:
                jobs = self._waiting[owner]
                jobs.pop(job, None)
                if not jobs:
                    del self._waiting[owner]
        return job.has_begun

    def _release(self, owner: str) -> None:
        """One call less of this owner: the next that waits takes its place, behind the others."""
        jobs = self._waiting.get(owner)
        if jobs:
            self._queue.put(jobs.popitem(last=False)[0])
            self._pending += 1
            if not jobs:
                del self._waiting[owner]
        else:
            _count_down(self._held, owner)

    def _work(self) -> None:
        while True:
            job = self._queue.get()
            if not self._start(job):
                del job
                continue
            error: BaseException | None = None
            value: Any = None
            try:
                value = job.context.run(job.call)
            except BaseException as raised:  # noqa: BLE001 - handed to the waiting task as it is
                error = raised
            if self._finish(job):
                return
            _settle(job, value, error)
            del job, value, error

    def _start(self, job: _Job) -> bool:
        with self._lock:
            self._pending -= 1
            if job.abandoned:
                if job.owner:
                    self._release(job.owner)
                return False
            self._idle -= 1
            job.running = job.has_begun = True
            return True

    def _finish(self, job: _Job) -> bool:
        """Whether the thread is one too many, because it was replaced meanwhile."""
        with self._lock:
            job.running = False
            self._abandoned -= job.abandoned
            if job.owner:
                if job.abandoned:
                    _count_down(self._hanging, job.owner)
                else:
                    self._release(job.owner)
            if self._threads > self.size + self._abandoned:
                self._threads -= 1
                return True
            self._idle += 1
            return False


def _count_down(counts: dict[str, int], owner: str) -> None:
    left = counts[owner] - 1
    if left:
        counts[owner] = left
    else:
        del counts[owner]


def _settle(job: _Job, value: Any, error: BaseException | None) -> None:
    def deliver() -> None:
        if job.future.done():
            return
        if error is None:
            job.future.set_result(value)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            job.future.set_exception(error)
        else:
            # a future refuses StopIteration; SystemExit and the like would end the event loop, and
            # CancelledError would pass for a cancellation of the caller
            failed = RuntimeError(f"the tool raised {type(error).__name__}")
            failed.__cause__ = error
            job.future.set_exception(failed)

    try:
        job.loop.call_soon_threadsafe(deliver)
    except RuntimeError:
        # the loop is closed: no task waits any more
        return


POOL = ThreadPool()
"""The process's pool: what blocks is bounded by the machine, not by the number of registries."""
os.register_at_fork(after_in_child=POOL.renew)
