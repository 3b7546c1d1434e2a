"""The source: one open folder."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard_csv.config import CsvConfig
from pegboard_csv.tools import tool_of


class CsvSource:
    """The CSV files of one folder."""

    def __init__(self, name: str, config: CsvConfig, *, folder: Path) -> None:
        self.name = name
        self._config = config
        self._folder = folder
        self._watcher: asyncio.Task[None] | None = None

    async def tools(self) -> Sequence[Tool]:
        """One for each file, in the order of their names."""
        if not self._folder.is_dir():
            raise SourceUnavailable(f"There is no folder '{self._config.folder}': create it.")
        return await asyncio.to_thread(self._list)

    async def health(self) -> Health:
        """Whether the folder is there."""
        if self._folder.is_dir():
            return HEALTHY
        return Health(status=HealthStatus.UNHEALTHY, reason="The folder is gone: create it again.")

    async def close(self) -> None:
        """Stop watching."""
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])

    def on_change(self, notify: Callable[[], None]) -> None:
        """Look every two seconds whether files came, went or changed."""
        self._watcher = asyncio.create_task(self._watch(notify))

    def _list(self) -> list[Tool]:
        rows = self._config.max_rows
        return [tool_of(self.name, file, max_rows=rows) for file in sorted(self._files())]

    def _files(self) -> dict[Path, int]:
        return {file: file.stat().st_mtime_ns for file in self._folder.glob("*.csv")}

    async def _watch(self, notify: Callable[[], None]) -> None:
        seen = self._files()
        while True:
            await asyncio.sleep(2)
            now = self._files()
            if now != seen:
                seen = now
                notify()


async def open_csv(name: str, config: CsvConfig, services: Services) -> CsvSource:
    """Open an instance; relative paths start from the board's folder."""
    return CsvSource(name, config, folder=services.base_dir / config.folder)
