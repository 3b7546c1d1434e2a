"""Pairs of numbers as rows of a query, so that each is looked up by an index.

SQLite looks for `(a, b) IN ((1, 2), ...)` in every row, and each number of pairs would be a
statement of its own. The pairs are one parameter here, on both databases.
"""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import BigInteger, ColumnElement, FromClause, Text, bindparam, cast, column, func
from sqlalchemy.dialects.postgresql import JSON

_NAME = "wanted_pairs"


class WantedPairs(Struct, frozen=True):
    """Rows with two numbers each."""

    rows: FromClause
    first: "ColumnElement[int]"
    second: "ColumnElement[int]"


def bind_pairs(pairs: Sequence[tuple[int, int]]) -> dict[str, str]:
    """The values of pairs for a statement with `select_pairs`."""
    return {_NAME: json.dumps(pairs)}


def select_pairs(database: str) -> WantedPairs:
    """The rows of pairs that are given when a statement runs, for `sqlite` or `postgresql`."""
    given = bindparam(_NAME, type_=Text)
    if database == "sqlite":
        rows = func.json_each(given).table_valued("value", name="wanted")
        numbers: list[Any] = [func.json_extract(rows.c.value, f"$[{at}]") for at in (0, 1)]
    else:
        elements = func.json_array_elements(cast(given, JSON))
        rows = elements.table_valued(column("value", JSON), name="wanted")
        numbers = [cast(rows.c.value[at].as_string(), BigInteger) for at in (0, 1)]
    return WantedPairs(rows, *numbers)
