"""Making a `Tool` of whatever people hand over."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from pegboard.core.context import ToolContext
from pegboard.core.names import wire_name
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.tools.classes import BaseTool
from pegboard.tools.decorator import Mark, mark_of
from pegboard.tools.function import FunctionTool
from pegboard.tools.schema import check_types
from pegboard.tools.schema_tool import SchemaTool
from pegboard.tools.signature import read_signature
from pegboard.tools.threads import POOL


def as_tool(candidate: Any, *, source: str = "") -> Tool:
    """A tool of a function, method, partial, callable instance, `BaseTool` or `Tool`.

    Args:
        candidate: Decorated with `@tool` or not.
        source: Puts the tool under this source: `{source}__{action}`.

    Raises:
        ToolSignatureError: It cannot become a tool; says why.
    """
    if isinstance(candidate, BaseTool):
        return _of_class(candidate, source)
    if isinstance(candidate, (FunctionTool, SchemaTool)):
        return candidate
    if not inspect.isfunction(candidate) and isinstance(candidate, Tool):
        return candidate
    if isinstance(candidate, (staticmethod, classmethod)):
        candidate = cast("Any", candidate).__func__
    if inspect.isclass(candidate) or not callable(candidate):
        raise ToolSignatureError(
            f"{candidate!r} is not a tool: expected a function, a method, or an object with "
            "'spec' and 'run'; for a class, give an instance"
        )
    return _of_function(candidate, source)


def _of_function(function: Callable[..., Any], source: str) -> Tool:
    mark = mark_of(function)
    if mark is not None and mark.tool.function is function and not source:
        return mark.tool
    if mark is None:
        signature = read_signature(function)
        made = FunctionTool(function, signature, options={}, source=source)
        check_types(made.name, signature)
        return made
    _refuse_unbound(function, mark)
    signature = read_signature(function, hints=mark.hints)
    return FunctionTool(
        function, signature, options=mark.options, source=source, inline=mark.inline
    )


def _refuse_unbound(function: Callable[..., Any], mark: Mark) -> None:
    first = next(iter(inspect.signature(function).parameters), "")
    if first == "self" and mark.tool.function is function and not isinstance(function, partial):
        raise ToolSignatureError(
            f"{function.__qualname__} is a method: give it bound, as 'object.{function.__name__}'"
        )


def _of_class(candidate: BaseTool, source: str) -> Tool:
    name = wire_name(source, candidate.name) if source else candidate.name
    spec = ToolSpec(
        name=name,
        action=candidate.name,
        source=source,
        description=candidate.description,
        category=candidate.category,
        effect=candidate.effect,
        input_schema=lambda: candidate.parameters_schema,
    )

    async def run(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        if inspect.iscoroutinefunction(candidate.run):
            return await candidate.run(**arguments)
        return await POOL.run(partial(candidate.run, **arguments))

    return SchemaTool(spec=spec, run=run)
