"""Reads the schema of a DuckDB database, with the dependencies of its views."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import duckdb

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Column, ForeignKey, Key, Table
from pegboard.sources.sql.lexer import TokenKind, fold_case, lex

_RELATIONS = """
SELECT schema_name, table_name, 'table', estimated_size, comment, NULL FROM duckdb_tables()
WHERE database_name = $1 AND NOT internal
UNION ALL
SELECT schema_name, view_name, 'view', NULL, comment, sql FROM duckdb_views()
WHERE database_name = $1 AND NOT internal
ORDER BY 1, 2
"""
_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, is_nullable, column_default, comment
FROM duckdb_columns() WHERE database_name = $1 AND NOT internal ORDER BY table_oid, column_index
"""
_KEYS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table,
       referenced_column_names
FROM duckdb_constraints()
WHERE database_name = $1 AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
ORDER BY table_oid, constraint_index
"""

Columns = Mapping[Key, Sequence[tuple[Any, ...]]]


def read_tables(
    connection: duckdb.DuckDBPyConnection, database: str, schemas: Sequence[str]
) -> list[Table]:
    """Return every table and view in these schemas, and what the views read in any schema."""
    relations = connection.execute(_RELATIONS, [database]).fetchall()
    columns = _by_table(connection.execute(_COLUMNS, [database]).fetchall())
    keys = _by_table(connection.execute(_KEYS, [database]).fetchall())
    every = [(schema, name) for schema, name, *_ in relations]
    visible = {fold_case(schema) for schema in schemas}
    return [
        _table(connection, row, every, columns, keys)
        for row in relations
        if fold_case(row[0]) in visible
    ]


def to_key(name: str) -> Key:
    """Return schema and name of `table`, `schema.table` or `database.schema.table`, folded.

    DuckDB adds ` AS alias` to some names.
    """
    parts: list[str] = [""]
    is_quoted = False
    for char in name:
        if char == '"':
            is_quoted = not is_quoted
        elif char == "." and not is_quoted:
            parts.append("")
        elif char == " " and not is_quoted:
            break
        else:
            parts[-1] += char
    return (fold_case(parts[-2]) if len(parts) > 1 else "", fold_case(parts[-1]))


def _table(
    connection: duckdb.DuckDBPyConnection,
    row: tuple[Any, ...],
    every: Sequence[Key],
    columns: Columns,
    keys: Columns,
) -> Table:
    schema, name, kind, rows, comment, sql = row
    key = schema, name
    reads = _view_reads(connection, key, every) if kind == "view" else frozenset[Key]()
    return Table(
        schema=schema,
        name=name,
        kind=kind,
        columns=tuple(_column(item) for item in columns.get(key, ())),
        primary_key=tuple(
            column for item in keys.get(key, ()) if item[0] == "PRIMARY KEY" for column in item[1]
        ),
        references=tuple(
            ForeignKey(columns=tuple(item[1]), table=(schema, item[2]), to=tuple(item[3]))
            for item in keys.get(key, ())
            if item[0] == "FOREIGN KEY"
        ),
        comment=comment or "",
        rows=rows,
        reads=reads or frozenset(),
        shows=frozenset(_shown_columns(sql, reads or (), columns))
        if kind == "view"
        else frozenset(),
        opaque=reads is None,
    )


def _view_reads(
    connection: duckdb.DuckDBPyConnection, key: Key, every: Sequence[Key]
) -> frozenset[Key] | None:
    """Return the tables that a view reads, also through macros and other views; None if unknown."""
    with suppress(duckdb.Error):
        names = connection.get_table_names(
            f"SELECT * FROM {_quote(key[0])}.{_quote(key[1])}",  # noqa: S608 # the schema's own names, quoted
            qualified=True,
        )
        found = [_find(to_key(name), every) for name in names]
        return frozenset[Key]().union(*found) if all(found) else None
    return None


def _find(wanted: Key, every: Sequence[Key]) -> frozenset[Key]:
    """Return the relations that a folded name may mean, in any schema if it names none."""
    return frozenset(
        (schema, name)
        for schema, name in every
        if fold_case(name) == wanted[1] and wanted[0] in {"", fold_case(schema)}
    )


def _shown_columns(sql: str, reads: Iterable[Key], columns: Columns) -> Iterable[tuple[Key, str]]:
    """Yield the columns that a view may read: those whose names stand in its text.

    A view on another view, or one with a star, may read each column of its tables.
    """
    words = _words(sql)
    for key in reads:
        for column, *_ in columns.get(key, ()):
            if words is None or fold_case(key[1]) not in words or fold_case(column) in words:
                yield key, column


def _words(sql: str) -> frozenset[str] | None:
    """Return the folded names in a definition; None if it has a star or cannot be read."""
    try:
        tokens = lex(sql, "duckdb").tokens
    except InvalidRequest:
        return None
    if any(token.text == "*" for token in tokens):
        return None
    return frozenset(
        token.name for token in tokens if token.kind in {TokenKind.WORD, TokenKind.QUOTED}
    )


def _column(row: tuple[Any, ...]) -> Column:
    name, kind, nullable, default, comment = row
    return Column(name=name, type=kind, nullable=nullable, default=default, comment=comment or "")


def _by_table(rows: Iterable[tuple[Any, ...]]) -> dict[Key, list[tuple[Any, ...]]]:
    found: dict[Key, list[tuple[Any, ...]]] = {}
    for schema, table, *rest in rows:
        found.setdefault((schema, table), []).append(tuple(rest))
    return found


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
