"""Watches files for changes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
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


class FileStates:
    """The states of a set of files, to find which of them have changed.

    Args:
        files: Lists the files; it may read folders.
    """

    def __init__(self, files: Callable[[], Iterable[Path]]) -> None:
        self._files = files
        self._seen: dict[Path, tuple[int, int] | None] = {}
        self._seen = self._read()

    def find_changes(self) -> list[str]:
        """The names of the files that are new, changed or gone since the last call."""
        before, self._seen = self._seen, self._read()
        changed = [path for path, state in self._seen.items() if before.get(path) != state]
        gone = before.keys() - self._seen.keys()
        return sorted({path.name for path in (*changed, *gone)})

    def add_new(self, read_at_ns: int) -> None:
        """Take files that are only now listed, and forget those that no longer are.

        Args:
            read_at_ns: When the files were read, at the earliest, in nanoseconds since the epoch.
                A file that was written after that counts as changed.
        """
        now = self._read()
        for path, state in now.items():
            if path not in self._seen and state is not None and state[0] > read_at_ns:
                now[path] = None
        self._seen = {path: self._seen.get(path, state) for path, state in now.items()}

    def _read(self) -> dict[Path, tuple[int, int] | None]:
        try:
            paths = {path for path in self._files() if path.name != "__pycache__"}
        except OSError:  # a folder is gone, or cannot be read
            return self._seen
        return {path: _state_of(path) for path in paths}


def _state_of(path: Path) -> tuple[int, int] | None:
    """The file's modification time and size; None while it is missing."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
