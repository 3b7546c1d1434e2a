"""When runs are to be taken up again: each at one time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from msgspec import Struct

from pegboard.concurrency.log_once import log_once
from pegboard.errors import Unavailable

_LOG = logging.getLogger("pegboard.durability")
_LONGEST = 30.0
_LONGEST_OUTAGE = 5.0
_MOST_DOUBLINGS = 30  # beyond it every wait is the longest, and no float holds the number


class RetryState(Struct, frozen=True, kw_only=True):
    """Why a run is not being played, although it could go on.

    Attributes:
        error: In which its last play ended.
        plays: How many plays in a row ended in one.
    """

    error: Exception
    plays: int = 1


class Wakeups:
    """Takes up each run when its time has come.

    Args:
        ring: Called with the id of a run whose time has come.
        first: Seconds after the first setback of a run; twice as long after each further one, but
            never longer than half a minute, and five seconds when the store did not answer.

    Attributes:
        setbacks: Of runs that are tried again after a while, by id.
    """

    def __init__(
        self, ring: Callable[[str], Coroutine[Any, Any, None]], *, first: float = 1.0
    ) -> None:
        self.setbacks: dict[str, RetryState] = {}
        self._ring = ring
        self._first = first
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ringing: set[asyncio.Task[None]] = set()

    def set(self, run_id: str, *, after: float) -> None:
        """Take the run up after so many seconds; an earlier alarm of it is gone."""
        self.drop(run_id)
        loop = asyncio.get_running_loop()
        self._timers[run_id] = loop.call_later(max(0.0, after), self._rung, run_id)

    def drop(self, run_id: str) -> None:
        """It is being taken up, or never will be here."""
        if (timer := self._timers.pop(run_id, None)) is not None:
            timer.cancel()

    def set_back(self, run_id: str, error: Exception) -> None:
        """A play of it ended in an error: try again, later each time."""
        before = self.setbacks.get(run_id)
        plays = 1 if before is None else before.plays + 1
        self.setbacks[run_id] = RetryState(error=error, plays=plays)
        longest = _LONGEST_OUTAGE if isinstance(error, Unavailable) else _LONGEST
        doubled = self._first * 2.0 ** min(plays - 1, _MOST_DOUBLINGS)
        self.set(run_id, after=min(longest, doubled))

    def error(self, run_id: str) -> Exception | None:
        """In which the last play of a run ended that is tried again after a while."""
        setback = self.setbacks.get(run_id)
        return None if setback is None else setback.error

    def settle(self, run_id: str) -> None:
        """A play of it came to an end, or somebody else plays it."""
        self.setbacks.pop(run_id, None)

    async def close(self) -> None:
        """Nothing rings any more."""
        ringing = list(self._ringing)
        for task in ringing:
            task.cancel()
        if ringing:
            await asyncio.wait(ringing)
        for timer in self._timers.values():  # those too that were set meanwhile
            timer.cancel()
        self._timers.clear()

    def _rung(self, run_id: str) -> None:
        self._timers.pop(run_id, None)
        task = asyncio.get_running_loop().create_task(self._ring(run_id))
        self._ringing.add(task)
        task.add_done_callback(partial(self._taken_up, run_id))

    def _taken_up(self, run_id: str, task: "asyncio.Task[None]") -> None:
        self._ringing.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):  # nobody foresaw it, and the run is not forgotten
            log_once(_LOG, "a run could not be taken up", error)
            self.set_back(run_id, error)
