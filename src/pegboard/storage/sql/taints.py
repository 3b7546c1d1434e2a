"""Taints of runs and conversations in a database."""

from sqlalchemy import delete, exists, select

from pegboard.core.ports.taint_store import Taint
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import CONVERSATIONS, RUNS
from pegboard.storage.tables import TAINTS as TABLE


class SqlTaints:
    """The `TaintStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def find(self, subject: str) -> Taint | None:
        return await self._database.read(lambda transaction: _of(transaction, subject))

    async def add(self, subject: str, taint: Taint) -> Taint:
        values = {"subject": clean_text(subject), "at": taint.at, "body": dump(taint)}

        def add(transaction: Transaction) -> Taint:
            statement = transaction.insert(TABLE).values(values)
            transaction.execute(statement.on_conflict_do_nothing(index_elements=["subject"]))
            return _of(transaction, subject) or taint

        return await self._database.run(add)

    async def forget(self, *, before: float) -> int:
        statement = delete(TABLE).where(
            TABLE.c.at < before,
            ~exists().where(RUNS.c.id == TABLE.c.subject),
            ~exists().where(CONVERSATIONS.c.id == TABLE.c.subject),
        )
        return await self._database.run(lambda transaction: transaction.execute(statement))


def _of(transaction: Transaction, subject: str) -> Taint | None:
    row = transaction.first(select(TABLE.c.body).where(TABLE.c.subject == clean_text(subject)))
    return None if row is None else load(row.body, Taint)
