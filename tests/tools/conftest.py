"""What tests of tools share: running one the way the pipeline does."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.tools import as_tool


@pytest.fixture
def run() -> Callable[..., Awaitable[Any]]:
    """Reads the arguments, runs the tool, and gives what it returned."""

    async def read_and_run(candidate: Any, arguments: Any, ctx: Any = None) -> Any:
        made: Any = as_tool(candidate)
        return await made.run(made.arguments(arguments), ctx or ToolContext())

    return read_and_run
