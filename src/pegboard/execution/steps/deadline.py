"""Deadline: an attempt that takes too long is ended, and says so."""

import asyncio

from pegboard.core.result import ToolResult
from pegboard.errors import ToolTimeout
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target
from pegboard.execution.ticker import TICKERS


def deadline(target: Target, kit: Kit, following: Handler) -> Handler:
    """Always there: each attempt has its own time, within the time of the whole call."""
    spec, monotonic = target.spec, kit.monotonic
    timeout = kit.settings.attempt_timeout if spec.timeout is None else spec.timeout

    async def handle(call: Run) -> ToolResult:
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
        entry = ticker.add(when, now)
        try:
            return await following(call)
        except asyncio.CancelledError:
            if entry.expired and _is_ours(entry.task, entry.cancelled):
                raise ToolTimeout(f"'{spec.name}' did not end within {when - now:.3g} s.") from None
            raise
        finally:
            ticker.remove(entry)

    return handle


def _is_ours(task: "asyncio.Task[object]", cancelled: int) -> bool:
    """Whether nobody but the ticker asked for the cancellation."""
    left = 0
    for _ in range(cancelled):
        left = task.uncancel()
    return left == 0
