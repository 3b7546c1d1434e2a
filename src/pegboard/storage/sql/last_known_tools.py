"""The last known specs of tools, in a database."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, select

from pegboard.core.ports.catalogue_stores import LastKnownTool
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import SEEN_TOOLS as TABLE


class SqlSeenTools:
    """The `SeenToolStore` of a database."""

    def __init__(self, database: StorageDatabase, *, most: int) -> None:
        """Keep them there, at most so many."""
        self._database = database
        self._most = most

    async def put(self, tools: Sequence[LastKnownTool]) -> None:
        # in one order, so that servers that do the same do not lock each other
        rows = sorted(map(_row, tools), key=lambda row: row["id"])

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(TABLE)
            given = {name: statement.excluded[name] for name in rows[0] if name != "id"}
            transaction.execute(
                statement.on_conflict_do_update(index_elements=["id"], set_=given), rows
            )
            number = transaction.first(select(func.count()).select_from(TABLE))
            if number is not None and number[0] > self._most:
                transaction.execute(_oldest(number[0] - self._most))

        if rows:
            await self._database.run(put)

    async def tools(self) -> Sequence[LastKnownTool]:
        rows = await self._database.read(lambda transaction: transaction.all(select(TABLE)))
        found = [
            LastKnownTool(
                id=row.id,
                name=row.name,
                digest=row.digest,
                definition=load(row.definition, dict[str, Any]),
                seen_at=row.seen_at,
            )
            for row in rows
        ]
        return sorted(found, key=lambda tool: (tool.seen_at, tool.id))


def _row(tool: LastKnownTool) -> dict[str, Any]:
    return {
        "id": clean_text(tool.id),
        "name": clean_text(tool.name),
        "digest": tool.digest,
        "definition": dump(tool.definition),
        "seen_at": tool.seen_at,
    }


def _oldest(number: int) -> Any:
    oldest = select(TABLE.c.id).order_by(TABLE.c.seen_at, TABLE.c.id).limit(number)
    return delete(TABLE).where(TABLE.c.id.in_(oldest))
