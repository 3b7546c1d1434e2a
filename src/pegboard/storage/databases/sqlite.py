"""A SQLite file: one thread writes, one connection reads, no other process does either."""

from pathlib import Path

from pegboard.core.ports.clock import Clock
from pegboard.errors import ConfigError
from pegboard.storage.databases.directory_lock import DirectoryLock
from pegboard.storage.databases.sqlite_file import FILE, open_reader, open_writer
from pegboard.storage.databases.sqlite_reader import Reader
from pegboard.storage.databases.sqlite_writer import Writer
from pegboard.storage.databases.transaction import Operation, Rows, Transaction, Value


class SqliteDatabase:
    """`DATA/pegboard.db`, open for this process alone."""

    def __init__(self, directory: Path, *, clock: Clock, sweep: Rows, max_rows: int) -> None:
        """Open it; the directory is made if it is missing.

        Raises:
            ConfigError: Another process has it, or the file is damaged, newer or not ours.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"The data directory {directory} cannot be made: {error.strerror}. "
                "Name another with --data DIR."
            ) from error
        self._lock = DirectoryLock(directory)
        try:
            writing = open_writer(directory / FILE, clock.time())
            try:
                self._reader = Reader(open_reader(directory / FILE))
            except ConfigError:
                writing.close()
                raise
        except ConfigError:
            self._lock.release()
            raise
        self._writer = Writer(writing, clock=clock, sweep=sweep, max_rows=max_rows)
        self.post = self._writer.post

    @property
    def dropped(self) -> int:
        """Rows that were lost."""
        return self._writer.dropped

    async def run(self, operation: Operation[Value], *, atomic: bool = False) -> Value:
        """Run it in the next commit and return after that."""
        return await self._writer.run(operation, atomic=atomic)

    async def read(self, query: Operation[Value]) -> Value:
        """Run what only reads."""
        return await self._reader.read(query)

    async def flush(self) -> None:
        """Commit the rows that wait."""
        await self._writer.run(_nothing, atomic=True)

    def close(self) -> None:
        """Write what waits, then let go."""
        # The last connection to close folds the write-ahead log into the file, if it may write.
        self._reader.close()
        self._writer.close()
        self._lock.release()


def _nothing(transaction: Transaction) -> None:
    """An operation whose commit takes the waiting rows along."""
