"""Deadline: an attempt that takes too long is cancelled.

A write that timed out may have taken effect. Unless the tool is repeatable, its error says so and
is not retryable.

`DeadlineTimer` serves many deadlines with one timer, because an `asyncio.timeout` for each call
costs ten times as much. A call past its deadline is cancelled at the next tick, and again each
second if it goes on. Deadlines nearer than two ticks get a timer of their own.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from pegboard.concurrency.thread_pool import NOT_STARTED
from pegboard.core.result import ToolResult
from pegboard.core.stores.result_copy import without_traceback
from pegboard.errors import PegboardError, ToolTimeout
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.retry_rules import is_repeatable

TICK = 0.02
_AGAIN = 1.0


def deadline(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Always there: each attempt has its own limit, within that of the whole call."""
    spec, monotonic = target.spec, environment.monotonic
    timeout = environment.settings.attempt_timeout if spec.timeout is None else spec.timeout
    is_real = monotonic is time.monotonic
    repeatable = is_repeatable(spec)
    is_one_job = getattr(target.tool, "is_async", True) is False  # a sync function in a thread

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
        timer = DEADLINE_TIMERS.current()
        # the timer uses the clock of its loop, whatever clock the environment has
        shift = 0.0 if is_real else timer.now() - now
        entry = timer.add(when + shift, now + shift)
        call.attempt_deadline, call.cancelling = when, entry.before
        call.attempt_entry = entry
        try:
            return await following(call)
        except asyncio.CancelledError as cancelled:
            if entry.cancelled and entry.take_back():
                is_waiting = is_one_job and cancelled.args == (NOT_STARTED,)
                late = _make_late(spec.name, when - now, is_waiting=is_waiting)
                is_known = repeatable or late.nothing_done
                raise (late if is_known else _mark_outcome_unknown(late)) from None
            raise
        except ToolTimeout as error:  # of the tool itself
            if repeatable or error.nothing_done or not error.retryable:
                raise
            raise _mark_outcome_unknown(error) from error.__cause__
        finally:
            timer.remove(entry)
            if entry.cancelled:
                entry.take_back()  # the tool ended by itself, and its task goes on

    return handle


def _make_late(name: str, seconds: float, *, is_waiting: bool) -> ToolTimeout:
    if is_waiting:
        return ToolTimeout(
            f"'{name}' was not started: no thread was free within {seconds:.3g} s.",
            nothing_done=True,
        )
    return ToolTimeout(f"'{name}' did not end within {seconds:.3g} s.")


def _mark_outcome_unknown(error: ToolTimeout) -> PegboardError:
    """A copy of the error, because a tool may raise one instance for all its callers."""
    copy = without_traceback(error)
    copy.args = (f"{error} Whether it took effect is unknown: look before you call it again.",)
    copy.retryable = False
    return copy


class TaskDeadline(Struct, eq=False, kw_only=True):
    """One deadline of one task.

    Attributes:
        before: `Task.cancelling()` when the deadline was added.
        cancelled: How often the deadline has cancelled the task.
        timer: A timer of its own, when the next tick would be too late.
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
        """Withdraw its cancellations; whether nothing else has cancelled the task."""
        for _ in range(self.cancelled):
            self.task.uncancel()
        self.cancelled = 0
        return self.task.cancelling() <= self.before


class DeadlineTimer:
    """The deadlines of one event loop; not thread-safe.

    Attributes:
        now: The clock.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.loop = loop
        self.now = monotonic
        self._entries: set[TaskDeadline] = set()
        self._armed = False

    def add(self, when: float, now: float) -> TaskDeadline:
        """Cancel the current task at `when` (its clock's seconds) unless `remove` comes first."""
        task = asyncio.current_task(self.loop)
        if task is None:
            raise RuntimeError("a deadline needs a task")
        entry = TaskDeadline(task=task, when=when, before=task.cancelling())
        if when - now < 2 * TICK:
            entry.timer = self.loop.call_later(max(0.0, when - now), self._fire_early, entry)
            return entry
        self._entries.add(entry)
        if not self._armed:
            self._armed = True
            self.loop.call_later(TICK, self._tick)
        return entry

    def remove(self, entry: TaskDeadline) -> None:
        """Remove the deadline of a call that has ended."""
        if entry.timer is not None:
            entry.timer.cancel()
        self._entries.discard(entry)

    def _fire_early(self, entry: TaskDeadline) -> None:
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


class DeadlineTimers:
    """The deadline timer of the running event loop."""

    def __init__(self) -> None:
        self._last: DeadlineTimer | None = None

    def current(self) -> DeadlineTimer:
        """The running loop's timer; cached, as a registry is mostly used from one loop."""
        loop = asyncio.get_running_loop()
        last = self._last
        if last is None or last.loop is not loop:
            known: DeadlineTimer | None = getattr(loop, "_pegboard_deadline_timer", None)
            if known is None:
                known = DeadlineTimer(loop)
                _remember(loop, known)
            self._last = last = known
        return last


def _remember(loop: asyncio.AbstractEventLoop, timer: DeadlineTimer) -> None:
    try:
        loop._pegboard_deadline_timer = timer  # type: ignore[attr-defined]  # noqa: SLF001 - lives and dies with its loop
    except AttributeError:
        return  # a loop without a __dict__ gets a new timer when loops alternate


DEADLINE_TIMERS = DeadlineTimers()
