"""Reads the schema of a SQLite database."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pegboard.sources.sql.catalog import Column, ForeignKey, Key, Table
from pegboard.sources.sql.drivers.sqlite_authorizer import SqliteAuthorizer

_SCHEMA = "main"
_KINDS = {"table": "table", "view": "view", "virtual": "virtual table", "shadow": "table"}
_COUNTING = 0.2
"""Seconds for counting the rows of all tables; later tables have an unknown number."""

_Read = tuple[str, str]
Until = Callable[[float], AbstractContextManager[None]]


def read_tables(
    connection: sqlite3.Connection, authorizer: SqliteAuthorizer, until: Until
) -> tuple[Sequence[Table], Sequence[str]]:
    """Return every table and view with what it reads, and the names of triggers."""
    listed: list[tuple[str, str]] = [
        (name, kind)
        for schema, name, kind in connection.execute(
            "SELECT schema, name, type FROM pragma_table_list ORDER BY name"
        )
        if schema == _SCHEMA and not name.lower().startswith("sqlite_")
    ]
    virtual = [name for name, kind in listed if kind == "virtual"]
    counting = time.monotonic() + _COUNTING
    tables: list[Table] = []
    for name, kind in listed:
        try:
            table = _table(connection, authorizer, name, kind)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                raise
            continue  # a broken view, or a virtual table whose module is not loaded
        with until(counting):
            rows = None if kind in {"view", "shadow"} else _rows(connection, name)
        owner = _owner(name, virtual) if kind == "shadow" else ""
        parts = frozenset({(_SCHEMA, owner)}) if owner else frozenset[Key]()
        tables.append(replace(table, rows=rows, part_of=parts))
    triggers = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    return tables, [name for (name,) in triggers]


def _table(
    connection: sqlite3.Connection, authorizer: SqliteAuthorizer, name: str, kind: str
) -> Table:
    reads = _view_reads(connection, authorizer, name) if kind == "view" else frozenset[_Read]()
    return Table(
        schema=_SCHEMA,
        name=name,
        kind=_KINDS.get(kind, "table"),
        columns=_columns(connection, name),
        primary_key=_primary_key(connection, name),
        references=_references(connection, name),
        reads=frozenset((_SCHEMA, table) for table, _ in reads),
        shows=frozenset(((_SCHEMA, table), column) for table, column in reads if column),
        internal=kind == "shadow",
    )


def _view_reads(
    connection: sqlite3.Connection, authorizer: SqliteAuthorizer, name: str
) -> frozenset[_Read]:
    """Return tables and columns that a view reads, as SQLite itself resolves them."""
    with authorizer.record_reads() as reads:
        connection.execute(f"EXPLAIN SELECT * FROM {_quote(name)}").close()  # noqa: S608 # the name is the schema's own, quoted
    return frozenset(reads)


def _rows(connection: sqlite3.Connection, name: str) -> int | None:
    try:
        row = connection.execute(f"SELECT count(*) FROM {_quote(name)}").fetchone()  # noqa: S608 # the name is the schema's own, quoted
    except sqlite3.Error:
        return None
    return int(row[0])


def _columns(connection: sqlite3.Connection, name: str) -> tuple[Column, ...]:
    rows = connection.execute(f"PRAGMA table_xinfo({_quote(name)})").fetchall()
    return tuple(
        Column(
            name=column,
            type=declared or "",
            nullable=not required and not key,
            default=default,
        )
        for _, column, declared, required, default, key, hidden in rows
        if hidden != 1  # 1 marks the arguments of a virtual table
    )


def _primary_key(connection: sqlite3.Connection, name: str) -> tuple[str, ...]:
    rows = connection.execute(f"PRAGMA table_xinfo({_quote(name)})").fetchall()
    return tuple(row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5])


def _references(connection: sqlite3.Connection, name: str) -> tuple[ForeignKey, ...]:
    found: dict[int, list[tuple[str, str, str]]] = {}
    for row in connection.execute(f"PRAGMA foreign_key_list({_quote(name)})").fetchall():
        number, _, table, column, to = row[:5]
        found.setdefault(number, []).append((table, column, to or ""))
    return tuple(
        ForeignKey(
            columns=tuple(column for _, column, _ in parts),
            table=_key(parts[0][0]),
            to=tuple(to for _, _, to in parts if to),
        )
        for _, parts in sorted(found.items())
    )


def _key(name: str) -> Key:
    return _SCHEMA, name


def _owner(name: str, virtual: Sequence[str]) -> str:
    """Return the virtual table whose data a shadow table stores."""
    owners = [table for table in virtual if name.lower().startswith(f"{table.lower()}_")]
    return max(owners, key=len, default="")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
