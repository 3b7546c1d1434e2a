"""Reloads the board file on request, or whenever it changes."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from pegboard.errors import AuditUnavailable, ConfigError, PegboardError
from pegboard.runtime.argument_checks import load_configured_board
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.file_watcher import watch_file
from pegboard.runtime.settings import Settings


class BoardReloader:
    """Reads the board file again; a mistake in it leaves the board as it was.

    Args:
        settings: The settings that name the file.
        reopen: Applies a loaded board; raises a `PegboardError` if it is invalid.

    Attributes:
        problem: Why the last reload was refused; empty when the board matches its file.
    """

    def __init__(
        self, settings: Settings, reopen: Callable[[LoadedBoard], Awaitable[None]]
    ) -> None:
        self.problem = ""
        self._settings = settings
        self._reopen = reopen
        self._turn = asyncio.Lock()
        self._watcher: asyncio.Task[None] | None = None

    async def reload(self) -> None:
        """Reload the board file.

        Raises:
            ConfigError: What is wrong, with its line.
            AuditUnavailable: The audit trail is required and cannot be written; the board is
                unchanged.
        """
        async with self._turn:
            try:
                loaded = load_configured_board(self._settings)
                _check_says_something(loaded)
                await self._reopen(loaded)
            except PegboardError as error:
                self.problem = error.message
                raise
            self.problem = ""

    def watch(self, every: float) -> None:
        """Reload whenever the file changes, until `close`; `every` is in seconds."""
        if self._watcher is None and self._settings.board is not None:
            reread = partial(self._reread, every)
            following = watch_file(self._settings.board, reread, every=every)
            self._watcher = asyncio.create_task(following, name="follow the board file")

    async def close(self) -> None:
        """Stop watching the file; safe to call twice."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.cancel()
            await asyncio.wait([watcher])

    async def _reread(self, pause: float) -> None:
        """Reload the file; retry while the audit trail cannot be written."""
        while True:
            try:
                await self.reload()
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
