"""Beginning something that must not be left half begun."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def start_or_undo(
    beginning: Coroutine[Any, Any, T], *, undo: Callable[[T], Coroutine[Any, Any, object]]
) -> T:
    """What a short beginning gives; whoever is cancelled meanwhile waits for it and undoes it.

    A process that asyncio is cancelled over while it starts one is killed alone: what it has
    started by then lives on, and nobody knows of it.

    Args:
        beginning: Takes no longer than this machine needs.
        undo: Ends what has begun, as nobody is there for it any more; takes no longer either.
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
        with contextlib.suppress(asyncio.CancelledError):  # whoever waits knows it already
            await asyncio.wait([task])
