"""Reads the schema of a MySQL or MariaDB database, with the dependencies of its views.

Both servers store a view as they resolved it: with every name in backticks, each table behind its
schema, and each star expanded. So the names in that text are what the view reads.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.sources.sql.catalog import Column, ForeignKey, Key, Table

_RELATIONS = """
SELECT TABLE_NAME, TABLE_TYPE, TABLE_ROWS, TABLE_COMMENT FROM information_schema.TABLES
WHERE TABLE_SCHEMA = %s AND TABLE_TYPE <> 'SEQUENCE' ORDER BY TABLE_NAME
"""
_COLUMNS = """
SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_COMMENT
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s ORDER BY TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = """
SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME,
       REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = %s AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL)
ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
"""
_VIEWS = """
SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = %s
"""
_SCHEMAS = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"

_STRING = r"'(?:[^'\\]|''|\\.)*'"
_NAME = r"`(?:[^`]|``)+`"
_CHAIN = re.compile(rf"{_STRING}|(?P<chain>{_NAME}(?:\.{_NAME})*)(?P<call>\()?")

Fetch = Callable[[str, list[Any] | None], Sequence[tuple[Any, ...]]]
Rows = Mapping[str, Sequence[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """What the text of one view names.

    Attributes:
        reads: Tables and views.
        names: All names, among them those of columns.
        opaque: Whether it calls stored functions, or its text may not be read.
    """

    reads: frozenset[Key]
    names: frozenset[str]
    opaque: bool


def read_tables(fetch: Fetch, database: str) -> list[Table]:
    """Return every table and view of a database that the user may see."""
    relations = fetch(_RELATIONS, [database])
    columns = _by_table(fetch(_COLUMNS, [database]))
    keys = _by_table(fetch(_KEYS, [database]))
    schemas = {database, *(str(name) for (name,) in fetch(_SCHEMAS, None))}
    views = {
        str(name): _parse_view(text or "", schemas) for name, text in fetch(_VIEWS, [database])
    }
    return [
        Table(
            schema=database,
            name=name,
            kind="view" if name in views else "table",
            columns=tuple(_column(row) for row in columns.get(name, ())),
            primary_key=tuple(row[1] for row in keys.get(name, ()) if row[0] == "PRIMARY"),
            references=tuple(_references(keys.get(name, ()))),
            comment="" if name in views else comment or "",
            rows=None if rows is None or name in views else int(rows),
            reads=_reads(name, database, views),
            shows=frozenset(_shown_columns(name, database, views, columns)),
            opaque=any(views[each].opaque for each in _reached_views(name, database, views)),
        )
        for name, _, rows, comment in relations
    ]


def find_names(text: str) -> Iterator[Key]:
    """Yield the first two parts of each qualified name in a text of the server."""
    for parts, _ in _chains(text):
        if len(parts) > 1:
            yield parts[0], parts[1]


def find_calls(text: str) -> Iterator[str]:
    """Yield the stored functions that a text of the server calls; its own are not quoted."""
    for parts, is_call in _chains(text):
        if is_call:
            yield ".".join(parts)


def _chains(text: str) -> Iterator[tuple[list[str], bool]]:
    for match in _CHAIN.finditer(text):
        if match["chain"]:
            names = re.findall(_NAME, match["chain"])
            yield [name[1:-1].replace("``", "`") for name in names], match["call"] is not None


def _parse_view(text: str, schemas: set[str]) -> _View:
    return _View(
        reads=frozenset(key for key in find_names(text) if key[0] in schemas),
        names=frozenset(name.lower() for parts, _ in _chains(text) for name in parts),
        opaque=not text or any(find_calls(text)),
    )


def _reached_views(name: str, database: str, views: Mapping[str, _View]) -> set[str]:
    """Return a view with all views that it reads; empty for a table."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in views and current not in found:
            found.add(current)
            waiting += [table for schema, table in views[current].reads if schema == database]
    return found


def _reads(name: str, database: str, views: Mapping[str, _View]) -> frozenset[Key]:
    reached = _reached_views(name, database, views)
    return frozenset(key for view in reached for key in views[view].reads)


def _shown_columns(
    name: str, database: str, views: Mapping[str, _View], columns: Rows
) -> Iterator[tuple[Key, str]]:
    """Yield the columns of what a view reads whose names stand in its text."""
    for view in _reached_views(name, database, views):
        for key in views[view].reads:
            for row in columns.get(key[1], ()) if key[0] == database else ():
                if str(row[0]).lower() in views[view].names:
                    yield key, str(row[0])


def _references(rows: Sequence[tuple[Any, ...]]) -> Iterator[ForeignKey]:
    by_name: dict[str, list[tuple[Any, ...]]] = {}
    for constraint, *rest in rows:
        if constraint != "PRIMARY":
            by_name.setdefault(constraint, []).append(tuple(rest))
    for parts in by_name.values():
        yield ForeignKey(
            columns=tuple(part[0] for part in parts),
            table=(parts[0][1], parts[0][2]),
            to=tuple(part[3] for part in parts),
        )


def _column(row: tuple[Any, ...]) -> Column:
    name, kind, nullable, default, comment = row
    return Column(
        name=name,
        type=str(kind),
        nullable=nullable == "YES",
        default=None if default in {None, "NULL"} else str(default),
        comment=comment or "",
    )


def _by_table(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table, *rest in rows:
        found.setdefault(table, []).append(tuple(rest))
    return found
