"""Columns as this package writes them."""

from typing import Any

import pytest
from sqlalchemy import MetaData, Table
from sqlalchemy.dialects import postgresql, sqlite

from pegboard.storage.columns import (
    make_key,
    make_number,
    make_optional_seconds,
    make_seconds,
    make_text,
)


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        pytest.param(postgresql.dialect(), ["BIGINT", "TEXT", "DOUBLE PRECISION"], id="PostgreSQL"),
        pytest.param(sqlite.dialect(), ["INTEGER", "TEXT", "REAL"], id="SQLite"),
    ],
)
def test_numbers_and_times_have_eight_bytes(dialect: Any, types: list[str]) -> None:
    columns = (make_number("number"), make_text("text"), make_seconds("at"))

    assert [column.type.compile(dialect) for column in columns] == types


def test_only_an_optional_column_may_be_empty() -> None:
    columns = (make_key("id"), make_text("text"), make_seconds("at"), make_optional_seconds("end"))
    table = Table("things", MetaData(), *columns)

    assert [column.nullable for column in table.columns] == [False, False, False, True]
    assert table.primary_key.columns.keys() == ["id"]
