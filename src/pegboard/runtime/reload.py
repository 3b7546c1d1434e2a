"""Reloads the board on request, or whenever its file or the files of its tools change."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.errors import AuditUnavailable, ConfigError, PegboardError
from pegboard.runtime.argument_checks import load_configured_board
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.file_watcher import FileStates, watch_file
from pegboard.runtime.settings import Settings

_LOG = logging.getLogger("pegboard.board")


class BoardReloader:
    """Reads the board file again; a mistake in it leaves the board as it was.

    Args:
        settings: The settings that name the file.
        reopen: Applies a loaded board, given what changed; raises a `PegboardError` if it is
            invalid.
        refused: Called with the reason when a reload is refused.

    Attributes:
        problem: Why the last reload was refused; empty when the board matches its file.
    """

    def __init__(
        self,
        settings: Settings,
        reopen: Callable[[LoadedBoard, str], Awaitable[None]],
        *,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.problem = ""
        self._settings = settings
        self._reopen = reopen
        self._refused = refused
        self._turn = asyncio.Lock()
        self._reloads = 0
        self._last_began_ns = 0
        self._watchers: list[asyncio.Task[None]] = []

    async def reload(self, *, cause: str = "") -> None:
        """Reload the board file.

        Args:
            cause: The files that have changed, for the report; empty for the board file.

        Raises:
            ConfigError: What is wrong, with its line.
            AuditUnavailable: The audit trail is required and cannot be written; the board is
                unchanged.
        """
        async with self._turn:
            began_ns = time.time_ns()
            try:
                loaded = load_configured_board(self._settings)
                _check_says_something(loaded)
                await self._reopen(loaded, cause)
            except PegboardError as error:
                is_new, self.problem = error.message != self.problem, error.message
                if is_new:
                    self._refused(error.message)
                raise
            self.problem = ""
            self._reloads += 1
            self._last_began_ns = began_ns

    def watch(self, every: float, *, files: Callable[[], Iterable[Path]] | None = None) -> None:
        """Reload whenever the board file changes, until `close`.

        Args:
            every: Seconds between two checks.
            files: Lists further files to watch.
        """
        if self._watchers or self._settings.board is None:
            return
        following = watch_file(self._settings.board, partial(self._reread, every), every=every)
        self._watchers.append(asyncio.create_task(following, name="follow the board file"))
        if files is not None:
            following = self._follow_files(FileStates(files), every)
            self._watchers.append(asyncio.create_task(following, name="follow files of tools"))

    async def close(self) -> None:
        """Stop watching the files; safe to call twice."""
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            watcher.cancel()
        if watchers:
            await asyncio.wait(watchers)

    async def _follow_files(self, states: FileStates, every: float) -> None:
        reloads = self._reloads
        while True:
            await asyncio.sleep(every)
            async with self._turn:  # a reload lists new files before it has ended
                if reloads != self._reloads:
                    reloads = self._reloads
                    await asyncio.to_thread(states.add_new, self._last_began_ns)
                changed = await asyncio.to_thread(states.find_changes)
            if changed:
                with log_and_continue(_LOG, "board: reloading changed files failed"):
                    await self._reread(every, cause=", ".join(changed))

    async def _reread(self, pause: float, *, cause: str = "") -> None:
        """Reload the file; retry while the audit trail cannot be written."""
        while True:
            try:
                await self.reload(cause=cause)
            except AuditUnavailable:
                await asyncio.sleep(pause)
            except PegboardError:  # kept in `problem`, and shown by every door that tells of it
                return
            else:
                return


def _check_says_something(loaded: LoadedBoard) -> None:
    """Refuse a file without content: editors empty a file before they write it.

    Raises:
        ConfigError: It is empty; the message says how to close every source.
    """
    if loaded.located is not None and loaded.located.value is None and loaded.path is not None:
        raise ConfigError(
            f"{loaded.path.name}:1: the file is empty (it may be in the middle of being "
            "written), so the board is unchanged; write 'sources: []' to close every source"
        )
