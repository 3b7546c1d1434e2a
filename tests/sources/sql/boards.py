"""Opening a SQL source as a board does, and asking its tools."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema_rs

from pegboard.core.context import ToolContext
from pegboard.core.health import Health
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Tool
from pegboard.sources.sql import KIND
from pegboard.sources.sql.config import SqlConfig


class Asker:
    """Calls the tools of one source; every answer is checked against its schema."""

    def __init__(self, source: Source, tools: dict[str, Tool]) -> None:
        self.source = source
        self.tools = tools

    async def __call__(self, action: str, **arguments: Any) -> Any:
        tool = self.tools[action]
        jsonschema_rs.validate(dict(tool.spec.input_schema), arguments)
        answer = await tool.run(arguments, ToolContext())
        jsonschema_rs.validate(dict(tool.spec.output_schema or {}), answer)
        return answer

    async def rows(self, sql: str, **arguments: Any) -> list[list[Any]]:
        """The rows of a query as lists."""
        answer = await self("query", sql=sql, **arguments)
        return [list(row.values()) for row in answer["rows"]]

    async def health(self) -> Health:
        return await self.source.health()


@asynccontextmanager
async def opened(url: str, *, base_dir: Path | None = None, **config: Any) -> AsyncGenerator[Asker]:
    """A source named `shop`, closed at the end."""
    services = Services(base_dir=base_dir) if base_dir else Services()
    source = await KIND.open("shop", SqlConfig.model_validate({"url": url, **config}), services)
    try:
        yield Asker(source, {tool.spec.action: tool for tool in await source.tools()})
    finally:
        await source.close()
