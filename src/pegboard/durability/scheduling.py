"""When a stored run is executed next: wake-ups, retries after errors, and crash loops."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from msgspec import Struct

from pegboard.concurrency.log_once import log_once
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL, Signal
from pegboard.core.ports.run_store import RunQuery, RunStore, StoredRun, StoredStep
from pegboard.errors import Unavailable

_LOG = logging.getLogger("pegboard.durability")
_PAGE = 500
_MAX_DELAY = 30.0
_MAX_OUTAGE_DELAY = 5.0
_MAX_DOUBLINGS = 30  # beyond it every delay is the longest, and no float holds the number
_CRASHES = "~deaths"
"""The step under which crashes are counted; no node has this id."""


def is_due(run: StoredRun, *, now: float) -> bool:
    """Whether a run has something to do now."""
    is_suspended = run.state in {NodeState.WAITING, NodeState.PAUSED}
    return not is_suspended or (run.wake_at is not None and run.wake_at <= now)


def is_settled(run: StoredRun, *, now: float) -> bool:
    """Whether a run has ended, or waits for something other than time."""
    if run.finished_at is not None:
        return True
    if run.lease_owner or run.result is None or is_due(run, now=now):
        return False
    kinds = {item.kind for item in run.result.pending}
    return kinds != {"time"}


async def list_run_ids(store: RunStore, state: NodeState) -> list[str]:
    """The ids of the runs in a state, oldest first."""
    ids: list[str] = []
    cursor = ""
    while True:
        page = await store.runs(RunQuery(state=state, limit=_PAGE, cursor=cursor))
        ids += [run.start.run_id for run in page.runs]
        if not (cursor := page.next_cursor):
            return ids[::-1]


class RetryState(Struct, frozen=True, kw_only=True):
    """Why a run is waiting for its next attempt.

    Attributes:
        error: The error of its last attempt.
        attempts: How many attempts in a row have failed.
    """

    error: Exception
    attempts: int = 1


class Wakeups:
    """Timers, one a run: each resumes its run at a time, or after a failed attempt.

    Args:
        wake: Called with the id of a run whose time has come.
        first: Seconds until the first retry. The delay doubles with each further one, up to half a
            minute, or five seconds when the store was unavailable.

    Attributes:
        retries: The runs that wait for a retry, by id.
    """

    def __init__(
        self, wake: Callable[[str], Coroutine[Any, Any, None]], *, first: float = 1.0
    ) -> None:
        self.retries: dict[str, RetryState] = {}
        self._wake = wake
        self._first = first
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._waking: set[asyncio.Task[None]] = set()

    def set(self, run_id: str, *, after: float) -> None:
        """Wake a run after so many seconds; this replaces its earlier timer."""
        self.drop(run_id)
        loop = asyncio.get_running_loop()
        self._timers[run_id] = loop.call_later(max(0.0, after), self._start_waking, run_id)

    def drop(self, run_id: str) -> None:
        """Cancel the timer of a run."""
        if (timer := self._timers.pop(run_id, None)) is not None:
            timer.cancel()

    def retry(self, run_id: str, error: Exception) -> None:
        """Wake a run later because an attempt at it failed."""
        before = self.retries.get(run_id)
        attempts = 1 if before is None else before.attempts + 1
        self.retries[run_id] = RetryState(error=error, attempts=attempts)
        longest = _MAX_OUTAGE_DELAY if isinstance(error, Unavailable) else _MAX_DELAY
        doubled = self._first * 2.0 ** min(attempts - 1, _MAX_DOUBLINGS)
        self.set(run_id, after=min(longest, doubled))

    def error(self, run_id: str) -> Exception | None:
        """The error of the last attempt at a run that waits for a retry; None for other runs."""
        retry = self.retries.get(run_id)
        return None if retry is None else retry.error

    def settle(self, run_id: str) -> None:
        """Forget the failed attempts of a run: one succeeded, or another worker executes it."""
        self.retries.pop(run_id, None)

    async def close(self) -> None:
        """Cancel all timers."""
        waking = list(self._waking)
        for task in waking:
            task.cancel()
        if waking:
            await asyncio.wait(waking)
        for timer in self._timers.values():  # including those that were set meanwhile
            timer.cancel()
        self._timers.clear()

    def _start_waking(self, run_id: str) -> None:
        self._timers.pop(run_id, None)
        task = asyncio.get_running_loop().create_task(self._wake(run_id))
        self._waking.add(task)
        task.add_done_callback(partial(self._finish_waking, run_id))

    def _finish_waking(self, run_id: str, task: "asyncio.Task[None]") -> None:
        self._waking.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):  # unexpected; the run is retried nevertheless
            log_once(_LOG, "durability: a run could not be resumed", error)
            self.retry(run_id, error)


class CrashCounter:
    """Pauses a run whose process has crashed too often while executing it.

    A worker that crashes does not release its lease; the next worker counts that, in the store. The
    count starts again once the run has recorded a step more. A paused run does no harm, loses
    nothing if something else caused the crashes, and can be resumed.

    Args:
        store: Where the runs are.
        owner: The owner of this process's leases.
        most: Crashes in a row, without a step between them, after which a run is paused.
        now: Unix seconds.
    """

    def __init__(self, store: RunStore, owner: str, *, most: int, now: Callable[[], float]) -> None:
        self._store = store
        self._owner = owner
        self._most = most
        self._now = now
        self._here: set[str] = set()

    def enter(self, run_id: str) -> None:
        """This process executes a run: until `leave`, an unreleased lease is no crash."""
        self._here.add(run_id)

    def is_entered(self, run_id: str) -> bool:
        """Whether this process executes the run, or waits to try again."""
        return run_id in self._here

    def leave(self, run_id: str) -> None:
        """This process no longer executes a run."""
        self._here.discard(run_id)

    async def check(self, run: StoredRun) -> None:
        """Count a crash if the previous worker of a leased run did not release it.

        Raises:
            Unavailable: The count could not be stored.
        """
        run_id = run.start.run_id
        if run_id in self._here or not run.was_left:
            return
        self._here.add(run_id)
        steps = {step.path: step for step in await self._store.steps(run_id)}
        stored = steps.pop(_CRASHES, None)
        known: dict[str, Any] = {} if stored is None else stored.value
        done = sum(step.finished_at is not None for step in steps.values())
        crashes = 1 + (known.get("deaths", 0) if known.get("done") == done else 0)
        now, value = self._now(), {"deaths": crashes, "done": done}
        step = StoredStep(path=_CRASHES, started_at=now, finished_at=now, value=value)
        await self._store.record(run_id, step, self._owner)
        if crashes >= self._most:
            pause = Signal(id=f"{_CRASHES}:{done}:{crashes}", topic=CONTROL, message="pause")
            await self._store.signal(run_id, pause)
            _LOG.error(
                "durability: run %s is paused: %s processes in a row crashed while executing it; "
                "`pegboard runs resume` continues it",
                run_id,
                crashes,
            )
