"""Deadlines for many calls with one timer: an `asyncio.timeout` each costs ten times as much.

A call that is past its deadline is cancelled at the next tick, and again each second if it goes on.
Deadlines nearer than two ticks get a timer of their own.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

TICK = 0.02
_AGAIN = 1.0


class Entry(Struct, eq=False, kw_only=True):
    """One deadline of one task.

    Attributes:
        before: How many requests to cancel the task there were already.
        cancelled: How often the task was cancelled by it.
        timer: Its own, when the next tick would be too late.
    """

    task: "asyncio.Task[Any]"
    when: float
    before: int
    cancelled: int = 0
    timer: asyncio.TimerHandle | None = None

    def fire(self) -> None:
        """Cancel the task."""
        self.cancelled += 1
        self.task.cancel()

    def take_back(self) -> bool:
        """Withdraw what it asked for; whether nobody else asked to cancel the task meanwhile."""
        for _ in range(self.cancelled):
            self.task.uncancel()
        self.cancelled = 0
        return self.task.cancelling() <= self.before


class DeadlineTimer:
    """The deadlines of one event loop; not for use from other threads.

    Attributes:
        now: The clock it goes by.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.loop = loop
        self.now = monotonic
        self._entries: set[Entry] = set()
        self._armed = False

    def add(self, when: float, now: float) -> Entry:
        """Cancel the current task at `when` (its clock's seconds) unless `remove` comes first."""
        task = asyncio.current_task(self.loop)
        if task is None:
            raise RuntimeError("a deadline needs a task")
        entry = Entry(task=task, when=when, before=task.cancelling())
        if when - now < 2 * TICK:
            entry.timer = self.loop.call_later(max(0.0, when - now), self._fire_early, entry)
            return entry
        self._entries.add(entry)
        if not self._armed:
            self._armed = True
            self.loop.call_later(TICK, self._tick)
        return entry

    def remove(self, entry: Entry) -> None:
        """The call ended."""
        if entry.timer is not None:
            entry.timer.cancel()
        self._entries.discard(entry)

    def _fire_early(self, entry: Entry) -> None:
        entry.fire()
        entry.timer = self.loop.call_later(_AGAIN, self._fire_early, entry)

    def _tick(self) -> None:
        now = self.now()
        for entry in self._entries:
            if entry.when <= now:
                entry.when = now + _AGAIN
                entry.fire()
        if self._entries:
            self.loop.call_later(TICK, self._tick)
        else:
            self._armed = False


class Tickers:
    """The ticker of the running loop."""

    def __init__(self) -> None:
        self._last: DeadlineTimer | None = None

    def current(self) -> DeadlineTimer:
        """The running loop's; a registry is mostly used from one loop."""
        loop = asyncio.get_running_loop()
        last = self._last
        if last is None or last.loop is not loop:
            known: DeadlineTimer | None = getattr(loop, "_pegboard_ticker", None)
            if known is None:
                known = DeadlineTimer(loop)
                _remember(loop, known)
            self._last = last = known
        return last


def _remember(loop: asyncio.AbstractEventLoop, ticker: DeadlineTimer) -> None:
    try:
        loop._pegboard_ticker = ticker  # type: ignore[attr-defined]  # noqa: SLF001 - lives and dies with its loop
    except AttributeError:
        return  # a loop without a __dict__ gets a new ticker when loops alternate


TICKERS = Tickers()
