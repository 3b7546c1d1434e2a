"""Ending a server's process, whatever its calls think of it."""

import asyncio
import os
import sys
from collections.abc import Collection
from typing import Any

from pegboard.errors import Unavailable

CANCEL_TIMEOUT = 3.0
"""Seconds that cancelled work has to tidy up."""
_ELSEWHERE = 1.0
"""Seconds after which another server may be asked, or this one once it has started again."""


def not_started_error() -> Unavailable:
    """What a caller is told whose request came to a server that ends."""
    return Unavailable(
        "The server is ending; nothing of the request was begun.",
        retry_after=_ELSEWHERE,
        nothing_done=True,
    )


def cut_off_error() -> Unavailable:
    """What a caller is told whose request a server was at work on when its time was over."""
    return Unavailable(
        "The server ended before the request did; nobody knows what of it took effect.",
        permanent=True,
    )


async def cancel_and_wait(tasks: "Collection[asyncio.Task[Any] | None]") -> None:
    """End what still runs; the board must not close before its calls are recorded."""
    left = [task for task in tasks if task is not None and not task.done()]
    for task in left:
        if not task.cancelling():  # twice would keep it from tidying up
            task.cancel()
    if left:
        await asyncio.wait(left, timeout=CANCEL_TIMEOUT)


async def exit_process() -> None:
    """Let no tool that ignores its cancellation keep the process; called when all is closed."""
    await cancel_and_wait(asyncio.all_tasks() - {asyncio.current_task()})
    if len(asyncio.all_tasks()) > 1:
        sys.stderr.write("Pegboard ends although calls still run that cannot be ended.\n")
        sys.stderr.flush()
        os._exit(0)  # the board is closed; the loop would wait for them for ever
