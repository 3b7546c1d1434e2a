"""Builds the results of the tools, as described by the schemas in `tool_schemas`."""

from collections.abc import Iterator, Mapping, Sequence

from pegboard.sources.sql.catalog import Catalog, Column, ForeignKey, Table
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.driver import StatementResult
from pegboard.sources.sql.json_values import Json, column_names

_MAX_TABLES = 200


def to_list_result(catalog: Catalog, search: str) -> Json:
    """Build the result of list_tables."""
    wanted = search.lower()
    entries = [
        _without_empty(
            {
                "name": name,
                "kind": table.kind,
                "description": description_of(catalog.config, name, table),
                "rows": table.rows,
            }
        )
        for name, table in catalog.tables.items()
        if wanted in f"{name}\n{description_of(catalog.config, name, table)}".lower()
    ]
    return {
        "tables": entries[:_MAX_TABLES],
        "total": len(entries),
        "truncated": len(entries) > _MAX_TABLES,
    }


def to_describe_result(
    table: Table, catalog: Catalog, samples: Mapping[str, Sequence[Json]], note: str
) -> Json:
    """Build the result of describe_table."""
    name = catalog.label(table.key)
    visible = catalog.columns(table)
    return _without_empty(
        {
            "name": name,
            "kind": table.kind,
            "description": description_of(catalog.config, name, table),
            "rows": table.rows,
            "primary_key": [key for key in table.primary_key if key in {c.name for c in visible}],
            "columns": [
                _column(catalog.config, name, column, samples.get(column.name, ()))
                for column in visible
            ],
            "references": [
                {
                    "columns": list(reference.columns),
                    "table": catalog.label(reference.table),
                    "to": list(reference.to),
                }
                for reference in _visible_references(table, catalog)
            ],
            "referenced_by": [
                {"table": other, "columns": list(reference.columns), "to": list(reference.to)}
                for other, owner in catalog.tables.items()
                for reference in _visible_references(owner, catalog)
                if catalog.find(*reference.table) is table
            ],
            "note": note,
        }
    )


def to_query_result(answer: StatementResult, offset: int) -> Json:
    """Build the result of query."""
    result: dict[str, Json] = {
        "columns": _column_types(answer),
        "rows": _rows(answer),
        "row_count": len(answer.rows),
        "truncated": answer.more,
    }
    if answer.more:
        result["next_offset"] = offset + len(answer.rows)
        result["note"] = "There are more rows: ask again with this offset, or aggregate in SQL."
    return result


def to_execute_result(answer: StatementResult) -> Json:
    """Build the result of execute."""
    result: dict[str, Json] = {"affected_rows": answer.affected}
    if answer.columns:
        result |= {"columns": _column_types(answer), "rows": _rows(answer)}
    return result


def description_of(config: SqlConfig, name: str, thing: Table | Column) -> str:
    """Return the operator's description of a table or column, else the database's comment."""
    for key, text in config.descriptions.items():
        if key.lower() == name.lower():
            return text
    return thing.comment


def _visible_references(table: Table, catalog: Catalog) -> Iterator[ForeignKey]:
    """Yield the foreign keys between visible columns."""
    columns = {column.name for column in catalog.columns(table)}
    for reference in table.references:
        other = catalog.find(*reference.table)
        if other is None or not columns.issuperset(reference.columns):
            continue
        if {column.name for column in catalog.columns(other)}.issuperset(reference.to):
            yield reference


def _column(
    config: SqlConfig, table: str, column: Column, samples: Sequence[Json]
) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        "default": column.default or "",
        "description": description_of(config, f"{table}.{column.name}", column),
        "samples": list(samples),
    }
    optional = {"default", "description", "samples"}
    return {key: value for key, value in fields.items() if value or key not in optional}


def _without_empty(fields: dict[str, Json]) -> dict[str, Json]:
    optional = {"description", "note"}
    return {key: value for key, value in fields.items() if value or key not in optional}


def _column_types(answer: StatementResult) -> list[Json]:
    names = column_names([name for name, _ in answer.columns])
    return [
        {"name": name, "type": kind} for name, (_, kind) in zip(names, answer.columns, strict=True)
    ]


def _rows(answer: StatementResult) -> list[Json]:
    names = column_names([name for name, _ in answer.columns])
    return [dict(zip(names, row, strict=True)) for row in answer.rows]
