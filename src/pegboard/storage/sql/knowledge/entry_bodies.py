"""Reads rows with large bodies: a hundred megabytes of them, when a knowledge base is loaded."""

from collections.abc import Sequence

from sqlalchemy import Table, select

from pegboard.storage.databases.transaction import Transaction


def read_bodies(
    transaction: Transaction, table: Table, numbers: Sequence[int]
) -> list[tuple[int, bytes]]:
    """The number and the body of these rows, as far as they are there.

    PostgreSQL sends them as they are: as text they would take twice the bytes and ten times the
    work.
    """
    if transaction.database == "postgresql":
        with transaction.driver.cursor(binary=True) as cursor:
            text = f'SELECT number, body FROM "{table.name}" WHERE number = ANY(%s)'  # noqa: S608 - our own name
            cursor.execute(text, [list(numbers)])
            return cursor.fetchall()
    statement = select(table.c.number, table.c.body).where(table.c.number.in_(numbers))
    return [(row.number, row.body) for row in transaction.all(statement)]
