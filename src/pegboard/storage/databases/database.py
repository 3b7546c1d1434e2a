"""The interface of a database: awaited transactions, and rows written in the background."""

from typing import Protocol

from pegboard.storage.databases.transaction import Operation, Value


class StorageDatabase(Protocol):
    """An open database, usable from any number of threads and event loops."""

    @property
    def dropped(self) -> int:
        """Background rows that were lost."""
        ...

    @property
    def problem(self) -> str:
        """Why a write failed in the last minute; empty when none has."""
        ...

    async def run(self, operation: Operation[Value], *, atomic: bool = False) -> Value:
        """Run an operation atomically and return after the commit.

        Cancelling the caller does not stop it.

        Args:
            operation: What to do.
            atomic: Whether it is one statement or idempotent, so that it needs no savepoint.

        Raises:
            Unavailable: It was not stored; without `nothing_done` the outcome is unknown.
        """
        ...

    async def read(self, query: Operation[Value]) -> Value:
        """Run a read-only query.

        Raises:
            Unavailable: The database cannot be read.
        """
        ...

    def post(self, row: Operation[None], *, keep: bool = False) -> None:
        """Write a row soon, in order; dropped when the queue is full, unless `keep`."""
        ...

    async def flush(self) -> None:
        """Return once the rows that came before are written or dropped.

        Raises:
            Unavailable: The rows could not be written yet.
        """
        ...

    def close(self) -> None:
        """Write waiting rows and close; blocks, and is safe to call twice."""
        ...
