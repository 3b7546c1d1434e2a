"""What the stores ask of a database: a transaction for whoever awaits it, and rows in passing."""

from typing import Protocol

from pegboard.storage.databases.transaction import Operation, Value


class Database(Protocol):
    """A database that is open. Usable from any number of threads and event loops at once."""

    @property
    def dropped(self) -> int:
        """Rows that nobody awaited and that were lost."""
        ...

    async def run(self, operation: Operation[Value], *, atomic: bool = False) -> Value:
        """Run it, whole or not at all, and return after the commit.

        A caller that is cancelled does not stop it.

        Args:
            operation: What to do.
            atomic: It is one statement, or harmless by halves: nothing has to be taken back.

        Raises:
            Unavailable: It was not stored; or, without `nothing_done`, nobody knows.
        """
        ...

    async def read(self, query: Operation[Value]) -> Value:
        """Run what only reads.

        Raises:
            Unavailable: The database cannot be read.
        """
        ...

    def post(self, row: Operation[None], *, keep: bool = False) -> None:
        """Write a row soon, in the order in which rows came.

        It is dropped when too many wait, unless it has to be kept.
        """
        ...

    async def flush(self) -> None:
        """Return once the rows that came before are written or dropped.

        Raises:
            Unavailable: They could not be written yet.
        """
        ...

    def close(self) -> None:
        """Write what waits, then let go; blocks, and is safe to call twice."""
        ...
