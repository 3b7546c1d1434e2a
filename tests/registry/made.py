"""Tools for the tests of this room."""

from collections.abc import Mapping
from typing import Any

from pegboard import SchemaTool, ToolContext, ToolSpec, tool
from pegboard.core.tool import Effect

OPEN = {"type": "object", "additionalProperties": True}


def a_tool(name: str = "shop__find", description: str = "", **changes: Any) -> SchemaTool:
    """A tool with a raw schema that says its name."""

    async def run(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> str:
        return changes.get("answer", name)

    spec = {key: value for key, value in changes.items() if key != "answer"}
    fields: dict[str, Any] = {"effect": Effect.READ, "input_schema": OPEN}
    return SchemaTool(spec=ToolSpec(name=name, description=description, **(fields | spec)), run=run)


@tool(effect="read", inline=True)
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
async def wait() -> str:
    """Wait for nothing."""
    return "waited"
