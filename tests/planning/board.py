"""Tools that plans are made of in these tests."""

from typing import Any

from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.tools import SchemaTool


def a_tool(
    name: str,
    takes: dict[str, Any] | None = None,
    gives: dict[str, Any] | None = None,
    *,
    optional: tuple[str, ...] = (),
    **fields: Any,
) -> Tool:
    """A tool with these inputs and outputs, each a schema or the name of a type."""

    async def run(arguments: Any, ctx: Any) -> Any:
        raise AssertionError("planning runs nothing")

    wanted = {key: _schema(value) for key, value in (takes or {}).items()}
    output = None
    if gives is not None:
        output = {
            "type": "object",
            "properties": {key: _schema(value) for key, value in gives.items()},
            "required": list(gives),
        }
    fields.setdefault("effect", Effect.READ)
    spec = ToolSpec(
        name=name,
        input_schema={
            "type": "object",
            "properties": wanted,
            "required": [key for key in wanted if key not in optional],
        },
        output_schema=output,
        **fields,
    )
    return SchemaTool(spec=spec, run=run)


def _schema(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value
