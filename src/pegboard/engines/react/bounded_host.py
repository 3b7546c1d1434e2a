"""A tool host that makes the calls of a turn wait for one another."""

import asyncio
from typing import Any

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool
from pegboard.execution import CallEnvironment
from pegboard.graphs.tool_host import ToolHost


class BoundedHost:
    """Lets only so many calls run at once, whatever number a model asks for.

    Args:
        host: Finds and calls the tools.
        most: Calls at once.
    """

    def __init__(self, host: ToolHost, *, most: int) -> None:
        self._host = host
        self._slots = asyncio.Semaphore(most)

    @property
    def environment(self) -> CallEnvironment:
        """The call environment of the host."""
        return self._host.environment

    def find(self, name: str) -> Tool | None:
        """The tool of a name or id."""
        return self._host.find(name)

    def nearest(self, name: str, principal: Principal) -> tuple[str, ...]:
        """Up to three similar names."""
        return self._host.nearest(name, principal)

    async def call(self, name: str, arguments: Arguments, ctx: ToolContext[Any]) -> ToolResult:
        """Call a tool when there is room; one that waits for an approval takes none."""
        async with self._slots:
            return await self._host.call(name, arguments, ctx)
