"""Pairs of numbers as rows of a query; the contract tests of the index run them on PostgreSQL."""

import sqlite3

from sqlalchemy import Column, Integer, MetaData, Table, create_engine, insert, select
from sqlalchemy.dialects import sqlite

from pegboard.storage.sql.knowledge.wanted_pairs import bind_pairs, select_pairs

CELLS = Table(
    "cells",
    MetaData(),
    Column("row", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
)


def test_the_rows_of_pairs_are_found_by_an_index() -> None:
    values = bind_pairs([(1, 2), (3, 4), (9, 9)])
    pairs = select_pairs("sqlite")
    is_wanted = (CELLS.c.row == pairs.first) & (CELLS.c.number == pairs.second)
    statement = select(CELLS).join_from(pairs.rows, CELLS, is_wanted)
    engine = create_engine("sqlite://")
    with engine.begin() as core:
        CELLS.create(core)
        core.execute(insert(CELLS), [{"row": at, "number": at + 1} for at in range(5)])

        found = sorted(tuple(row) for row in core.execute(statement, values))
        options = {"literal_binds": True}
        given = statement.params(values)
        text = str(given.compile(dialect=sqlite.dialect(), compile_kwargs=options))
        driver = core.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        plan = [row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {text}")]
    engine.dispose()

    assert found == [(1, 2), (3, 4)]
    assert any(step.startswith("SEARCH cells USING") for step in plan)
