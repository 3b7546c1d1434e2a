"""A SQLite file that one process uses: one thread writes, one connection reads."""

from pathlib import Path

from pegboard.core.ports.clock import Clock
from pegboard.errors import ConfigError
from pegboard.storage.databases.directory_lock import DirectoryLock
from pegboard.storage.databases.sqlite_file import FILE, open_reader, open_writer
from pegboard.storage.databases.sqlite_reader import SqliteReader
from pegboard.storage.databases.sqlite_writer import SqliteWriter
from pegboard.storage.databases.transaction import Operation, Rows, Transaction, Value


class SqliteDatabase:
    """`DATA/pegboard.db`, open for this process alone."""

    def __init__(self, directory: Path, *, clock: Clock, sweep: Rows, max_rows: int) -> None:
        """Open the file; a missing directory is created.

        Raises:
            ConfigError: Another process has it, or the file is damaged, newer or of another
                program.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"The data directory {directory} cannot be created: {error.strerror}. Use "
                "another with --data DIR."
            ) from error
        self._lock = DirectoryLock(directory)
        try:
            writing = open_writer(directory / FILE, clock.time())
            try:
                self._reader = SqliteReader(open_reader(directory / FILE))
            except ConfigError:
                writing.close()
                raise
        except ConfigError:
            self._lock.release()
            raise
        self._writer = SqliteWriter(writing, clock=clock, sweep=sweep, max_rows=max_rows)
        self.post = self._writer.post

    @property
    def dropped(self) -> int:
        """Rows that were lost."""
        return self._writer.dropped

    @property
    def problem(self) -> str:
        """Why a write failed in the last minute; empty when none has."""
        return str(self._writer.problem)

    async def run(self, operation: Operation[Value], *, atomic: bool = False) -> Value:
        """Run it in the next commit and return after that."""
        return await self._writer.run(operation, atomic=atomic)

    async def read(self, query: Operation[Value]) -> Value:
        """Run a read-only query."""
        return await self._reader.read(query)

    async def flush(self) -> None:
        """Commit the rows that wait."""
        await self._writer.run(_nothing, atomic=True)

    def close(self) -> None:
        """Write waiting rows and close."""
        # The last connection to close folds the write-ahead log into the file, if it may write.
        self._reader.close()
        self._writer.close()
        self._lock.release()


def _nothing(transaction: Transaction) -> None:
    """An empty operation whose commit includes the waiting rows."""
