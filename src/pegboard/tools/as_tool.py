"""`as_tool`: make a `Tool` of a function, an object or a foreign tool."""

import inspect
from collections.abc import Callable
from typing import Any, cast

from pegboard.core.tool import Tool
from pegboard.core.wire_names import wire_name
from pegboard.errors import ToolSignatureError
from pegboard.tools.adapters import adapter_of
from pegboard.tools.base_tool import BaseTool, make_instance, tool_of_class
from pegboard.tools.decorator import mark_of, validate_types
from pegboard.tools.function_tool import FunctionTool
from pegboard.tools.schema_tool import SchemaTool
from pegboard.tools.signatures.signature import is_self, read_signature


def as_tool(candidate: Any, *, source: str = "") -> Tool:
    """Make a tool of a function, method, partial, callable, `BaseTool`, `Tool` or foreign tool.

    Args:
        candidate: Decorated with `@tool` or not; a subclass of `BaseTool`, of which an instance is
            made; a tool of a framework that has an adapter.
        source: Puts the tool under this source: `{source}__{action}`.

    Raises:
        ToolSignatureError: It cannot become a tool; says why.
    """
    if inspect.isfunction(candidate):
        return _of_function(candidate, source)
    if inspect.isclass(candidate) and issubclass(candidate, BaseTool):
        candidate = make_instance(candidate)
    if isinstance(candidate, BaseTool):
        candidate = tool_of_class(candidate)
    if isinstance(candidate, (FunctionTool, SchemaTool)):
        return _of_own_kind(candidate, source)
    if inspect.isclass(candidate):
        raise _no_tool(candidate, "for a class, give an instance")
    if isinstance(candidate, Tool):
        return _in_source(candidate, source)
    adapter = adapter_of(candidate)
    if adapter is not None:
        return adapter(candidate, source)
    if isinstance(candidate, staticmethod):
        candidate = cast("staticmethod[Any, Any]", candidate).__func__
    if isinstance(candidate, classmethod) or not callable(candidate):
        raise _no_tool(candidate, "for a method of a class, give it as 'Class.method'")
    return _of_function(candidate, source)


def _of_function(function: Callable[..., Any], source: str) -> Tool:
    _refuse_unbound(function)
    mark = mark_of(function)
    if mark is None:
        signature = read_signature(function)
        made = FunctionTool(function, signature, options={}, source=source)
        validate_types(made.name, signature)
        return made
    if mark.tool.function is function:
        return mark.tool.in_source(source)
    signature = read_signature(function, hints=mark.hints)
    return FunctionTool(function, signature, options=mark.options, source=source)


def _of_own_kind(candidate: FunctionTool | SchemaTool, source: str) -> Tool:
    if isinstance(candidate, SchemaTool) and not candidate.spec.source:
        candidate.check_schemas()  # a source checks its own, and keeps those that are broken apart
    return candidate.in_source(source) if source else candidate


def _refuse_unbound(function: Callable[..., Any]) -> None:
    """Refuse a method without its object."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_varnames[:1] not in (("self",), ("cls",)):
        return
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is not None and is_self(function, first):
        raise ToolSignatureError(
            f"{function.__qualname__} is a method: give it bound, as 'object.{function.__name__}'"
        )


def _in_source(candidate: Tool, source: str) -> Tool:
    spec = candidate.spec
    if not source or spec.source == source:
        return candidate
    action = spec.action or spec.name
    return _SourceTool(candidate, name=wire_name(source, action), action=action, source=source)


class _SourceTool:
    """A tool under another source: the spec differs, `run` is the same."""

    def __init__(self, inner: Tool, **changes: str) -> None:
        self._inner = inner
        self.spec = inner.spec.replace(**changes)
        self.run = inner.run

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)


def _no_tool(candidate: Any, hint: str) -> ToolSignatureError:
    return ToolSignatureError(
        f"{candidate!r} is not a tool: expected a function, a method, or an object with "
        f"'spec' and 'run'; {hint}"
    )
