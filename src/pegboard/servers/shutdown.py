"""Shutting down a server's process, even if calls ignore their cancellation."""

import asyncio
import os
import sys
from collections.abc import Collection
from typing import Any

from pegboard.errors import Unavailable

CANCEL_TIMEOUT = 3.0
"""Seconds that cancelled tasks have to finish."""
_ELSEWHERE = 1.0
"""`Retry-After` of requests that were not started, in seconds."""


def not_started_error() -> Unavailable:
    """The error for a request that arrives while the server shuts down."""
    return Unavailable(
        "The server is shutting down; the request was not started.",
        retry_after=_ELSEWHERE,
        nothing_done=True,
    )


def cut_off_error() -> Unavailable:
    """The error for a request that is still running at the end of the grace period."""
    return Unavailable(
        "The server shut down before the request finished; it may or may not have taken effect.",
        permanent=True,
    )


async def cancel_and_wait(tasks: "Collection[asyncio.Task[Any] | None]") -> None:
    """Cancel tasks and wait for them: calls must be recorded before the board closes."""
    left = [task for task in tasks if task is not None and not task.done()]
    for task in left:
        if not task.cancelling():  # a second cancellation would interrupt its cleanup
            task.cancel()
    if left:
        await asyncio.wait(left, timeout=CANCEL_TIMEOUT)


async def exit_process() -> None:
    """Exit even if a tool ignores its cancellation; called once everything is closed."""
    await cancel_and_wait(asyncio.all_tasks() - {asyncio.current_task()})
    if len(asyncio.all_tasks()) > 1:
        sys.stderr.write("Pegboard exits although some calls could not be cancelled.\n")
        sys.stderr.flush()
        os._exit(0)  # the board is closed, and the loop would wait for these calls
