"""Starts something that must not be left half started."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def start_or_undo(
    beginning: Coroutine[Any, Any, T], *, undo: Callable[[T], Coroutine[Any, Any, object]]
) -> T:
    """Await a short start; a caller that is cancelled meanwhile waits for it and undoes it.

    If asyncio is cancelled while it starts a process, it kills that process only: its children
    would live on.

    Args:
        beginning: The start; takes only a moment.
        undo: Ends what was started; takes only a moment.
    """
    task = asyncio.create_task(beginning)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await _wait_until_done(task)
        if not task.cancelled() and task.exception() is None:
            await _wait_until_done(asyncio.create_task(undo(task.result())))
        raise


async def _wait_until_done(task: asyncio.Task[Any]) -> None:
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):  # the caller knows it already
            await asyncio.wait([task])
