"""JSON Schemas of the arguments and results of the tools."""

from typing import Any

from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def _object_schema(properties: dict[str, Any], required: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _parameters(config: SqlConfig) -> Schema:
    rules = DIALECTS[config.dialect]
    mark = rules.mark.removesuffix(", ...")
    value: Schema = {"type": ["string", "number", "boolean", "null"]}
    if rules.arrays:
        value = {"anyOf": [value, {"type": "array", "items": value}]}
    return {
        "description": f"Values for {mark} (an array) or for :name (an object) in the statement",
        "anyOf": [
            {"type": "array", "items": value},
            {"type": "object", "additionalProperties": value},
        ],
    }


LIST_INPUT = _object_schema(
    {"search": {**_TEXT, "description": "Only tables whose name or description has this text"}}
)
LIST_OUTPUT = _object_schema(
    {
        "tables": {
            "type": "array",
            "items": _object_schema(
                {
                    "name": {**_TEXT, "description": "As it is written in SQL and in tools"},
                    "kind": _TEXT,
                    "description": _TEXT,
                    "rows": {"type": ["integer", "null"], "description": "Approximate, or null"},
                },
                ("name", "kind", "rows"),
            ),
        },
        "total": {"type": "integer"},
        "truncated": {"type": "boolean"},
    },
    ("tables", "total", "truncated"),
)
DESCRIBE_INPUT = _object_schema(
    {"table": {**_TEXT, "description": "A name that list_tables shows"}}, ("table",)
)
DESCRIBE_OUTPUT = _object_schema(
    {
        "name": _TEXT,
        "kind": _TEXT,
        "description": _TEXT,
        "rows": {"type": ["integer", "null"], "description": "Approximate, or null"},
        "primary_key": _TEXTS,
        "columns": {
            "type": "array",
            "items": _object_schema(
                {
                    "name": _TEXT,
                    "type": _TEXT,
                    "nullable": {"type": "boolean"},
                    "default": _TEXT,
                    "description": _TEXT,
                    "samples": {"type": "array", "description": "A few values of the column"},
                },
                ("name", "type", "nullable"),
            ),
        },
        "references": {
            "type": "array",
            "description": "Foreign keys of this table",
            "items": _object_schema(
                {"columns": _TEXTS, "table": _TEXT, "to": _TEXTS}, ("columns", "table", "to")
            ),
        },
        "referenced_by": {
            "type": "array",
            "description": "Foreign keys of other tables to this one",
            "items": _object_schema(
                {"table": _TEXT, "columns": _TEXTS, "to": _TEXTS}, ("table", "columns", "to")
            ),
        },
        "note": _TEXT,
    },
    ("name", "kind", "rows", "primary_key", "columns", "references", "referenced_by"),
)
_COLUMNS: Schema = {
    "type": "array",
    "items": _object_schema({"name": _TEXT, "type": _TEXT}, ("name", "type")),
}
_ROWS: Schema = {"type": "array", "items": {"type": "object"}}
QUERY_OUTPUT = _object_schema(
    {
        "columns": _COLUMNS,
        "rows": _ROWS,
        "row_count": {"type": "integer"},
        "truncated": {"type": "boolean", "description": "Whether there are more rows"},
        "next_offset": {"type": "integer", "description": "The offset of the next page"},
        "note": _TEXT,
    },
    ("columns", "rows", "row_count", "truncated"),
)
EXECUTE_OUTPUT = _object_schema(
    {
        "affected_rows": {"type": "integer"},
        "columns": _COLUMNS,
        "rows": {**_ROWS, "description": "The rows of RETURNING"},
    },
    ("affected_rows",),
)


def query_input(config: SqlConfig) -> Schema:
    """Return the schema of the query tool's arguments."""
    return _object_schema(
        {
            "sql": {**_TEXT, "description": "One SELECT, WITH, VALUES or EXPLAIN statement"},
            "parameters": _parameters(config),
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": config.max_rows,
                "description": f"Maximum of rows to return; {config.max_rows} by default",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "maximum": 10_000_000,
                "description": "Rows to skip: `next_offset` of the previous page",
            },
        },
        ("sql",),
    )


def execute_input(config: SqlConfig) -> Schema:
    """Return the schema of the execute tool's arguments."""
    return _object_schema(
        {
            "sql": {**_TEXT, "description": "One INSERT, UPDATE or DELETE statement"},
            "parameters": _parameters(config),
        },
        ("sql",),
    )
