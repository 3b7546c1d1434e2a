"""Reads the schema of a database with SQLAlchemy's inspector."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import sqlalchemy
from sqlalchemy.engine.reflection import Inspector, ObjectKind
from sqlalchemy.exc import CompileError, UnsupportedCompilationError

from pegboard.sources.sql.catalog import Column, ForeignKey, Key, Table

Reflect = Callable[..., Mapping[tuple[str | None, str], Any]]


def read_tables(connection: sqlalchemy.Connection, schemas: Sequence[str]) -> list[Table]:
    """Return every table and view in these schemas; what a view reads is not known."""
    inspector = sqlalchemy.inspect(connection)
    return [table for schema in schemas for table in _read_schema(inspector, schema)]


def select_sample(table: Table, columns: Sequence[str], limit: int) -> sqlalchemy.Select[Any]:
    """Return a query for the first rows of a table, in the words of any dialect."""
    named: list[sqlalchemy.ColumnClause[Any]] = [sqlalchemy.column(name) for name in columns]
    source = sqlalchemy.table(table.name, *named, schema=table.schema or None)
    return sqlalchemy.select(source).limit(limit)


def _read_schema(inspector: Inspector, schema: str) -> Iterator[Table]:
    for kind, object_kind in _KINDS.items():
        columns = _reflect(inspector.get_multi_columns, schema, object_kind)
        keys = _reflect(inspector.get_multi_pk_constraint, schema, object_kind)
        references = _reflect(inspector.get_multi_foreign_keys, schema, object_kind)
        comments = _reflect(inspector.get_multi_table_comment, schema, object_kind)
        for name, found in columns.items():
            key: dict[str, Any] = keys.get(name) or {}
            comment: dict[str, Any] = comments.get(name) or {}
            foreign: list[dict[str, Any]] = references.get(name) or []
            yield Table(
                schema=schema,
                name=name,
                kind=kind,
                columns=tuple(_column(item, inspector) for item in found),
                primary_key=tuple(key.get("constrained_columns") or ()),
                references=tuple(_references(foreign, schema)),
                comment=comment.get("text") or "",
                opaque=kind != "table",
            )


_KINDS = {
    "table": ObjectKind.TABLE,
    "view": ObjectKind.VIEW,
    "materialized view": ObjectKind.MATERIALIZED_VIEW,
}


def _reflect(reflect: Reflect, schema: str, kind: ObjectKind) -> dict[str, Any]:
    """Return what a dialect tells about the tables of a schema; nothing where it cannot."""
    with suppress(NotImplementedError):
        return {name: found for (_, name), found in reflect(schema or None, kind=kind).items()}
    return {}


def _column(item: Mapping[str, Any], inspector: Inspector) -> Column:
    try:
        kind = item["type"].compile(dialect=inspector.dialect)
    except (CompileError, UnsupportedCompilationError, NotImplementedError):
        kind = str(item["type"])
    default = item.get("default")
    return Column(
        name=str(item["name"]),
        type=kind.lower(),
        nullable=bool(item.get("nullable", True)),
        default=None if default is None else str(default),
        comment=item.get("comment") or "",
    )


def _references(keys: Sequence[Mapping[str, Any]], schema: str) -> Iterator[ForeignKey]:
    for key in keys:
        table: Key = key.get("referred_schema") or schema, str(key["referred_table"])
        yield ForeignKey(
            columns=tuple(key["constrained_columns"]),
            table=table,
            to=tuple(key["referred_columns"]),
        )
