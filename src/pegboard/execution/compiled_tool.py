"""A tool prepared for its steps."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool, ToolSpec
from pegboard.tools.results import finish_for_schema, wrap
from pegboard.tools.schema_arguments import SchemaArguments


class CompiledTool:
    """A tool with the functions that validate its arguments and its output.

    Attributes:
        tool: The tool itself.
        read: Reads and validates arguments.
        finish: Turns the returned value into a checked result.
        needs_context: Whether the tool uses its `ToolContext`.
        keyed: Whether this path is for calls with an idempotency key.
    """

    def __init__(self, tool: Tool, *, keyed: bool) -> None:
        self.tool = tool
        self.spec: ToolSpec = tool.spec
        self.run: Callable[[Mapping[str, Any], ToolContext[Any]], Awaitable[Any]] = tool.run
        self.keyed = keyed
        read: Callable[[Arguments], Mapping[str, Any]] | None = getattr(tool, "arguments", None)
        self.read = read or SchemaArguments(self.spec.name, self.spec.input_schema)
        finish: Callable[[Any], ToolResult] | None = getattr(tool, "finish", None)
        self.finish = finish or _finish_of(self.spec)
        self.needs_context: bool = getattr(tool, "needs_context", True)


def _finish_of(spec: ToolSpec) -> Callable[[Any], ToolResult]:
    if spec.output_schema is None:
        return wrap
    return finish_for_schema(spec.output_schema, spec.name)
