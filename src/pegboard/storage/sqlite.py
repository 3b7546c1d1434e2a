"""The storage of a board with a data directory: one SQLite file, one process that writes."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.core.ports.store import History
from pegboard.errors import ConfigError
from pegboard.storage.connection import FILE, Reader, open_reader, open_writer
from pegboard.storage.history import SqliteHistory
from pegboard.storage.lock import DirectoryLock
from pegboard.storage.outcomes import SqliteOutcomes, sweep_outcomes
from pegboard.storage.port import Storage
from pegboard.storage.recorder import SqliteRecorder
from pegboard.storage.results import SqliteResults, sweep_results
from pegboard.storage.rows import Redact, unchanged
from pegboard.storage.writer import Writer

_SYSTEM_CLOCK = SystemClock()
DAY = 86_400.0


def open_storage(
    data_dir: Path | str,
    *,
    clock: Clock = _SYSTEM_CLOCK,
    store_arguments: bool = False,
    redact: Redact | None = None,
    outcome_ttl: float = DAY,
    max_queued: int = 10_000,
) -> Storage:
    """Open `DATA/pegboard.db` for this process alone; the directory is made if it is missing.

    It blocks for some milliseconds, once, at start.

    ```python
    async with open_storage("data") as storage:
        page = await storage.history.calls(HistoryQuery(unfinished=True))
    ```

    Args:
        data_dir: Where everything is kept; on a local disk.
        clock: What time it is.
        store_arguments: Whether history keeps the arguments of calls and not only their digest.
        redact: Takes secrets out of arguments and messages before they are stored.
        outcome_ttl: Seconds for which an idempotency key is remembered.
        max_queued: Records that may wait to be written; further ones are dropped and counted.

    Raises:
        ConfigError: Another process has it, or the file is damaged, newer or not ours.
    """
    directory = Path(data_dir)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The data directory {directory} cannot be made: {error.strerror}. "
            "Name another with --data DIR."
        ) from error
    lock = DirectoryLock(directory)
    try:
        connection = open_writer(directory / FILE, clock.time())
        try:
            reader = Reader(open_reader(directory / FILE))
        except ConfigError:
            connection.close()
            raise
    except ConfigError:
        lock.release()
        raise
    sweep = _Sweep(clock=clock, outcome_ttl=outcome_ttl)
    writer = Writer(connection, clock=clock, sweep=sweep, max_rows=max_queued)
    return _SqliteStorage(
        lock=lock,
        writer=writer,
        reader=reader,
        sweep=sweep,
        recorder=SqliteRecorder(writer, keep_arguments=store_arguments, redact=redact or unchanged),
        results=SqliteResults(writer, reader, clock=clock),
        outcomes=SqliteOutcomes(writer, clock=clock, ttl=outcome_ttl),
    )


@asynccontextmanager
async def open_history(data_dir: Path | str) -> AsyncGenerator[History]:
    """Only read what was recorded, also while another process writes it.

    Raises:
        ConfigError: Nothing has been recorded there, or the file is damaged, newer or not ours.
    """
    reader = Reader(open_reader(Path(data_dir) / FILE))
    try:
        yield SqliteHistory(reader)
    finally:
        reader.close()


class _Sweep:
    """Deletes what has expired, inside somebody else's transaction."""

    def __init__(self, *, clock: Clock, outcome_ttl: float) -> None:
        self._clock = clock
        self._outcome_ttl = outcome_ttl

    def __call__(self, connection: sqlite3.Connection) -> None:
        now = self._clock.time()
        sweep_results(connection, now)
        sweep_outcomes(connection, now - self._outcome_ttl)


class _SqliteStorage:
    """A `Storage` over one writer thread and one reading connection."""

    def __init__(
        self,
        *,
        lock: DirectoryLock,
        writer: Writer,
        reader: Reader,
        sweep: _Sweep,
        recorder: SqliteRecorder,
        results: SqliteResults,
        outcomes: SqliteOutcomes,
    ) -> None:
        self._lock = lock
        self._writer = writer
        self._reader = reader
        self._sweep = sweep
        self.listener = recorder
        self.journal = recorder
        self.history = SqliteHistory(reader, flush=self.flush)
        self.results = results
        self.outcomes = outcomes

    @property
    def dropped(self) -> int:
        return self._writer.dropped

    async def flush(self) -> None:
        await self._writer.run(_nothing)

    async def sweep(self) -> None:
        await self._writer.run(self._sweep)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _close(self) -> None:
        # The last connection to close folds the write-ahead log into the file, if it may write.
        self._reader.close()
        self._writer.close()
        self._lock.release()


def _nothing(connection: sqlite3.Connection) -> None:
    """An operation whose commit takes the waiting rows along."""
