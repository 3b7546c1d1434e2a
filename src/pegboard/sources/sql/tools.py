"""The tools of a database: list, describe, query, and execute if the operator allows it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.text.truncate import truncate
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.errors import InvalidRequest, PegboardError
from pegboard.sources.sql import tool_schemas
from pegboard.sources.sql.catalog import Catalog, Table
from pegboard.sources.sql.database import SqlDatabase
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.json_values import Json
from pegboard.sources.sql.results import (
    to_describe_result,
    to_execute_result,
    to_list_result,
    to_query_result,
)
from pegboard.sources.sql.tool_schemas import Schema
from pegboard.tools import SchemaTool
from pegboard.tools.schema_tool import Run

Arguments = Mapping[str, Any]
Context = ToolContext[Any]

_NAMED = 40
_SAMPLE_CHARACTERS = 60
_SLACK = 5.0
"""Seconds beyond the statement's own timeout, so that its message reaches the caller."""


class DatabaseTools:
    """Builds the tools of one source.

    ```python
    tools = DatabaseTools("chinook", database).build(await database.catalog())
    ```
    """

    def __init__(self, source: str, database: SqlDatabase) -> None:
        self._source = source
        self._database = database
        self._config = database.config
        self._about = f"{DIALECTS[self._config.dialect].title} database '{source}'" + (
            f" ({self._config.description.rstrip('.')})" if self._config.description else ""
        )

    def build(self, catalog: Catalog) -> Sequence[Tool]:
        """Return every tool that the configuration allows, in a fixed order."""
        tools = [self._list(), self._describe(), self._query(catalog)]
        if self._config.allow_writes:
            tools.append(self._execute())
        return [tool for tool in tools if tool.spec.action in self._config.tools]

    def _list(self) -> Tool:
        async def run(arguments: Arguments, ctx: Context) -> Json:
            del ctx
            catalog = await self._database.catalog(max_age=1.0)
            return to_list_result(catalog, arguments.get("search", ""))

        return self._tool(
            "list_tables",
            run,
            title="List tables",
            description=f"List the tables and views of the {self._about}, with their "
            "descriptions and approximate numbers of rows.",
            input_schema=tool_schemas.LIST_INPUT,
            output_schema=tool_schemas.LIST_OUTPUT,
            capabilities=("list_tables",),
        )

    def _describe(self) -> Tool:
        async def run(arguments: Arguments, ctx: Context) -> Json:
            del ctx
            return await self._describe_table(arguments["table"])

        return self._tool(
            "describe_table",
            run,
            title="Describe a table",
            description=f"Show columns, types, keys, meanings and sample values of one table of "
            f"the {self._about}. Read it before writing SQL.",
            input_schema=tool_schemas.DESCRIBE_INPUT,
            output_schema=tool_schemas.DESCRIBE_OUTPUT,
            capabilities=("describe_table",),
        )

    def _query(self, catalog: Catalog) -> Tool:
        async def run(arguments: Arguments, ctx: Context) -> Json:
            offset = arguments.get("offset", 0)
            answer = await self._database.query(
                arguments["sql"],
                parameters=arguments.get("parameters"),
                limit=arguments.get("limit"),
                offset=offset,
                seconds=ctx.remaining(),
            )
            return to_query_result(answer, offset)

        return self._tool(
            "query",
            run,
            title="Query",
            description=f"Run one read-only SQL statement on the {self._about}. "
            f"{_tables_named(catalog)}Give values as `parameters`, not inside the SQL; page with "
            "`limit` and `offset` under an ORDER BY.",
            input_schema=tool_schemas.query_input(self._config),
            output_schema=tool_schemas.QUERY_OUTPUT,
            capabilities=("sql_query",),
        )

    def _execute(self) -> Tool:
        async def run(arguments: Arguments, ctx: Context) -> Json:
            answer = await self._database.execute(
                arguments["sql"],
                parameters=arguments.get("parameters"),
                seconds=ctx.remaining(),
            )
            return to_execute_result(answer)

        return self._tool(
            "execute",
            run,
            title="Change rows",
            description=f"Run one INSERT, UPDATE or DELETE on the {self._about}. More than "
            f"{self._config.max_affected_rows} changed rows are rolled back. Give values as "
            "`parameters`, not inside the SQL.",
            input_schema=tool_schemas.execute_input(self._config),
            output_schema=tool_schemas.EXECUTE_OUTPUT,
            capabilities=("sql_execute",),
            effect=Effect.WRITE,
            idempotent=False,
        )

    def _tool(self, action: str, run: Run, *, input_schema: Schema, **fields: Any) -> Tool:
        spec = ToolSpec(
            name=wire_name(self._source, action),
            action=action,
            input_schema=input_schema,
            source=self._source,
            category="database",
            handler="sql",
            tags=("sql", self._config.dialect),
            timeout=self._config.statement_timeout + _SLACK,
            effect=Effect.READ,
            idempotent=True,
        )
        return SchemaTool(spec=spec.replace(**fields), run=run)

    async def _describe_table(self, name: str) -> Json:
        catalog = await self._database.catalog()
        table = catalog.find_by_label(name)
        if table is None:
            catalog = await self._database.catalog(max_age=1.0)
            table = catalog.find_by_label(name)
        if table is None:
            near = catalog.nearest(name)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise InvalidRequest(f"Unknown table '{name}'.{hint}")
        samples, note = await self._sample_values(table, catalog)
        return to_describe_result(table, catalog, samples, note)

    async def _sample_values(
        self, table: Table, catalog: Catalog
    ) -> tuple[dict[str, list[Json]], str]:
        """Return a few values for each column, or why there are none."""
        if self._config.sample_values == 0 or not catalog.columns(table):
            return {}, ""
        try:
            answer = await self._database.samples(table, catalog)
        except PegboardError as error:
            return {}, f"Sample values could not be read: {error}"
        names = [name for name, _ in answer.columns]
        return {
            name: _distinct((row[index] for row in answer.rows), self._config.sample_values)
            for index, name in enumerate(names)
        }, ""


def _distinct(values: Iterator[Json], most: int) -> list[Json]:
    found: list[Json] = []
    for value in values:
        short = _shorten(value)
        if short is not None and short not in found:
            found.append(short)
        if len(found) == most:
            break
    return found


def _shorten(value: Json) -> Json:
    if isinstance(value, str) and len(value) > _SAMPLE_CHARACTERS:
        return truncate(value, _SAMPLE_CHARACTERS)
    return None if isinstance(value, dict | list) else value


def _tables_named(catalog: Catalog) -> str:
    names = list(catalog.tables)
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Tables: {', '.join(names[:_NAMED])}{more}. "
