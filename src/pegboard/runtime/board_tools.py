"""The board's own tools."""

from typing import Annotated, Any

from pydantic import Field

from pegboard.core.context import ToolContext
from pegboard.core.tool import Tool
from pegboard.execution.results.handles import FORMAT
from pegboard.registry import ToolRegistry
from pegboard.tools import as_tool, tool

SOURCE = "board"


def board_tools(registry: ToolRegistry) -> list[Tool]:
    """Make `board__read_result`, which reads further pages of a large result."""

    @tool(effect="read", category="general", max_result_bytes=0, tags=("paging",))
    async def read_result(
        handle: Annotated[
            str,
            Field(
                description="`pegboard://results/...` or its last part.",
                json_schema_extra={"format": FORMAT},
            ),
        ],
        page: Annotated[int, Field(ge=1, description="Page number, from 1.")] = 2,
        *,
        ctx: ToolContext[Any],
    ) -> str:
        """Read another page of a result that was too large to be given at once."""
        found = await registry.read_result(handle, page=page, ctx=ctx)
        return f"{found.text}\n[page {found.page} of {found.pages} of {found.handle}]"

    return [as_tool(read_result, source=SOURCE)]
