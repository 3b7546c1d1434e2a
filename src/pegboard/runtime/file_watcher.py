"""Watches a file for changes."""

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
    """Call `changed` whenever the file has changed, until cancelled.

    Args:
        path: The file; it may be missing for a while.
        changed: Awaited after each change.
        every: Seconds between two checks.
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
            with log_and_continue(_LOG, f"board file {path.name}: reloading failed"):
                await changed()


def _state_of(path: Path) -> tuple[int, int] | None:
    """The file's modification time and size; None while it is missing."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
