"""A tool that is known by its last definition and opens its source when it is called."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.result import ToolResult
from pegboard.core.tool import Status, Tool, ToolSpec
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.schemas.tool_definition import definition_of, spec_of

_FURTHER = (
    *("version", "action", "alias", "exclusive"),
    *("caller_credential", "trusted", "open_world"),
)


class ToolPlaceholder:
    """Takes the place of a tool on the board until its source is open.

    Args:
        spec: As it was listed last.
        find: Opens the source and returns the tool itself; raises a `PegboardError` if there is
            none any more.
    """

    def __init__(self, spec: ToolSpec, find: Callable[[str], Awaitable[Tool]]) -> None:
        self.spec = spec
        self._find = find

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> ToolResult:
        """Open the source and run the tool; the arguments are read by its current definition."""
        tool = CompiledTool(await self._find(self.spec.name), keyed=False)
        return tool.finish(await tool.run(tool.read(arguments), ctx))


def to_definition(spec: ToolSpec) -> dict[str, Any]:
    """What is stored of a tool."""
    further = {name: getattr(spec, name) for name in _FURTHER}
    return definition_of(spec) | further | {"status": spec.status.value, "id": spec.id}


def from_definition(definition: Mapping[str, Any]) -> ToolSpec:
    """The spec of a stored tool.

    Raises:
        KeyError: A field is missing.
        ValueError: It cannot be read.
    """
    further = {name: definition[name] for name in _FURTHER if name in definition}
    status = Status(definition["status"])
    return spec_of(definition).replace(**further, status=status, id=definition["id"])
