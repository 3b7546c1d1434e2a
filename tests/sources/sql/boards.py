"""Opening a SQL source as a board does, and asking its tools."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
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
    """Calls the tools of one source; every answer is checked against its schema.

    Attributes:
        seconds: How long a call may take; None for as long as the source lets it.
    """

    def __init__(self, source: Source, tools: dict[str, Tool]) -> None:
        self.source = source
        self.tools = tools
        self.seconds: float | None = None

    async def __call__(self, action: str, **arguments: Any) -> Any:
        tool = self.tools[action]
        jsonschema_rs.validate(dict(tool.spec.input_schema), arguments)
        until = None if self.seconds is None else time.monotonic() + self.seconds
        answer = await tool.run(arguments, ToolContext(deadline=until))
        jsonschema_rs.validate(dict(tool.spec.output_schema or {}), answer)
        return answer

    async def rows(self, sql: str, **arguments: Any) -> list[list[Any]]:
        """The rows of a query as lists."""
        answer = await self("query", sql=sql, **arguments)
        return [list(row.values()) for row in answer["rows"]]

    async def health(self) -> Health:
        return await self.source.health()


class Patient:
    """Stands for the `time` of a module: what it allows it allows for a minute longer."""

    @staticmethod
    def monotonic() -> float:
        """A minute ahead."""
        return time.monotonic() + 60.0


async def until(happened: Callable[[], bool]) -> None:
    """Return once it happened; fail when it takes too long."""
    for _ in range(800):
        if happened():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not happen")


@asynccontextmanager
async def opened(url: str, *, base_dir: Path | None = None, **config: Any) -> AsyncGenerator[Asker]:
    """A source named `shop`, closed at the end."""
    services = Services(base_dir=base_dir) if base_dir else Services()
    given = {"url": url, "connect_timeout": 40, **config}
    source = await KIND.open("shop", SqlConfig.model_validate(given), services)
    try:
        yield Asker(source, {tool.spec.action: tool for tool in await source.tools()})
    finally:
        await source.close()


def opened_once(url: str, **config: Any) -> Iterator[Asker]:
    """A source for many tests, each with a loop of its own."""

    async def open_source() -> Asker:
        source = await KIND.open(
            "shop", SqlConfig.model_validate({"url": url, **config}), Services()
        )
        return Asker(source, {tool.spec.action: tool for tool in await source.tools()})

    ask = asyncio.run(open_source())
    yield ask
    asyncio.run(ask.source.close())
