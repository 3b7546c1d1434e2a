"""How often anything was deleted from the index, so that each process drops it, too."""

from sqlalchemy import delete, select

from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.knowledge_tables import KNOWLEDGE_CHANGES as TABLE
from pegboard.storage.knowledge_tables import PIECE_SEGMENTS

_SELECT_CHANGES = select(TABLE.c.number)


def count_change(transaction: Transaction) -> None:
    """Count a deletion, before it is made."""
    statement = transaction.insert(TABLE).values(id=1, number=1)
    transaction.execute(
        statement.on_conflict_do_update(index_elements=["id"], set_={"number": TABLE.c.number + 1})
    )


def read_changes(transaction: Transaction) -> int:
    """How many there have been."""
    row = transaction.first(_SELECT_CHANGES)
    return 0 if row is None else row.number


def drop_segments(transaction: Transaction, base: str, entry: int) -> None:
    """Delete the segments that an entry may be in.

    After `count_change`, which waits for those that store a segment at the same time.
    """
    table = PIECE_SEGMENTS.c
    wanted = (table.base == base, table.first <= entry, table.last >= entry)
    transaction.execute(delete(PIECE_SEGMENTS).where(*wanted))
