from collections.abc import Mapping
from typing import Any, Literal

import pytest

from pegboard import Policy, SchemaTool, ToolContext, ToolResult, ToolSpec, tool
from pegboard.core.result import ImagePart, TextPart
from pegboard.core.tool import Effect
from pegboard.registry import ToolRegistry


@tool(effect="read")
async def weather(city: str, days: int = 1, unit: Literal["C", "F"] = "C") -> dict[str, Any]:
    """Forecast the weather of a city. Fails for places that are not there.

    Args:
        city: Where.
        days: How many.
    """
    if city == "Atlantis":
        raise RuntimeError("password is hunter2")
    return {"city": city, "days": days, "unit": unit}


@tool
def shout(text: str) -> str:
    """Say it loudly"""
    return text.upper()


@tool(effect="admin")
def wipe() -> str:
    """Wipe the disk."""
    return "wiped"


@tool(effect="read")
def picture(config: str) -> ToolResult:
    """Draw."""
    image = ImagePart(data=b"PNG", media_type="image/png")
    return ToolResult(content=(TextPart(text=config), image))


@tool(effect="read", scopes=["payments"])
def balance(ctx: ToolContext) -> str:
    """How much there is."""
    return f"of {ctx.principal.id}"


async def either(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> str:
    return ",".join(arguments)


EITHER = SchemaTool(
    spec=ToolSpec(
        name="either",
        title="This or that",
        description="x" * 3000,
        effect=Effect.WRITE,
        idempotent=True,
        input_schema={
            "type": "object",
            "anyOf": [
                {"properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ],
            "$defs": {"A": {"type": "integer"}},
        },
    ),
    run=either,
)


@pytest.fixture
def registry() -> ToolRegistry:
    """Six tools, one of which is denied to everybody."""
    return ToolRegistry(
        [weather, shout, wipe, picture, balance, EITHER], policy=Policy(deny=("wipe",))
    )
