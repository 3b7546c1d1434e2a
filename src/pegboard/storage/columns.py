"""What every table is made of: the metadata, and columns as this package writes them."""

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    ColumnElement,
    Double,
    Integer,
    MetaData,
    Text,
    TextClause,
    literal_column,
)
from sqlalchemy.types import TypeEngine

METADATA = MetaData()

# SQLite's REAL has 8 bytes and PostgreSQL's has 4.
SECONDS: "TypeEngine[float]" = REAL[float]().with_variant(Double(), "postgresql")
NUMBER = BigInteger().with_variant(Integer(), "sqlite")


def make_text(name: str) -> "Column[str]":
    """Text that is always there."""
    return Column(name, Text, nullable=False)


def make_key(name: str) -> "Column[str]":
    """Text of the primary key."""
    return Column(name, Text, primary_key=True)


def make_seconds(name: str) -> "Column[float]":
    """A time in Unix seconds."""
    return Column(name, SECONDS, nullable=False)


def make_optional_seconds(name: str) -> "Column[float | None]":
    """A time in Unix seconds, or none."""
    return Column(name, SECONDS, nullable=True)


def make_number(name: str) -> "Column[int]":
    """A number that the database gives each row."""
    return Column(name, NUMBER, primary_key=True)


def index_rows_where(condition: TextClause) -> dict[str, Any]:
    """Of an index that has such rows alone."""
    return {"sqlite_where": condition, "postgresql_where": condition}


def is_in_index(column: "Column[str]", absent: str) -> "ColumnElement[bool]":
    """The condition of a partial index, as a literal: so the planner sees that it applies.

    Args:
        column: The first column of the index.
        absent: The value of the rows that it leaves out.
    """
    return column != literal_column(f"'{absent}'")
