"""Reads the schema of a PostgreSQL database, with the dependencies of its views."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from pegboard.sources.sql.catalog import Column, ForeignKey, Key, Table

_FIRST_OWN_OID = 16384
"""Objects with smaller oids belong to the server."""

_KINDS = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}

_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, c.relkind::text, c.reltuples::float8,
       pg_catalog.obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
  AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
      AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname, c.relname
"""
_COLUMNS = """
SELECT a.attrelid, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.col_description(a.attrelid, a.attnum)
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT k.conrelid, k.contype::text, k.confrelid,
       ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY x(n, i)
             JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = x.n
             ORDER BY x.i),
       ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY x(n, i)
             JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = x.n
             ORDER BY x.i)
FROM pg_catalog.pg_constraint k
WHERE k.conrelid = ANY(%s) AND k.contype IN ('p', 'f') ORDER BY k.conrelid, k.conname
"""
_VIEW_READS = """
SELECT DISTINCT w.ev_class, d.refobjid, a.attname
FROM pg_catalog.pg_rewrite w
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
  AND d.refobjsubid > 0
WHERE d.refobjid <> w.ev_class AND w.ev_class >= %s
"""
_VIEW_CALLS = """
SELECT DISTINCT w.ev_class
FROM pg_catalog.pg_rewrite w
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
  AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
WHERE d.refobjid >= %s
"""
_HEIRS = "SELECT inhparent, inhrelid FROM pg_catalog.pg_inherits"
_NAMES = """
SELECT c.oid, n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY(%s)
"""

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Edges:
    """The dependencies between relations, by oid."""

    reads: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    shows: dict[int, set[tuple[int, str]]] = field(default_factory=dict[int, set[tuple[int, str]]])
    heirs: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    parents: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    opaque: set[int] = field(default_factory=set[int])


def read_tables(connection: Connection, schemas: Sequence[str]) -> list[Table]:
    """Return every table and view in these schemas that the role may read."""
    relations = connection.execute(_RELATIONS, [list(schemas)]).fetchall()
    oids = [row[0] for row in relations]
    edges = _edges(connection)
    touched = {oid: _closure(oid, edges.reads, edges.heirs) for oid in oids}
    ancestors = {oid: _closure(oid, edges.parents) for oid in oids}
    every = {
        *oids,
        *(i for reach in (touched, ancestors) for found in reach.values() for i in found),
    }
    names: dict[int, Key] = {
        oid: (schema, name) for oid, schema, name in connection.execute(_NAMES, [list(every)])
    }
    columns = _by_table(connection.execute(_COLUMNS, [oids]))
    keys = _by_table(connection.execute(_KEYS, [oids]))
    return [
        Table(
            schema=schema,
            name=name,
            kind=_KINDS[kind],
            columns=tuple(_column(row) for row in columns.get(oid, ())),
            primary_key=_primary_key(keys.get(oid, ())),
            references=_references(keys.get(oid, ()), names, connection),
            comment=comment or "",
            rows=None if estimate < 0 or kind == "v" else int(estimate),
            part_of=frozenset(names[i] for i in ancestors[oid] if i in names),
            reads=frozenset(names[i] for i in touched[oid] if i in names),
            shows=frozenset(
                (names[table], column)
                for i in (oid, *touched[oid])
                for table, column in edges.shows.get(i, ())
                if table in names
            ),
            opaque=bool(edges.opaque & {oid, *touched[oid]}),
        )
        for oid, schema, name, kind, estimate, comment in relations
    ]


def _edges(connection: Connection) -> _Edges:
    edges = _Edges()
    for view, table, column in connection.execute(_VIEW_READS, [_FIRST_OWN_OID]):
        edges.reads.setdefault(view, set()).add(table)
        if column is not None:
            edges.shows.setdefault(view, set()).add((table, column))
    for (view,) in connection.execute(_VIEW_CALLS, [_FIRST_OWN_OID]):
        edges.opaque.add(view)
    for parent, heir in connection.execute(_HEIRS):
        edges.heirs.setdefault(parent, set()).add(heir)
        edges.parents.setdefault(heir, set()).add(parent)
    return edges


def _closure(start: int, *graphs: Mapping[int, set[int]]) -> set[int]:
    """Return everything reachable from a start, without the start."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        current = waiting.pop()
        for graph in graphs:
            new = graph.get(current, set()) - found
            found |= new
            waiting.extend(new)
    return found - {start}


def _by_table(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return found


def _column(row: tuple[Any, ...]) -> Column:
    name, kind, nullable, default, comment = row
    return Column(name=name, type=kind, nullable=nullable, default=default, comment=comment or "")


def _primary_key(keys: Iterable[tuple[Any, ...]]) -> tuple[str, ...]:
    return next((tuple(columns) for kind, _, columns, _ in keys if kind == "p"), ())


def _references(
    keys: Iterable[tuple[Any, ...]], names: dict[int, Key], connection: Connection
) -> tuple[ForeignKey, ...]:
    found = [row for row in keys if row[0] == "f"]
    unknown = [row[1] for row in found if row[1] not in names]
    if unknown:
        rows = connection.execute(_NAMES, [unknown])
        names.update({oid: (schema, name) for oid, schema, name in rows})
    return tuple(
        ForeignKey(columns=tuple(columns), table=names[other], to=tuple(to))
        for _, other, columns, to in found
        if other in names
    )
