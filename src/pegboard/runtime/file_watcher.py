"""Noticing that a file was changed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from pegboard.concurrency.log_and_continue import log_and_continue

_LOG = logging.getLogger("pegboard.board")


def watch_file(
    path: Path, changed: Callable[[], Awaitable[None]], *, every: float
) -> Coroutine[Any, Any, None]:
    """Call whenever the file is another than before, first than now, until it is cancelled.

    Args:
        path: The file; it may be gone for a while.
        changed: Called, and waited for.
        every: Seconds between two looks.
    """
    return _follow(path, changed, every, _state_of(path))


async def _follow(
    path: Path,
    changed: Callable[[], Awaitable[None]],
    every: float,
    seen: tuple[int, int] | None,
) -> None:
    while True:
        await asyncio.sleep(every)
        now = _state_of(path)
        if now != seen:
            seen = now
            with log_and_continue(_LOG, f"{path.name} could not be followed"):
                await changed()


def _state_of(path: Path) -> tuple[int, int] | None:
    """What tells one state of the file from another; None while it is gone."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
