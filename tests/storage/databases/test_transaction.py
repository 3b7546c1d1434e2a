"""Statements that are compiled once, and parts of a transaction that are taken back."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import bindparam, select, text
from tests.storage.made import NOON

from pegboard.storage.databases.sqlite_file import open_writer
from pegboard.storage.databases.transaction import PreparedInsert, Transaction
from pegboard.storage.tables import PLANS


@pytest.fixture
def transaction(tmp_path: Path) -> Iterator[Transaction]:
    opened = open_writer(tmp_path / "pegboard.db", NOON)
    opened.driver.execute("BEGIN")
    yield opened
    opened.close()


def test_a_prepared_statement_has_the_placeholders_of_its_database() -> None:
    one = PreparedInsert(
        lambda _: select(PLANS.c.body).where(PLANS.c.id == bindparam("wanted")), "wanted"
    )

    assert one.text("sqlite").endswith("WHERE plans.id = ?")
    assert one.text("postgresql").endswith("WHERE plans.id = %s::VARCHAR")
    assert one.text("sqlite") is one.text("sqlite")


def test_a_prepared_statement_says_in_which_order_it_takes_its_values() -> None:
    wrong = PreparedInsert(lambda insert: insert(PLANS), "body", "id")

    with pytest.raises(AssertionError, match=r"takes \['id', 'body'\]"):
        wrong.text("sqlite")


def fail(transaction: Transaction, statement: str) -> None:
    with transaction.savepoint():
        transaction.driver.execute(statement)
        raise LookupError


def test_a_part_that_raises_is_taken_back_alone(transaction: Transaction) -> None:
    transaction.execute(text("INSERT INTO plans VALUES ('a', '{}', 1)"))
    with pytest.raises(LookupError):
        fail(transaction, "INSERT INTO plans VALUES ('b', '{}', 1)")
    with transaction.savepoint():
        transaction.execute(text("INSERT INTO plans VALUES ('c', '{}', 1)"))

    assert [row.id for row in transaction.all(select(PLANS.c.id))] == ["a", "c"]


def test_a_part_of_a_transaction_that_is_lost_raises_what_lost_it(transaction: Transaction) -> None:
    with pytest.raises(LookupError):
        fail(transaction, "ROLLBACK")


def test_what_fails_raises_the_drivers_own_error(transaction: Transaction) -> None:
    for run in (transaction.all, transaction.first, transaction.execute):
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            run(text("SELECT * FROM nowhere"))
