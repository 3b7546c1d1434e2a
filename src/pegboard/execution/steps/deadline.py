"""Deadline: an attempt that takes too long is ended, and says so.

A write that ran out of time may have taken effect. Where doing it twice is not as good as once its
error says so, and does not call itself retryable: nobody is invited to pay again.
"""

import asyncio
import time

from pegboard.core.result import ToolResult
from pegboard.core.result_copy import without_traceback
from pegboard.errors import PegboardError, ToolTimeout
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.deadline_timer import TICKERS
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.retry_rules import is_repeatable


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
