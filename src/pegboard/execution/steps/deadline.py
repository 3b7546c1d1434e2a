"""Deadline: an attempt that takes too long is ended, and says so.

A write that ran out of time may have taken effect. Where doing it twice is not as good as once its
error says so, and does not call itself retryable: nobody is invited to pay again.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from pegboard.core.result import ToolResult
from pegboard.core.result_copy import without_traceback
from pegboard.errors import PegboardError, ToolTimeout
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.retry_rules import is_repeatable

TICK = 0.02
_AGAIN = 1.0


def deadline(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """Always there: each attempt has its own time, within the time of the whole call."""
    spec, monotonic = target.spec, kit.monotonic
    timeout = kit.settings.attempt_timeout if spec.timeout is None else spec.timeout
    is_real = monotonic is time.monotonic
    repeatable = is_repeatable(spec)

    async def handle(call: CallState) -> ToolResult:
        now = monotonic()
        when = call.deadline
        if timeout and (when is None or now + timeout < when):
            when = now + timeout
        if when is None:
            return await following(call)
        if when <= now:
            raise ToolTimeout(
                f"'{spec.name}' was not started: its time was up before.", nothing_done=True
            )
        ticker = TICKERS.current()
        # the ticker goes by its loop's clock, whatever clock the kit brings
        shift = 0.0 if is_real else ticker.now() - now
        entry = ticker.add(when + shift, now + shift)
        call.until, call.cancelling = when, entry.before
        try:
            return await following(call)
        except asyncio.CancelledError:
            if entry.cancelled and entry.take_back():
                late = ToolTimeout(f"'{spec.name}' did not end within {when - now:.3g} s.")
                raise (late if repeatable else _left_open(late)) from None
            raise
        except ToolTimeout as error:  # of the tool itself
            if repeatable or error.nothing_done or not error.retryable:
                raise
            raise _left_open(error) from error.__cause__
        finally:
            ticker.remove(entry)
            if entry.cancelled:
                entry.take_back()  # the tool went on and ended by itself: its task lives on

    return handle


def _left_open(error: ToolTimeout) -> PegboardError:
    """A copy, as a tool may raise one instance for all its callers."""
    copy = without_traceback(error)
    copy.args = (f"{error} Whether it took effect is unknown: look before you call it again.",)
    copy.retryable = False
    return copy


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
