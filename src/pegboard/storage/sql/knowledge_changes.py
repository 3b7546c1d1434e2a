"""How often anything was deleted from the index, so that each process drops it, too."""

from sqlalchemy import select

from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.knowledge_tables import KNOWLEDGE_CHANGES as TABLE


def count_change(transaction: Transaction) -> None:
    """Count a deletion, before it is made."""
    statement = transaction.insert(TABLE).values(id=1, number=1)
    transaction.execute(
        statement.on_conflict_do_update(index_elements=["id"], set_={"number": TABLE.c.number + 1})
    )


def read_changes(transaction: Transaction) -> int:
    """How many there have been."""
    row = transaction.first(select(TABLE.c.number))
    return 0 if row is None else row.number
