"""The changes of the dependency graph in a database."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select, update

from pegboard.core.ports.catalogue_stores import DependencyChange
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import DEPENDENCY_CHANGES as TABLE


class SqlDependencies:
    """The `DependencyStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep it there."""
        self._database = database

    async def append(self, change: DependencyChange) -> bool:
        values = {"version": change.version, "body": dump(change)}

        def append(transaction: Transaction) -> bool:
            last = transaction.first(select(func.max(TABLE.c.version)))
            if change.version != ((last[0] if last else None) or 0) + 1:
                return False
            statement = transaction.insert(TABLE).values(values)
            return bool(
                transaction.execute(statement.on_conflict_do_nothing(index_elements=["version"]))
            )

        return await self._database.run(append)

    async def changes(self, after: int = 0) -> Sequence[DependencyChange]:
        wanted = select(TABLE.c.body).where(TABLE.c.version > after).order_by(TABLE.c.version)
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [load(row.body, DependencyChange) for row in rows]

    async def fold(self, snapshot: DependencyChange) -> bool:
        version = snapshot.version

        def fold(transaction: Transaction) -> bool:
            if not transaction.execute(
                update(TABLE).where(TABLE.c.version == version).values(body=dump(snapshot))
            ):
                return False
            transaction.execute(delete(TABLE).where(TABLE.c.version < version))
            return True

        return await self._database.run(fold)
